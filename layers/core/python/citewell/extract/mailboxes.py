"""Mailboxes in one file (RFC 4155's mbox): messages one after the other; Apple Mail's files, of one message each."""

from __future__ import annotations

import re

_SEPARATOR = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*\d{4}[^\r\n]*\r?\n(?=[!-9;-~]+:)")
_ESCAPED = re.compile(rb"^>(?=>*From )", re.MULTILINE)
_LENGTH = re.compile(rb"\d{1,10}[ \t]*\r?\n(?=[!-9;-~]+:)")
_PROPERTIES = re.compile(rb"<\?xml\s[^>]*>\s*<(?:!DOCTYPE )?plist\s")


def messages_in(data: bytes) -> list[bytes]:
    """The messages of a mailbox, without the lines between them; ``data`` itself when it is one message."""
    if length := _LENGTH.match(data):
        return [_without_properties(data[length.end() :])]
    if not _SEPARATOR.match(data):
        return [data]
    _, *messages = _SEPARATOR.split(data)
    return [_ESCAPED.sub(b"", message) for message in messages]


def _without_properties(data: bytes) -> bytes:
    """Without what Apple Mail notes behind a message, such as whether it was read."""
    start = data.rfind(b"<?xml ")
    return data[:start] if start >= 0 and _PROPERTIES.match(data, start) else data
