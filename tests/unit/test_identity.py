"""Whatever a caller, an issuer or a wrong deployment sends, nobody sees more than the verified claims allow."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.keys import is_group, metadata_of
from citewell.core.values import Audience
from citewell.errors import ConfigurationError, DocumentRejected, NoTenant
from citewell.identity import audience
from citewell.settings import Settings

TOKENS = Settings(auth="jwt")
TENANTS = Settings(auth="jwt", tenancy="prefix")

ABSENT: Any = object()


def flattened(value: object) -> object:
    """As an HTTP API hands a claim over."""
    if isinstance(value, list):
        return f"[{' '.join(str(flattened(each)) for each in value)}]"
    return value if isinstance(value, str) else json.dumps(value)


def bearer(claims: object) -> str:
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"Bearer e30.{payload}.c2ln"


def event(
    claims: dict[str, Any], *, verified: dict[str, Any] | None = None, authorization: Any = ABSENT
) -> dict[str, Any]:
    """A request of the holder of a token with ``claims``. ``verified`` and ``authorization`` replace what follows."""
    if verified is None:
        verified = {name: flattened(value) for name, value in claims.items()}
    if authorization is ABSENT:
        authorization = bearer({"sub": "someone", **claims})
    return {
        "headers": {"authorization": authorization} if authorization is not None else {},
        "requestContext": {"authorizer": {"jwt": {"claims": {"sub": "someone", **verified}, "scopes": None}}},
    }


def groups(claim: Any = ABSENT, *, verified: Any = ABSENT, authorization: Any = ABSENT) -> tuple[str, ...]:
    """The groups of a caller whose token has ``claim`` for its groups."""
    asked = event(
        {} if claim is ABSENT else {"groups": claim},
        verified=None if verified is ABSENT else {"groups": verified},
        authorization=authorization,
    )
    return audience(asked, Settings(auth="jwt", groups_claim="groups")).groups


# --- groups ---


@pytest.mark.parametrize(
    "names",
    [
        ["hr"],
        ["hr", "board"],
        ["hr board", "members"],
        ["[hr]", "hr]", "["],
        ['"hr"', "'board'", "a;b"],
        ["Personal", "Führung", "人事", "рк"],
        [f"group-{number}" for number in range(3000)],
    ],
    ids=["one", "two", "spaces", "brackets", "quotes", "scripts", "huge"],
)
def test_groups_are_those_of_the_token_and_never_parts_of_their_names(names: list[str]) -> None:
    assert groups(names) == tuple(names)


def test_a_group_whose_name_looks_like_two_gives_neither() -> None:
    assert groups(["board hr"]) == ("board hr",)
    assert groups(["board hr"], authorization=None) == ()


@pytest.mark.parametrize(
    "name", ["a,hr", "hr ", " hr", "h\0r", "hr\n", "hr\u00a0", "", " ", "x" * 501, "h  r", "\ud800"]
)
def test_names_that_no_document_can_carry_are_left_out(name: str) -> None:
    assert groups(["staff", name]) == ("staff",)


@pytest.mark.parametrize(
    "value", [None, True, False, 7, 1.5, {"hr": True}, [], [["hr"]], ["hr", 7], [None], ["hr", True]]
)
def test_a_claim_that_lists_no_names_gives_no_groups(value: object) -> None:
    assert groups(value) == ()
    assert groups(value, verified=value) == ()


def test_no_claim_gives_no_groups() -> None:
    assert groups() == ()


def test_a_group_named_twice_counts_once() -> None:
    assert groups(["hr", "hr"]) == ("hr",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hr", ("hr",)),
        ("hr board", ("hr board",)),
        ("[hr board]", ("[hr board]",)),
        ('["hr", "hr board"]', ("hr", "hr board")),
        ('["hr", 7]', ()),
        ('{"hr": 1}', ('{"hr": 1}',)),
        ("[" * 100_000, ()),
        ("7", ("7",)),
    ],
)
def test_a_claim_that_is_text_is_one_name_or_a_json_list(text: str, expected: tuple[str, ...]) -> None:
    assert groups(text) == expected


def test_a_list_that_was_not_flattened_is_taken_as_it_is() -> None:
    assert groups(verified=["hr board", "hr"]) == ("hr board", "hr")


@pytest.mark.parametrize(
    ("verified", "expected"),
    [("[hr]", ("hr",)), ("hr", ("hr",)), ("[hr board]", ()), ("hr board", ()), ("[]", ()), ("", ()), ("[hr\tx]", ()),
     ('["hr"]', ("hr",)), ('["hr","board"]', ("hr", "board"))],
)  # fmt: skip
def test_without_the_token_only_what_is_beyond_doubt_counts(verified: str, expected: tuple[str, ...]) -> None:
    assert groups(verified=verified, authorization=None) == expected


@pytest.mark.parametrize(
    "authorization",
    [
        bearer({"groups": ["staff", "board"]}),
        bearer({"groups": ["hr", "board", "staff"]}),
        bearer({"groups": "hr"}),
        bearer({}),
        bearer([]),
        bearer(None),
        "Bearer not-a-token",
        "Bearer a.b",
        "Bearer a.b.c.d",
        "Bearer e30.!!!!.x",
        "Bearer e30.e30é.x",
        f"Bearer e30.{base64.urlsafe_b64encode(b'[' * 100_000).decode()}.x",
        "Basic aHI6aHI=",
    ],
)
def test_a_token_that_disagrees_with_the_verified_claims_gives_no_groups(authorization: str) -> None:
    assert groups(verified="[hr board]", authorization=authorization) == ()
    assert groups(verified="[hr]", authorization=authorization) == ()


def test_the_scheme_may_be_left_out_as_the_gateway_allows() -> None:
    token = bearer({"groups": ["hr board"]}).removeprefix("Bearer ")
    assert groups(verified="[hr board]", authorization=token) == ("hr board",)


@pytest.mark.parametrize(
    "sent",
    ["{good}, {forged}", "{good},{forged}", "{good} {forged}", "{forged} {good}", "{good} {bare}", "{bare} {bare}",
     "{bare},", ",{bare}", "Bearer  {bare}", " {bare}", "{good} ", "Bearer\t{bare}", "Bearer Bearer {bare}",
     "JWT {bare}", "{good}\n{bare}", "{good}\u00a0{bare}", "{good}.{bare}"],
)  # fmt: skip
def test_of_more_than_one_token_none_is_believed(sent: str) -> None:
    """All of these flatten to what was verified, and the forged one splits a group's name."""
    good, forged = bearer({"groups": ["hr board"]}), bearer({"groups": ["hr", "board"]})
    header = sent.format(good=good, forged=forged, bare=forged.removeprefix("Bearer "))
    assert groups(verified="[hr board]", authorization=header) == ()


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_one_token_is_believed_however_its_scheme_is_written(scheme: str) -> None:
    token = bearer({"groups": ["hr board"]}).removeprefix("Bearer ")
    assert groups(verified="[hr board]", authorization=f"{scheme} {token}") == ("hr board",)


@given(st.lists(st.text(max_size=20), max_size=6))
def test_a_caller_has_exactly_the_nameable_groups_of_the_token(names: list[str]) -> None:
    assert set(groups(names)) == {name for name in names if is_group(name)}


@given(st.text(max_size=40))
def test_a_name_is_a_group_exactly_if_a_documents_metadata_can_name_it(name: str) -> None:
    try:
        named = metadata_of({"groups": name}).groups == (name,) and "=?" not in name
    except DocumentRejected:
        named = False
    assert named <= is_group(name)
    if is_group(name) and "=?" not in name:
        assert metadata_of({"groups": name}).groups == (name,)


# --- tenants ---


@pytest.mark.parametrize("tenant", ["acme", "Acme GmbH", "acme.example", "аcme", "ACME", "..", "7", "[acme]"])
def test_the_tenant_is_the_claim_to_the_letter(tenant: str) -> None:
    assert audience(event({"custom:tenant": tenant}), TENANTS) == Audience(tenant)


@pytest.mark.parametrize(
    "claim",
    [None, True, 7, {"a": 1}, ["acme"], "", " ", " acme", "acme ", "acme/", "/acme", "a/b", "/", "acme\0", "ac\nme",
     "acme\u200b", "acme\u202e", "acme\u00a0", "\ud800", "x" * 1025],
)  # fmt: skip
def test_a_claim_that_is_no_tenant_is_refused(claim: object) -> None:
    with pytest.raises(NoTenant):
        audience(event({}, verified={"custom:tenant": claim}), TENANTS)


def test_a_token_without_a_tenant_is_refused() -> None:
    with pytest.raises(NoTenant):
        audience(event({}), TENANTS)


def test_only_verified_claims_name_a_tenant() -> None:
    asked = event({}, verified={}, authorization=bearer({"custom:tenant": "acme", "cognito:groups": ["hr"]}))
    with pytest.raises(NoTenant):
        audience(asked, TENANTS)
    assert audience(asked, TOKENS) == Audience("default")


def test_with_one_tenant_the_claim_means_nothing() -> None:
    assert audience(event({"custom:tenant": "acme"}), TOKENS) == Audience("default")


def test_the_deployment_names_the_claims() -> None:
    settings = Settings(auth="jwt", tenancy="prefix", tenant_claim="https://example.com/org", groups_claim="roles")
    claims = {"https://example.com/org": "acme", "roles": ["hr"], "custom:tenant": "x", "cognito:groups": ["y"]}
    assert audience(event(claims), settings) == Audience("acme", ("hr",))


# --- what a caller writes, and how a deployment can be wrong ---


def test_nothing_else_in_a_request_names_a_tenant_or_groups() -> None:
    asked = event({"custom:tenant": "acme", "cognito:groups": ["staff"]})
    liar = {"tenant": "other", "groups": "hr", "custom:tenant": "other", "cognito:groups": "hr"}
    asked |= {
        "queryStringParameters": liar,
        "pathParameters": liar,
        "stageVariables": liar,
        "cookies": ["tenant=other"],
        "body": json.dumps(liar),
        "claims": liar,
        "authorizer": {"jwt": {"claims": liar}},
    }
    asked["headers"] |= liar | {"x-citewell-tenant": "other", "x-amzn-oidc-data": bearer(liar)}
    asked["requestContext"] |= {"jwt": {"claims": liar}}
    asked["requestContext"]["authorizer"] |= {"claims": liar, "lambda": liar, "iam": liar}
    assert audience(asked, TENANTS) == Audience("acme", ("staff",))


@pytest.mark.parametrize(
    "context",
    [
        ABSENT,
        None,
        {},
        {"authorizer": None},
        {"authorizer": {}},
        {"authorizer": "jwt"},
        {"authorizer": {"jwt": None}},
        {"authorizer": {"jwt": {}}},
        {"authorizer": {"jwt": {"claims": None}}},
        {"authorizer": {"jwt": {"claims": {}, "scopes": []}}},
        {"authorizer": {"jwt": {"claims": [1]}}},
        {"authorizer": {"claims": {"sub": "x"}}},
        {"authorizer": {"iam": {"userArn": "arn"}}},
        {"authorizer": {"lambda": {"sub": "x"}}},
    ],
)
@pytest.mark.parametrize("settings", [TOKENS, TENANTS], ids=["single", "prefix"])
def test_a_request_without_verified_claims_is_nobodys(settings: Settings, context: Any) -> None:
    request = {"headers": {"authorization": bearer({"sub": "x", "custom:tenant": "acme"})}}
    if context is not ABSENT:
        request["requestContext"] = context
    with pytest.raises(ConfigurationError, match="auth=jwt"):
        audience(request, settings)


def test_without_authentication_a_caller_has_no_groups_whatever_an_authorizer_says() -> None:
    asked = event({"custom:tenant": "acme", "cognito:groups": ["hr"]})
    assert audience(asked, Settings(auth="none")) == Audience("default")
    assert audience({}, Settings(auth="none")) == Audience("default")


def test_an_aws_principal_has_no_groups_and_must_have_been_verified() -> None:
    verified = {"requestContext": {"authorizer": {"iam": {"userArn": "arn:aws:iam::000000000000:user/a"}}}}
    assert audience(verified, Settings(auth="iam")) == Audience("default")
    others: list[dict[str, Any]] = [
        {},
        {"requestContext": {"authorizer": {"iam": {}}}},
        event({"cognito:groups": ["hr"]}),
    ]
    for unverified in others:
        with pytest.raises(ConfigurationError, match="auth=iam"):
            audience(unverified, Settings(auth="iam"))


@pytest.mark.parametrize("auth", ["none", "iam"])
def test_several_tenants_are_told_apart_by_tokens_alone(auth: str) -> None:
    with pytest.raises(ConfigurationError, match="tenancy=prefix needs verified tokens"):
        audience(event({"custom:tenant": "acme"}), Settings(auth=auth, tenancy="prefix"))
