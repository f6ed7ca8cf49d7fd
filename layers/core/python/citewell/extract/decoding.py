"""Bytes of a text to its characters: exactly, or not at all."""

from __future__ import annotations

import codecs
import re

from citewell.errors import DocumentRejected

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16's, with which it begins
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SHIFTED = re.compile(rb"\x1b(?:\$[@AB]|\$\([CD]|\$\)[ACG]|\([BIJ])")
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?\s*([\w.:+-]+)", re.IGNORECASE)
_DECLARABLE = re.compile(
    r"utf-(8|16|32)|iso8859-|cp\d|koi8|mac-|big5|gb|hz$|shift_jis|euc_|iso2022_|johab|ptcp|kz1048|tis-620"
)
_AS_BROWSERS_READ_THEM = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
}
_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROLS = 0.05
_CONTROL_BYTES = re.compile(rb"[\x01-\x08\x0e-\x19\x1c-\x1f\x7f]")
_MOST_CONTROL_BYTES = 0.02
_MOST_STRAY = 0.001
_NOT_ASCII_BYTES = re.compile(rb"[\x80-\xff]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_VALID_FOR_A_WRONG_ONE = 4
# Latin to Arabic, Indic to Thai, punctuation, kana, the unified ideographs, Hangul, full-width forms
_EVERYDAY = re.compile(
    r"[\t-\r -~\xa0-\u06ff\u0900-\u0e7f\u2010-\u2027\u2030-\u20bf\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff9f]"
)
_LEAST_EVERYDAY = 0.95
_SAMPLE_CHARACTERS = 65_536


def decode(data: bytes, *, content_type: str | None) -> str:
    """The characters of a text, a byte order mark removed.

    In this order: a byte order mark, UTF-16 or UTF-32 without one, UTF-8, the charset of ``content_type``, UTF-8 with
    a few wrong bytes, which are marked, a legacy encoding where it can be told for certain, and ASCII with a wrong byte
    in a thousand, marked as well. A character that is cut off at the end is left out, and a stray NUL is a space.
    Raises DocumentRejected ``undecodable`` when none of them fits, ``unsupported_type`` when the bytes are no text.
    """
    text = _decode(data, content_type)
    if "\x00" in text:
        raise _not_text()
    if (
        len(_CONTROL.findall(text[:_SAMPLE_CHARACTERS])) > _MOST_CONTROLS * len(text[:_SAMPLE_CHARACTERS])
        and text.strip()
    ):
        raise _not_text()
    return text


def _decode(data: bytes, content_type: str | None) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _strictly(data[len(mark) :], encoding)
    if b"\x00" in data:
        return _without_stray_nuls(data) or _decode_wide(data)
    if data.isascii() and _SHIFTED.search(data):  # 7-bit encodings; a terminal's escapes may look like theirs
        return _strictly(data, "iso2022_kr" if b"\x1b$)C" in data else "iso2022_jp_2")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_legacy(data, content_type)


def _strictly(data: bytes, encoding: str) -> str:
    """As ``encoding``, without a character that is cut off at the end."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError as error:
        if encoding == "utf-8" and (text := _nearly_utf_8(data)):
            return text
        raise DocumentRejected("undecodable", f"the bytes are not valid {encoding}, as which they begin") from error


def _without_stray_nuls(data: bytes) -> str | None:
    """UTF-8 in which a byte in many was lost; None for what has more NULs or other control characters."""
    if data.count(b"\x00") > max(1, _MOST_STRAY * len(data)):
        return None
    try:
        text = data.replace(b"\x00", b" ").decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if _CONTROL.search(text) or not text.strip() else text


def _nearly_utf_8(data: bytes) -> str | None:
    """UTF-8 with a few wrong bytes: in no other encoding do so many others look like it."""
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(data)
    valid = sum(1 for character in _NOT_ASCII.findall(text) if character != "\ufffd")
    return text if valid and valid >= _VALID_FOR_A_WRONG_ONE * text.count("\ufffd") else None


def _decode_wide(data: bytes) -> str:
    """UTF-16 or UTF-32 without a byte order mark: the one reading of characters that occur together.

    Read in the wrong byte order, text is scattered over the whole of Unicode.
    """
    readings = [
        text
        for encoding in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
        if (text := _wide_reading(data, encoding))
    ]
    if len(readings) != 1:
        raise _not_text()
    return readings[0]


def _wide_reading(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    sample = text[:_SAMPLE_CHARACTERS]
    return text if len(_EVERYDAY.findall(sample)) >= _LEAST_EVERYDAY * len(sample) else None


def _decode_legacy(data: bytes, content_type: str | None) -> str:
    if declared := _declared_encoding(content_type):
        try:
            return data.decode(declared)
        except UnicodeDecodeError:
            pass  # a wrong declaration says nothing; the bytes may
    if text := _nearly_utf_8(data):
        return text
    if len(_CONTROL_BYTES.findall(data[:_SAMPLE_CHARACTERS])) > _MOST_CONTROL_BYTES * len(data[:_SAMPLE_CHARACTERS]):
        raise _not_text()
    if not _is_utf_8_of_halves(data):
        from citewell.extract.legacy_encodings import guess_encoding  # its tables are large, and UTF-8 needs none

        if encoding := guess_encoding(data):
            return data.decode(encoding)
    if len(_NOT_ASCII_BYTES.findall(data)) <= _MOST_STRAY * len(data):
        return data.decode("utf-8", "replace")
    raise DocumentRejected(
        "undecodable",
        "not UTF-8, and no other encoding is certain; store it as UTF-8 or name its charset in the Content-Type",
    )


def _is_utf_8_of_halves(data: bytes) -> bool:
    """UTF-8 but for halves of surrogate pairs, as some systems write them: no legacy encoding looks like that."""
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _declared_encoding(content_type: str | None) -> str | None:
    match = _CHARSET.search(content_type or "")
    if match is None:
        return None
    try:
        name = codecs.lookup(match[1]).name
    except LookupError:
        return None
    name = _AS_BROWSERS_READ_THEM.get(name, name)
    return name if _DECLARABLE.match(name) else None


def _not_text() -> DocumentRejected:
    return DocumentRejected("unsupported_type", "the bytes are not text")
