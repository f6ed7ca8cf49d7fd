"""Where words stand on a page, to lines and tables in the order in which a person reads them.

Two columns are told from a table by what stands in them: columns hold running text, drawn one after the other, or
lines that fill their width; a table's cells are short, and drawn row by row.
"""

from __future__ import annotations

import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from citewell.extract.pdf_fragments import Fragment
from citewell.extract.pdf_grids import with_grids
from citewell.extract.pdf_rows import Row, is_rtl, rows_of, text_of
from citewell.extract.pdf_rulings import Rulings
from citewell.extract.pdf_tables import (
    GUTTER,
    RuledTable,
    Table,
    drawn_cells,
    drawn_table_end,
    spaced_records,
    spaced_table_end,
    with_ruled_tables,
)

_DEEPEST = 6
_CANDIDATES = 3
_PROSE_CHARACTERS = 22
_APART = 0.8  # ems of white between columns that end and what follows
_LEVEL = 1.6  # ems between the ends of columns that are as long as each other
_CELL_CHARACTERS = 12
_NUMBER_CHARACTERS = 8


Line = Fragment
"""One line of running text, in one piece."""


@dataclass(slots=True)
class Column:
    """What stands in one column, from top to bottom. ``turned``: against most of the page's text."""

    items: list[Line | Table]
    turned: bool


def columns_of(fragments: Sequence[Fragment], rulings: Rulings | None, *, code: bool) -> Iterator[Column]:
    """A page's columns in reading order. With ``code``, lines of one-width characters are never a table.

    Text that stands turned comes after the rest, as a part of its own.
    """
    turns = sorted({each.turn for each in fragments})
    parts = [[each for each in fragments if each.turn == turn] for turn in turns]
    for turned, part in enumerate(sorted(parts, key=lambda part: -sum([len(each.text) for each in part]))):
        rtl = is_rtl("".join([each.text for each in part[:200]]))
        if rulings and (drawn := rulings.upright(part[0].turn)):
            part = with_ruled_tables(with_grids(part, drawn, rtl=rtl), drawn)
        for column in _split(part, rtl=rtl):
            yield Column(list(_items(rows_of(column), code=code)), bool(turned))


# --- columns ---


def _split(fragments: list[Fragment], *, rtl: bool, depth: int = 0) -> Iterator[list[Fragment]]:
    if len(fragments) >= 6 and depth < _DEEPEST:
        for gutter in _gutters(fragments):
            parts = _parts(fragments, gutter, rtl=rtl)
            if len(parts) > 1:
                for part in parts:
                    yield from _split(part, rtl=rtl, depth=depth + 1)
                return
    yield fragments


def _gutters(fragments: list[Fragment]) -> list[float]:
    """Where a column may begin: left edges that several lines share, with little across them. The likeliest first."""
    lefts = sorted([each.left for each in fragments])
    rights = sorted([each.right for each in fragments])
    white = GUTTER * statistics.median_low([each.size for each in fragments])
    if lefts[-3] + 1.0 < rights[2] + white:
        return []
    found: list[tuple[int, float]] = []
    last = lefts[0]
    for left in lefts:
        if left - last < 1.0:
            continue
        last = left
        after = len(lefts) - bisect_left(lefts, left - 1.0)
        before = bisect_right(rights, left - white)
        aligned = bisect_right(lefts, left + 2.0) - bisect_left(lefts, left - 2.0)
        across = len(fragments) - before - after
        score = min(before, after) - 2 * across
        if aligned >= 3 and min(before, after) >= 3 and across <= min(before, after):
            found.append((score, left))
    return [left for _, left in sorted(found, key=lambda each: (-each[0], each[1]))[:_CANDIDATES]]


def _parts(fragments: list[Fragment], gutter: float, *, rtl: bool) -> list[list[Fragment]]:
    """What stands left and right of ``gutter``, between the lines that run across it; a single part if it is none."""
    white = GUTTER * statistics.median_low(each.size for each in fragments)
    parts: list[list[Fragment]] = []
    across: list[Fragment] = []

    def crosses(each: Fragment) -> bool:
        return each.left < gutter - 1.0 and each.right > gutter - white

    ordered = sorted(fragments, key=lambda each: (each.middle, each.left))
    for crossing, band in groupby(ordered, key=crosses):
        members = list(band)
        left = [each for each in members if each.left < gutter - 1.0]
        right = [each for each in members if each.left >= gutter - 1.0]
        if crossing or not _are_columns(left, right):
            across += members
            continue
        if across:
            parts.append(across)
            across = []
        columns, below = _balanced([right, left] if rtl else [left, right])
        parts += columns
        across += below
    if across:
        parts.append(across)
    return parts


def _balanced(columns: list[list[Fragment]]) -> tuple[list[list[Fragment]], list[Fragment]]:
    """Columns that end at one height, and what stands further down, which is a part of its own."""
    first, last = (max(each.bottom for each in column) for column in columns)
    long, end = (0, last) if first > last else (1, first)
    middles = sorted(columns[long], key=lambda each: each.middle)
    for above, below in pairwise(middles):
        size = max(above.size, below.size)
        if below.top - above.bottom > _APART * size and abs(above.bottom - end) < _LEVEL * size and below.top > end:
            rest = [each for each in columns[long] if each.middle >= below.middle]
            columns[long] = [each for each in columns[long] if each.middle < below.middle]
            return columns, rest
    return columns, []


def _are_columns(left: list[Fragment], right: list[Fragment]) -> bool:
    if len(left) < 3 or len(right) < 3:
        return False
    left_rows, right_rows = rows_of(left), rows_of(right)
    if len(left_rows) < 3 or len(right_rows) < 3:
        return False
    drawn = sorted([(each.order, 0) for each in left] + [(each.order, 1) for each in right])
    switches = sum(one[1] != other[1] for one, other in pairwise(drawn))
    if switches <= max(1, (len(left_rows) + len(right_rows)) // 10):
        return not (_are_cells(left_rows, right_rows) and _are_cells(right_rows, left_rows))
    return _is_prose(left_rows) and _is_prose(right_rows)


def _are_cells(rows: list[Row], others: list[Row]) -> bool:
    """Whether ``rows`` are short and stand beside ``others``, line by line."""
    middles = sorted(row[0].middle for row in others)
    beside = 0
    for row in rows:
        near = bisect_left(middles, row[0].middle - 0.2 * row[0].size)
        beside += near < len(middles) and middles[near] <= row[0].middle + 0.2 * row[0].size
    return beside >= 0.8 * len(rows) and statistics.median(len(text_of(row)) for row in rows) < _CELL_CHARACTERS


def _is_prose(rows: list[Row]) -> bool:
    """Whether most lines are long, in one piece, and fill their column."""
    left, right = min(row[0].left for row in rows), max(row[-1].right for row in rows)
    full = sum(row[-1].right >= left + 0.75 * (right - left) for row in rows)
    whole = sum(len(row) == 1 for row in rows)
    characters = statistics.mean(len(text_of(row)) for row in rows)
    return len(rows) >= 4 and characters >= _PROSE_CHARACTERS and full >= len(rows) / 2 and whole >= 0.7 * len(rows)


# --- lines and tables ---


def _items(rows: list[Row], *, code: bool) -> Iterator[Line | Table]:
    start = 0
    while start < len(rows):
        row = rows[start]
        if len(row) > 1 and (
            beside := _tables_in(row)
        ):  # what stands after them on the line may begin a table of its own
            yield from _lines(row[:beside])
            rows[start : start + 1] = [row[beside:]] if beside < len(row) else []
        elif row[0].text[0] == "|" and (end := drawn_table_end(rows, start)):
            yield Table([drawn_cells(text_of(row)) for row in rows[start:end]])
            start = end
        elif len(row) > 1 and (end := spaced_table_end(rows, start, code=code)):
            yield Table(spaced_records(rows[start:end]))
            start = end
        else:
            yield from _lines(row)
            start += 1


def _tables_in(row: Row) -> int:
    """Where on a line the last table between ruled lines ends; 0 if there is none."""
    return max((index for index, each in enumerate(row, 1) if isinstance(each, RuledTable)), default=0)


def _lines(row: Row) -> Iterator[Line | Table]:
    if len(row) == 1 and not isinstance(row[0], RuledTable):  # as most are
        yield row[0]
        return
    for is_table, members in groupby(row, key=lambda each: isinstance(each, RuledTable)):
        if is_table:
            yield from (Table([list(cells) for cells in each.rows]) for each in members if isinstance(each, RuledTable))
        else:
            yield _line(list(members))


def _line(row: Row) -> Line:
    if len(row) == 1:
        return row[0]
    longest = max(row, key=lambda each: len(each.text))
    return replace(
        longest,
        text=text_of(row),
        left=min(each.left for each in row),
        right=max(each.right for each in row),
        bold=all(each.bold for each in row),
        fixed=all(each.fixed for each in row),
        whole=len(row) == 2 and len(row[0].text) <= _NUMBER_CHARACTERS,
    )
