"""A PDF that PDFium has opened: its pages one at a time, what it says of itself, and pictures of pages.

PDFium parses, repairs and decodes. Its objects stay behind this module and the two that read a page's content.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from citewell.errors import DocumentRejected
from citewell.extract.pdf_annotations import Comment, read_annotations
from citewell.extract.pdf_fragments import Fragment, may_be_table
from citewell.extract.pdf_lines import fragments_of
from citewell.extract.pdf_places import Edges, page_box, turned
from citewell.extract.pdf_rulings import Rulings
from citewell.extract.pdf_strings import shorts, string
from citewell.extract.pdf_text_page import TextPage, text_of
from citewell.extract.pictures import png_of_grey

_CATALOG = re.compile(rb"(\d{1,10}) 0 obj\s{0,9}<<[^>]{0,999}/Type\s{0,9}/Catalog\b")
_ENCRYPTED = {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}
_BYTES_KEPT = 16_000_000  # of the file, about, that PDFium holds once more
_OBJECTS_LOOKED_AT = 10_000
_DRAWN = 50
_OCR_DPI = 300
_OCR_PIXELS = 25_000_000
_END_BYTES = 2_048


@dataclass(slots=True)
class PageContent:
    """``height`` and ``width`` are the page's, in points, as it is shown. ``drawn`` says that it shows something that
    may be text but holds none: a picture, or line art of many parts. ``signatures`` are the words of those that show
    some.
    """

    number: int
    height: float = 0.0
    width: float = 0.0
    fragments: list[Fragment] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    signatures: list[str] = field(default_factory=list)
    drawn: bool = False
    rulings: Rulings | None = None


class Bookmark(NamedTuple):
    """What stands on a page (from 1), by the document's outline."""

    title: str
    page: int


class PdfDocument:
    """An open PDF. Pages are loaded one at a time and let go at once.

    PDFium keeps every object that it has met, pictures included, for as long as a document is open. So a large one is
    opened anew from time to time, which takes no longer than a page.
    """

    def __init__(self, data: bytes) -> None:
        self._given = self._data = data
        self._open()
        self.pages: int = pdfium.FPDF_GetPageCount(self._handle)
        self._pages_at_once = _BYTES_KEPT * max(self.pages, 1) // len(data) + 1
        self._loaded = 0
        self._is_flattened = False

    def _open(self) -> None:
        data, self._form = self._data, None
        self._handle = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
        if not self._handle and pdfium.FPDF_GetLastError() not in _ENCRYPTED and (mended := _with_trailer(data)):
            self._data = mended  # PDFium goes on reading from it
            self._handle = pdfium.FPDF_LoadMemDocument64(mended, len(mended), None)
        if not self._handle:
            if pdfium.FPDF_GetLastError() in _ENCRYPTED:
                raise DocumentRejected("encrypted", "the PDF opens with a password only")
            raise DocumentRejected("corrupt", "the PDF is damaged beyond repair")
        if pdfium.FPDF_GetFormType(self._handle) != pdfium.FORMTYPE_NONE:
            self._environment = pdfium.FPDF_FORMFILLINFO(version=2)  # lives for as long as the form does
            self._form = pdfium.FPDFDOC_InitFormFillEnvironment(self._handle, self._environment)

    def close(self) -> None:
        if self._form:
            pdfium.FPDFDOC_ExitFormFillEnvironment(self._form)
        pdfium.FPDF_CloseDocument(self._handle)

    @property
    def is_cut_off(self) -> bool:
        """Whether its end is missing: then a page that shows nothing may have shown something."""
        return b"%%EOF" not in self._given[-_END_BYTES:]

    def _reopen(self) -> None:
        self.close()
        self._open()
        self._is_flattened = False

    def _load(self, number: int) -> Any:
        self._loaded += 1
        if self._loaded % self._pages_at_once == 0:
            self._reopen()
        return pdfium.FPDF_LoadPage(self._handle, number - 1)

    def page(self, number: int) -> PageContent:
        """What page ``number`` (from 1) shows. A page that can't be loaded counts as drawn: something was there."""
        page = self._load(number)
        if not page:
            return PageContent(number, drawn=True)
        try:
            content = PageContent(number, pdfium.FPDF_GetPageHeightF(page), pdfium.FPDF_GetPageWidthF(page))
            with text_of(page) as text:
                if text:
                    _read_text(page, text, content)
            annotations = read_annotations(page, self._form, content.fragments)
            content.comments = annotations.comments
            if not content.fragments:
                content.drawn = _shows_something(page)
            signed = annotations.signatures and pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY)
        finally:
            pdfium.FPDF_ClosePage(page)
        if signed == pdfium.FLATTEN_SUCCESS:
            self._is_flattened = True
            content.signatures = self._drawn_in(number, annotations.signatures, since=content.fragments)
        return content

    def _drawn_in(self, number: int, places: list[Edges], since: list[Fragment]) -> list[str]:
        """The words that page ``number`` shows in each of ``places`` now, but for what stood there before.

        How an annotation looks is a drawing of its own, which PDFium reads once it has become a part of the page.
        """
        page = pdfium.FPDF_LoadPage(self._handle, number - 1)
        try:
            box = page_box(page)
            with text_of(page) as text:
                shown = fragments_of(page, text) if text else []
        finally:
            pdfium.FPDF_ClosePage(page)
        before = {(each.text, each.left, each.middle) for each in since}
        new = [each for each in shown if (each.text, each.left, each.middle) not in before]
        return [" ".join(each.text for each in new if _is_in(each, turned(place, each.turn, box))) for place in places]

    def picture(self, number: int) -> bytes | None:
        """Page ``number`` as a grey PNG of 300 dots an inch, fewer for a huge one; None if it can't be drawn.

        The looks of signatures, which are read as text, aren't in it.
        """
        if self._is_flattened:
            self._reopen()
        page = self._load(number)
        if not page:
            return None
        try:
            return _rendered(page)
        finally:
            pdfium.FPDF_ClosePage(page)

    def metadata(self, name: bytes) -> str:
        """``Title``, ``Author``...; empty where it isn't given."""
        return string(lambda buffer, size: pdfium.FPDF_GetMetaText(self._handle, name, buffer, size))

    def language(self) -> str:
        return string(lambda buffer, size: pdfium.FPDFCatalog_GetLanguage(self._handle, shorts(buffer), size))

    def attachments(self) -> list[str]:
        """The names of the files that it carries."""
        names = []
        for index in range(min(pdfium.FPDFDoc_GetAttachmentCount(self._handle), 1_000)):
            attachment = pdfium.FPDFDoc_GetAttachment(self._handle, index)
            names.append(_attachment_name(attachment))
        return [name for name in names if name]

    def bookmarks(self, limit: int = 10_000) -> Iterator[Bookmark]:
        """The entries of the outline that lead to a page, depth first; a loop among them ends at ``limit``."""
        pending = [pdfium.FPDFBookmark_GetFirstChild(self._handle, None)]
        while pending and limit:
            bookmark = pending.pop()
            if not bookmark:
                continue
            limit -= 1
            target = pdfium.FPDFBookmark_GetDest(self._handle, bookmark)
            page = pdfium.FPDFDest_GetDestPageIndex(self._handle, target) if target else -1
            if page >= 0:
                yield Bookmark(_bookmark_title(bookmark), page + 1)
            pending.append(pdfium.FPDFBookmark_GetNextSibling(self._handle, bookmark))
            pending.append(pdfium.FPDFBookmark_GetFirstChild(self._handle, bookmark))


@contextmanager
def opened(data: bytes, *, most_pages: int) -> Iterator[PdfDocument]:
    """The PDF in ``data``, for as long as the block lasts.

    Raises DocumentRejected: ``encrypted`` when it takes a password, ``corrupt`` when it can't be repaired,
    ``too_large`` when it has more than ``most_pages``.
    """
    document = PdfDocument(data)
    try:
        if document.pages > most_pages:
            raise DocumentRejected("too_large", f"{document.pages} pages, and at most {most_pages} are read")
        yield document
    finally:
        document.close()


def _read_text(page: Any, text: TextPage, content: PageContent) -> None:
    content.fragments = fragments_of(page, text)
    if may_be_table(content.fragments):
        content.rulings = Rulings(page)
        if content.rulings.walls(content.fragments[0].turn):
            content.fragments = fragments_of(page, text, content.rulings)


def _is_in(each: Fragment, place: Edges) -> bool:
    left, top, right, bottom = place
    return left <= (each.left + each.right) / 2 <= right and top <= each.middle <= bottom


def _with_trailer(data: bytes) -> bytes | None:
    """A file whose end is missing, with one that names its catalog: the rest PDFium finds by itself."""
    catalogs = list(_CATALOG.finditer(data))
    return b"%b\ntrailer << /Root %b 0 R >>\nstartxref\n0\n%%%%EOF\n" % (data, catalogs[-1][1]) if catalogs else None


def _attachment_name(attachment: Any) -> str:
    return string(lambda buffer, size: pdfium.FPDFAttachment_GetName(attachment, shorts(buffer), size))


def _bookmark_title(bookmark: Any) -> str:
    return string(lambda buffer, size: pdfium.FPDFBookmark_GetTitle(bookmark, buffer, size))


# --- pictures ---


def _shows_something(page: Any) -> bool:
    """Whether a page without text shows a picture, or line art of many parts, which letters may be."""
    pending = [
        pdfium.FPDFPage_GetObject(page, index)
        for index in range(min(pdfium.FPDFPage_CountObjects(page), _OBJECTS_LOOKED_AT))
    ]
    paths = looked_at = 0
    while pending and looked_at < _OBJECTS_LOOKED_AT:
        looked_at += 1
        each = pending.pop()
        kind = pdfium.FPDFPageObj_GetType(each)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            return True
        if kind == pdfium.FPDF_PAGEOBJ_FORM:
            inside = max(pdfium.FPDFFormObj_CountObjects(each), 0)
            pending += (pdfium.FPDFFormObj_GetObject(each, i) for i in range(min(inside, _OBJECTS_LOOKED_AT)))
        paths += kind == pdfium.FPDF_PAGEOBJ_PATH
    return paths >= _DRAWN


def _rendered(page: Any) -> bytes | None:
    width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
    if width <= 0 or height <= 0:
        return None
    scale = min(_OCR_DPI / 72, math.sqrt(_OCR_PIXELS / (width * height)))
    columns, rows = max(int(width * scale), 1), max(int(height * scale), 1)
    bitmap = pdfium.FPDFBitmap_CreateEx(columns, rows, pdfium.FPDFBitmap_Gray, None, 0)
    if not bitmap:
        return None
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, columns, rows, 0xFFFFFFFF)
        flags = pdfium.FPDF_ANNOT | pdfium.FPDF_GRAYSCALE
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, columns, rows, 0, flags)
        stride = pdfium.FPDFBitmap_GetStride(bitmap)
        pixels = ctypes.string_at(pdfium.FPDFBitmap_GetBuffer(bitmap), stride * rows)
        return png_of_grey(pixels, columns=columns, rows=rows, stride=stride)
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)
