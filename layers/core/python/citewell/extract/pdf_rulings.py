"""The lines that a PDF's page draws, level and upright, and the edges of its boxes."""

from __future__ import annotations

import ctypes
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

import pypdfium2.raw as pdfium

from citewell.extract.pdf_calls import Handle, undeclared
from citewell.extract.pdf_places import Edges, Matrix, page_box, turned

THIN = 3.0  # points up to which a box is a line
_SHORTEST_WALL = 6.0
_FEWEST_SEAMS = 5  # with fewer, the lines may be those at the head and the foot of a table
_OBJECTS_LOOKED_AT = 10_000
_DEEPEST_FORM = 5
_MOST_LINES = 4_000
_SEGMENTS_OF_A_BOX = 5
_BACKGROUND = 0.7  # of the page from which on a box is no part of a table

Forms = tuple[Matrix, ...]
"""Where forms stand in which an object is drawn: each in the next one, the last one on the page."""

_get_object = undeclared(pdfium.FPDFPage_GetObject, Handle)
_get_type = undeclared(pdfium.FPDFPageObj_GetType, ctypes.c_int)
_get_bounds = undeclared(pdfium.FPDFPageObj_GetBounds, ctypes.c_int)
_get_draw_mode = undeclared(pdfium.FPDFPath_GetDrawMode, ctypes.c_int)
_get_matrix = undeclared(pdfium.FPDFPageObj_GetMatrix, ctypes.c_int)
_count_form_objects = undeclared(pdfium.FPDFFormObj_CountObjects, ctypes.c_int)
_get_form_object = undeclared(pdfium.FPDFFormObj_GetObject, Handle)
_count_segments = undeclared(pdfium.FPDFPath_CountSegments, ctypes.c_int)
_get_segment = undeclared(pdfium.FPDFPath_GetPathSegment, Handle)
_get_segment_type = undeclared(pdfium.FPDFPathSegment_GetType, ctypes.c_int)
_get_point = undeclared(pdfium.FPDFPathSegment_GetPoint, ctypes.c_int)


class Rulings:
    """The lines of a page, as they stand when its text has been turned upright. None where there are thousands."""

    def __init__(self, page: Any) -> None:
        self._page_box = page_box(page)
        edges = list(islice(_drawn_lines(page, self._page_box), _MOST_LINES + 1))
        self._edges = edges if len(edges) <= _MOST_LINES else []
        self._upright: dict[int, list[Edges]] = {}
        self._walls: dict[int, list[Edges]] = {}

    def upright(self, turn: int) -> list[Edges]:
        """Left, top, right and bottom of each line, after as many quarter turns of the page."""
        if turn not in self._upright:
            drawn = [turned(each, turn, self._page_box) for each in self._edges]
            self._upright[turn] = drawn + list(_seams(drawn))
        return self._upright[turn]

    def walls(self, turn: int) -> list[Edges]:
        """The upright ones, from left to right."""
        if turn not in self._walls:
            self._walls[turn] = sorted(
                each for each in self.upright(turn) if each[2] - each[0] <= THIN and each[3] - each[1] > _SHORTEST_WALL
            )
        return self._walls[turn]

    def part(self, turn: int, left: float, right: float, height: float) -> bool:
        """Whether an upright line stands between ``left`` and ``right`` at that height."""
        walls = self.walls(turn)
        first, last = bisect_left(walls, (left,)), bisect_left(walls, (right,))
        return any(top < height < bottom for _, top, _, bottom in walls[first:last])


def _drawn_lines(page: Any, bounds: Edges) -> Iterator[Edges]:
    left, bottom, right, top = bounds
    most = _BACKGROUND * (right - left) * (top - bottom)
    edges = tuple(ctypes.c_float() for _ in range(4))
    at = tuple(map(ctypes.byref, edges))
    objects = (_get_object(page, index) for index in range(pdfium.FPDFPage_CountObjects(page)))
    for each, forms in islice(_with_forms(objects), _OBJECTS_LOOKED_AT):
        if _get_type(each) != pdfium.FPDF_PAGEOBJ_PATH or not _is_visible(each) or not _get_bounds(each, *at):
            continue
        box = _placed((edges[0].value, edges[1].value, edges[2].value, edges[3].value), forms)
        width, height = box[2] - box[0], box[3] - box[1]
        if min(width, height) <= THIN:
            yield box
        elif _count_segments(each) > _SEGMENTS_OF_A_BOX:
            yield from (_placed(segment, forms) for segment in _segments_of(each))
        elif width * height < most:
            yield from _edges_of(box)


def _with_forms(objects: Iterable[Any], forms: Forms = ()) -> Iterator[tuple[Any, Forms]]:
    """Each of ``objects`` and, as a form is a page on the page, what those show."""
    for each in objects:
        yield each, forms
        if _get_type(each) == pdfium.FPDF_PAGEOBJ_FORM and len(forms) < _DEEPEST_FORM:
            inside = (_get_form_object(each, index) for index in range(_count_form_objects(each)))
            yield from _with_forms(inside, (_matrix_of(each), *forms))


def _placed(edges: Edges, forms: Forms) -> Edges:
    """Where ``edges`` stand on the page."""
    for a, b, c, d, e, f in forms:
        left, bottom, right, top = edges
        xs = [a * x + c * y + e for x in (left, right) for y in (bottom, top)]
        ys = [b * x + d * y + f for x in (left, right) for y in (bottom, top)]
        edges = min(xs), min(ys), max(xs), max(ys)
    return edges


def _seams(drawn: Sequence[Edges]) -> Iterator[Edges]:
    """Upright lines where level ones meet end to end, several times one below the other.

    Tables are drawn so in which each cell has a line at its foot: the lines' ends are what parts the cells. ``drawn``
    and the result are left, top, right and bottom.
    """
    level = [each for each in drawn if each[3] - each[1] <= THIN and each[2] - each[0] > _SHORTEST_WALL]
    level.sort(key=lambda each: (round(each[1]), each[0]))
    meeting: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for one, other in pairwise(level):
        if round(one[1]) == round(other[1]) and -2 * THIN < other[0] - one[2] < 1.0:
            meeting[round((one[2] + other[0]) / 4)].append(((one[2] + other[0]) / 2, one[1]))
    walls = {round(each[0] / 2) for each in drawn if each[2] - each[0] <= THIN}
    for place, meets in meeting.items():
        if len(meets) >= _FEWEST_SEAMS and walls.isdisjoint(range(place - 1, place + 2)):
            for (_, top), (x, bottom) in pairwise(meets):
                yield x, top, x, bottom


def _is_visible(path: Any) -> bool:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    known = _get_draw_mode(path, ctypes.byref(fill), ctypes.byref(stroke))
    return not known or fill.value != pdfium.FPDF_FILLMODE_NONE or bool(stroke.value)


def _edges_of(box: Edges) -> Iterator[Edges]:
    left, bottom, right, top = box
    yield left, bottom, right, bottom
    yield left, top, right, top
    yield left, bottom, left, top
    yield right, bottom, right, top


def _segments_of(path: Any) -> Iterator[Edges]:
    """The straight parts of a path, which may be all lines of a table."""
    x, y = ctypes.c_float(), ctypes.c_float()
    a, b, c, d, e, f = _matrix_of(path)
    last: tuple[float, float] | None = None
    for index in range(min(_count_segments(path), _MOST_LINES)):
        segment = _get_segment(path, index)
        if not _get_point(segment, ctypes.byref(x), ctypes.byref(y)):
            return
        point = a * x.value + c * y.value + e, b * x.value + d * y.value + f
        if last and _get_segment_type(segment) == pdfium.FPDF_SEGMENT_LINETO:
            (left, right), (bottom, top) = sorted((last[0], point[0])), sorted((last[1], point[1]))
            if min(right - left, top - bottom) <= THIN:
                yield left, bottom, right, top
        last = point


def _matrix_of(each: Any) -> Matrix:
    matrix = pdfium.FS_MATRIX()
    _get_matrix(each, ctypes.byref(matrix))
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f
