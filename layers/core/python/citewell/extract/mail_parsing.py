"""Messages parsed by the standard library, kept from what makes it take time with the square of a message's size."""

from __future__ import annotations

import email
import re
from collections.abc import Collection
from email.message import Message
from typing import Any

from citewell.errors import DocumentRejected
from citewell.extract.mail_boundaries import find_parts, without_cut_boundary
from citewell.extract.mail_headers import mended

_MOST_NESTED = 100
_BOUNDARY = re.compile(rb"\bboundary\s*=\s*(?:\"([^\"\r\n]+)\"?|([^\s;\"]+))", re.IGNORECASE)
_DELIMITER = re.compile(rb"^--([^\r\n]*)", re.MULTILINE)

_DESCRIBING = re.compile(rb"^Content-(?:Type|Disposition):.*(?:\n[ \t].*)*", re.IGNORECASE | re.MULTILINE)
_MOST_PARAMETERS = 100
_LONGEST_DESCRIPTION = 10_000


def parsed(data: bytes) -> Message:
    """Its lenient policy hands headers over as they are; the strict one fails on those that are malformed.

    Raises DocumentRejected ``corrupt`` for parts that nest without an end: each line is compared with the boundaries of
    all the parts around it.
    """
    boundaries = {quoted or bare for quoted, bare in _BOUNDARY.findall(data)}
    if _is_nested_without_end(data, boundaries):
        raise _nested_without_end()
    try:
        data = without_cut_boundary(data, boundaries)
        message = email.message_from_bytes(mended(_DESCRIBING.sub(_with_few_parameters, data)))
        find_parts(message)
        if _is_deep(message):  # messages in one another have no boundaries
            raise _nested_without_end()
        return message
    except RecursionError as error:
        raise _nested_without_end() from error
    except (TypeError, ValueError, LookupError) as error:
        raise DocumentRejected("corrupt", "the message's boundaries are malformed") from error


def _nested_without_end() -> DocumentRejected:
    return DocumentRejected("corrupt", "the message's parts are nested without an end")


def _is_deep(message: Message) -> bool:
    level: list[Any] = [message]
    for _ in range(_MOST_NESTED):
        level = [part for each in level if each.is_multipart() for part in each.get_payload()]
        if not level:
            return False
    return True


def _is_nested_without_end(data: bytes, boundaries: Collection[bytes]) -> bool:
    if len(boundaries) <= _MOST_NESTED:
        return False
    around: dict[bytes, None] = {}  # in the order in which they were opened
    for delimiter in _DELIMITER.findall(data):
        boundary = delimiter.rstrip()
        is_end = boundary not in boundaries
        boundary = boundary.removesuffix(b"--") if is_end else boundary
        if boundary in around:
            while next(reversed(around)) != boundary:
                around.popitem()
            if is_end:
                around.popitem()
        elif not is_end:
            around[boundary] = None
            if len(around) > _MOST_NESTED:
                return True
    return False


def _with_few_parameters(field: re.Match[bytes]) -> bytes:
    """As each ``;`` that stands in quotation marks takes another look at all before it."""
    return b";".join(field[0][:_LONGEST_DESCRIPTION].split(b";", _MOST_PARAMETERS)[:_MOST_PARAMETERS])
