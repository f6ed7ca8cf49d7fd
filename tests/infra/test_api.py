"""Who may call the API, and what it says of itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from citewell.core.keys import Tenancy
from infra.options import Auth, OptionError, Options, Removal
from tests.infra.conftest import Synthesise
from tests.infra.templates import Json, Template, references

ISSUER = Options(
    jwt_issuer="https://login.example.com/",
    jwt_audience=("citewell", "intranet"),
    tenant_claim="org",
    groups_claim="roles",
    tenancy=Tenancy.PREFIX,
    removal_policy=Removal.DESTROY,
)
PRINCIPALS = Options(auth=Auth.IAM, cors_origins=("https://intranet.example.com", "https://wiki.example.com"))
ANYONE = Options(auth=Auth.NONE, allow_anonymous=True)
ALL = pytest.mark.parametrize(
    "options", [Options(), ISSUER, PRINCIPALS, ANYONE], ids=["default", "issuer", "principals", "anyone"]
)
UNROUTED = {f"{method} /{{proxy+}}" for method in ("GET", "POST", "PUT", "PATCH", "DELETE")}


def routes(template: Template) -> dict[str, Json]:
    found = template.of_type("AWS::ApiGatewayV2::Route").values()
    return {each["Properties"]["RouteKey"]: each["Properties"] for each in found}


def users(template: Template) -> tuple[Json, Json]:
    """Properties of the pool and of its client."""
    return template.only("AWS::Cognito::UserPool")[1], template.only("AWS::Cognito::UserPoolClient")[1]


# --- routes ---


@ALL
def test_the_api_has_exactly_the_documented_routes(options: Options, synthesise: Synthesise) -> None:
    documented = {"POST /ask", "POST /search", "GET /documents", "GET /documents/{source+}", "GET /health"}
    assert routes(synthesise(options)).keys() == documented | UNROUTED


def test_what_fits_no_route_goes_to_the_function_that_says_so(template: Template) -> None:
    documents, _ = template.functions()["documents"]
    for key in UNROUTED:
        integration = routes(template)[key]["Target"]["Fn::Join"][1][1]["Ref"]
        assert documents in references(template.resources[integration]["Properties"]["IntegrationUri"])


@ALL
def test_no_route_takes_a_preflight_which_would_have_to_bring_a_token(options: Options, synthesise: Synthesise) -> None:
    for key in routes(synthesise(options)):
        assert not key.startswith(("OPTIONS", "ANY", "$default"))


# --- authentication ---


def test_by_default_every_route_wants_a_token_of_the_stacks_own_pool(template: Template) -> None:
    name, authorizer = template.only("AWS::ApiGatewayV2::Authorizer")
    pool, _ = template.only("AWS::Cognito::UserPool")
    client, _ = template.only("AWS::Cognito::UserPoolClient")
    assert authorizer["AuthorizerType"] == "JWT"
    assert authorizer["IdentitySource"] == ["$request.header.Authorization"]
    assert authorizer["JwtConfiguration"]["Audience"] == [{"Ref": client}]
    assert pool in references(authorizer["JwtConfiguration"]["Issuer"])
    for key, route in routes(template).items():
        assert (route["AuthorizationType"], route["AuthorizerId"]) == ("JWT", {"Ref": name}), key


def test_another_issuer_is_trusted_with_its_audiences_and_there_is_no_pool(synthesise: Synthesise) -> None:
    template = synthesise(ISSUER)
    name, authorizer = template.only("AWS::ApiGatewayV2::Authorizer")
    assert authorizer["JwtConfiguration"] == {
        "Issuer": "https://login.example.com/",
        "Audience": ["citewell", "intranet"],
    }
    for route in routes(template).values():
        assert (route["AuthorizationType"], route["AuthorizerId"]) == ("JWT", {"Ref": name})
    assert not template.of_type("AWS::Cognito::UserPool")
    assert not template.outputs.keys() & {"UserPoolId", "UserPoolClientId"}


def test_aws_principals_sign_every_request(synthesise: Synthesise) -> None:
    template = synthesise(PRINCIPALS)
    assert {route["AuthorizationType"] for route in routes(template).values()} == {"AWS_IAM"}
    assert not template.of_type("AWS::ApiGatewayV2::Authorizer")
    assert not template.of_type("AWS::Cognito::UserPool")


def test_only_who_says_so_twice_lets_anyone_in(synthesise: Synthesise) -> None:
    with pytest.raises(OptionError, match="say so twice"):
        Options(auth=Auth.NONE)
    template = synthesise(ANYONE)
    assert {route["AuthorizationType"] for route in routes(template).values()} == {"NONE"}
    assert not template.of_type("AWS::Cognito::UserPool")


@ALL
def test_the_functions_expect_the_authorizer_that_stands_before_them(options: Options, synthesise: Synthesise) -> None:
    functions = synthesise(options).functions()
    for name in ("ask", "documents"):
        variables = functions[name][1]["Environment"]["Variables"]
        assert variables["CITEWELL_AUTH"] == options.auth
        assert variables["CITEWELL_TENANCY"] == options.tenancy
        if options.auth is Auth.JWT:
            assert variables["CITEWELL_TENANT_CLAIM"] == options.tenant_claim
            assert variables["CITEWELL_GROUPS_CLAIM"] == options.groups_claim


@ALL
def test_only_the_gateway_may_call_the_functions(options: Options, synthesise: Synthesise) -> None:
    template = synthesise(options)
    api, _ = template.only("AWS::ApiGatewayV2::Api")
    for permission in template.of_type("AWS::Lambda::Permission").values():
        properties = permission["Properties"]
        if properties["Principal"] == "apigateway.amazonaws.com":
            assert api in references(properties["SourceArn"])
        assert properties["Principal"] != "*"
    assert not template.of_type("AWS::Lambda::Url")


# --- the pool ---


def test_nobody_signs_up_and_nobody_names_a_tenant_for_themselves(template: Template) -> None:
    pool, client = users(template)
    assert pool["AdminCreateUserConfig"]["AllowAdminCreateUserOnly"] is True
    assert [each["Name"] for each in pool["Schema"]] == ["tenant"]
    # Said outright: a client without a list may write every standard attribute, the address included.
    assert client["WriteAttributes"] == ["name"]
    assert "custom:tenant" in client["ReadAttributes"], "or it wouldn't be in the token"
    assert "LambdaConfig" not in pool


def test_passwords_are_strong_and_a_second_factor_is_possible(template: Template) -> None:
    pool, _ = users(template)
    policy = pool["Policies"]["PasswordPolicy"]
    assert policy["MinimumLength"] >= 12
    assert all(policy[f"Require{kind}"] for kind in ("Lowercase", "Uppercase", "Numbers", "Symbols"))
    assert (pool["MfaConfiguration"], pool["EnabledMfas"]) == ("OPTIONAL", ["SOFTWARE_TOKEN_MFA"])


def test_tokens_are_good_for_an_hour_and_sign_in_tells_nobody_who_exists(template: Template) -> None:
    _, client = users(template)
    assert client["TokenValidityUnits"] == {"AccessToken": "minutes", "IdToken": "minutes", "RefreshToken": "minutes"}
    assert (client["AccessTokenValidity"], client["IdTokenValidity"], client["RefreshTokenValidity"]) == (60, 60, 1440)
    assert client["PreventUserExistenceErrors"] == "ENABLED"
    assert client["EnableTokenRevocation"] is True
    assert set(client["ExplicitAuthFlows"]) == {
        "ALLOW_ADMIN_USER_PASSWORD_AUTH",
        "ALLOW_REFRESH_TOKEN_AUTH",
        "ALLOW_USER_PASSWORD_AUTH",
        "ALLOW_USER_SRP_AUTH",
    }
    assert not client.get("AllowedOAuthFlowsUserPoolClient")
    assert not client.get("CallbackURLs")


def test_people_outlive_the_stack_unless_it_is_to_leave_nothing(synthesise: Synthesise) -> None:
    name, pool = synthesise(Options()).only("AWS::Cognito::UserPool")
    assert pool["DeletionProtection"] == "ACTIVE"
    assert synthesise(Options()).resources[name]["DeletionPolicy"] == "Retain"
    removed = synthesise(Options(removal_policy=Removal.DESTROY))
    name, pool = removed.only("AWS::Cognito::UserPool")
    assert pool["DeletionProtection"] == "INACTIVE"
    assert removed.resources[name]["DeletionPolicy"] == "Delete"


def test_the_pool_and_its_client_are_named_in_the_outputs(template: Template) -> None:
    pool, _ = template.only("AWS::Cognito::UserPool")
    client, _ = template.only("AWS::Cognito::UserPoolClient")
    assert template.outputs["UserPoolId"]["Value"] == {"Ref": pool}
    assert template.outputs["UserPoolClientId"]["Value"] == {"Ref": client}


# --- stage ---


@ALL
def test_every_request_is_logged_for_a_month_without_what_was_asked(options: Options, synthesise: Synthesise) -> None:
    template = synthesise(options)
    _, stage = template.only("AWS::ApiGatewayV2::Stage")
    logged: dict[str, Any] = json.loads(stage["AccessLogSettings"]["Format"])
    assert {
        "requestId",
        "routeKey",
        "status",
        "latency",
        "caller",
        "authorizerError",
        "integrationError",
    } <= logged.keys()
    assert all(value.startswith("$context.") for value in logged.values())
    assert not {value for value in logged.values() for word in ("path", "query", "sourceIp", "body") if word in value}
    [group] = [
        name
        for name in references(stage["AccessLogSettings"]["DestinationArn"])
        if template.resources.get(name, {}).get("Type") == "AWS::Logs::LogGroup"
    ]
    assert template.resources[group]["Properties"]["RetentionInDays"] == 30
    writers = [each["Properties"].get("LoggingConfig") for each in template.of_type("AWS::Lambda::Function").values()]
    assert group not in references(writers), "the log is the gateway's own"


@ALL
def test_the_stage_throttles_what_the_functions_could_not_answer(options: Options, synthesise: Synthesise) -> None:
    _, stage = synthesise(options).only("AWS::ApiGatewayV2::Stage")
    assert stage["StageName"] == "$default"
    assert 0 < stage["DefaultRouteSettings"]["ThrottlingRateLimit"] <= 100
    assert 0 < stage["DefaultRouteSettings"]["ThrottlingBurstLimit"] <= 200
    assert "RouteSettings" not in stage


def test_events_have_the_payload_that_the_functions_read(template: Template) -> None:
    for integration in template.of_type("AWS::ApiGatewayV2::Integration").values():
        assert integration["Properties"]["PayloadFormatVersion"] == "2.0"


# --- browsers ---


def test_by_default_no_page_of_another_origin_may_ask(template: Template) -> None:
    _, api = template.only("AWS::ApiGatewayV2::Api")
    assert "CorsConfiguration" not in api


def test_pages_of_named_origins_may_ask_with_a_token_and_without_cookies(synthesise: Synthesise) -> None:
    _, api = synthesise(PRINCIPALS).only("AWS::ApiGatewayV2::Api")
    cors = api["CorsConfiguration"]
    assert cors["AllowOrigins"] == ["https://intranet.example.com", "https://wiki.example.com"]
    assert set(cors["AllowMethods"]) == {"GET", "POST"}
    assert {"authorization", "content-type"} <= set(cors["AllowHeaders"])
    assert not cors.get("AllowCredentials")
