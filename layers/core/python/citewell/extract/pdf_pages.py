"""What stands on a PDF's pages, and where: everything that speaks to PDFium stands here.

PDFium parses, repairs and decodes. A character's place costs a call into it, so only the ends of words are asked for.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from citewell.errors import DocumentRejected
from citewell.extract.pictures import png_of_grey

SOFT_BREAK = "\ufffe"
"""PDFium writes it for a hyphen at the end of a line, and leaves the line's end out."""
HYPHENS = f"\u2010\u00ad{SOFT_BREAK}-"

_LINE = re.compile(rf"[^\r\n{SOFT_BREAK}]*[^\s{SOFT_BREAK}][^\r\n{SOFT_BREAK}]*{SOFT_BREAK}?")
_WORD = re.compile(r"\S+")
_RULES = "|+=_:·.-–—"
_RULE = re.compile(rf"[\s{re.escape(_RULES)}]{{4,}}")  # a line that is drawn with characters
BULLETS = "•‣◦▪▫■□●○◆◇►▶➢➤✓✔✗✘❖·∙–—*\uf0b7\uf0a7\uf0d8\uf076\uf0fc§o-"  # those in private use are Symbol's, Wingdings'
_MARKER = re.compile(rf"[{BULLETS}]|\(?(?:\d{{1,3}}|[A-Za-z]|[ivxIVX]{{1,5}})[.)]|\d{{1,2}}(?:\.\d{{1,2}})+\.?")
_BOLD = re.compile(r"bold|black|heavy|demi|-medi(?!um)|^cm(?:ss)?b|^sfbx", re.IGNORECASE)
_FIXED = re.compile(r"courier|mono|nimbusmon|consol|menlo|typewriter|cm(?:sl)?tt|lettergothic|fixed", re.IGNORECASE)
_FORCE_BOLD = 1 << 18
_FIXED_PITCH = 1
_FONT_NAME_BYTES = 128

_GAP = 0.8  # ems between two words from which on they may stand in two columns
_MARKER_GAP = 4.0
_MARKER_CHARACTERS = 8
_LINE_OF_PROSE = 0.53  # ems for each character, up to which a line may be without wide gaps
_SHORT_LINE = 0.48
_SHORT = 30
_FIXED_LINE = 0.65
_TALLEST = 12.0  # times the height of what is drawn, which may be a dash
SAME_LINE = 0.45  # ems between the middles of what stands on one line, such as a raised figure
FIXED_WIDTH = 0.6  # ems, as most type of one width has it
_MIDDLE = 0.35  # ems from what letters stand on to the middle between their heads and feet
_OVERLAP = -0.6
_STACKED = 0.75  # ems that each character adds to the height of a column
_VERTICAL = 3  # columns from right to left are lines from top to bottom, once the page has been turned so
_HIDDEN = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_CATALOG = re.compile(rb"(\d{1,10}) 0 obj\s{0,9}<<[^>]{0,999}/Type\s{0,9}/Catalog\b")
_PASSWORD_FIELD = 1 << 13
_ENCRYPTED = {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}
_CELLS_OF_A_TABLE = 3
_SHORTEST_RULE = 9.0  # points
_THICKEST_RULE = 3.0
_OBJECTS_LOOKED_AT = 10_000
_DRAWN = 50
_OCR_DPI = 300
_OCR_PIXELS = 25_000_000

Edges = tuple[float, float, float, float]
"""Left, bottom, right and top in the page's own points, upwards; turned upright: left, top, right and bottom."""


@dataclass(slots=True)
class Fragment:
    """Words on one line without a wide gap between them.

    Lengths are points; ``left``, ``right`` and ``middle`` (of its height, downwards) are seen with its text upright,
    after ``turn`` quarter turns of the page. ``order`` counts up in the order in which the page draws its text.
    """

    text: str
    left: float
    right: float
    middle: float
    size: float
    turn: int = 0
    bold: bool = False
    fixed: bool = False
    order: int = 0

    @property
    def top(self) -> float:
        return self.middle - self.size / 2

    @property
    def bottom(self) -> float:
        return self.middle + self.size / 2


class Rule(NamedTuple):
    """A ruled line, upright like a :class:`Fragment` of the same ``turn``; ``height`` counts downwards."""

    left: float
    right: float
    height: float
    turn: int


class Comment(NamedTuple):
    author: str
    text: str


@dataclass(slots=True)
class PageContent:
    """``height`` is the page's, in points. ``drawn`` says that it shows something that may be text but holds none.

    That is a picture, or line art of many parts.
    """

    number: int
    height: float = 0.0
    fragments: list[Fragment] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    drawn: bool = False


class Bookmark(NamedTuple):
    """What stands on a page (from 1), by the document's outline."""

    title: str
    page: int


class PdfDocument:
    """An open PDF. Pages are loaded one at a time and let go at once."""

    def __init__(self, handle: Any, form: Any) -> None:
        self._handle = handle
        self._form = form
        self.pages: int = pdfium.FPDF_GetPageCount(handle)

    def page(self, number: int) -> PageContent:
        """What page ``number`` (from 1) shows. A page that can't be loaded counts as drawn: something was there."""
        page = pdfium.FPDF_LoadPage(self._handle, number - 1)
        if not page:
            return PageContent(number, drawn=True)
        try:
            content = PageContent(number, pdfium.FPDF_GetPageHeightF(page))
            with _text_of(page) as text:
                content.fragments = _Fragments(page, text).read() if text else []
            self._read_annotations(page, content)
            if not content.fragments:
                content.drawn = _shows_something(page)
            elif _may_be_table(content.fragments):
                content.rules = _rules(page, content.fragments[0].turn)
            return content
        finally:
            pdfium.FPDF_ClosePage(page)

    def picture(self, number: int) -> bytes | None:
        """Page ``number`` as a grey PNG of 300 dots an inch, fewer for a huge one; None if it can't be drawn."""
        page = pdfium.FPDF_LoadPage(self._handle, number - 1)
        if not page:
            return None
        try:
            return _rendered(page)
        finally:
            pdfium.FPDF_ClosePage(page)

    def metadata(self, name: bytes) -> str:
        """``Title``, ``Author``...; empty where it isn't given."""
        return _string(lambda buffer, size: pdfium.FPDF_GetMetaText(self._handle, name, buffer, size))

    def language(self) -> str:
        return _string(lambda buffer, size: pdfium.FPDFCatalog_GetLanguage(self._handle, _shorts(buffer), size))

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

    def _read_annotations(self, page: Any, content: PageContent) -> None:
        for index in range(pdfium.FPDFPage_GetAnnotCount(page)):
            annotation = pdfium.FPDFPage_GetAnnot(page, index)
            if not annotation:
                continue
            try:
                if not pdfium.FPDFAnnot_GetFlags(annotation) & _HIDDEN:
                    self._read_annotation(page, annotation, content)
            finally:
                pdfium.FPDFPage_CloseAnnot(annotation)

    def _read_annotation(self, page: Any, annotation: Any, content: PageContent) -> None:
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind in (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP):
            return
        if kind == pdfium.FPDF_ANNOT_WIDGET:
            if self._form and (value := _field_value(self._form, annotation)):
                _place(page, annotation, value, content.fragments)
            return
        words = _annotation_string(annotation, b"Contents")
        if kind == pdfium.FPDF_ANNOT_FREETEXT:
            _place(page, annotation, words, content.fragments)
        elif words.strip():
            content.comments.append(Comment(_annotation_string(annotation, b"T"), words))


@contextmanager
def opened(data: bytes, *, most_pages: int) -> Iterator[PdfDocument]:
    """The PDF in ``data``, for as long as the block lasts.

    Raises DocumentRejected: ``encrypted`` when it takes a password, ``corrupt`` when it can't be repaired,
    ``too_large`` when it has more than ``most_pages``.
    """
    handle = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    if not handle and pdfium.FPDF_GetLastError() not in _ENCRYPTED and (mended := _with_trailer(data)):
        data = mended  # PDFium goes on reading from it
        handle = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    if not handle:
        if pdfium.FPDF_GetLastError() in _ENCRYPTED:
            raise DocumentRejected("encrypted", "the PDF opens with a password only")
        raise DocumentRejected("corrupt", "the PDF is damaged beyond repair")
    form = None
    try:
        pages = pdfium.FPDF_GetPageCount(handle)
        if pages > most_pages:
            raise DocumentRejected("too_large", f"{pages} pages, and at most {most_pages} are read")
        form_environment = pdfium.FPDF_FORMFILLINFO(version=2)
        if pdfium.FPDF_GetFormType(handle) != pdfium.FORMTYPE_NONE:
            form = pdfium.FPDFDOC_InitFormFillEnvironment(handle, form_environment)
        yield PdfDocument(handle, form)
    finally:
        if form:
            pdfium.FPDFDOC_ExitFormFillEnvironment(form)
        pdfium.FPDF_CloseDocument(handle)


def _with_trailer(data: bytes) -> bytes | None:
    """A file whose end is missing, with one that names its catalog: the rest PDFium finds by itself."""
    catalogs = list(_CATALOG.finditer(data))
    return b"%b\ntrailer << /Root %b 0 R >>\nstartxref\n0\n%%%%EOF\n" % (data, catalogs[-1][1]) if catalogs else None


# --- words ---


class _Fragments:
    """Gathers one page's text into fragments: line by line, and word by word where a line has wide gaps."""

    def __init__(self, page: Any, text: Any) -> None:
        self._text = text
        self._page_box = _page_box(page)
        # Made once: a page asks for hundreds of each.
        self._corners = (ctypes.c_double * 4)()
        first = ctypes.addressof(self._corners)
        self._corners_at = [ctypes.cast(first + 8 * n, ctypes.POINTER(ctypes.c_double)) for n in range(4)]
        self._box, self._matrix = pdfium.FS_RECTF(), pdfium.FS_MATRIX()
        self._box_at, self._matrix_at = ctypes.byref(self._box), ctypes.byref(self._matrix)
        self._font_name, self._font_flags = ctypes.create_string_buffer(_FONT_NAME_BYTES), ctypes.c_int()
        self._font_flags_at = ctypes.byref(self._font_flags)
        self._fonts: dict[bytes, tuple[bool, bool]] = {}
        self._fragments: list[Fragment] = []

    def read(self) -> list[Fragment]:
        characters = _characters(self._text)
        for line in _LINE.finditer(characters):
            self._read_line(characters, line.start(), line.end())
        return [fragment for fragment in self._fragments if self._is_on_page(fragment)]

    def _read_line(self, characters: str, start: int, end: int) -> None:
        words = characters[start:end].strip()
        if words[0] in _RULES and _RULE.fullmatch(words):
            return
        is_drawn = words[0] == "|" and words[-1] == "|"  # cells with lines between them need no telling apart
        boxes = self._ends(start) if is_drawn else self._boxes(start, end)
        if not boxes:
            boxes = self._ends(start, end - 1)
        if not boxes:
            return
        fragment = self._fragment(words, start, boxes)
        if is_drawn:
            fragment.right = fragment.left + FIXED_WIDTH * fragment.size * len(words)
            self._fragments.append(fragment)
        elif not self._has_gaps(fragment, boxes):
            if fragment.bold or fragment.fixed:
                self._limit_look(fragment, characters.rindex(words[-1], start, end))
            self._fragments.append(fragment)
        else:
            self._read_words(characters, start, end)

    def _has_gaps(self, fragment: Fragment, boxes: list[Edges]) -> bool:
        """Whether two of its parts stand far from each other, or it is wider than its characters can make it."""
        size = fragment.size
        usual = _FIXED_LINE if fragment.fixed else _SHORT_LINE if len(fragment.text) < _SHORT else _LINE_OF_PROSE
        if fragment.right - fragment.left > usual * size * len(fragment.text) and " " in fragment.text:
            return True
        if len(boxes) == 1:
            return False
        wide = _GAP * size
        if fragment.turn:
            boxes = [_turned(box, fragment.turn, self._page_box) for box in boxes]
        return any(other[0] - one[2] > wide or one[0] - other[2] > wide for one, other in pairwise(boxes))

    def _read_words(self, characters: str, start: int, end: int) -> None:
        current: Fragment | None = None
        for match in _WORD.finditer(characters, start, end):
            word, at = match[0], match.start()
            boxes = self._ends(at, match.end() - 1)
            if boxes and (current is None or not self._continue(current, word, at, boxes)):
                current = self._fragment(word, at, boxes)
                self._fragments.append(current)
            elif current and not boxes:
                current.text += " " + word

    def _boxes(self, start: int, end: int) -> list[Edges]:
        """Where the pieces of text stand that make up the characters from ``start`` to before ``end``."""
        text, corners, at = self._text, self._corners, self._corners_at
        boxes = []
        for index in range(pdfium.FPDFText_CountRects(text, start, end - start)):
            pdfium.FPDFText_GetRect(text, index, *at)
            left, top, right, bottom = corners
            boxes.append((left, bottom, right, top))
        return boxes

    def _ends(self, *indexes: int) -> list[Edges]:
        """Where single characters stand."""
        box = self._box
        return [
            (box.left, box.bottom, box.right, box.top)
            for index in indexes
            if pdfium.FPDFText_GetLooseCharBox(self._text, index, self._box_at)
        ]

    def _fragment(self, words: str, index: int, boxes: list[Edges]) -> Fragment:
        matrix, edges = self._matrix, _around(boxes)
        pdfium.FPDFText_GetMatrix(self._text, index, self._matrix_at)
        turn = 0 if matrix.b == 0 and matrix.a > 0 else round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4
        width, height = edges[2] - edges[0], edges[3] - edges[1]
        size = self._size(index, width if turn % 2 else height)
        is_stacked = turn == 0 and len(words) > 1 and width < 1.5 * size and height > _STACKED * size * len(words)
        if is_stacked:
            turn = _VERTICAL
        left, top, right, bottom = _turned(edges, turn, self._page_box)
        # A line's height depends on its letters, so count from what they stand on.
        middle = (top + bottom) / 2 if is_stacked else self._foot(turn) - _MIDDLE * size
        bold, fixed = self._font(index)
        return Fragment(words, left, right, middle, size, turn, bold, fixed, len(self._fragments))

    def _foot(self, turn: int) -> float:
        """What the letters stand on, downwards on the turned page."""
        left, bottom, right, top = self._page_box
        at = self._matrix
        return float((top - at.f, at.e - left, at.f - bottom, right - at.e)[turn])

    def _continue(self, current: Fragment, word: str, index: int, boxes: list[Edges]) -> bool:
        """Add ``word`` to ``current`` if it stands right beside it; an item may stand off its bullet."""
        left, top, right, bottom = _turned(_around(boxes), current.turn, self._page_box)
        size = current.size
        gap = left - current.right
        if gap < _OVERLAP * size:
            gap = current.left - right
        is_marker = len(current.text) <= _MARKER_CHARACTERS and _MARKER.fullmatch(current.text) is not None
        if not _OVERLAP * size < gap < (_MARKER_GAP if is_marker else _GAP) * size:
            return False
        if is_marker:  # what a line looks like is not for its bullet to say
            pdfium.FPDFText_GetMatrix(self._text, index, self._matrix_at)
            current.size = self._size(index, bottom - top)
            current.bold, current.fixed = self._font(index)
        elif current.bold or current.fixed:
            self._limit_look(current, index)
        current.text += " " + word
        current.left, current.right = min(current.left, left), max(current.right, right)
        return True

    def _limit_look(self, fragment: Fragment, index: int) -> None:
        """Bold, or of one width, is what is so to its end."""
        bold, fixed = self._font(index)
        fragment.bold, fragment.fixed = fragment.bold and bold, fragment.fixed and fixed

    def _size(self, index: int, height: float) -> float:
        """The size of type as it is seen; by the height of its box where a font's own figures can't be true."""
        size: float = pdfium.FPDFText_GetFontSize(self._text, index) * math.hypot(self._matrix.c, self._matrix.d)
        is_likely = 0.2 * height < size < _TALLEST * height or (height < 1.0 <= size)
        return size if is_likely else max(height, 1.0)

    def _font(self, index: int) -> tuple[bool, bool]:
        """Whether the character at ``index`` is bold, and of a font whose characters have one width."""
        pdfium.FPDFText_GetFontInfo(self._text, index, self._font_name, _FONT_NAME_BYTES, self._font_flags_at)
        key = self._font_name.value
        if key not in self._fonts:
            name, flags = key.decode("latin-1").partition("+")[2] or key.decode("latin-1"), self._font_flags.value
            self._fonts[key] = (
                bool(_BOLD.search(name)) or bool(flags & _FORCE_BOLD),
                bool(_FIXED.search(name)) or bool(flags & _FIXED_PITCH),
            )
        return self._fonts[key]

    def _is_on_page(self, fragment: Fragment) -> bool:
        left, bottom, right, top = self._page_box
        width, height = (right - left, top - bottom) if fragment.turn % 2 == 0 else (top - bottom, right - left)
        return fragment.right > 0 and fragment.left < width and fragment.bottom > 0 and fragment.top < height


def _around(boxes: list[Edges]) -> Edges:
    if len(boxes) == 1:
        return boxes[0]
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


@contextmanager
def _text_of(page: Any) -> Iterator[Any]:
    text = pdfium.FPDFText_LoadPage(page)
    try:
        yield text
    finally:
        if text:
            pdfium.FPDFText_ClosePage(text)


def _characters(text: Any) -> str:
    """The page's characters, one for each index that PDFium gives them."""
    count = pdfium.FPDFText_CountChars(text)
    if count <= 0:
        return ""
    units = (ctypes.c_ushort * (count + 1))()
    pdfium.FPDFText_GetText(text, 0, count, units)
    characters = bytes(units).decode("utf-16-le", "replace")
    if len(characters) == count + 1 and "\0" not in characters[:-1]:
        return characters[:-1]
    # Characters beyond 16 bits, or some without a meaning, shift the one against the other.
    return "".join(_character(pdfium.FPDFText_GetUnicode(text, index)) for index in range(count))


def _character(code: int) -> str:
    if code == 2:
        return SOFT_BREAK
    return "\ufffd" if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)


def _page_box(page: Any) -> Edges:
    box = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, ctypes.byref(box))
    return box.left, box.bottom, box.right, box.top


def _turned(edges: Edges, turn: int, page: Edges) -> Edges:
    """Left, top, right, bottom of ``edges``, from the corner that is top left when text so turned stands upright."""
    left, bottom, right, top = edges
    page_left, page_bottom, page_right, page_top = page
    if turn == 0:
        return left - page_left, page_top - top, right - page_left, page_top - bottom
    if turn == 1:
        return bottom - page_bottom, left - page_left, top - page_bottom, right - page_left
    if turn == 2:
        return page_right - right, bottom - page_bottom, page_right - left, top - page_bottom
    return page_top - top, page_right - right, page_top - bottom, page_right - left


# --- ruled lines ---


def _may_be_table(fragments: list[Fragment]) -> bool:
    """Whether text stands beside other text in several places: no other page is worth the look at its lines."""
    beside = sum(abs(one.middle - other.middle) < SAME_LINE * one.size for one, other in pairwise(fragments))
    return beside >= _CELLS_OF_A_TABLE


def _rules(page: Any, turn: int) -> list[Rule]:
    """The lines and the edges of the boxes that lie across the page when its text stands upright."""
    page_box = _page_box(page)
    corners = (ctypes.c_float(), ctypes.c_float(), ctypes.c_float(), ctypes.c_float())
    corners_at = tuple(ctypes.byref(each) for each in corners)
    rules: list[Rule] = []
    for index in range(min(pdfium.FPDFPage_CountObjects(page), _OBJECTS_LOOKED_AT)):
        each = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(each) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if not pdfium.FPDFPageObj_GetBounds(each, *corners_at):
            continue
        left, bottom, right, top = (corner.value for corner in corners)
        left, top, right, bottom = _turned((left, bottom, right, top), turn, page_box)
        if right - left < _SHORTEST_RULE:
            continue
        if bottom - top < _THICKEST_RULE:
            rules.append(Rule(left, right, (top + bottom) / 2, turn))
        else:
            rules += (Rule(left, right, top, turn), Rule(left, right, bottom, turn))
    return rules


# --- annotations and names ---


def _field_value(form: Any, annotation: Any) -> str:
    """What a form's field shows: its text, or a box with or without a mark."""
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
        state = _annotation_string(annotation, b"AS") or _annotation_string(annotation, b"V")
        return "[ ]" if state in ("", "Off") else "[x]"
    if kind not in (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX):
        return ""
    if pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD_FIELD:
        return ""
    return _string(lambda buffer, size: pdfium.FPDFAnnot_GetFormFieldValue(form, annotation, _shorts(buffer), size))


def _place(page: Any, annotation: Any, words: str, fragments: list[Fragment]) -> None:
    """Put ``words`` where the annotation stands, a line below the other, as if the page showed them there."""
    lines = [line for line in re.split(r"[\r\n]+", words) if line.strip()]
    rectangle = pdfium.FS_RECTF()
    if not lines or not pdfium.FPDFAnnot_GetRect(annotation, ctypes.byref(rectangle)):
        return
    turn = pdfium.FPDFPage_GetRotation(page) % 4
    edges = (
        min(rectangle.left, rectangle.right),
        min(rectangle.bottom, rectangle.top),
        max(rectangle.left, rectangle.right),
        max(rectangle.bottom, rectangle.top),
    )
    left, top, right, bottom = _turned(edges, turn, _page_box(page))
    pitch = (bottom - top) / len(lines)
    size = max(min(pitch, 12.0), 1.0)
    for number, line in enumerate(lines):
        middle = top + (number + 0.5) * pitch
        fragments.append(Fragment(line.strip(), left, right, middle, size, turn, order=len(fragments)))


def _annotation_string(annotation: Any, key: bytes) -> str:
    return _string(lambda buffer, size: pdfium.FPDFAnnot_GetStringValue(annotation, key, _shorts(buffer), size))


def _attachment_name(attachment: Any) -> str:
    return _string(lambda buffer, size: pdfium.FPDFAttachment_GetName(attachment, _shorts(buffer), size))


def _bookmark_title(bookmark: Any) -> str:
    return _string(lambda buffer, size: pdfium.FPDFBookmark_GetTitle(bookmark, buffer, size))


def _string(ask: Callable[[Any, int], int]) -> str:
    """A string that PDFium gives as UTF-16 when it is asked twice: how many bytes, and which."""
    size = ask(None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    ask(buffer, size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace").replace("\0", "")


def _shorts(buffer: Any) -> Any:
    return None if buffer is None else ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))


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
