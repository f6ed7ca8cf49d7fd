"""Tells whether a text is a table of delimited values, and by what its cells are parted.

A table is told from prose by what its rows have in common. Prose has a space after a comma, lines of any number of
commas, sentences; a table's rows have as many cells as its head. When in doubt it is prose, which stays as it is.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

Row = Sequence[str]

_BY_RANK = "\t;|,"  # of two that fit alike: decimals and enumerations have commas, nobody enumerates by tabs
_SAMPLE_CHARACTERS = (65_536, 1_048_576)
_SAMPLE_LINES = 500
_LEADING_LINES = 5

_DECLARATION = re.compile(r"\s*\"?sep=([,;|\t])\"?[ \t]*(?:\n|\Z)", re.IGNORECASE)  # for Excel
_COMMENTS = re.compile(r"(?:#[^\n]*\n)+(?=[^\s#])")
_MARKDOWN_OR_CODE = re.compile(r"^(?:#{1,6} |```|~~~|[ \t]*\|?[ \t]*:?-{3,}|\+-{3,}|//|/\*)", re.MULTILINE)
_LIST_LINE = re.compile(r"[ \t]*(?:[-*+>]|\d+[.)])[ \t]")
_SENTENCE_END = re.compile(r"[.!?:。！？][\"'”’)]*$")

_NUMBER = re.compile(r"[-+]?[€$£]?[0-9][0-9a-fx.,_:/-]*[%€$£]?", re.IGNORECASE)

_LEAST_FILLED = 0.3
_MOST_LIST_LINES = 0.2
_LEAST_DELIMITED = 0.8
_LEAST_FITTING = 0.5
_MOST_TORN_BRACKETS = 0.2
_MOST_SENTENCES = 0.2
_MOST_WORDS_OF_SPACED_CELLS = 3.5


class Table(NamedTuple):
    """What parts the cells, where the rows begin in the text, and what the comments above them say."""

    delimiter: str
    start: int = 0
    comments: str = ""


def table_in(text: str) -> Table | None:
    """The table that ``text``, which has ``\\n`` line ends and may be cut, is; None when it is something else."""
    if declared := _DECLARATION.match(text):
        return Table(declared[1], declared.end())
    if comments := _COMMENTS.match(text):
        # Under a heading there is text, more often than a table: only one without a flaw is believed.
        delimiter = _delimiter_of(text[comments.end() :], least_rows=3, least_fit=1)
        lines = (line.strip("# \t") for line in comments[0].split("\n"))
        return Table(delimiter, comments.end(), "\n".join(lines)) if delimiter else None
    delimiter = _delimiter_of(text, least_rows=2, least_fit=_LEAST_FITTING)
    return Table(delimiter) if delimiter else None


def _delimiter_of(text: str, *, least_rows: int, least_fit: float) -> str | None:
    for size in _SAMPLE_CHARACTERS:
        lines = text[:size].split("\n")
        if not _may_be_table(lines):
            return None
        samples = {delimiter: _sample(lines, delimiter, is_cut=len(text) > size) for delimiter in _BY_RANK}
        fits = {delimiter: _fit(rows, delimiter) for delimiter, rows in samples.items()}
        best = max(fits, key=lambda delimiter: fits[delimiter])  # the first of equals
        if fits[best]:
            return best if fits[best] >= least_fit and len(samples[best]) >= least_rows else None
        if all(len(rows) > 1 for rows in samples.values()):
            return None  # only a cell that fills the sample makes a larger one worth it
    return None


def rows_of(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    """The rows of a table's lines, which have no line ends. A cell in quotes may go over several lines.

    A quotation mark that is never closed would swallow every row after it; then quotation marks are plain characters
    but for those around a cell.
    """
    lines = list(lines)
    _allow_cells_of(sum(len(line) + 1 for line in lines))
    end = ["\ue000"]  # a row that nobody writes: it comes out as itself unless a cell is still open
    rows = list(csv.reader([*(line + "\n" for line in lines), *end], delimiter=delimiter))
    if rows and rows[-1] == end:
        rows.pop()
        yield from rows
        return
    for row in csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE):
        yield [_unquoted(cell) for cell in row]


def _allow_cells_of(characters: int) -> None:
    """The standard library's own limit, 128 K characters, is the process's; a document's length is bounded already."""
    csv.field_size_limit(max(csv.field_size_limit(), characters + 1))


def _unquoted(cell: str) -> str:
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return cell[1:-1].replace('""', '"') if is_quoted else cell


def _may_be_table(lines: Sequence[str]) -> bool:
    visible = [line for line in lines if line.strip()]
    if len(visible) < 2 or _MARKDOWN_OR_CODE.search("\n".join(visible)):
        return False
    return sum(1 for line in visible if _LIST_LINE.match(line)) <= _MOST_LIST_LINES * len(visible)


def _sample(lines: Sequence[str], delimiter: str, *, is_cut: bool) -> list[list[str]]:
    """The first rows that hold anything, none of them cut; no rows where the delimiter isn't among the first lines."""
    if not any(delimiter in line for line in lines[:_LEADING_LINES]):
        return []
    if is_cut or len(lines) > _SAMPLE_LINES:
        _allow_cells_of(_SAMPLE_CHARACTERS[-1])
        rows = list(csv.reader((line + "\n" for line in lines[:_SAMPLE_LINES]), delimiter=delimiter))[:-1]
    else:
        rows = list(rows_of(lines, delimiter))
    return _without_title([row for row in rows if any(cell.strip() for cell in row)])


def _without_title(rows: list[list[str]]) -> list[list[str]]:
    """Lines above the head that aren't parted are titles, as long as a head and two rows are left."""
    first = next((index for index, row in enumerate(rows[:_LEADING_LINES]) if len(row) > 1), 0)
    return rows[first:] if len(rows) - first > 2 else rows


def _fit(rows: Sequence[Row], delimiter: str) -> float:
    """The share of rows that have as many cells as most; 0 when they don't look like rows."""
    if len(rows) < 2:
        return 0
    widths = Counter(len(row) for row in rows)
    width = max((width for width in widths if width > 1), key=lambda each: (widths[each], each), default=0)
    delimited = sum(1 for row in rows if len(row) > 1)
    fitting = widths[width] / len(rows)
    if not width or delimited < _LEAST_DELIMITED * len(rows) or fitting < _LEAST_FITTING:
        return 0
    return fitting if _are_rows(rows, width, fitting, delimiter) else 0


def _are_rows(rows: Sequence[Row], width: int, fitting: float, delimiter: str) -> bool:
    if sum(1 for row in rows if _filled(row) > 1) < _LEAST_FILLED * len(rows) or _is_one_number_or_line(rows, width):
        return False
    if len(rows) == 2 and not all(cell.strip() for cell in rows[0][1:]):
        return False
    if delimiter == "\t":
        return True
    if _is_spaced(rows):
        return len(rows) > 2 and fitting == 1 and (width > 2 or _ends_in_numbers(rows)) and not _is_prose(rows)
    return _torn_brackets(rows) <= _MOST_TORN_BRACKETS


def _filled(row: Row) -> int:
    return sum(1 for cell in row if cell.strip())


def _ends_in_numbers(rows: Sequence[Row]) -> bool:
    return all(_NUMBER.fullmatch(row[-1].strip()) for row in rows[1:])


def _is_one_number_or_line(rows: Sequence[Row], width: int) -> bool:
    """Whether the delimiter stands inside numbers only: thousands, decimals, the milliseconds of a log."""
    joints = [(left, right) for row in rows for left, right in itertools.pairwise(row)]
    inside = all(left[-1:].isdigit() and right[:1].isdigit() for left, right in joints)
    return inside and (width == 2 or all(re.match(r"\d{3}(?!\d)", right) for _, right in joints))


def _is_spaced(rows: Sequence[Row]) -> bool:
    later = [cell for row in rows for cell in row[1:] if cell.strip()]
    return 2 * sum(1 for cell in later if cell[0].isspace()) > len(later)


def _is_prose(rows: Sequence[Row]) -> bool:
    cells = [cell for row in rows for cell in row]
    words = sum(len(cell.split()) for cell in cells)
    sentences = sum(1 for row in rows if _SENTENCE_END.search(row[-1].rstrip()))
    return words > _MOST_WORDS_OF_SPACED_CELLS * len(cells) or sentences > _MOST_SENTENCES * len(rows)


def _torn_brackets(rows: Sequence[Row]) -> float:
    """The share of rows with a cell in which a bracket is open or closed only: a program's arguments, not cells."""
    torn = sum(1 for row in rows if any(cell.count("(") != cell.count(")") for cell in row))
    return torn / len(rows)
