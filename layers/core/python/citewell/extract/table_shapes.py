"""Tables whose grid isn't what a reader sees: rows that are lines of one row, and forms, which have no columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from citewell.extract.table_heads import Row

FEWEST_PARAGRAPHS, FEWEST_CHARACTERS = 3, 200
"""Of a cell that is rather a column of a page, where it stands in the only row of a table."""

_FEWEST_LINES = 3
_LONGEST_LINE = 80
_NUMBER = re.compile(r"[^\w\n]{0,3}\d[\d\s.,'’/-]*\s?[^\w\n]{0,3}|[–—-]|\W?")
_TIMES = 2


def reshaped(rows: Sequence[Row], head_rows: int) -> list[Row]:
    """``rows`` as they are read; the first ``head_rows``, or else the first one, are never parted.

    Cells are given with their blank lines, by which their other lines stand side by side. A row that is repeated
    (the same object) is looked at once: some tables say that they repeat theirs a million times.
    """
    head = max(head_rows, 1)
    parted = {id(row): [_stripped(each) for each in _unstacked(row)] for row in _distinct(rows[head:])}
    return _packed([*map(_stripped, rows[:head]), *(line for row in rows[head:] for line in parted[id(row)])])


def _distinct(rows: Sequence[Row]) -> Collection[Row]:
    return {id(row): row for row in rows}.values()


def _stripped(row: Row) -> Row:
    return [None if cell is None else cell.strip() for cell in row]


def _unstacked(row: Row) -> list[Row]:
    """The rows that were set as the lines of one: each cell has as many lines, and one of them numbers alone."""
    cells = [None if cell is None else cell.rstrip().split("\n") for cell in row]
    filled = [lines for lines in cells if lines is not None and any(map(str.strip, lines))]
    count = len(filled[0]) if len(filled) > 1 else 0
    if count < _FEWEST_LINES or any(len(lines) != count for lines in filled):
        return [row]
    if any(len(line) > _LONGEST_LINE for lines in filled for line in lines) or not any(map(_are_numbers, filled)):
        return [row]
    spread = [[None] * count if lines is None else lines if len(lines) == count else [""] * count for lines in cells]
    return [list(line) for line in zip(*spread, strict=True)]


def _are_numbers(lines: Sequence[str]) -> bool:
    return all(_NUMBER.fullmatch(line.strip()) for line in lines) and sum(map(_has_digit, lines)) >= _FEWEST_LINES


def _has_digit(line: str) -> bool:
    return any(map(str.isdigit, line))


def _packed(rows: Sequence[Row]) -> list[Row]:
    """Without the columns that cells reach over, where no row has even half as many cells as there are columns.

    Such a table is a form, drawn with cells of all widths. A row of one cell stays one: a title.
    """
    distinct = _distinct(rows)
    widest = max((sum(cell is not None for cell in row) for row in distinct), default=0)
    if len(rows) < 2 or widest < 2 or max(map(len, distinct)) < _TIMES * widest:
        return list(rows)
    return [row if _is_one_cell(row) else [cell for cell in row if cell is not None] for row in rows]


def _is_one_cell(row: Row) -> bool:
    return all(cell is None for cell in row[1:])
