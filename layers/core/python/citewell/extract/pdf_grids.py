"""Tables that are drawn with lines: where the lines of a page make cells, and what stands in each of them.

Words alone don't tell such a table from running text where its columns are narrow or its cells hold several lines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import NamedTuple

from citewell.extract.pdf_fragments import Fragment
from citewell.extract.pdf_places import Edges
from citewell.extract.pdf_rows import rows_of, text_of
from citewell.extract.pdf_rulings import THIN
from citewell.extract.pdf_tables import RuledTable

_WORD = re.compile(r"\S+")
_NEAR = 3.0  # points within which two lines are one, or touch
_SHORTEST = 6.0
_HEAD = 2.0  # ems above a table within which a line may be its head
_LONGEST_CELL = 2_000  # characters; what holds more is a frame around a part of the page
_MOST_CELLS = 20_000
_FIGURES = 0.8  # of a column's lines, from which on it counts something
_FEWEST_FIGURES = 3
_CELL_CHARACTERS = 200
_RECORDS = 0.8  # of a table's rows, that fill several columns
_FEWEST_RECORDS = 3


class _Segment(NamedTuple):
    """A line at ``at`` across its direction, ``start`` to ``end`` along it."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Grid:
    """``xs`` and ``ys`` are where columns and rows begin, and where the last ones end; upright, in points.

    ``across`` and ``down`` are the lines between columns and between rows, by where they stand.
    """

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    across: tuple[_Segment, ...]
    down: tuple[_Segment, ...]

    def area(self) -> float:
        return (self.xs[-1] - self.xs[0]) * (self.ys[-1] - self.ys[0])

    def holds(self, each: Fragment) -> bool:
        middle = (each.left + each.right) / 2
        return self.xs[0] < middle < self.xs[-1] and self.ys[0] < each.middle < self.ys[-1]

    def column(self, place: float) -> int:
        return bisect_right(self.xs, place) - 1

    def cell(self, each: Fragment) -> tuple[int, int]:
        """The row and column of the cell in which ``each`` stands, of merged ones the first."""
        row = bisect_right(self.ys, each.middle, hi=len(self.ys) - 1) - 1
        column = bisect_right(self.xs, (each.left + each.right) / 2, hi=len(self.xs) - 1) - 1
        while column > 0 and not _is_drawn(self.across, self.xs[column], self.ys[row], self.ys[row + 1]):
            column -= 1
        while row > 0 and not _is_drawn(self.down, self.ys[row], self.xs[column], self.xs[column + 1]):
            row -= 1
        return row, column


def with_grids(fragments: list[Fragment], rulings: Sequence[Edges], *, rtl: bool) -> list[Fragment]:
    """``fragments`` with one that stands for each table whose cells are drawn, in place of its own.

    ``rulings`` are the left, top, right and bottom of the lines that the page draws.
    """
    for grid in sorted(_grids(rulings), key=Grid.area):
        held = [each for each in fragments if grid.holds(each)]
        tables = [each for each in held if isinstance(each, RuledTable)]
        lines = {id(each): _in_one_line(each) for each in tables}
        if tables and not (len(tables) == 1 and _is_in_cell(grid, lines[id(tables[0])], held)):
            continue  # a frame around a table
        inside = [lines.get(id(each), each) for each in held]
        if cells := _cells(grid, inside):
            above = _above(grid, fragments, size=inside[0].size)
            head = _head(grid, above)
            taken = set(map(id, held + (above if head else [])))
            fragments = [each for each in fragments if id(each) not in taken]
            fragments.append(_table(grid, head, cells, inside, rtl=rtl))
    return fragments


def _grids(rulings: Sequence[Edges]) -> list[Grid]:
    """The grids of two columns and two rows or more."""
    level, upright = (_joined(each) for each in _segments(rulings))
    return [grid for lines in _touching(level, upright) if (grid := _grid(*lines))]


def _cells(grid: Grid, fragments: Iterable[Fragment]) -> dict[tuple[int, int], list[Fragment]]:
    """What stands in each cell; empty where the grid is no table but a frame around parts of a page."""
    cells: defaultdict[tuple[int, int], list[Fragment]] = defaultdict(list)
    for each in fragments:
        cells[grid.cell(each)].append(each)
    rows, columns = ({cell[axis] for cell in cells} for axis in (0, 1))
    if len(rows) < 2 or len(columns) < 2:
        return {}
    longest = max(sum(len(each.text) for each in cell) for cell in cells.values())
    return cells if longest <= _LONGEST_CELL else {}


def _is_in_cell(grid: Grid, table: Fragment, held: Iterable[Fragment]) -> bool:
    """Whether a small ``table`` stands in one cell of another, most of whose records have others: in no form's frame.

    What a larger one says is lost in a cell.
    """
    if len(table.text) > _CELL_CHARACTERS:
        return False
    filled: defaultdict[int, set[int]] = defaultdict(set)
    for each in held:
        row, column = grid.cell(each)
        filled[row].add(column)
    records = sum(len(columns) > 1 for columns in filled.values())
    return len(filled[grid.cell(table)[0]]) > 1 and records >= max(_FEWEST_RECORDS, _RECORDS * len(filled))


def _in_one_line(table: RuledTable) -> Fragment:
    words = " ".join(filter(None, (cell for row in table.rows for cell in row)))
    return Fragment(words, table.left, table.right, table.middle, table.size, table.turn, order=table.order)


def _above(grid: Grid, fragments: Iterable[Fragment], *, size: float) -> list[Fragment]:
    """What stands right above a table."""
    return [
        each
        for each in fragments
        if grid.ys[0] - _HEAD * size < each.middle < grid.ys[0]
        and grid.xs[0] - _NEAR <= each.left
        and each.right <= grid.xs[-1] + _NEAR
    ]


def _head(grid: Grid, above: Sequence[Fragment]) -> dict[int, str]:
    """What stands ``above`` a table's columns, by these; empty unless it is a row of them."""
    parts = [part for each in above for part in _parts(grid, each)]
    columns = {grid.column((each.left + each.right) / 2): each.text for each in parts}
    is_row = len(above) > 1 and len(columns) == len(parts) and 2 * len(parts) > len(grid.xs) - 1
    return columns if is_row else {}


def _parts(grid: Grid, each: Fragment) -> list[Fragment]:
    """``each`` by the columns over which its words stand; whole where one of them stands over two."""
    if grid.column(each.left) == grid.column(each.right):
        return [each]
    pitch = (each.right - each.left) / len(each.text)
    parts: list[Fragment] = []
    for word in _WORD.finditer(each.text):
        left, right = each.left + pitch * word.start(), each.left + pitch * word.end()
        if grid.column(left + pitch) != grid.column(right - pitch):
            return [each]
        if parts and grid.column(parts[-1].left + pitch) == grid.column(left + pitch):
            parts[-1] = replace(parts[-1], text=f"{parts[-1].text} {word[0]}", right=right)
        else:
            parts.append(replace(each, text=word[0], left=left, right=right))
    return parts


def _table(
    grid: Grid,
    head: Mapping[int, str],
    cells: Mapping[tuple[int, int], list[Fragment]],
    inside: list[Fragment],
    *,
    rtl: bool,
) -> RuledTable:
    bands: list[dict[int, list[Fragment]]] = [{} for _ in grid.ys[1:]]
    for (row, column), held in cells.items():
        bands[row][column] = held
    records = [dict(head)] if head else []
    for band in bands:
        records += _records(band)
    rows = [[record.get(column, "") for column in range(len(grid.xs) - 1)] for record in records]
    first = min(inside, key=lambda each: each.order)
    return RuledTable(
        " ",
        grid.xs[0],
        grid.xs[-1],
        grid.ys[0] + first.size / 2,
        first.size,
        first.turn,
        order=first.order,
        rows=tuple(tuple(row[::-1] if rtl else row) for row in rows),
    )


def _records(band: Mapping[int, list[Fragment]]) -> Iterator[dict[int, str]]:
    """What stands between two level lines, by columns: one record, or one a line where they count something.

    Invoices and statistics have lines between their columns only, and a label before most of their figures, where a
    cell may hold several, such as hours, beside a single one. The line above a label that goes on is its beginning.
    """
    lines = rows_of([each for held in band.values() for each in held])
    columns = {id(each): column for column, held in band.items() for each in held}
    split = [_by_column(line, columns) for line in lines]
    counting = {column for column in band if _counts([text_of(line[column]) for line in split if column in line])}
    counted = [index for index, line in enumerate(split) if not counting.isdisjoint(line)]
    label = min(band, default=0)
    if 2 * sum(label in split[index] for index in counted) <= len(counted):
        counted = []
    starts = [index - (_goes_on(split[index].get(label)) and index - 1 not in counted) for index in counted]
    for start, end in pairwise([0, *starts[1:], len(lines)]):
        record = _by_column(chain(*lines[start:end]), columns)
        yield {column: "\n".join(map(text_of, rows_of(held))) for column, held in record.items()}


def _by_column(fragments: Iterable[Fragment], columns: Mapping[int, int]) -> dict[int, list[Fragment]]:
    """``fragments`` by ``columns``, which has the one of each by its id."""
    parts: defaultdict[int, list[Fragment]] = defaultdict(list)
    for each in fragments:
        parts[columns[id(each)]].append(each)
    return parts


def _goes_on(label: list[Fragment] | None) -> bool:
    return label is not None and label[0].text[0].islower()


def _counts(cells: list[str]) -> bool:
    """Whether ``cells`` are figures, most of them."""
    figures = sum(any(map(str.isdigit, cell)) and not any(map(str.isalpha, cell)) for cell in cells)
    return figures >= max(_FIGURES * len(cells), _FEWEST_FIGURES)


def _segments(rulings: Iterable[Edges]) -> tuple[list[_Segment], list[_Segment]]:
    """Level lines and upright ones; a thin box is a line."""
    level, upright = [], []
    for left, top, right, bottom in rulings:
        if bottom - top <= THIN and right - left >= _SHORTEST:
            level.append(_Segment((top + bottom) / 2, left, right))
        elif right - left <= THIN and bottom - top >= _SHORTEST:
            upright.append(_Segment((left + right) / 2, top, bottom))
    return level, upright


def _joined(segments: list[_Segment]) -> list[_Segment]:
    """``segments`` with those on one line that meet as one."""
    joined: list[_Segment] = []
    for line in _lines(segments):
        at = line[0].at
        for each in sorted(line, key=lambda segment: segment.start):
            if joined and joined[-1].at == at and each.start <= joined[-1].end + _NEAR:
                joined[-1] = joined[-1]._replace(end=max(joined[-1].end, each.end))
            else:
                joined.append(_Segment(at, each.start, each.end))
    return joined


def _lines(segments: list[_Segment]) -> Iterator[list[_Segment]]:
    line: list[_Segment] = []
    for each in sorted(segments):
        if line and each.at - line[0].at > _NEAR:
            yield line
            line = []
        line.append(each)
    if line:
        yield line


def _touching(level: list[_Segment], upright: list[_Segment]) -> Iterator[tuple[list[_Segment], list[_Segment]]]:
    """The lines apart by which of them are connected."""
    left_level, left_upright = list(level), list(upright)
    while left_level and left_upright:
        level_part: list[_Segment] = []
        upright_part: list[_Segment] = []
        grown, is_level = [left_level.pop()], True
        while grown:
            (level_part if is_level else upright_part).extend(grown)
            others = left_upright if is_level else left_level
            grown, kept = [], _apart(others, grown)
            grown = [each for each in others if each not in kept]
            others[:] = list(kept)
            is_level = not is_level
        if upright_part:
            yield level_part, upright_part


def _apart(others: list[_Segment], lines: list[_Segment]) -> dict[_Segment, None]:
    """Those of ``others`` that none of ``lines``, which run across them, touches."""
    return {
        each: None
        for each in others
        if not any(
            line.start - _NEAR <= each.at <= line.end + _NEAR and each.start - _NEAR <= line.at <= each.end + _NEAR
            for line in lines
        )
    }


def _grid(level: list[_Segment], upright: list[_Segment]) -> Grid | None:
    """A table may be open at its sides: then it ends where its lines end."""
    xs = _places([each.at for each in upright], [each.start for each in level], [each.end for each in level])
    ys = _places([each.at for each in level], [each.start for each in upright], [each.end for each in upright])
    if len(xs) < 3 or len(ys) < 3 or len(xs) * len(ys) > _MOST_CELLS:
        return None
    return Grid(tuple(xs), tuple(ys), tuple(upright), tuple(level))


def _places(at: list[float], starts: list[float], ends: list[float]) -> list[float]:
    places = sorted({*at, min(starts), max(ends)})
    return [place for place, following in pairwise([*places, float("inf")]) if following - place > _NEAR]


def _is_drawn(lines: Sequence[_Segment], at: float, start: float, end: float) -> bool:
    """Whether a line stands at ``at`` along most of the way from ``start`` to ``end``."""
    middle = (start + end) / 2
    return any(abs(line.at - at) <= _NEAR and line.start - 1 <= middle <= line.end + 1 for line in lines)
