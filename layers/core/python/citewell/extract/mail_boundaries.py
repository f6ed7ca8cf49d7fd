"""Boundaries of a message's parts that are missing, malformed or cut off."""

from __future__ import annotations

import email
import re
from collections.abc import Collection
from email.message import Message

from citewell.extract.mail_text import content_of

_FIRST = re.compile(
    rb"^--(?P<boundary>[^\w\r\n]*\w[^\r\n]*+)\r?\n"
    rb"(?:[!-9;-~]+:[^\n]*\n(?:[ \t]+\S[^\n]*\n)?){0,5}?Content-[\w-]+:",
    re.MULTILINE | re.IGNORECASE,
)
_FOUND = b"=_found"
_MOST_FOUND = 5
"""In one message, as what stands under each is parsed once more."""
_TAIL_BYTES = 200
_LEAST_CUT = 8


def find_parts(message: Message) -> None:
    """Give parts to a multipart whose boundary isn't named, or isn't the one that stands there.

    It is the first line that begins as one does and has fields under it.
    """
    found = 0
    for part in message.walk():
        if found < _MOST_FOUND and part.get_content_maintype() == "multipart" and not part.is_multipart():
            content = content_of(part)
            if first := _FIRST.search(content):
                part.set_payload(_parts(content, first["boundary"].rstrip()))
                found += 1


def _parts(content: bytes, boundary: bytes) -> list[Message | str]:
    delimiter = re.compile(rb"^--" + re.escape(boundary) + rb"(--)?[ \t]*(?=\r?$)", re.MULTILINE)
    plain = delimiter.sub(rb"--" + _FOUND + rb"\1", content)  # any bytes may be in the one that was there
    head = b'Content-Type: multipart/mixed; boundary="' + _FOUND + b'"\n\n'
    payload = email.message_from_bytes(head + plain).get_payload()
    return [part for part in payload if isinstance(part, Message)] if isinstance(payload, list) else []


def without_cut_boundary(data: bytes, boundaries: Collection[bytes]) -> bytes:
    """Without a last line that is the beginning of the one which ends a part."""
    tail = data[-_TAIL_BYTES:].rstrip()
    line = tail[tail.rfind(b"\n") + 1 :]
    if len(line) < _LEAST_CUT or line.removeprefix(b"--") in boundaries:
        return data
    ends = (b"--" + boundary + b"--" for boundary in boundaries)
    if any(end.startswith(line) and end != line for end in ends):
        return data[: data.rfind(line)]
    return data
