"""Tells whether a text is a table of delimited values, and by what its cells are parted.

A table is told from prose by what its rows have in common. Prose has a space after a comma, lines of any number of
commas, sentences; a table's rows have as many cells as its head. When in doubt it is prose, which stays as it is.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from citewell.extract.delimited_rows import Dialect, delimiters_of, dialect_of, rows_of, rows_so_far

Row = Sequence[str]

_SAMPLE_CHARACTERS = (65_536, 1_048_576)
_SAMPLE_LINES = 500
_LEADING_LINES = 5

_DECLARATION = re.compile(r"\s*\"?sep=([,;|\t])\"?[ \t]*(?:\n|\Z)", re.IGNORECASE)  # for Excel
_COMMENTS = re.compile(r"(?:#[^\n]*\n)+(?=[^\s#])|(?:#[^\n]*\n){3,}\n*(?=[^\s#])")
_LEAST_COMMENT_LINES = 3
_MARKUP = re.compile(r"#{1,6} |```|~~~|[ \t]*:?-{3,}|\+-{3,}|//|/\*")
_RULE = re.compile(r"(?::?-{3,}:?)?")
_BULLET = re.compile(r"[ \t]*[-*+>][ \t]")
_ENUMERATED = re.compile(r"[ \t]*\d+[.)][ \t]")
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
    """How the cells are written, where the rows begin in the text, and what the comments above them say."""

    dialect: Dialect
    start: int = 0
    comments: str = ""


def table_in(text: str) -> Table | None:
    """The table that ``text``, which has ``\\n`` line ends and may be cut, is; None when it is something else."""
    if declared := _DECLARATION.match(text):
        return Table(dialect_of(text[declared.end() :], declared[1]), declared.end())
    if (comments := _COMMENTS.match(text)) and not _is_head(comments[0], text[comments.end() :]):
        # Under a heading there is text, more often than a table: only one without a flaw is believed.
        lines = [line.strip("# \t") for line in comments[0].split("\n")]
        least_fit = _LEAST_FITTING if len(lines) > _LEAST_COMMENT_LINES else 1
        dialect = _dialect_in(text[comments.end() :], least_rows=3, least_fit=least_fit)
        said = "\n".join(line.strip("-=*") for line in lines)
        return Table(dialect, comments.end(), said) if dialect else None
    dialect = _dialect_in(text, least_rows=2, least_fit=_LEAST_FITTING)
    return Table(dialect) if dialect else None


def _is_head(comments: str, below: str) -> bool:
    """Whether a single line of comment names as many columns as stand below it: ``#,name,days``."""
    return comments.count("\n") == 1 and any(
        comments.count(delimiter) == below.partition("\n")[0].count(delimiter) > 1 for delimiter in delimiters_of(below)
    )


def _dialect_in(text: str, *, least_rows: int, least_fit: float) -> Dialect | None:
    for size in _SAMPLE_CHARACTERS:
        lines = text[:size].split("\n")
        if sum(1 for line in lines[:_SAMPLE_LINES] if line.strip()) < 2:
            return None
        head = "\n".join(lines[:_SAMPLE_LINES])
        dialects = [dialect_of(head, delimiter) for delimiter in delimiters_of(head)]
        samples = {dialect: _sample(lines, dialect, is_cut=len(text) > size) for dialect in dialects}
        fits = {dialect: _fit(rows, dialect) for dialect, rows in samples.items()}
        best = max(fits, key=lambda dialect: fits[dialect])  # the first of equals
        if fits[best]:
            rows = _without_title(_visible(samples[best]))
            return best if fits[best] >= least_fit and len(rows) >= least_rows else None
        if all(len(rows) > 1 for rows in samples.values()):
            return None  # only a cell that fills the sample makes a larger one worth it
    return None


def _sample(lines: Sequence[str], dialect: Dialect, *, is_cut: bool) -> list[list[str]]:
    """The first rows, none of them cut; no rows where the delimiter isn't among the first lines."""
    if not any(dialect.delimiter in line for line in lines[:_LEADING_LINES]):
        return []
    if is_cut or len(lines) > _SAMPLE_LINES:
        return rows_so_far(lines[:_SAMPLE_LINES], dialect)[:-1]
    return list(rows_of(lines, dialect))


def _visible(rows: Sequence[list[str]]) -> list[list[str]]:
    return [row for row in rows if any(cell.strip() for cell in row)]


def _without_title(rows: list[list[str]]) -> list[list[str]]:
    """Lines above the head that aren't parted are titles, as long as a head and two rows are left."""
    first = next((index for index, row in enumerate(rows[:_LEADING_LINES]) if len(row) > 1), 0)
    return rows[first:] if len(rows) - first > 2 else rows


def _fit(sample: Sequence[list[str]], dialect: Dialect) -> float:
    """The share of rows that have as many cells as most; 0 when they don't look like rows."""
    visible = _visible(sample)
    rows = _without_title(visible)
    if len(rows) < 2 or _is_marked_up(visible):
        return 0
    widths = Counter(len(row) for row in rows)
    width = max((width for width in widths if width > 1), key=lambda each: (widths[each], each), default=0)
    delimited = sum(1 for row in rows if len(row) > 1)
    fitting = widths[width] / len(rows)
    if not width or delimited < _LEAST_DELIMITED * len(rows) or fitting < _LEAST_FITTING:
        return 0
    is_doubtful = _resembles_markup(visible)
    if is_doubtful and (fitting < 1 or len(rows) < 3 or _is_spaced(rows) or [] in sample[: len(visible)]):
        return 0
    return fitting if _are_rows(rows, width, fitting, dialect) else 0


def _is_marked_up(rows: Sequence[Row]) -> bool:
    """Whether a line that isn't parted is one of Markdown or of a program, or a row the rule under a table's head."""
    bullets = sum(1 for row in rows if _BULLET.match(row[0]))
    return bullets > _MOST_LIST_LINES * len(rows) or any(
        all(_RULE.fullmatch(cell.strip()) for cell in row) or (len(row) == 1 and _MARKUP.match(row[0])) for row in rows
    )


def _resembles_markup(rows: Sequence[Row]) -> bool:
    """Whether cells begin as lines of Markdown or of a program do: paths, dates, numbers of rows."""
    enumerated = sum(1 for row in rows if _ENUMERATED.match(row[0]))
    return enumerated > _MOST_LIST_LINES * len(rows) or any(_MARKUP.match(row[0]) for row in rows)


def _are_rows(rows: Sequence[Row], width: int, fitting: float, dialect: Dialect) -> bool:
    if sum(1 for row in rows if _filled(row) > 1) < _LEAST_FILLED * len(rows) or _is_one_number_or_line(rows, width):
        return False
    if len(rows) == 2 and not all(cell.strip() for cell in rows[0][1:]):
        return False
    if dialect.delimiter == "\t":
        return True
    if dialect.quotes_after_space:
        return len(rows) > 2 and fitting == 1 and not _is_prose(rows)
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
