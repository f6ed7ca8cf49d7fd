"""Mail messages (RFC 5322 and MIME), also such as are broken in the ways that mail is."""

from __future__ import annotations

import codecs
import email
from collections.abc import Iterator, Sequence
from email.message import Message
from email.utils import collapse_rfc2231_value

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.building import TextBuilder
from citewell.extract.calendar_events import events_of
from citewell.extract.declaring import decoded_as
from citewell.extract.decoding import decode
from citewell.extract.mail_headers import day_of, fields_of, mended, unfolded
from citewell.extract.mail_writing import (
    shown_fields,
    write_attachments,
    write_body,
    write_forwarded,
)
from citewell.extract.options import ReadOptions

_DEEPEST = 30
_HEAD_BYTES = 16
_SIGNATURES = frozenset({"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"})
_ENCRYPTED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_FOR_PROGRAMS = frozenset({"message/delivery-status", "message/disposition-notification", "text/rfc822-headers"})


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """Header fields as metadata, the body once, forwarded messages within it; attachments by name only.

    The title is the subject, the effective date the day it was sent. Raises DocumentRejected ``encrypted`` for a
    message that only its recipient's key opens, ``corrupt`` for parts that nest without an end, ``undecodable`` and
    ``too_large``.
    """
    try:
        # Its lenient policy hands headers over as they are; the strict one fails on those that are malformed.
        message = email.message_from_bytes(mended(_narrow(data)))
    except RecursionError as error:
        raise DocumentRejected("corrupt", "the message's parts are nested without an end") from error
    fields = fields_of(message)
    builder = TextBuilder(options.limits)
    builder.metadata(shown_fields(fields.items()))
    _PartWriter(builder).write_message(message)
    return builder.finish(title=fields["Subject"] or None, effective_date=day_of(fields["Date"]))


def _narrow(data: bytes) -> bytes:
    """A message that was saved as UTF-16 in UTF-8; any other as it is, as its parts may have a charset each."""
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\x00" in data[:_HEAD_BYTES]
    return decode(data, content_type=None).encode() if is_wide else data.removeprefix(codecs.BOM_UTF8)


class _PartWriter:
    """Writes a message's parts in order, and the names of those that are files after them."""

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder

    def write_message(self, message: Message, depth: int = 0) -> None:
        if message.get_content_type() == "multipart/encrypted" or message.get_content_type() in _ENCRYPTED:
            raise DocumentRejected("encrypted", "the message is encrypted for its recipient")
        attachments: list[str] = []
        self._write(message, attachments, depth)
        write_attachments(self._builder, attachments)

    def _write(self, part: Message, attachments: list[str], depth: int) -> None:
        kind = part.get_content_type()
        if depth > _DEEPEST or kind in _FOR_PROGRAMS or kind in _SIGNATURES:
            return
        if not part.is_multipart():
            if _is_text(part) and (depth == 0 or not _is_file(part)):
                self._write_text(part)
            else:
                attachments.append(_file_name(part))
        elif kind == "message/rfc822":
            self._write_forwarded(part, depth)
        elif kind == "multipart/alternative":
            self._write_one_of(_children(part), attachments, depth)
        elif kind == "multipart/related":
            self._write_related(_children(part), attachments, depth)
        else:
            for child in _children(part):
                self._write(child, attachments, depth + 1)

    def _write_text(self, part: Message) -> None:
        text = _text(part)
        if part.get_content_type() == "text/html":
            write_body(self._builder, plain="", html=text)
        elif part.get_content_type() == "text/calendar":
            self._write_events(text)
        else:
            write_body(self._builder, plain=text, html="")

    def _write_events(self, calendar: str) -> None:
        for event in events_of(calendar):
            self._builder.paragraph(event)

    def _write_one_of(self, parts: Sequence[Message], attachments: list[str], depth: int) -> None:
        """The same said in several forms: the plain one or the page, and when and where it is to be."""
        leaves = {leaf.get_content_type(): leaf for part in reversed(parts) if (leaf := _first_leaf(part)) is not None}
        plain, html = leaves.get("text/plain"), leaves.get("text/html")
        if plain is None and html is None:
            if parts:
                self._write(parts[0], attachments, depth + 1)
            return
        write_body(self._builder, plain=_text(plain), html=_text(html))
        if (calendar := leaves.get("text/calendar")) is not None:
            self._write_events(_text(calendar))
        for part in parts:
            attachments.extend(_file_name(leaf) for leaf in part.walk() if _is_file(leaf) and not _is_inline(leaf))

    def _write_related(self, parts: Sequence[Message], attachments: list[str], depth: int) -> None:
        """A page and what it is made of, such as its pictures."""
        for index, part in enumerate(parts):
            if index == 0 or (_is_file(part) and not _is_inline(part)):
                self._write(part, attachments, depth + 1)

    def _write_forwarded(self, part: Message, depth: int) -> None:
        for message in _children(part):
            fields = fields_of(message)
            write_forwarded(self._builder, fields.items(), subject=fields["Subject"])
            try:
                self.write_message(message, depth + 1)
            except DocumentRejected as rejected:
                if rejected.code != "encrypted":
                    raise


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _first_leaf(part: Message) -> Message | None:
    for _ in range(_DEEPEST):
        if not part.is_multipart():
            return part
        children = _children(part)
        if not children:
            return None
        part = children[0]
    return None


def _is_text(part: Message) -> bool:
    """Also what should have parts and has none: its boundary isn't named, or isn't there."""
    return part.get_content_maintype() in {"text", "multipart", "message"}


def _is_file(part: Message) -> bool:
    return part.get_content_disposition() == "attachment" or bool(_raw_file_name(part))


def _is_inline(part: Message) -> bool:
    return part.get_content_maintype() == "image" and part.get_content_disposition() != "attachment"


def _file_name(part: Message) -> str:
    """The name of an attachment; of one that has none its type, and nothing for a picture in the text."""
    return unfolded(_raw_file_name(part)) or ("" if _is_inline(part) else part.get_content_type())


def _raw_file_name(part: Message) -> str:
    for name, header in (("filename", "content-disposition"), ("name", "content-type")):
        try:
            value = part.get_param(name, None, header)
        except (ValueError, IndexError):  # a parameter that is cut off
            continue
        if value:
            return collapse_rfc2231_value(value)
    return ""


def _text(part: Message | None) -> str:
    if part is None:
        return ""
    payload = part.get_payload(decode=True)
    text = decoded_as(_charset(part), payload) if isinstance(payload, bytes) else ""
    return _reflowed(text, part) if part.get_content_type() == "text/plain" else text


def _charset(part: Message) -> str | None:
    try:
        return part.get_content_charset()
    except (ValueError, LookupError, IndexError):
        return None


def _reflowed(text: str, part: Message) -> str:
    """Joins the lines that ``format=flowed`` (RFC 3676) says were one."""
    if str(part.get_param("format", "")).lower() != "flowed":
        return text
    joined = str(part.get_param("delsp", "")).lower() == "yes"
    return "\n".join(_flowing(text.replace("\r\n", "\n").split("\n"), drop_space=joined))


def _flowing(lines: Sequence[str], *, drop_space: bool) -> Iterator[str]:
    paragraph = ""
    for line in lines:
        paragraph += line.removeprefix(" ")
        if line.endswith(" ") and line != "-- ":
            paragraph = paragraph[:-1] if drop_space else paragraph
            continue
        yield paragraph
        paragraph = ""
    if paragraph:
        yield paragraph
