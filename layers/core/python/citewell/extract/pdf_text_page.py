"""What PDFium knows of the text on a page: its characters, where they stand, and the type they are set in."""

from __future__ import annotations

import codecs
import ctypes
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pypdfium2.raw as pdfium

from citewell.extract.pdf_calls import undeclared
from citewell.extract.pdf_places import Edges, Matrix

SOFT_BREAK = "\ufffe"
"""PDFium writes it for a hyphen at the end of a line, and leaves the line's end out."""

Font = tuple[bytes, int]
"""Its name, and what its flags say (PDF 32000-1, table 123)."""

Type = tuple[Matrix, float, Font]
"""What turns the ems of the font, times the size that follows, into the page's points; the size; the font."""

_EDGES, _BOX, _MATRIX = struct.Struct("4d"), struct.Struct("4f"), struct.Struct("6f")
_FONT_NAME_BYTES = 128

_get_text = undeclared(pdfium.FPDFText_GetText, ctypes.c_int)
_count_rects = undeclared(pdfium.FPDFText_CountRects, ctypes.c_int)
_get_rect = undeclared(pdfium.FPDFText_GetRect, ctypes.c_int)
_get_loose_char_box = undeclared(pdfium.FPDFText_GetLooseCharBox, ctypes.c_int)
_get_matrix = undeclared(pdfium.FPDFText_GetMatrix, ctypes.c_int)
_get_font_size = undeclared(pdfium.FPDFText_GetFontSize, ctypes.c_double)
_is_generated = undeclared(pdfium.FPDFText_IsGenerated, ctypes.c_int)
_get_font_info = undeclared(pdfium.FPDFText_GetFontInfo, ctypes.c_int)

# Memory for results, and the references to it. One of each is enough: one thread at a time can use PDFium.
_piece, _box, _matrix = (ctypes.create_string_buffer(form.size) for form in (_EDGES, _BOX, _MATRIX))
_piece_at = tuple(ctypes.byref(_piece, offset) for offset in (0, 24, 16, 8))  # the top before the right and the bottom
_box_at, _matrix_at = ctypes.byref(_box), ctypes.byref(_matrix)
_font_name, _font_flags = ctypes.create_string_buffer(_FONT_NAME_BYTES), ctypes.c_int()
_font_name_at, _font_flags_at = ctypes.byref(_font_name), ctypes.byref(_font_flags)
_font_name_bytes = ctypes.c_ulong(_FONT_NAME_BYTES)


class TextPage:
    """The text of one page, by the indexes of its characters. Lengths are in the page's own points, upwards."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._at = ctypes.byref(ctypes.c_char.from_address(ctypes.cast(handle, ctypes.c_void_p).value or 0))

    def characters(self) -> str:
        """All of them, one for each index: what takes more than 16 bits has two and stands as its two surrogates."""
        count = pdfium.FPDFText_CountChars(self._handle)
        if count <= 0:
            return ""
        units = bytearray(2 * (count + 1))
        _get_text(self._at, 0, count, ctypes.byref(ctypes.c_char.from_buffer(units)))
        characters, _ = codecs.utf_16_le_decode(units, "replace")
        if len(characters) == count + 1 and characters.find("\0") == count:
            return characters[:-1]
        # Characters beyond 16 bits, or some without a meaning, shift the one against the other.
        return "".join(_character(pdfium.FPDFText_GetUnicode(self._handle, index)) for index in range(count))

    def pieces(self, start: int, end: int) -> list[Edges]:
        """Where the pieces stand in which the characters from ``start`` to before ``end`` are drawn."""
        pieces = []
        for index in range(_count_rects(self._at, start, end - start)):
            _get_rect(self._at, index, *_piece_at)
            pieces.append(_EDGES.unpack(_piece))
        return pieces

    def boxes(self, *indexes: int) -> list[Edges]:
        """Where single characters stand."""
        boxes = []
        for index in indexes:
            if _get_loose_char_box(self._at, index, _box_at):
                left, top, right, bottom = _BOX.unpack(_box)
                boxes.append((left, bottom, right, top))
        return boxes

    def is_guessed(self, index: int) -> bool:
        """Whether a character isn't in the document: PDFium took white between two others for a space."""
        return bool(_is_generated(self._at, index) == 1)

    def type_of(self, index: int) -> Type:
        """What a character is set in."""
        _get_matrix(self._at, index, _matrix_at)
        _get_font_info(self._at, index, _font_name_at, _font_name_bytes, _font_flags_at)
        return _MATRIX.unpack(_matrix), _get_font_size(self._at, index), (_font_name.value, _font_flags.value)

    def font(self, index: int) -> Font:
        _get_font_info(self._at, index, _font_name_at, _font_name_bytes, _font_flags_at)
        return _font_name.value, _font_flags.value


@contextmanager
def text_of(page: Any) -> Iterator[TextPage | None]:
    """The text of ``page``, for as long as the block lasts; None if PDFium can't tell it."""
    handle = pdfium.FPDFText_LoadPage(page)
    try:
        yield TextPage(handle) if handle else None
    finally:
        if handle:
            pdfium.FPDFText_ClosePage(handle)


def _character(code: int) -> str:
    if code == 2:
        return SOFT_BREAK
    return "\ufffd" if code == 0 or code > 0x10FFFF else chr(code)
