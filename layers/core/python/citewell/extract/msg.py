"""Outlook messages ([MS-OXMSG]): a compound file of properties."""

from __future__ import annotations

import datetime
import email
import io
import struct
from collections.abc import Iterator
from functools import partial

import olefile

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.building import TextBuilder
from citewell.extract.declaring import decoded_as
from citewell.extract.eml import write_signed
from citewell.extract.html import meta_charset_of
from citewell.extract.legacy_encodings import guess_encoding
from citewell.extract.mail_headers import day_of, fields_of
from citewell.extract.mail_writing import shown_fields, write_attachments, write_body, write_forwarded, write_one_of
from citewell.extract.options import ReadOptions
from citewell.extract.outlook_rtf import html_in_rtf, unpacked
from citewell.extract.rtf import write_rtf

_DEEPEST = 10

# Property ids of [MS-OXPROPS]
_MESSAGE_CLASS, _SUBJECT, _HEADERS = 0x001A, 0x0037, 0x007D
_SENDER_NAME, _SENDER_ADDRESS, _SENDER_SMTP = 0x0C1A, 0x0C1F, 0x5D01
_DISPLAY_TO, _DISPLAY_CC = 0x0E04, 0x0E03
_SUBMITTED, _DELIVERED, _START, _END = 0x0039, 0x0E06, 0x0060, 0x0061
_BODY, _HTML, _RTF = 0x1000, 0x1013, 0x1009
_MESSAGE_CODEPAGE, _INTERNET_CODEPAGE = 0x3FFD, 0x3FDE
_ATTACHMENT, _LONG_NAME, _SHORT_NAME, _DISPLAY_NAME, _FLAGS = 0x3701, 0x3707, 0x3704, 0x3001, 0x3714

_NARROW_TEXT = "001E"
_HEAD_BYTES = 1_024
_SHOWN_IN_BODY = 4
_ROOT_HEADER_BYTES, _EMBEDDED_HEADER_BYTES, _PART_HEADER_BYTES = 32, 24, 8
_EPOCH = datetime.datetime(1601, 1, 1, tzinfo=datetime.UTC)
_CODEPAGES = {65000: "utf-7", 65001: "utf-8", 20127: "ascii", 20866: "koi8_r", 21866: "koi8_u", 28591: "iso8859_1"} | {
    50220: "iso2022_jp", 51932: "euc_jp", 51949: "euc_kr", 54936: "gb18030"
}  # fmt: skip


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """As :mod:`citewell.extract.eml` reads mail: header fields, the body once, messages within it, attachments' names.

    Raises DocumentRejected ``corrupt``, ``encrypted``, ``undecodable``, ``too_large`` or ``empty``.
    """
    builder = TextBuilder(options.limits)
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as file:
            message = _Properties(file, (), _ROOT_HEADER_BYTES)
            fields = _fields(message)
            builder.metadata(shown_fields(fields.items()))
            _write_message(message, builder, depth=0)
    except (OSError, ValueError, LookupError, AttributeError, TypeError, ArithmeticError, struct.error) as error:
        raise DocumentRejected("corrupt", "the message's storage is damaged") from error
    return builder.finish(title=fields["Subject"] or None, effective_date=_day(message, fields["Date"]))


class _Properties:
    """The properties of a message or an attachment: those of variable length are streams, the others a table."""

    def __init__(self, file: olefile.OleFileIO, path: tuple[str, ...], header_bytes: int) -> None:
        self.file = file
        self.path = path
        self._table = dict(_fixed_properties(self._stream("__properties_version1.0")[header_bytes:]))
        codepage = self.number(_MESSAGE_CODEPAGE) or self.number(_INTERNET_CODEPAGE)
        self._charset = _charset(codepage) if codepage else self._guessed_charset()

    def text(self, property_id: int) -> str:
        if wide := self._stream(f"__substg1.0_{property_id:04X}001F"):
            return wide.decode("utf-16-le", "replace").rstrip("\x00")
        return decoded_as(self._charset, self._stream(f"__substg1.0_{property_id:04X}001E")).rstrip("\x00")

    def binary(self, property_id: int) -> bytes:
        return self._stream(f"__substg1.0_{property_id:04X}0102")

    def number(self, property_id: int) -> int:
        return int.from_bytes(self._table.get(property_id, b"")[:4], "little")

    def time(self, property_id: int) -> datetime.datetime | None:
        ticks = int.from_bytes(self._table.get(property_id, b""), "little")
        try:
            return _EPOCH + datetime.timedelta(microseconds=ticks // 10) if ticks else None
        except OverflowError:
            return None

    def storages(self, prefix: str) -> Iterator[tuple[str, ...]]:
        """The paths of the storages right below this one whose names begin with ``prefix``, in order."""
        paths = {tuple(path[: len(self.path) + 1]) for path in self.file.listdir(streams=True, storages=True)}
        depth = len(self.path)
        return (
            path for path in sorted(paths) if len(path) > depth and path[:depth] == self.path
            and path[depth].startswith(prefix)
        )  # fmt: skip

    def _guessed_charset(self) -> str:
        """Told by all texts together, as a subject alone is too short."""
        names = [path[-1] for path in self.file.listdir() if path[:-1] == list(self.path)]
        texts = [self._stream(name).rstrip(b"\x00") for name in sorted(names) if name.upper().endswith(_NARROW_TEXT)]
        return guess_encoding(b"\n".join(texts)) or "cp1252"

    def _stream(self, name: str) -> bytes:
        path = [*self.path, name]
        if not self.file.exists(path):
            return b""
        content: bytes = self.file.openstream(path).read()
        return content


def _fixed_properties(table: bytes) -> Iterator[tuple[int, bytes]]:
    for at in range(0, len(table) - 15, 16):
        yield int.from_bytes(table[at + 2 : at + 4], "little"), table[at + 8 : at + 16]


# --- header ---


def _fields(message: _Properties) -> dict[str, str]:
    """As they were sent, where Outlook kept that; else what it shows."""
    fields = fields_of(email.message_from_string(message.text(_HEADERS).lstrip()))
    address = message.text(_SENDER_SMTP) or message.text(_SENDER_ADDRESS)
    name = message.text(_SENDER_NAME)
    sent = message.time(_SUBMITTED) or message.time(_DELIVERED)
    shown = {
        "From": f"{name} <{address}>" if name and "@" in address else name or address,
        "To": message.text(_DISPLAY_TO),
        "Cc": message.text(_DISPLAY_CC),
        "Date": _shown(sent),
        "Subject": message.text(_SUBJECT),
    }
    return {key: fields[key] or value for key, value in shown.items()} | {"Subject": shown["Subject"]}


def _shown(time: datetime.datetime | None) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC" if time else ""


def _day(message: _Properties, date: str) -> str | None:
    sent = message.time(_SUBMITTED) or message.time(_DELIVERED)
    return day_of(date) or (sent.date().isoformat() if sent else None)


# --- body ---


def _write_message(message: _Properties, builder: TextBuilder, *, depth: int) -> None:
    for label, time in (("Start", message.time(_START)), ("End", message.time(_END))):
        if time and message.text(_MESSAGE_CLASS).startswith("IPM.Appointment"):
            builder.paragraph(f"{label}: {_shown(time)}")
    length = builder.length
    _write_body(message, builder)
    if builder.length > length or not _write_secured(message, builder):
        _write_attachments(message, builder, depth=depth)


def _write_body(message: _Properties, builder: TextBuilder) -> None:
    plain, html = message.text(_BODY), _html(message)
    rtf = b"" if html.strip() else unpacked(message.binary(_RTF))
    if rtf and not (html := html_in_rtf(rtf)):
        write_one_of(builder, plain=plain, write_page=partial(write_rtf, rtf))
    else:
        write_body(builder, plain=plain, html=html)


def _write_secured(message: _Properties, builder: TextBuilder) -> bool:
    """Write what a signature was put to, if the message is such; refuse one that is encrypted."""
    kind = message.text(_MESSAGE_CLASS)
    if kind == "IPM.Note.SMIME":
        raise DocumentRejected("encrypted", "the message is encrypted for its recipient")
    signed = _signed_part(message) if kind.startswith("IPM.Note.SMIME") else b""
    if signed:
        write_signed(signed, builder)
    return bool(signed)


def _signed_part(message: _Properties) -> bytes:
    """The message as it was sent, where Outlook keeps it whole for its signature."""
    for path in message.storages("__attach_version1.0_#"):
        content = _Properties(message.file, path, _PART_HEADER_BYTES).binary(_ATTACHMENT)
        if b"multipart/signed" in content[:_HEAD_BYTES].lower():
            return content
    return b""


def _html(message: _Properties) -> str:
    page = message.binary(_HTML)
    codepage = message.number(_INTERNET_CODEPAGE)
    charset = _charset(codepage) if codepage else meta_charset_of(page)
    return decoded_as(charset, page) if page else message.text(_HTML)


def _write_attachments(message: _Properties, builder: TextBuilder, *, depth: int) -> None:
    names: list[str] = []
    for path in message.storages("__attach_version1.0_#"):
        attachment = _Properties(message.file, path, _PART_HEADER_BYTES)
        inner = (*path, f"__substg1.0_{_ATTACHMENT:04X}000D")
        if message.file.exists([*inner, "__properties_version1.0"]):
            if depth < _DEEPEST:
                _write_forwarded(_Properties(message.file, inner, _EMBEDDED_HEADER_BYTES), builder, depth=depth + 1)
        elif not attachment.number(_FLAGS) & _SHOWN_IN_BODY:
            names.append(next(filter(None, map(attachment.text, (_LONG_NAME, _SHORT_NAME, _DISPLAY_NAME))), ""))
    write_attachments(builder, names)


def _write_forwarded(message: _Properties, builder: TextBuilder, *, depth: int) -> None:
    fields = _fields(message)
    write_forwarded(builder, fields.items(), subject=fields["Subject"])
    _write_message(message, builder, depth=depth)


def _charset(codepage: int) -> str:
    return _CODEPAGES.get(codepage) or (f"iso8859_{codepage - 28590}" if 28590 < codepage < 28607 else f"cp{codepage}")
