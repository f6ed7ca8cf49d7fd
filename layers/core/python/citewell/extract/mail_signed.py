"""The message inside of an opaque signature: SignedData of S/MIME (RFC 8551), in BER (X.690)."""

from __future__ import annotations

from citewell.errors import DocumentRejected

_SIGNED_DATA = bytes.fromhex("2a864886f70d010702")
_HEAD_BYTES = 32
_CONSTRUCTED, _LONG_TAG, _LONG_LENGTH = 0x20, 0x1F, 0x80
_END_OF_CONTENTS = b"\x00\x00"
_DEEPEST = 50

_Element = bytes | list["_Element"]


def encrypted() -> DocumentRejected:
    return DocumentRejected("encrypted", "the message is encrypted for its recipient")


def is_signature(data: bytes) -> bool:
    return _SIGNED_DATA in data[:_HEAD_BYTES]


def opened(data: bytes) -> bytes:
    """The message that a signature was put to, which isn't checked; empty where it only brings certificates.

    Raises DocumentRejected ``encrypted`` where the envelope is no signature, ``corrupt`` for one that is damaged.
    """
    if not is_signature(data):
        raise encrypted()
    try:
        content_info, _ = _element(data, 0, 0)
        signed_data = _parts(_parts(_parts(content_info)[1])[0])
        encapsulated = _parts(signed_data[2])  # after the version and the algorithms
        return b"".join(_joined(_parts(content)[0]) for content in encapsulated[1:])
    except (IndexError, ValueError) as error:
        raise DocumentRejected("corrupt", "the message's signature is damaged") from error


def _element(data: bytes, at: int, depth: int) -> tuple[_Element, int]:
    """The element that begins at ``at``, and where the next one does."""
    tag, length = data[at], data[at + 1]
    at += 2
    if tag & _LONG_TAG == _LONG_TAG or depth > _DEEPEST:
        raise ValueError("no element of SignedData is so")
    is_open = length == _LONG_LENGTH
    if length > _LONG_LENGTH:
        size = length - _LONG_LENGTH
        length = int.from_bytes(data[at : at + size], "big")
        at += size
    if not tag & _CONSTRUCTED:
        return data[at : at + length], at + length
    end = at + length
    parts: list[_Element] = []
    while data[at : at + 2] != _END_OF_CONTENTS if is_open else at < end:
        part, at = _element(data, at, depth + 1)
        parts.append(part)
    return parts, at + 2 if is_open else at


def _parts(element: _Element) -> list[_Element]:
    if isinstance(element, bytes):
        raise ValueError("a value where elements should be")
    return element


def _joined(content: _Element) -> bytes:
    return content if isinstance(content, bytes) else b"".join(map(_joined, content))
