"""A provider's API key, as a secret that the operator fills."""

from __future__ import annotations

from aws_cdk import RemovalPolicy, SecretValue
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from citewell.edges.secrets import NOT_SET
from infra.rules import acknowledge


class ApiKey(Construct):
    """Holds :data:`citewell.edges.secrets.NOT_SET` until somebody runs::

        aws secretsmanager put-secret-value --secret-id <the output's ARN> --secret-string "$KEY"

    CloudFormation writes the placeholder once, when it makes the secret; later deploys leave the key alone.
    """

    def __init__(self, scope: Construct, construct_id: str, *, description: str) -> None:
        super().__init__(scope, construct_id)
        self.secret = secretsmanager.Secret(
            self,
            "Secret",
            description=description,
            secret_string_value=SecretValue.unsafe_plain_text(NOT_SET),  # no secret yet
            removal_policy=RemovalPolicy.DESTROY,  # a key is its provider's to revoke; nothing is lost with it
        )
        acknowledge(
            self.secret,
            {"SMG4": "only its provider can make a new key; the runbook says how to bring it in while serving"},
        )
