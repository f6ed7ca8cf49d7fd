"""Tables of RTF, which knows of rows only: each says by itself where its cells end and which of them are merged."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from citewell.extract.table_heads import Row, with_one_head
from citewell.extract.table_shapes import FEWEST_CHARACTERS, FEWEST_PARAGRAPHS, reshaped

MOST_CELLS = 1_000
_MOST_COLUMNS = 63  # that Word's tables can have
_ALIKE = 80
"""Twentieths of a point by which the ends of cells in one column may differ: rows are set by hand and by eye."""


@dataclass(slots=True)
class CellPlace:
    """``end`` is the cell's right edge. One that goes on with the cell left of it or above it shows nothing."""

    end: int = 0
    goes_on_left: bool = False
    goes_on_above: bool = False


@dataclass(slots=True)
class RowPlan:
    """What is said of a row besides its texts; ``left`` is where its first cell begins."""

    left: int = 0
    is_head: bool = False
    cells: list[CellPlace] = field(default_factory=list)
    next_cell: CellPlace = field(default_factory=CellPlace)

    def end_cell(self, end: int) -> None:
        """A cell's properties stand before its end."""
        self.next_cell.end = end
        if len(self.cells) < MOST_CELLS:
            self.cells.append(self.next_cell)
        self.next_cell = CellPlace()


PlannedRow = tuple[list[str], RowPlan]


def table_of(rows: Sequence[PlannedRow]) -> tuple[list[str], list[list[str]]]:
    """The lines above a table and its rows, the first one the head; a merged cell's text stands in the first of them.

    Where a plan doesn't fit its row, cells stand in the order given. Cells are given with their blank lines.
    """
    head_rows = sum(1 for _ in takewhile(lambda row: row[1].is_head, rows))
    starts = _columns(rows)
    placed: list[Row] = [_placed(texts, plan, starts) if starts else [*texts] for texts, plan in rows]
    return with_one_head(reshaped(placed, head_rows), head_rows or None)


def sets_out_a_page(rows: Sequence[PlannedRow]) -> bool:
    """Whether the only row of a table holds a column of text."""
    return len(rows) == 1 and any(map(_is_column, rows[0][0]))


def _is_column(text: str) -> bool:
    lines = list(filter(str.strip, text.split("\n")))
    return len(lines) >= FEWEST_PARAGRAPHS and sum(map(len, lines)) >= FEWEST_CHARACTERS


def _columns(rows: Sequence[PlannedRow]) -> list[int]:
    """Where the columns end, as the narrowest cell in each does; empty where that can't be told."""
    if any(len(texts) != len(plan.cells) for texts, plan in rows):
        return []
    columns: list[int] = []
    for end in sorted({cell.end for _, plan in rows for cell in plan.cells}):
        if not columns or end - columns[-1] > _ALIKE:
            columns.append(end)
    return columns if len(columns) <= _MOST_COLUMNS else []


def _placed(texts: Sequence[str], plan: RowPlan, columns: list[int]) -> Row:
    row: Row = [""] * bisect_right(columns, plan.left + _ALIKE)
    for text, cell in zip(texts, plan.cells, strict=True):
        row.append(None if cell.goes_on_left and row else "" if cell.goes_on_above else text)
        row += [None] * (bisect_right(columns, cell.end) - len(row))
    return row
