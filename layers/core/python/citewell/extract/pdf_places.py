"""Where something stands on a PDF's page, and on the page turned so that its text stands upright."""

from __future__ import annotations

import ctypes
from typing import Any

import pypdfium2.raw as pdfium

Matrix = tuple[float, float, float, float, float, float]
"""``a`` to ``f`` of PDF 32000-1, 8.3.3: a point goes to a x + c y + e, b x + d y + f."""

Edges = tuple[float, float, float, float]
"""Left, bottom, right and top in the page's own points, upwards; turned upright: left, top, right and bottom."""


def page_box(page: Any) -> Edges:
    box = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, ctypes.byref(box))
    return box.left, box.bottom, box.right, box.top


def turned(edges: Edges, turn: int, page: Edges) -> Edges:
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
