"""The rows of delimited values, in the dialect in which they are written."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

DELIMITERS = "\t;|,"
"""By rank, of two that fit alike: decimals and enumerations have commas, nobody enumerates by tabs."""

_BETWEEN_QUOTES = re.compile(r'"([\t;|,])[ ]*"')
_BETWEEN_APOSTROPHES = re.compile(r"'([\t;|,])[ ]*'")
_IN_APOSTROPHES = re.compile(r"'.*'\s*")
_ENOUGH_BETWEEN_QUOTES = 0.5


class Dialect(NamedTuple):
    """``quotes_after_space``: a quotation mark opens a cell also when a space stands between it and the delimiter."""

    delimiter: str
    quote: str = '"'
    quotes_after_space: bool = False


def dialect_of(text: str, delimiter: str) -> Dialect:
    """The dialect of ``text`` when ``delimiter`` parts its cells."""
    quote = "'" if _is_in_apostrophes(text) else '"'
    opens_after_space = re.compile(f"{re.escape(delimiter)} +{quote}[^\\s{quote}{re.escape(delimiter)}]")
    return Dialect(delimiter, quote, opens_after_space.search(text) is not None)


def delimiters_of(text: str) -> str:
    """Those that may part the cells of ``text``; the one between quoted cells where they are quoted."""
    between = _BETWEEN_APOSTROPHES if _is_in_apostrophes(text) else _BETWEEN_QUOTES
    found = Counter(between.findall(text))
    delimiter, count = max(found.items(), key=lambda each: each[1], default=("", 0))
    lines = sum(1 for line in text.split("\n") if line.strip())
    return delimiter if count > 1 and count >= _ENOUGH_BETWEEN_QUOTES * lines else DELIMITERS


def rows_of(lines: Iterable[str], dialect: Dialect) -> Iterator[list[str]]:
    """The rows of a table's lines, which have no line ends. A cell in quotes may go over several lines.

    A quotation mark that is never closed would swallow every row after it; then quotation marks are plain characters
    but for those around a cell.
    """
    lines = list(lines)
    end = ["\ue000"]  # a row that nobody writes: it comes out as itself unless a cell is still open
    rows = rows_so_far([*lines, *end], dialect)
    if rows and rows[-1] == end:
        rows.pop()
        yield from rows
        return
    for row in csv.reader(lines, delimiter=dialect.delimiter, quoting=csv.QUOTE_NONE):
        yield [_unquoted(cell, dialect) for cell in row]


def rows_so_far(lines: Sequence[str], dialect: Dialect) -> list[list[str]]:
    """:func:`rows_of`, where the last row may be cut."""
    # The standard library's own limit, 128 K characters, is the process's; a document's length is bounded already.
    csv.field_size_limit(max(csv.field_size_limit(), sum(len(line) + 1 for line in lines) + 1))
    return list(
        csv.reader(
            (line + "\n" for line in lines),
            delimiter=dialect.delimiter,
            quotechar=dialect.quote,
            skipinitialspace=dialect.quotes_after_space,
        )
    )


def _is_in_apostrophes(text: str) -> bool:
    return text.startswith("'") and all(_IN_APOSTROPHES.fullmatch(line) for line in text.split("\n") if line.strip())


def _unquoted(cell: str, dialect: Dialect) -> str:
    cell = cell.lstrip(" ") if dialect.quotes_after_space else cell
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] == dialect.quote
    return cell[1:-1].replace(dialect.quote * 2, dialect.quote) if is_quoted else cell
