"""Who asks: what API Gateway verified of the caller, and nothing that stands elsewhere in the request.

An HTTP API hands claims over as text. Groups become ``[hr board members]``, which no longer says whether those are two
groups or three, so that whoever belongs to one called "hr board" would be taken for two others. What was meant stands
in the token, which the gateway verified and passes on. It is read for that alone, and believed only where it flattens
to the very text that the gateway vouches for. Whatever stays in doubt names no group.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any, TypeGuard

from citewell.core.keys import SINGLE_TENANT, Tenancy, is_group, is_tenant
from citewell.core.values import Audience
from citewell.errors import ConfigurationError, NoTenant
from citewell.settings import Settings

_ONE_TOKEN = re.compile(r"(bearer )?[\w=-]+\.(?P<payload>[\w=-]+)\.[\w=-]+", re.ASCII | re.IGNORECASE)
"""What an authorization header holds: a signed token, and before it perhaps its scheme, which the gateway lets one
leave out."""


def audience(event: Mapping[str, Any], settings: Settings) -> Audience:
    """The caller of an API Gateway event, as the authorizer named by ``settings.auth`` verified it.

    Raises NoTenant when the tenant is to be told by the token and isn't, and ConfigurationError when the request came
    through no such authorizer: it may be anyone's, and must not be answered as if it were nobody's in particular.
    """
    if settings.auth != "jwt":
        if settings.tenancy != Tenancy.SINGLE:
            raise ConfigurationError("tenancy=prefix needs verified tokens to tell the tenant: deploy with auth=jwt")
        if settings.auth == "iam":
            _verified(event, "iam")
        return Audience(SINGLE_TENANT)
    claims = _mapping(_verified(event, "jwt").get("claims"))
    if not claims:
        raise ConfigurationError("auth=jwt, but the authorizer handed over no claims")
    return Audience(tenant=_tenant(claims, settings), groups=_groups(claims, settings.groups_claim, event))


def _verified(event: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    authorizer = _mapping(_mapping(event.get("requestContext")).get("authorizer"))
    if not (verified := _mapping(authorizer.get(kind))):
        raise ConfigurationError(f"auth={kind}, but a request came through no such authorizer: its route lacks one")
    return verified


def _tenant(claims: Mapping[str, Any], settings: Settings) -> str:
    if settings.tenancy == Tenancy.SINGLE:
        return SINGLE_TENANT
    tenant = claims.get(settings.tenant_claim)
    if not is_tenant(tenant):
        raise NoTenant("Your token names no tenant.")
    return tenant


def _groups(claims: Mapping[str, Any], name: str, event: Mapping[str, Any]) -> tuple[str, ...]:
    verified = claims.get(name)
    if isinstance(verified, str):
        token = _token_claims(event)
        verified = _undivided(verified) if token is None else _meant(token.get(name), verified)
    listed = _json_list(verified) if isinstance(verified, str) else verified
    if not _is_list_of_text(listed):
        return ()
    return tuple(dict.fromkeys(filter(is_group, listed)))


def _undivided(verified: str) -> object:
    """Without the token only a single name without white space is beyond doubt."""
    if len(verified.split()) != 1:
        return None
    bare = verified.startswith("[") and verified.endswith("]") and '"' not in verified
    return verified[1:-1] if bare else verified


def _meant(claim: object, verified: str) -> object:
    """The token's ``claim`` if it is what the gateway verified; else None."""
    if _is_list_of_text(claim):
        return claim if f"[{' '.join(claim)}]" == verified else None
    return claim if claim == verified else None


def _json_list(text: str) -> object:
    """Some issuers write a list as text; any other text is one name."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    return value if isinstance(value, list) else [text]


def _is_list_of_text(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _token_claims(event: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The unverified claims of the one token that was sent; None without any. Anything unreadable has no claims, and
    so has a header that holds more: which part of it the gateway verified isn't known."""
    header = _mapping(event.get("headers")).get("authorization")
    if not isinstance(header, str) or not header:
        return None
    sent = _ONE_TOKEN.fullmatch(header)
    if sent is None:
        return {}
    payload = sent["payload"]
    try:
        return _mapping(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))))
    except (ValueError, RecursionError, binascii.Error):
        return {}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
