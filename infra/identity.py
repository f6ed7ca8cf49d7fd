"""Who may call the API: the authorizer in front of every route, and a user pool for those who bring no issuer."""

from __future__ import annotations

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from infra.options import Auth, Options, Removal
from infra.rules import acknowledge

TOKEN_VALIDITY = Duration.hours(1)
"""How long somebody who was taken out of a group can still read its documents."""


class UserPool(Construct):
    """People, their groups and tenants, all of them entered by an administrator.

    The tenant stands in ``custom:tenant``, which ID tokens carry and access tokens don't; groups stand in both. Users
    can change their name and their password. The client has no secret: anything that holds a password may use it.
    """

    def __init__(self, scope: Construct, construct_id: str, *, removal: Removal) -> None:
        super().__init__(scope, construct_id)
        keep = removal is Removal.RETAIN
        self.pool = cognito.UserPool(
            self,
            "Pool",
            self_sign_up_enabled=False,
            sign_in_aliases=cognito.SignInAliases(email=True),
            sign_in_case_sensitive=False,
            # Mutable, or no administrator could correct it, nor a federated provider fill it in.
            custom_attributes={"tenant": cognito.StringAttribute(mutable=True, max_len=256)},
            password_policy=cognito.PasswordPolicy(
                min_length=12,
                require_lowercase=True,
                require_uppercase=True,
                require_digits=True,
                require_symbols=True,
                temp_password_validity=Duration.days(3),
            ),
            mfa=cognito.Mfa.OPTIONAL,
            mfa_second_factor=cognito.MfaSecondFactor(otp=True, sms=False),
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            feature_plan=cognito.FeaturePlan.LITE,
            deletion_protection=keep,
            removal_policy=RemovalPolicy.RETAIN if keep else RemovalPolicy.DESTROY,
        )
        acknowledge(
            self.pool,
            {
                "COG2": "Scripts ask too, and they have no second factor. People can register an authenticator app; "
                "where everybody must have one, jwtIssuer names the company's own identity provider.",
                "COG8": "The plus plan costs $0.02 for each active user a month, without a free tier. Nobody can sign "
                "up, passwords are long, and Cognito itself slows down guessing.",
            },
        )
        attributes = cognito.ClientAttributes().with_standard_attributes
        self.client = self.pool.add_client(
            "Client",
            auth_flows=cognito.AuthFlow(user_srp=True, user_password=True, admin_user_password=True),
            disable_o_auth=True,  # else the CDK adds redirects to example.com
            generate_secret=False,
            prevent_user_existence_errors=True,
            enable_token_revocation=True,
            access_token_validity=TOKEN_VALIDITY,
            id_token_validity=TOKEN_VALIDITY,
            refresh_token_validity=Duration.days(1),
            # What a client can't read isn't in its ID tokens; what it can write, users change for themselves.
            read_attributes=attributes(email=True, email_verified=True, fullname=True).with_custom_attributes("tenant"),
            write_attributes=attributes(fullname=True),
        )


def authorizer_of(options: Options, users: UserPool | None) -> apigateway.IHttpRouteAuthorizer | None:
    """What verifies callers; None only with ``auth=none``. ``users`` is the stack's own pool, where there is one."""
    if options.auth is Auth.NONE:
        return None
    if options.auth is Auth.IAM:
        return authorizers.HttpIamAuthorizer()
    if users:
        return authorizers.HttpUserPoolAuthorizer("Tokens", users.pool, user_pool_clients=[users.client])
    if options.jwt_issuer is None:
        raise ValueError("auth=jwt needs either a user pool or an issuer")
    return authorizers.HttpJwtAuthorizer("Tokens", options.jwt_issuer, jwt_audience=list(options.jwt_audience))
