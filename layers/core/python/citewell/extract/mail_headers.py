"""Mail headers as people wrote them: RFC 2047's words, bare bytes of any charset, and what isn't valid."""

from __future__ import annotations

import re
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import collapse_rfc2231_value, parsedate_to_datetime

from citewell.errors import DocumentRejected
from citewell.extract.declaring import decoded_as
from citewell.extract.mail_heads import end_of_head

SHOWN = ("From", "To", "Cc", "Date", "Subject")

ASCII = "us-ascii"

_FIELD = re.compile(rb"[!-9;-~]+:")
_KNOWN_FIELD = re.compile(
    rb"(?:from|to|cc|date|subject|message-id|mime-version|content-type|content-transfer-encoding|received|reply-to)\s*:",
    re.IGNORECASE,
)
_LONGEST_LINE = 10_000
_MOST_LINES = 50_000
_LONGEST_HEAD = 100_000
_LONGEST_VALUE = 100_000
_MALFORMED = (ValueError, LookupError, TypeError)
"""What the standard library raises over parameters that are cut off or stand there twice in two forms."""

_FOLD = re.compile(r"\r?\n[ \t]+|[\r\n]+")


def mended(data: bytes) -> bytes:
    """The message with a header that ends at its blank line, and that doesn't take long to read.

    A line among the fields that is none of them would end the header early, and the rest would be read as text; it
    goes on with the field before it.
    """
    data = data.lstrip(b"\r\n")
    header = _head(data)
    lines = [line[:_LONGEST_LINE] for line in header.split(b"\n", _MOST_LINES)[:_MOST_LINES] if line.strip()]
    known = [index for index, line in enumerate(lines) if _KNOWN_FIELD.match(line)]
    last = known[-1] if known else 0
    odd = [index for index in range(1, last) if not _FIELD.match(lines[index]) and lines[index][:1] not in b" \t"]
    if not odd and len(b"\n".join(lines)) == len(header):
        return data
    for index in odd:
        lines[index] = b" " + lines[index]
    return b"\n".join(lines) + data[len(header) :]


def _head(data: bytes) -> bytes:
    """Blank lines within it are part of it; one of bare bytes has as many characters in Latin-1."""
    end = re.search(rb"\r?\n\r?\n", data)
    if end is None or end.start() > _LONGEST_HEAD:
        return data[: end.start()] if end else data
    return data[: end_of_head(data[:_LONGEST_HEAD].decode("latin-1"))]


def fields_of(message: Message) -> dict[str, str]:
    """Those of :data:`SHOWN`; empty where the message doesn't have them."""
    raw: dict[str, str] = {}
    for name, value in message.raw_items():
        raw.setdefault(name.title(), str(value))
    shown = {name: raw.get(name, "") for name in SHOWN}
    charset = None if "".join(shown.values()).isascii() else charset_in(message)
    return {name: unfolded(value, charset) for name, value in shown.items()}


def unfolded(value: str | None, charset: str | None = None) -> str:
    """A field's value in its own characters, bare bytes in ``charset`` where they aren't UTF-8.

    Never fails: what can't be decoded is marked or stays as it is.
    """
    value = _FOLD.sub(" ", (value or "")[:_LONGEST_VALUE]).strip()
    if "=?" not in value:
        return _readable(value.encode("utf-8", "surrogateescape"), charset)
    try:
        parts = decode_header(value)
    except (HeaderParseError, ValueError):
        return value.encode("utf-8", "replace").decode()
    return "".join(part if isinstance(part, str) else _readable(part, charset) for part, charset in parts)


def parameter_of(part: Message, name: str, header: str) -> str:
    """Such as a file's name; also where it is cut off, or in bare bytes."""
    for field, value in part.raw_items():
        if field.lower() == header and not str(value).isascii():
            part.replace_header(field, _readable(str(value).encode("utf-8", "surrogateescape"), None))
            break
    try:
        given = part.get_params([], header)
    except _MALFORMED:
        return ""
    found: list[str | tuple[str | None, str | None, str]] = [
        value for key, value in given if key.lower() == name and value
    ]
    extended = (value for value in found if isinstance(value, tuple))  # RFC 2231's: the other is for older programs
    return collapse_rfc2231_value(next(extended, found[0])) if found else ""


def charset_of(part: Message) -> str | None:
    try:
        return part.get_content_charset()
    except _MALFORMED:
        return None


def charset_in(message: Message) -> str | None:
    """The first that its parts name, in which its program most likely wrote the rest; ASCII where that is all."""
    named = list(filter(None, map(charset_of, message.walk())))
    return next((charset for charset in named if charset != ASCII), named[0] if named else None)


def _readable(value: bytes, charset: str | None) -> str:
    try:
        return decoded_as(charset, value)
    except DocumentRejected:
        return value.decode("utf-8", "replace")


def day_of(date: str) -> str | None:
    """The ISO 8601 day of a ``Date`` field, where it was sent."""
    try:
        return parsedate_to_datetime(date).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
