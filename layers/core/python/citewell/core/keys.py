"""What an object's key and user metadata say of its document."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from enum import StrEnum
from typing import TypeGuard

from citewell.core.values import DocumentKey, Metadata
from citewell.errors import DocumentRejected

UserMetadata = Mapping[str, str] | Iterable[tuple[str, str]]

SINGLE_TENANT = "default"
_LONGEST_VALUE = 500
_LONGEST_KEY = 1024
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_ENCODED_WORD = re.compile(r"=\?[^?\s]+\?[bBqQ]\?[^?\s]*\?=")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Tenancy(StrEnum):
    """SINGLE: one tenant owns the bucket. PREFIX: the first segment of a key is its tenant."""

    SINGLE = "single"
    PREFIX = "prefix"


def document_key(key: str, tenancy: Tenancy) -> DocumentKey | None:
    """Which document stands under an object's key; None for a key that names no document.

    Those are the empty objects that consoles put in place of folders (the key ends in ``/``), keys with a NUL or half a
    surrogate pair, which no database takes, and, with ``PREFIX``, keys without a tenant.
    """
    if not key or key.endswith("/") or _UNSTORABLE.search(key):
        return None
    if tenancy is Tenancy.SINGLE:
        return DocumentKey(SINGLE_TENANT, key)
    tenant, _, source = key.partition("/")
    return DocumentKey(tenant, source) if tenant and source else None


def object_key(document: DocumentKey, tenancy: Tenancy) -> str:
    """Under which key the document's object stands: what :func:`document_key` made it from."""
    return document.source if tenancy is Tenancy.SINGLE else f"{document.tenant}/{document.source}"


def is_tenant(name: object) -> TypeGuard[str]:
    """Whether a caller may be of this tenant: one segment of a key, printable, and what it looks like at its ends."""
    return (
        isinstance(name, str)
        and 0 < len(name) <= _LONGEST_KEY
        and name.isprintable()
        and name.strip() == name
        and "/" not in name
    )


def is_group(name: object) -> TypeGuard[str]:
    """Whether a document's ``groups`` could name this one, as :func:`metadata_of` reads them."""
    return (
        isinstance(name, str)
        and 0 < len(name) <= _LONGEST_VALUE
        and " ".join(_CONTROL.sub(" ", name).split()) == name
        and not _UNSTORABLE.search(name)
        and "," not in name
    )


def default_title(source: str) -> str:
    """A title for a document that names none: its file name in words, without the extension."""
    name = source.rstrip("/").rsplit("/", 1)[-1]
    stem = re.sub(r"(?<=.)\.[A-Za-z0-9]{1,8}$", "", name)
    words = " ".join(re.split(r"[\s_-]+", stem)).strip()
    return words[:1].upper() + words[1:] if words else source


def metadata_of(user_metadata: UserMetadata) -> Metadata:
    """An object's user metadata, in which keys have any case and other keys are ignored.

    Raises DocumentRejected ``bad_metadata`` for a value that can't be meant as it stands. Nothing is guessed here:
    ``groups`` decides who may read the document.
    """
    values = _values(user_metadata, _KEYS)
    return Metadata(
        title=values.get("title") or None,
        collection=values.get("collection", ""),
        groups=_groups(values.get("groups", "")),
        effective_date=_date(values.get("effective-date", "")),
        series=values.get("series") or None,
        language=_language(values.get("language", "")),
    )


def groups_of(user_metadata: UserMetadata) -> tuple[str, ...]:
    """Who may read the document, and so also who may know that its other metadata is bad. Raises as metadata_of."""
    return _groups(_values(user_metadata, frozenset({"groups"})).get("groups", ""))


_KEYS = frozenset({"title", "collection", "groups", "effective-date", "series", "language"})


def _values(user_metadata: UserMetadata, keys: frozenset[str]) -> dict[str, str]:
    items = user_metadata.items() if isinstance(user_metadata, Mapping) else user_metadata
    return {name: _decoded(name, value) for key, value in items if (name := key.strip().lower()) in keys}


def _decoded(key: str, value: str) -> str:
    """The value as written: S3 hands values that aren't ASCII back as RFC 2047 encoded words."""
    encoded = _ENCODED_WORD.search(value)
    if encoded:
        try:
            value = str(make_header(decode_header(value)))
            value.encode()  # some charsets decode to halves of surrogate pairs
        except (HeaderParseError, LookupError, ValueError) as error:  # UnicodeError is a ValueError
            raise _bad(key, "is not a valid RFC 2047 encoded value") from error
    words = " ".join(_CONTROL.sub(" ", value).split())
    if encoded and not words:
        raise _bad(key, "is an encoded value of nothing")
    if len(words) > _LONGEST_VALUE:
        raise _bad(key, f"is longer than {_LONGEST_VALUE} characters")
    return words


def _groups(value: str) -> tuple[str, ...]:
    groups = tuple(sorted({group for part in value.split(",") if (group := part.strip())}))
    if value and not groups:
        # No group at all would mean everyone; whoever wrote a comma meant some.
        raise _bad("groups", "names no group")
    return groups


def _date(value: str) -> str | None:
    if not value:
        return None
    try:
        return datetime.datetime.strptime(value, "%Y-%m-%d").date().isoformat()
    except ValueError as error:
        raise _bad("effective-date", "is not a date as in 2025-01-31") from error


def _language(value: str) -> str | None:
    if not value:
        return None
    if not _LANGUAGE.fullmatch(value):
        raise _bad("language", "is not a language tag such as en or pt-BR")
    return value.lower()


def _bad(key: str, what: str) -> DocumentRejected:
    return DocumentRejected("bad_metadata", f"the object's metadata {key.strip().lower()!r} {what}", stage="metadata")
