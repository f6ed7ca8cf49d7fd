"""Tells the format of a text, in whatever encoding: a page, a mail, data, a table, or else Markdown."""

from __future__ import annotations

import codecs
import re

from citewell.errors import DocumentRejected
from citewell.extract.delimiters import table_in
from citewell.extract.formats import Format
from citewell.extract.html_sniffing import (
    PROLOGUE,
    begins_with_element,
    is_component,
    is_fragment,
    is_page,
    is_page_behind_text,
    is_tagged_text,
)
from citewell.extract.mail_heads import end_of_head

_SAMPLE_BYTES = 1_100_000
_TAIL_BYTES = 1_024
_HEAD_BYTES = 64
_MOST_STRAY_NULS = 0.1
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16's, with which it begins
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SHIFTED = re.compile(rb"\x1b(?:\$[@AB]|\$\([CD]|\([BIJ])")

_XML = re.compile(PROLOGUE + r"(?: <!doctype | <svg[\s>] )", re.IGNORECASE | re.VERBOSE)
_ROOT = re.compile(PROLOGUE + r"<([A-Za-z_][\w:.-]*+)[\s>]", re.VERBOSE)
_XML_DECLARATION = re.compile(r"\s*<\?xml\s")
_JSON = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*(?:[\"\[{\]\d-]|true\b|false\b|null\b))")

_FIELD = re.compile(r"([!-9;-~]+):")
_MAIL_FIELDS = frozenset({
    "mime-version", "message-id", "received", "return-path", "delivered-to", "dkim-signature",
    "content-transfer-encoding",
})  # fmt: skip
_LENGTH = re.compile(r"\d{1,10}[ \t]*\n(?=[!-9;-~]+:)")
"""Of the message that follows, in Apple Mail's files."""
_LEAST_FIELDS = 3
_LEAST_FIELD_SHARE = 0.8
_MIME = re.compile(r"(?:MIME-Version:\s*1\.0\b|Content-Type:\s*(?:multipart|message)/)", re.IGNORECASE)
_ADDRESS_FROM = re.compile(r"^From:.*@", re.IGNORECASE | re.MULTILINE)
_CLOCK_DATE = re.compile(r"^Date:.*\d{1,2}:\d{2}", re.IGNORECASE | re.MULTILINE)


def text_format_of(data: bytes) -> Format:
    """The format of ``data``, which begins like no binary format. Raises DocumentRejected ``unsupported_type`` for XML.

    It is looked at, not read: Markdown is also what may turn out to be no text at all.
    """
    head = _roughly_decoded(data)
    end = data[-_TAIL_BYTES:].decode("latin-1").replace("\x00", "")
    if is_page(head):
        return Format.HTML
    if _XML.match(head) or _XML_DECLARATION.match(head):
        raise DocumentRejected("unsupported_type", "XML document: this format can't be read")
    if is_mail(head):
        return Format.EML
    if _JSON.match(head):
        return Format.JSON
    if is_page_behind_text(head, end) or is_fragment(head, end):
        return Format.HTML
    if _is_xml(head, end):
        raise DocumentRejected("unsupported_type", "XML document: this format can't be read")
    if table_in(head):
        return Format.CSV
    if is_tagged_text(head):
        return Format.HTML
    return Format.MARKDOWN


def is_mail(text: str) -> bool:
    """Whether ``text`` begins with a message's header: fields that only mail has, or a sender's address and a time."""
    text = text.lstrip("\n")
    if length := _LENGTH.match(text):
        text = text[length.end() :]
    header = text[: end_of_head(text)]
    lines = [line for line in header.split("\n") if line and not line[0].isspace()]
    if lines and lines[0].startswith("From "):  # a mailbox's separator
        lines.pop(0)
    names = [match[1].lower() for line in lines if (match := _FIELD.match(line))]
    if _MIME.match(header) or (lines and _MIME.match(lines[0])):
        return True
    if len(names) < _LEAST_FIELDS or len(names) < _LEAST_FIELD_SHARE * len(lines):
        return False
    if not _MAIL_FIELDS.isdisjoint(names):
        return True
    return _ADDRESS_FROM.search(header) is not None and _CLOCK_DATE.search(header) is not None


def _is_xml(head: str, end: str) -> bool:
    """Whether one element, of no page, is the whole text."""
    root = _ROOT.match(head)
    if root is None or begins_with_element(head) or is_component(head):
        return False
    return end.rstrip().endswith(f"</{root[1]}>")


def _roughly_decoded(data: bytes) -> str:
    """The first lines of ``data``, for looking at: what of them is ASCII in any encoding is right, no more."""
    sample = data[:_SAMPLE_BYTES]
    encoding = next((encoding for mark, encoding in _WIDE if sample.startswith(mark)), None)
    if encoding is None and sample.count(b"\x00", 0, _HEAD_BYTES) > _MOST_STRAY_NULS * len(sample[:_HEAD_BYTES]):
        encoding = "utf-16-be" if sample[0] == 0 else "utf-16-le"
    elif encoding is None:
        encoding = "iso2022_jp_2" if sample.isascii() and _SHIFTED.search(sample) else "utf-8"
    text = sample.removeprefix(codecs.BOM_UTF8).decode(encoding, "replace").lstrip("\ufeff")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if len(data) <= _SAMPLE_BYTES else text[: text.rfind("\n") + 1] or text
