"""The visible cells of a sheet, read as a stream: it may have a million rows."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from citewell.errors import DocumentRejected
from citewell.extract import xml
from citewell.extract.ooxml import Element, R, S, number_of
from citewell.extract.sheet_cells import Cells

_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_LETTERS = re.compile(r"[A-Z]{1,3}")
_NUMBER_SIGNS = "$0123456789"
_MOST_COLUMNS = 16_384
_MOST_RANGES = 100_000
_TRUE = ("1", "true")
CELL_CHARACTERS = 3
"""What a table needs to keep a cell apart from the next one."""

_ROW, _C, _COL, _MERGE, _FILTER, _OBJECT = (
    S + name for name in ("row", "c", "col", "mergeCell", "filterColumn", "oleObject")
)


class Range(NamedTuple):
    """Rows and columns from 1, both ends inclusive."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(slots=True)
class Sheet:
    """``rows`` maps a row's number to the texts of its columns, both from 1, in order; only what shows something.

    ``objects`` are the relationships' ids of documents that lie over the sheet.
    """

    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    merged: list[Range] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    objects: list[str] = field(default_factory=list)
    characters: int = 0

    def shows(self, reference: str) -> bool:
        """Whether the cell ``reference`` (``B2``) can be seen; so can one that makes no sense."""
        return not any(area.top in self.hidden_rows or area.left in self.hidden_columns for area in _ranges(reference))


def read_sheet(data: bytes, cells: Cells, *, filtered: bool, most_characters: int) -> Sheet:
    """``filtered``: one of its tables has a filter set.

    Raises DocumentRejected ``corrupt``, or ``too_large`` when the texts come to more than ``most_characters``.
    """
    sheet = Sheet()
    number = 0
    for element in xml.iterate(data, _ROW, _COL, _MERGE, _FILTER, _OBJECT):
        if element.tag == _ROW:
            number = number_of(element.get("r")) or number + 1
            if _is_hidden(element):
                sheet.hidden_rows.add(number)
            _read_row(sheet, element, number, cells)
            if sheet.characters > most_characters:
                raise DocumentRejected("too_large", f"more than {most_characters} characters of text")
        else:
            _read_layout(sheet, element)
    if filtered:
        sheet.hidden_rows.clear()
    _drop_covered(sheet)
    _move_to_visible(sheet)
    _drop_hidden(sheet)
    return sheet


def _read_layout(sheet: Sheet, element: Element) -> None:
    if element.tag == _COL:
        sheet.hidden_columns.update(_hidden_columns(element))
    elif element.tag == _FILTER:
        sheet.hidden_rows.clear()  # a filter, which comes after the rows, hides them only for the moment
    elif element.tag == _OBJECT:
        sheet.objects.append(element.get(R + "id", ""))
    elif len(sheet.merged) < _MOST_RANGES:
        sheet.merged += _ranges(element.get("ref", ""))


def _read_row(sheet: Sheet, row: Element, number: int, cells: Cells) -> None:
    texts: dict[int, str] = {}
    column = 0
    for cell in row.iterchildren(_C):
        # No pattern is matched here: with a million cells it would take a tenth of the time.
        column = min(_column(cell.get("r", "").strip(_NUMBER_SIGNS)) or column + 1, _MOST_COLUMNS)
        text = cells.text(cell)
        if text and not text.isspace():
            texts[column] = text
            sheet.characters += len(text) + CELL_CHARACTERS
    if texts:
        sheet.rows.setdefault(number, {}).update(texts)


def _is_hidden(element: Element) -> bool:
    """Whether a row or column is hidden for good: one in a folded outline opens with a click."""
    return element.get("hidden") in _TRUE and not number_of(element.get("outlineLevel"))


def _hidden_columns(element: Element) -> range:
    first, last = number_of(element.get("min")) or 0, number_of(element.get("max")) or 0
    return range(first, min(last, _MOST_COLUMNS) + 1) if _is_hidden(element) else range(0)


def _drop_hidden(sheet: Sheet) -> None:
    for texts in sheet.rows.values():
        for column in sheet.hidden_columns & texts.keys():
            del texts[column]
    for row in sheet.hidden_rows:
        sheet.rows.pop(row, None)


def _drop_covered(sheet: Sheet) -> None:
    """What merging covered is still in the file, but nobody sees it."""
    numbers = sorted(sheet.rows)
    for area in sheet.merged:
        for row in numbers[bisect_left(numbers, area.top) : bisect_right(numbers, area.bottom)]:
            texts = sheet.rows[row]
            for column in [each for each in texts if area.left <= each <= area.right]:
                if (row, column) != (area.top, area.left):
                    del texts[column]


def _move_to_visible(sheet: Sheet) -> None:
    """A merged cell that begins in a hidden row or column is seen where the first visible ones cross."""
    for index, area in enumerate(sheet.merged):
        row = next((each for each in range(area.top, area.bottom + 1) if each not in sheet.hidden_rows), None)
        column = next((each for each in range(area.left, area.right + 1) if each not in sheet.hidden_columns), None)
        if row is None or column is None or (row, column) == (area.top, area.left):
            continue
        sheet.merged[index] = Range(row, column, area.bottom, area.right)
        text = sheet.rows.get(area.top, {}).pop(area.left, None)
        if text is not None:
            sheet.rows[row] = dict(sorted({**sheet.rows.get(row, {}), column: text}.items()))


def _ranges(reference: str) -> list[Range]:
    """The one area that is meant; none where it makes no sense."""
    first, _, last = reference.partition(":")
    start, end = _REFERENCE.fullmatch(first), _REFERENCE.fullmatch(last or first)
    return [Range(int(start[2]), _column(start[1]), int(end[2]), _column(end[1]))] if start and end else []


@lru_cache(maxsize=_MOST_COLUMNS)
def _column(letters: str) -> int:
    """From 1; 0 for what names no column."""
    number = 0
    for letter in letters if _LETTERS.fullmatch(letters) else "":
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
