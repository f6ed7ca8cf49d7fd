"""Where the shapes of a slide stand, what they inherit from its layout, and in which order they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from citewell.extract.ooxml import A, Element, P, number_of

_MARGIN = 91_440
"""A tenth of an inch, in the units of slides: boxes that overlap by less are beside one another to the eye."""

_ALIKE = 1.5
"""Times the lowest box's height that the highest one may have in a grid."""

_ROWS_OF_A_GRID = 3
_MOST_ORDERED = 500
"""Shapes; a slide with more is a drawing, whose order no rule tells."""

_KINDS_IN_MASTER = {"ctrTitle": "title", "title": "title", "subTitle": "body", "obj": "body", "body": "body"}


class Box(NamedTuple):
    left: int
    top: int
    right: int
    bottom: int


_Placed = tuple[Element, Box]


class Placeholder(NamedTuple):
    """``kind`` and ``number`` find the shape of the layout that a shape stands in for."""

    kind: str
    number: str


class Inherited:
    """The placeholders and list styles of a layout and its master."""

    def __init__(self, layout: Element | None, master: Element | None) -> None:
        self._layout = list(_placeholders(layout))
        self._master = {placeholder.kind: shape for placeholder, shape in _placeholders(master)}
        styles = master.find(P + "txStyles") if master is not None else None
        self._styles = {} if styles is None else {each.tag.removeprefix(P): each for each in styles}

    def shapes(self, placeholder: Placeholder | None) -> list[Element]:
        """The layout's shape, then the master's, as far as they are there."""
        if placeholder is None:
            return []
        kind = _KINDS_IN_MASTER.get(placeholder.kind, placeholder.kind)
        found = (self._of_layout(placeholder, kind), self._master.get(kind))
        return [shape for shape in found if shape is not None]

    def _of_layout(self, placeholder: Placeholder, kind: str) -> Element | None:
        """A slide has one title; all else is told by its number."""
        for other, shape in self._layout:
            if other.number == placeholder.number or _KINDS_IN_MASTER.get(other.kind) == kind == "title":
                return shape
        return None

    def list_styles(self, placeholder: Placeholder | None) -> list[Element]:
        """What says which paragraphs are items of a list, the nearest first."""
        styles = [shape.find(f"{P}txBody/{A}lstStyle") for shape in self.shapes(placeholder)]
        kind = _KINDS_IN_MASTER.get(placeholder.kind, "other") if placeholder is not None else "other"
        return [style for style in (*styles, self._styles.get(f"{kind}Style")) if style is not None]


def placeholder_of(shape: Element) -> Placeholder | None:
    found = shape.find(f"*/{P}nvPr/{P}ph")
    return None if found is None else Placeholder(found.get("type", "obj"), found.get("idx", "0"))


def box_of(shape: Element, inherited: Inherited) -> Box | None:
    """Its own place or the one of its placeholder; None where neither is told."""
    for each in (shape, *inherited.shapes(placeholder_of(shape))):
        frame = next((found for found in each.iterfind(f"*/{A}xfrm")), None)
        frame = each.find(P + "xfrm") if frame is None else frame
        if frame is not None and (box := _box(frame)) is not None:
            return box
    return None


def in_reading_order(shapes: Sequence[tuple[Element, Box | None]]) -> list[Element]:
    """Cut along the widest gap, above and below or left and right, then read each part by itself (XY-cut).

    Shapes without a place come last, in the order given.
    """
    placed = [(shape, box) for shape, box in shapes if box is not None]
    unplaced = [shape for shape, box in shapes if box is None]
    return [shape for shape, _ in _cut(placed[:_MOST_ORDERED])] + [
        *(shape for shape, _ in placed[_MOST_ORDERED:]),
        *unplaced,
    ]


def _cut(shapes: list[_Placed]) -> list[_Placed]:
    parts = [shapes]
    done: list[_Placed] = []
    while parts:
        part = parts.pop()
        across, along = _widest_gap(part, 1, 3), _widest_gap(part, 0, 2)
        if len(part) < 2 or (across is None and along is None):
            done += chain(*_rows(part, _face))
            continue
        if rows := _grid(part):
            done += chain(*rows)
            continue
        use_rows = along is None or (across is not None and across[0] >= along[0])
        side, gap = (1, across) if use_rows else (0, along)
        assert gap is not None
        parts.append([each for each in part if each[1][side] + _margin(each[1], side) >= gap[1]])
        parts.append([each for each in part if each[1][side] + _margin(each[1], side) < gap[1]])
    return done


def _grid(shapes: list[_Placed]) -> list[list[_Placed]]:
    """The rows of boxes of one height, three or more as labels with their values have; empty where there are none.

    They belong together, however wide the gap between their columns. Cards that stand side by side are no rows: they
    have heads and bodies, which differ in height.
    """
    heights = [box.bottom - box.top for _, box in shapes]
    if max(heights) > _ALIKE * min(heights):
        return []
    rows = _rows(shapes, _begin_in_line)
    are_apart = all(above[0][1].bottom <= below[0][1].top + _MARGIN for above, below in pairwise(rows))
    most_are_full = 2 * sum(len(row) > 1 for row in rows) > len(rows)
    return rows if len(rows) >= _ROWS_OF_A_GRID and are_apart and most_are_full else []


def _rows(shapes: list[_Placed], in_line: Callable[[Box, Box], bool]) -> list[list[_Placed]]:
    """Those that stand side by side, from left to right; ``in_line`` tells whether one is at another's height."""
    rows: list[list[_Placed]] = []
    for each in sorted(shapes, key=lambda each: (each[1].top, each[1].left)):
        row = rows[-1] if rows else []
        if row and in_line(row[0][1], each[1]) and all(_are_beside(each[1], other) for _, other in row):
            row.append(each)
        else:
            rows.append([each])
    return [sorted(row, key=lambda each: each[1].left) for row in rows]


def _begin_in_line(one: Box, other: Box) -> bool:
    return abs(one.top - other.top) <= _MARGIN


def _face(one: Box, other: Box) -> bool:
    """Whether each reaches over the middle of the other, as boxes do that were set side by side by hand."""
    between = max(one.top, other.top), min(one.bottom, other.bottom)
    return all(between[0] <= (each.top + each.bottom) // 2 <= between[1] for each in (one, other))


def _are_beside(one: Box, other: Box) -> bool:
    overlap = min(one.right, other.right) - max(one.left, other.left)
    return overlap <= max(_MARGIN, min(one.right - one.left, other.right - other.left) // 4)


def _widest_gap(shapes: Sequence[_Placed], low: int, high: int) -> tuple[int, int] | None:
    """Width and end of the widest gap between shapes, seen from one side."""
    spans = sorted((box[low] + _margin(box, low), box[high] - _margin(box, low)) for _, box in shapes)
    widest: tuple[int, int] | None = None
    reached = spans[0][1] if spans else 0
    for start, end in spans:
        if start > reached and (widest is None or start - reached > widest[0]):
            widest = (start - reached, start)
        reached = max(reached, end)
    return widest


def _margin(box: Box, low: int) -> int:
    return min(_MARGIN, max(0, box[low + 2] - box[low]) // 4)


def _placeholders(root: Element | None) -> Iterator[tuple[Placeholder, Element]]:
    for shape in root.iter(P + "sp") if root is not None else ():
        if (placeholder := placeholder_of(shape)) is not None:
            yield placeholder, shape


def _box(frame: Element) -> Box | None:
    offset, extent = frame.find(A + "off"), frame.find(A + "ext")
    if offset is None or extent is None:
        return None
    left, top = number_of(offset.get("x")), number_of(offset.get("y"))
    width, height = number_of(extent.get("cx")), number_of(extent.get("cy"))
    if left is None or top is None or width is None or height is None:
        return None
    return Box(left, top, left + max(width, 0), top + max(height, 0))
