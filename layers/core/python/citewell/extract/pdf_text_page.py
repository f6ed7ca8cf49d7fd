"""What PDFium knows of the text on a page: its characters, where they stand, and the type they are set in."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pypdfium2.raw as pdfium

from citewell.extract.pdf_calls import undeclared
from citewell.extract.pdf_places import Edges

SOFT_BREAK = "\ufffe"
"""PDFium writes it for a hyphen at the end of a line, and leaves the line's end out."""

Matrix = tuple[float, float, float, float, float, float]

_EDGES, _BOX, _MATRIX = struct.Struct("4d"), struct.Struct("4f"), struct.Struct("6f")
_FONT_NAME_BYTES = 128
_FEWEST_PIECES = 64

_count_rects = undeclared(pdfium.FPDFText_CountRects, ctypes.c_int)
_get_rect = undeclared(pdfium.FPDFText_GetRect, ctypes.c_int)
_get_loose_char_box = undeclared(pdfium.FPDFText_GetLooseCharBox, ctypes.c_int)
_get_matrix = undeclared(pdfium.FPDFText_GetMatrix, ctypes.c_int)
_get_font_size = undeclared(pdfium.FPDFText_GetFontSize, ctypes.c_double)
_get_font_info = undeclared(pdfium.FPDFText_GetFontInfo, ctypes.c_int)
_name_bytes = ctypes.c_ulong(_FONT_NAME_BYTES)


class _Memory:
    """For results, and the references to it. One is enough: PDFium can be used by one thread at a time only."""

    def __init__(self) -> None:
        self.box, self.matrix = (ctypes.create_string_buffer(form.size) for form in (_BOX, _MATRIX))
        self.box_at, self.matrix_at = ctypes.byref(self.box), ctypes.byref(self.matrix)
        self.font_name, self.font_flags = ctypes.create_string_buffer(_FONT_NAME_BYTES), ctypes.c_int()
        self.font_name_at, self.font_flags_at = ctypes.byref(self.font_name), ctypes.byref(self.font_flags)
        self.make_room(_FEWEST_PIECES)

    def make_room(self, pieces: int) -> None:
        self.pieces = [ctypes.create_string_buffer(_EDGES.size) for _ in range(pieces)]
        # PDFium names the top before the right and the bottom.
        self.pieces_at = [tuple(ctypes.byref(each, offset) for offset in (0, 24, 16, 8)) for each in self.pieces]


_memory = _Memory()


class TextPage:
    """The text of one page, by the indexes of its characters. Lengths are in the page's own points, upwards."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._at = ctypes.byref(ctypes.c_char.from_address(ctypes.cast(handle, ctypes.c_void_p).value or 0))

    def characters(self) -> str:
        """All of them, one for each index."""
        count = pdfium.FPDFText_CountChars(self._handle)
        if count <= 0:
            return ""
        units = (ctypes.c_ushort * (count + 1))()
        pdfium.FPDFText_GetText(self._handle, 0, count, units)
        characters = bytes(units).decode("utf-16-le", "replace")
        if len(characters) == count + 1 and "\0" not in characters[:-1]:
            return characters[:-1]
        # Characters beyond 16 bits, or some without a meaning, shift the one against the other.
        return "".join(_character(pdfium.FPDFText_GetUnicode(self._handle, index)) for index in range(count))

    def pieces(self, start: int, end: int) -> list[Edges]:
        """Where the pieces stand in which the characters from ``start`` to before ``end`` are drawn."""
        at = self._at
        count = _count_rects(at, start, end - start)
        if count > len(_memory.pieces):
            _memory.make_room(count)
        for index in range(count):
            _get_rect(at, index, *_memory.pieces_at[index])
        return [_EDGES.unpack(each) for each in _memory.pieces[:count]]

    def boxes(self, *indexes: int) -> list[Edges]:
        """Where single characters stand."""
        boxes = []
        for index in indexes:
            if _get_loose_char_box(self._at, index, _memory.box_at):
                left, top, right, bottom = _BOX.unpack(_memory.box)
                boxes.append((left, bottom, right, top))
        return boxes

    def matrix(self, index: int) -> Matrix:
        """By which a character's type is set: from its font's ems times its size to the page's points."""
        _get_matrix(self._at, index, _memory.matrix_at)
        return _MATRIX.unpack(_memory.matrix)

    def font_size(self, index: int) -> float:
        size: float = _get_font_size(self._at, index)
        return size

    def font(self, index: int) -> tuple[bytes, int]:
        """The name of a character's font, and what its flags say (PDF 32000-1, table 123)."""
        _get_font_info(self._at, index, _memory.font_name_at, _name_bytes, _memory.font_flags_at)
        return _memory.font_name.value, _memory.font_flags.value


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
    return "\ufffd" if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)
