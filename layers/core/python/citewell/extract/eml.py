"""Mail messages (RFC 5322 and MIME), also such as are broken in the ways that mail is."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from email.message import Message

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.building import TextBuilder
from citewell.extract.calendar_events import events_of
from citewell.extract.decoding import decode
from citewell.extract.html import read as read_page
from citewell.extract.mail_armour import is_encrypted, without_files, without_signature
from citewell.extract.mail_headers import ASCII, charset_in, charset_of, day_of, fields_of, parameter_of, unfolded
from citewell.extract.mail_parsing import parsed
from citewell.extract.mail_signed import encrypted, is_signature, opened
from citewell.extract.mail_text import content_of, is_base64, text_of
from citewell.extract.mail_writing import (
    repeats,
    shown_fields,
    write_attachments,
    write_body,
    write_forwarded,
)
from citewell.extract.mailboxes import messages_in
from citewell.extract.options import ReadOptions
from citewell.extract.web_archives import page_in

_DEEPEST = 30
_HEAD_BYTES = 16
_SIGNATURES = frozenset({"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"})
_ENVELOPES = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_FORMS = frozenset({"text/plain", "text/html", "text/calendar"})
_FOR_PROGRAMS = frozenset({"message/delivery-status", "message/disposition-notification", "text/rfc822-headers"})


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """Header fields as metadata, the body once, forwarded messages within it; attachments by name only.

    The title is the subject, the effective date the day it was sent; in a mailbox, each message is a section, which
    says so where it can't be read. What only has the form of a mail is the page in it.
    Raises DocumentRejected ``encrypted`` for a message that only its recipient's key opens, ``corrupt`` for parts that
    nest without an end, ``undecodable`` and ``too_large``.
    """
    builder = TextBuilder(options.limits)
    writer = _PartWriter(builder)
    messages = messages_in(_narrow(data).lstrip(b"\r\n"))
    if len(messages) > 1:
        for each in messages:
            writer.write_one_of_many(each)
        return builder.finish()
    message = parsed(messages[0])
    if (page := page_in(message)) is not None:
        return _read_saved(page, options)
    fields = fields_of(message)
    builder.metadata(shown_fields(fields.items()))
    writer.write_message(message)
    return builder.finish(title=fields["Subject"] or None, effective_date=day_of(fields["Date"]))


def _read_saved(page: Message, options: ReadOptions) -> ExtractedText:
    charset = charset_of(page)
    content_type = f"text/html; charset={charset}" if charset not in {None, ASCII} else None
    return read_page(content_of(page), replace(options, content_type=content_type))


def write_signed(data: bytes, builder: TextBuilder) -> None:
    """Write the parts of a message that stands whole in another, under its signature."""
    _PartWriter(builder).write_message(parsed(data))


def _narrow(data: bytes) -> bytes:
    """A message that was saved as UTF-16 in UTF-8; any other as it is, as its parts may have a charset each."""
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\x00" in data[:_HEAD_BYTES]
    return decode(data, content_type=None).encode() if is_wide else data.removeprefix(codecs.BOM_UTF8)


class _PartWriter:
    """Writes a message's parts in order, and the names of those that are files after them."""

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._has_body = False
        self._plain = ""
        self._charset: str | None = None
        self._undecodable: DocumentRejected | None = None

    def write_message(self, message: Message, depth: int = 0) -> None:
        self._has_body, self._plain, self._charset, self._undecodable = False, "", charset_in(message), None
        if message.get_content_type() == "multipart/encrypted":
            raise encrypted()
        attachments: list[str] = []
        self._write(message, attachments, depth)
        if self._undecodable is not None and not self._has_body:
            raise self._undecodable
        write_attachments(self._builder, attachments)

    def write_one_of_many(self, data: bytes) -> None:
        """One of a mailbox: what is wrong with it is no matter of the others."""
        with self._telling_what_is_wrong():
            self.write_section(parsed(data))

    def write_section(self, message: Message, depth: int = 0) -> None:
        """A message among others, as far as it can be read."""
        fields = fields_of(message)
        write_forwarded(self._builder, fields.items(), subject=fields["Subject"])
        with self._telling_what_is_wrong():
            self.write_message(message, depth)

    @contextmanager
    def _telling_what_is_wrong(self) -> Iterator[None]:
        try:
            yield
        except DocumentRejected as rejected:
            if rejected.code == "too_large":
                raise
            self._builder.paragraph(f"Not read: {rejected.code}")

    def _write(self, part: Message, attachments: list[str], depth: int) -> None:
        kind = part.get_content_type()
        if depth > _DEEPEST or kind in _FOR_PROGRAMS or kind in _SIGNATURES:
            return
        if kind in _ENVELOPES and (depth == 0 or is_signature(content_of(part))):
            self._write(parsed(opened(content_of(part))), attachments, depth + 1)
        elif not part.is_multipart():
            if _is_text(part) and (depth == 0 or self._is_shown(part)):
                self._write_text(part, attachments)
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

    def _is_shown(self, part: Message) -> bool:
        """A text that has a name is a file, unless it is to be shown, or an invitation, or nothing else is there."""
        disposition = part.get_content_disposition()
        is_file = self._has_body and part.get_content_type() != "text/calendar" and _raw_file_name(part) != ""
        return disposition == "inline" or (disposition is None and not is_file)

    def _write_text(self, part: Message, attachments: list[str]) -> None:
        text = self._text_of(part)
        if text is None:
            attachments.append(_file_name(part))
            return
        before, self._plain = self._plain, ""
        if part.get_content_type() == "text/html":
            if not repeats(self._builder, html=text, plain=before):  # some programs send two forms one by one
                self._write_body("", text)
        elif part.get_content_type() == "text/calendar":
            self._write_events(text)
        else:
            text, names = without_files(text)
            self._write_body(text, "")
            self._plain = text
            attachments.extend(names)

    def _text_of(self, part: Message) -> str | None:
        """None where it can't be decoded, which matters only if there is nothing else to read."""
        try:
            return text_of(part, otherwise=self._charset)
        except DocumentRejected as rejected:
            self._undecodable = rejected
            return None

    def _write_body(self, plain: str, html: str) -> None:
        if is_encrypted(plain) and not self._has_body:
            raise encrypted()
        length = self._builder.length
        write_body(self._builder, plain=without_signature(plain), html=html)
        self._has_body = self._has_body or self._builder.length > length

    def _write_events(self, calendar: str) -> None:
        for event in events_of(calendar, described=not self._has_body):
            self._builder.paragraph(event)

    def _write_one_of(self, parts: Sequence[Message], attachments: list[str], depth: int) -> None:
        """The same said in several forms: the plain one or the page, and when and where it is to be."""
        forms: dict[str, str] = {}
        for part in parts:
            if texts := [
                leaf for leaf in _leaves(part) if leaf.get_content_type() in _FORMS and not _is_attached(leaf)
            ]:
                kind = texts[0].get_content_type()
                same = (leaf for leaf in texts if leaf.get_content_type() == kind)
                forms.setdefault(kind, "\n\n".join(filter(None, map(self._text_of, same))))
        plain, html = forms.get("text/plain", ""), forms.get("text/html", "")
        if not plain and not html:
            if parts:
                self._write(parts[0], attachments, depth + 1)
            return
        self._write_body(plain, html)
        self._write_events(forms.get("text/calendar", ""))
        for leaf in (leaf for part in parts for leaf in _leaves(part)):
            if leaf.get_content_type() == "message/rfc822":
                self._write_forwarded(leaf, depth)
            elif _is_file(leaf) and not _is_inline(leaf):
                attachments.append(_file_name(leaf))

    def _write_related(self, parts: Sequence[Message], attachments: list[str], depth: int) -> None:
        """A page and what it is made of, such as its pictures; some programs put its plain form beside them."""
        page = next((part for part in parts if _is_text(part)), parts[0] if parts else None)
        forms = [part for part in parts if part.get_content_type() in _FORMS and not _is_file(part)]
        if len(forms) > 1 and forms[0].get_content_type() == "text/plain":
            self._write_one_of(forms, attachments, depth)
            page = None
        for part in parts:
            if part is page or (_is_file(part) and not _is_inline(part)):
                self._write(part, attachments, depth + 1)

    def _write_forwarded(self, part: Message, depth: int) -> None:
        for message in _children(part):
            if is_base64(part) and not message.keys():  # which no standard allows, and some programs write
                message["Content-Transfer-Encoding"] = "base64"
                message = parsed(content_of(message))
            self.write_section(message, depth + 1)


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _leaves(part: Message) -> Iterator[Message]:
    """The parts that have none; what a message in it has is its own."""
    if part.get_content_type() == "message/rfc822" or not part.is_multipart():
        yield part
    else:
        for child in _children(part):
            yield from _leaves(child)


def _is_text(part: Message) -> bool:
    """Also what should have parts and has none: its boundary isn't named, or isn't there."""
    return part.get_content_maintype() in {"text", "multipart", "message"}


def _is_attached(part: Message) -> bool:
    return part.get_content_disposition() == "attachment"


def _is_file(part: Message) -> bool:
    return _is_attached(part) or bool(_raw_file_name(part))


def _is_inline(part: Message) -> bool:
    return part.get_content_maintype() == "image" and part.get_content_disposition() != "attachment"


def _file_name(part: Message) -> str:
    """The name of an attachment; of one that has none its type, and nothing for a picture in the text."""
    return unfolded(_raw_file_name(part)) or ("" if _is_inline(part) else part.get_content_type())


def _raw_file_name(part: Message) -> str:
    return parameter_of(part, "filename", "content-disposition") or parameter_of(part, "name", "content-type")
