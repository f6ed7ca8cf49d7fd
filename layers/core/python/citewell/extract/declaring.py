"""What a document declares of itself, its charset, language and date: checked before it is believed."""

from __future__ import annotations

import codecs
import datetime
import re

from citewell.errors import DocumentRejected
from citewell.extract.decoding import decode

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ].*)?")
_LABELS = {
    "x-sjis": "shift_jis",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gbk",
    "x-x-big5": "big5",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "iso-8859-8-i": "iso8859_8",
    "iso-8859-8-e": "iso8859_8",
    "unicode": "utf-8",
    "x-cp1250": "cp1250",
    "x-cp1251": "cp1251",
    "x-cp1252": "cp1252",
}
"""Names of charsets that browsers know, and Python doesn't."""

_SEVEN_BIT = frozenset({"utf-7", "hz", "iso2022_jp", "iso2022_jp_2", "iso2022_kr"})


def decoded_as(charset: str | None, data: bytes) -> str:
    """Text in the charset it is said to be in, read as browsers do: what isn't valid in it is marked, not refused.

    Where no charset is known, as any other text: raises DocumentRejected ``undecodable`` when it can't be told.
    """
    if not data:
        return ""
    charset = _LABELS.get(charset.lower(), charset) if charset else None
    name = _codec(charset)
    if name in _SEVEN_BIT and data.isascii():
        return data.decode(name, "replace")
    try:
        return decode(data, content_type=f"text/plain; charset={charset}" if charset else None)
    except DocumentRejected:
        if name is None:
            raise
        return data.decode("cp1252" if name in {"ascii", "iso8859-1"} else name, "replace")


def _codec(charset: str | None) -> str | None:
    try:
        info = codecs.lookup(charset or "")
        b"".decode(info.name)  # not one of those from text to text
    except (LookupError, ValueError):
        return None
    return info.name


def language_tag_of(value: str) -> str | None:
    """A tag such as ``de`` or ``pt-BR``; None for anything else."""
    value = value.strip()
    return value.replace("_", "-") if _LANGUAGE.fullmatch(value) else None


def date_of(value: str) -> str | None:
    """The day of an ISO 8601 date or time; None for anything else."""
    match = _DATE.fullmatch(value.strip())
    if match is None:
        return None
    try:
        return datetime.date.fromisoformat(match[1]).isoformat()
    except ValueError:
        return None
