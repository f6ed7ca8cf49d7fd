"""The tables on a sheet, which itself knows of cells only."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise, takewhile

from citewell.errors import DocumentRejected
from citewell.extract.sheet_rows import CELL_CHARACTERS, Range, Sheet
from citewell.extract.table_heads import NUMBER, PERIOD, Row, with_one_head

Region = dict[int, dict[int, str]]
"""Texts by row, then by column; no row is empty."""

_DIGIT = re.compile(r"\d")
_ROWS_COMPARED = 20
_MOST_TITLES = 2
_MOST_HEAD_ROWS = 3
_LEAST_NAMES = 3
_HEAD_AND_A_ROW = 3
_MOST_COLUMNS_APART = 200
"""A wider region is one table: looking for others costs time, and nobody puts so many side by side."""


@dataclass(slots=True)
class SheetTable:
    """``lines_before`` are titles and remarks over the table: rows of one cell. The first of ``rows`` is the head."""

    lines_before: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


def tables_in(sheet: Sheet, most_characters: int) -> list[SheetTable]:
    """From above to below, then from left to right.

    A blank row parts tables, unless what follows it looks like the same table going on: more rows like those above,
    also under a title of their own, or the first ones under a head. A blank column parts them
    where they begin in different rows: else a form's label and its value would be torn apart. Raises DocumentRejected
    ``too_large`` when blank cells alone would take more than ``most_characters``.
    """
    cells = {number: sheet.rows[number] for number in sorted(sheet.rows) if sheet.rows[number]}
    merged: dict[int, list[Range]] = {}
    for area in sheet.merged:
        merged.setdefault(area.top, []).append(area)
    return [
        _table(part, merged, most_characters)
        for region in _parted_by_rows(cells, sheet)
        for column_part in _parted_by_columns(region, sheet)
        for part in _parted_by_rows(column_part, sheet)
    ]


def _parted_by_rows(cells: Region, sheet: Sheet) -> Iterator[Region]:
    table: Region = {}
    for region in _between_blank_rows(cells, sheet):
        if table and not _continues(table, region):
            yield table
            table = {}
        table.update(region)
    if table:
        yield table


def _between_blank_rows(cells: Region, sheet: Sheet) -> Iterator[Region]:
    region: Region = {}
    last = 0
    for number, row in cells.items():
        if region and _is_blank_between(last, number, sheet.hidden_rows) and not _goes_on(_last_rows(region), row):
            yield region
            region = {}
        region[number] = row
        last = number
    if region:
        yield region


def _is_blank_between(first: int, second: int, hidden: set[int]) -> bool:
    """Whether a row or column that can be seen lies between two others."""
    return any(number not in hidden for number in range(first + 1, second))


def _last_rows(region: Region) -> list[dict[int, str]]:
    """The last one first."""
    return list(islice(reversed(region.values()), _ROWS_COMPARED))


def _goes_on(above: Sequence[dict[int, str]], row: dict[int, str]) -> bool:
    """Whether ``row``, after a blank one, is a row of the table above rather than another one's title or head.

    Then each of its numbers stands under others, and they aren't all years or quarters, which head a table.
    """
    if not above or len(above[0]) < 2 or min(above[0]) != min(row) or abs(len(above[0]) - len(row)) > 1:
        return False
    numbers = [column for column, text in row.items() if NUMBER.fullmatch(text)]
    numbers = numbers or [column for column, text in row.items() if _DIGIT.search(text)]
    if not numbers or not all(any(_DIGIT.search(other.get(column, "")) for other in above) for column in numbers):
        return False
    return not all(PERIOD.fullmatch(row[column]) for column in numbers) or all(
        PERIOD.fullmatch(above[0].get(column, "")) for column in numbers
    )


def _continues(table: Region, region: Region) -> bool:
    """Whether ``region`` is more of a table that has a head: its body, or another group of rows under a title."""
    titles = list(takewhile(lambda row: len(row) == 1, region.values()))
    row = next(islice(region.values(), len(titles), None), None)
    first = islice(table.values(), _ROWS_COMPARED)
    rows = list(islice((each for each in first if len(each) > 1), _MOST_HEAD_ROWS + 1))
    if row is None or not rows or len(titles) > _MOST_TITLES or not _names(rows[0]):
        return False
    if not any(map(NUMBER.fullmatch, row.values())):
        return False
    if all(map(_names, rows)) and len(rows) <= _MOST_HEAD_ROWS:
        return row.keys() <= rows[-1].keys() and 2 * len(row) >= len(rows[-1])
    above = _last_rows(table)
    return _goes_on(above, row) or (bool(titles) and _goes_on(above[1:], row))  # a sum may end a group


def _names(row: dict[int, str]) -> bool:
    """Whether a row names three columns or more."""
    return len(row) >= _LEAST_NAMES and not any(
        NUMBER.fullmatch(text) and not PERIOD.fullmatch(text) for text in row.values()
    )


def _parted_by_columns(region: Region, sheet: Sheet) -> Iterator[Region]:
    for left, right in _seams(region):
        if _is_blank_between(left, right, sheet.hidden_columns) and not _is_crossed(region, sheet.merged, left):
            first = {number: part for number, row in region.items() if (part := _between(row, 0, left))}
            rest = {number: part for number, row in region.items() if (part := _between(row, right, sys.maxsize))}
            if _are_apart(first, rest):
                yield first
                yield from _parted_by_columns(rest, sheet)
                return
    yield region


def _seams(region: Region) -> Iterator[tuple[int, int]]:
    """Neighbouring columns with a text, where those to the left begin in another row than those to the right."""
    tops: dict[int, int] = {}
    for number, row in region.items():
        for column in row:
            tops.setdefault(column, number)
    columns = sorted(tops)
    if len(columns) <= _MOST_COLUMNS_APART:
        for index, seam in enumerate(pairwise(columns), start=1):
            if min(tops[column] for column in columns[:index]) != min(tops[column] for column in columns[index:]):
                yield seam


def _is_crossed(region: Region, merged: list[Range], column: int) -> bool:
    """Whether a merged cell of the region reaches over ``column``."""
    return any(area.left <= column < area.right and area.top in region for area in merged)


def _between(row: dict[int, str], first: int, last: int) -> dict[int, str]:
    return {column: text for column, text in row.items() if first <= column <= last}


def _are_apart(left: Region, right: Region) -> bool:
    """Whether both, which begin in different rows, are tables of their own: else a row would be torn apart.

    Each has more than a row and a column, and either they share but few rows or each has its own head.
    """
    if any(len(part) < 2 or max(map(len, part.values())) < 2 for part in (left, right)):
        return False
    shared = len(left.keys() & right.keys())
    return 2 * shared < min(len(left), len(right)) or all(map(_has_head, (left, right)))


def _has_head(region: Region) -> bool:
    """Whether the first row holds words for every column, over a row that holds a number."""
    first, second = islice(region.values(), 2)
    is_full = len(first) == len({column for row in region.values() for column in row})
    return is_full and not any(map(NUMBER.fullmatch, first.values())) and any(map(NUMBER.fullmatch, second.values()))


def _table(region: Region, merged: Mapping[int, Sequence[Range]], most_characters: int) -> SheetTable:
    numbers = list(region)
    columns = sorted({column for row in region.values() for column in row})
    if len(columns) == 1:
        return SheetTable(lines_before=[row[columns[0]] for row in region.values()])
    titles = list(takewhile(lambda number: _is_title(region[number], columns, merged.get(number, ())), numbers[:-1]))
    under = [region[number] for number in numbers[len(titles) :]]
    columns = sorted({column for row in under for column in row})
    if len(under) * len(columns) * CELL_CHARACTERS > most_characters:
        raise DocumentRejected("too_large", f"a table of {len(under)} rows and {len(columns)} columns")
    rows: list[Row] = [[row.get(column, "") for column in columns] for row in under[:_HEAD_AND_A_ROW]]
    for row, number in zip(rows[:-1], numbers[len(titles) :], strict=False):
        _mark_covered(row, columns, merged.get(number, ()))
    head = with_one_head(rows)[1]
    body = [[row.get(column, "") for column in columns] for row in under[_HEAD_AND_A_ROW:]]
    return SheetTable([text for number in titles for text in region[number].values()], [*head, *body])


def _is_title(row: dict[int, str], columns: list[int], merged: Sequence[Range]) -> bool:
    """Whether a row is one cell, but none over all columns but the first ones: that is part of the table's head."""
    return len(row) == 1 and not any(
        area.left in row and columns[0] < area.left < columns[-1] <= area.right for area in merged
    )


def _mark_covered(row: Row, columns: list[int], merged: Sequence[Range]) -> None:
    """What a merged cell of the row covers holds no text of its own."""
    for area in merged:
        for index in range(bisect_right(columns, area.left), bisect_right(columns, area.right)):
            row[index] = None
