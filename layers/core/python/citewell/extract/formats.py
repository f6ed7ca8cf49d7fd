"""The kinds of documents that can be read, and where the reader of each stands."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """The value names the reader: ``citewell.extract.<value>``."""

    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"
    XLSX = "xlsx"
    ODT = "odt"
    RTF = "rtf"
    HTML = "html"
    EML = "eml"
    MSG = "msg"
    CSV = "csv_table"
    JSON = "json_data"
    MARKDOWN = "markdown"
