"""Packages: ZIP archives that are one document, as those of Office Open XML and OpenDocument are."""

from __future__ import annotations

from citewell.errors import DocumentRejected
from citewell.extract.archives import Archive
from citewell.extract.formats import Format
from citewell.extract.options import Limits

_CONTENT_TYPES = "[Content_Types].xml"
_DIRECTORY_END = b"PK\x05\x06"
_MANIFEST = "META-INF/manifest.xml"

_OFFICE = (
    (
        Format.DOCX,
        (
            b"wordprocessingml.document.main+xml",
            b"wordprocessingml.template.main+xml",
            b"ms-word.document.macroenabled.main+xml",
            b"ms-word.template.macroenabledtemplate.main+xml",
        ),
        "word/document.xml",
    ),
    (
        Format.PPTX,
        (
            b"presentationml.presentation.main+xml",
            b"presentationml.slideshow.main+xml",
            b"presentationml.template.main+xml",
            b"ms-powerpoint.presentation.macroenabled.main+xml",
            b"ms-powerpoint.slideshow.macroenabled.main+xml",
            b"ms-powerpoint.template.macroenabled.main+xml",
        ),
        "ppt/presentation.xml",
    ),
    (
        Format.XLSX,
        (
            b"spreadsheetml.sheet.main+xml",
            b"spreadsheetml.template.main+xml",
            b"ms-excel.sheet.macroenabled.main+xml",
            b"ms-excel.template.macroenabled.main+xml",
        ),
        "xl/workbook.xml",
    ),
)
"""What an Office file's content types call its main part, in lower case, and where that part stands."""

_TELLING = ("mimetype", _CONTENT_TYPES, *(main_part for _, _, main_part in _OFFICE))
"""Parts of which every document has one; an archive without them is only that, whatever is wrong with it."""


def format_of_package(data: bytes, limits: Limits) -> Format:
    """By what the package says of itself, or else by the part that such a document can't be without.

    Raises DocumentRejected ``unsupported_type`` for every other archive, and as :class:`Archive` does.
    """
    try:
        archive = Archive(data, limits)
    except DocumentRejected as rejected:
        if _DIRECTORY_END in data and not any(name.encode() in data for name in _TELLING):
            raise _unsupported("ZIP archive") from rejected
        raise
    if "mimetype" in archive and _CONTENT_TYPES not in archive:
        return _open_document(archive)
    types = archive.read(_CONTENT_TYPES).lower() if _CONTENT_TYPES in archive else b""
    for kind, main_types, main_part in _OFFICE:
        if any(each in types for each in main_types) or main_part in archive:
            return kind
    raise _unsupported("ZIP archive")


def _open_document(archive: Archive) -> Format:
    media_type = archive.read("mimetype")
    if not media_type.startswith(b"application/vnd.oasis.opendocument.text"):
        name = "OpenDocument file other than text" if b"opendocument" in media_type else "ZIP archive"
        raise _unsupported(name)
    if _MANIFEST in archive and b"encryption-data" in archive.read(_MANIFEST):
        raise DocumentRejected("encrypted", "the document is locked with a password")
    return Format.ODT


def _unsupported(name: str) -> DocumentRejected:
    return DocumentRejected("unsupported_type", f"{name}: this format can't be read")
