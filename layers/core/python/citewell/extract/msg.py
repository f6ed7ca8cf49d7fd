"""Outlook messages ([MS-OXMSG]): a compound file of properties."""

from __future__ import annotations

import email
import io
import struct
from functools import partial

import olefile

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.building import TextBuilder
from citewell.extract.declaring import decoded_as
from citewell.extract.eml import write_signed
from citewell.extract.html import meta_charset_of
from citewell.extract.mail_headers import day_of, fields_of
from citewell.extract.mail_signed import encrypted, is_signature, opened
from citewell.extract.mail_writing import shown_fields, write_attachments, write_body, write_forwarded, write_one_of
from citewell.extract.options import ReadOptions
from citewell.extract.outlook_items import fields_of_item
from citewell.extract.outlook_properties import INTERNET_CODEPAGE, MESSAGE_CLASS, Properties, charset_of, shown_time
from citewell.extract.outlook_rtf import html_in_rtf, unpacked
from citewell.extract.rtf import write_rtf

_DEEPEST = 10

# Property ids of [MS-OXPROPS]
_SUBJECT, _HEADERS = 0x0037, 0x007D
_SENDER_NAME, _SENDER_ADDRESS, _SENDER_SMTP = 0x0C1A, 0x0C1F, 0x5D01
_DISPLAY_TO, _DISPLAY_CC = 0x0E04, 0x0E03
_SUBMITTED, _DELIVERED = 0x0039, 0x0E06
_BODY, _HTML, _RTF = 0x1000, 0x1013, 0x1009
_ATTACHMENT, _LONG_NAME, _SHORT_NAME, _DISPLAY_NAME, _FLAGS = 0x3701, 0x3707, 0x3704, 0x3001, 0x3714

_HEAD_BYTES = 16_384
_SHOWN_IN_BODY = 4
_ROOT_HEADER_BYTES, _EMBEDDED_HEADER_BYTES, _PART_HEADER_BYTES = 32, 24, 8


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """As :mod:`citewell.extract.eml` reads mail: header fields, the body once, messages within it, attachments' names.

    Raises DocumentRejected ``corrupt``, ``encrypted``, ``undecodable``, ``too_large`` or ``empty``.
    """
    builder = TextBuilder(options.limits)
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as file:
            message = Properties(file, (), _ROOT_HEADER_BYTES)
            fields = _fields(message)
            builder.metadata(shown_fields(fields.items()))
            _write_message(message, builder, depth=0)
    except (OSError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError, struct.error) as error:
        raise DocumentRejected("corrupt", "the message's storage is damaged") from error
    return builder.finish(title=fields["Subject"] or None, effective_date=_day(message, fields["Date"]))


# --- header ---


def _fields(message: Properties) -> dict[str, str]:
    """As they were sent, where Outlook kept that; else what it shows."""
    fields = fields_of(email.message_from_string(message.text(_HEADERS).lstrip()))
    address = message.text(_SENDER_SMTP) or message.text(_SENDER_ADDRESS)
    name = message.text(_SENDER_NAME)
    sent = message.time(_SUBMITTED) or message.time(_DELIVERED)
    shown = {
        "From": f"{name} <{address}>" if name and "@" in address else name or address,
        "To": message.text(_DISPLAY_TO),
        "Cc": message.text(_DISPLAY_CC),
        "Date": shown_time(sent),
        "Subject": message.text(_SUBJECT),
    }
    return {
        **{key: fields[key] or value for key, value in shown.items()},
        "Subject": shown["Subject"],
        **fields_of_item(message),
    }


def _day(message: Properties, date: str) -> str | None:
    sent = message.time(_SUBMITTED) or message.time(_DELIVERED)
    return day_of(date) or (sent.date().isoformat() if sent else None)


# --- body ---


def _write_message(message: Properties, builder: TextBuilder, *, depth: int) -> None:
    length = builder.length
    _write_body(message, builder)
    if builder.length > length or not _write_secured(message, builder):
        _write_attachments(message, builder, depth=depth)


def _write_body(message: Properties, builder: TextBuilder) -> None:
    plain, html = message.text(_BODY), _html(message)
    rtf = b"" if html.strip() else unpacked(message.binary(_RTF))
    if rtf and not (html := html_in_rtf(rtf)):
        write_one_of(builder, plain=plain, write_page=partial(write_rtf, rtf))
    else:
        write_body(builder, plain=plain, html=html)


def _write_secured(message: Properties, builder: TextBuilder) -> bool:
    """Write what a signature was put to, if the message is such; refuse one that is encrypted."""
    kind = message.text(MESSAGE_CLASS)
    if not kind.startswith("IPM.Note.SMIME"):
        return False
    for path in message.storages("__attach_version1.0_#"):
        content = Properties(message.file, path, _PART_HEADER_BYTES).binary(_ATTACHMENT)
        if is_signature(content) or b"multipart/signed" in content[:_HEAD_BYTES].lower():
            write_signed(opened(content) if is_signature(content) else content, builder)
            return True
    if kind == "IPM.Note.SMIME":
        raise encrypted()
    return False


def _html(message: Properties) -> str:
    page = message.binary(_HTML)
    codepage = message.number(INTERNET_CODEPAGE)
    charset = charset_of(codepage) if codepage else meta_charset_of(page)
    return decoded_as(charset, page) if page else message.text(_HTML)


def _write_attachments(message: Properties, builder: TextBuilder, *, depth: int) -> None:
    names: list[str] = []
    for path in message.storages("__attach_version1.0_#"):
        attachment = Properties(message.file, path, _PART_HEADER_BYTES)
        inner = (*path, f"__substg1.0_{_ATTACHMENT:04X}000D")
        if message.file.exists([*inner, "__properties_version1.0"]):
            if depth < _DEEPEST:
                _write_forwarded(Properties(message.file, inner, _EMBEDDED_HEADER_BYTES), builder, depth=depth + 1)
        elif not attachment.number(_FLAGS) & _SHOWN_IN_BODY:
            names.append(next(filter(None, map(attachment.text, (_LONG_NAME, _SHORT_NAME, _DISPLAY_NAME))), ""))
    write_attachments(builder, names)


def _write_forwarded(message: Properties, builder: TextBuilder, *, depth: int) -> None:
    fields = _fields(message)
    write_forwarded(builder, fields.items(), subject=fields["Subject"])
    _write_message(message, builder, depth=depth)
