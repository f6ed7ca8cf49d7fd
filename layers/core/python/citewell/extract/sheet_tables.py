"""The tables on a sheet, which itself knows of cells only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from citewell.errors import DocumentRejected
from citewell.extract.sheet_rows import CELL_CHARACTERS, Range, Sheet

Region = dict[int, dict[int, str]]
"""Texts by row, then by column; no row is empty."""

_MOST_COLUMNS_APART = 200
"""A wider region is one table: looking for others costs time, and nobody puts so many side by side."""


@dataclass(slots=True)
class SheetTable:
    """``lines_before`` are titles and remarks over the table: rows of one cell. The first of ``rows`` is the head."""

    lines_before: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


def tables_in(sheet: Sheet, most_characters: int) -> list[SheetTable]:
    """From above to below, then from left to right.

    A blank row parts tables, unless what follows it looks like the same table going on. A blank column parts them
    where they begin in different rows: else a form's label and its value would be torn apart. Raises DocumentRejected
    ``too_large`` when blank cells alone would take more than ``most_characters``.
    """
    cells = {number: sheet.rows[number] for number in sorted(sheet.rows) if sheet.rows[number]}
    return [
        _table(part, most_characters)
        for region in _parted_by_rows(cells, sheet)
        for column_part in _parted_by_columns(region, sheet)
        for part in _parted_by_rows(column_part, sheet)
    ]


def _parted_by_rows(cells: Region, sheet: Sheet) -> Iterator[Region]:
    region: Region = {}
    last = 0
    for number, row in cells.items():
        if region and _is_blank_between(last, number, sheet.hidden_rows) and not _goes_on(region[last], row):
            yield region
            region = {}
        region[number] = row
        last = number
    if region:
        yield region


def _is_blank_between(first: int, second: int, hidden: set[int]) -> bool:
    """Whether a row or column that can be seen lies between two others."""
    return any(number not in hidden for number in range(first + 1, second))


def _goes_on(above: dict[int, str], row: dict[int, str]) -> bool:
    """Whether ``row``, after a blank one, is a row of the table above rather than another one's title or head."""
    alike = len(above) > 1 and min(above) == min(row) and abs(len(above) - len(row)) <= 1
    return alike and any(text[-1:].isdigit() for text in row.values())


def _parted_by_columns(region: Region, sheet: Sheet) -> Iterator[Region]:
    columns = sorted({column for row in region.values() for column in row})
    if len(columns) <= _MOST_COLUMNS_APART:
        for left, right in pairwise(columns):
            if _is_blank_between(left, right, sheet.hidden_columns) and not _is_crossed(region, sheet.merged, left):
                first = {number: part for number, row in region.items() if (part := _between(row, 0, left))}
                rest = {number: part for number, row in region.items() if (part := _between(row, right, columns[-1]))}
                if _are_apart(first, rest):
                    yield first
                    yield from _parted_by_columns(rest, sheet)
                    return
    yield region


def _is_crossed(region: Region, merged: list[Range], column: int) -> bool:
    """Whether a merged cell of the region reaches over ``column``."""
    return any(area.left <= column < area.right and area.top in region for area in merged)


def _between(row: dict[int, str], first: int, last: int) -> dict[int, str]:
    return {column: text for column, text in row.items() if first <= column <= last}


def _are_apart(left: Region, right: Region) -> bool:
    """Whether both are tables of their own: more than a row and a column, with heads in different rows."""
    return min(left) != min(right) and all(len(part) > 1 and max(map(len, part.values())) > 1 for part in (left, right))


def _table(region: Region, most_characters: int) -> SheetTable:
    rows = list(region.values())
    columns = sorted({column for row in rows for column in row})
    table = SheetTable()
    if len(columns) == 1:
        return SheetTable(lines_before=[row[columns[0]] for row in rows])
    while len(rows) > 1 and len(rows[0]) == 1:
        table.lines_before += rows.pop(0).values()
    columns = sorted({column for row in rows for column in row})
    if len(rows) * len(columns) * CELL_CHARACTERS > most_characters:
        raise DocumentRejected("too_large", f"a table of {len(rows)} rows and {len(columns)} columns")
    table.rows = [[row.get(column, "") for column in columns] for row in rows]
    return table
