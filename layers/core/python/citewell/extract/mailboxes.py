"""Mailboxes in one file (RFC 4155's mbox): messages one after the other."""

from __future__ import annotations

import re

_SEPARATOR = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\r\n]*\d{4}[^\r\n]*\r?\n(?=[!-9;-~]+:)")
_ESCAPED = re.compile(rb"^>(?=>*From )", re.MULTILINE)


def messages_in(data: bytes) -> list[bytes]:
    """The messages of a mailbox, without the lines between them; ``data`` itself when it is one message."""
    if not _SEPARATOR.match(data):
        return [data]
    _, *messages = _SEPARATOR.split(data)
    return [_ESCAPED.sub(b"", message) for message in messages]
