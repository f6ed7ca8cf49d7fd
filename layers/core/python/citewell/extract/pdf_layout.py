"""Where words stand on a page, to lines and tables in the order in which a person reads them.

Two columns are told from a table by what stands in them: columns hold running text, drawn one after the other, or
lines that fill their width; a table's cells are short, and drawn row by row.
"""

from __future__ import annotations

import re
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from citewell.extract.pdf_pages import FIXED_WIDTH, Fragment

Row = list[Fragment]

_SAME_LINE = 0.45  # ems between the middles of what stands on one line, such as a raised figure
_GUTTER = 0.6  # ems of white between two columns
_JOINED = 0.15  # ems below which two pieces are one word
_DEEPEST = 6
_CANDIDATES = 3
_PROSE_CHARACTERS = 22
_CELL_CHARACTERS = 12
_NUMBER_CHARACTERS = 8
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(slots=True)
class Line:
    """One line of running text; lengths are points, as in :class:`Fragment`. ``fixed``: of one-width characters.

    ``whole`` says that no wide gap parts it, but for one behind its number.
    """

    text: str
    left: float
    right: float
    middle: float
    size: float
    bold: bool
    fixed: bool
    whole: bool


@dataclass(slots=True)
class Table:
    rows: list[list[str]]


@dataclass(slots=True)
class Column:
    """What stands in one column, from top to bottom. ``turned``: against most of the page's text."""

    items: list[Line | Table]
    turned: bool


def columns_of(fragments: Sequence[Fragment], *, code: bool) -> Iterator[Column]:
    """A page's columns in reading order. With ``code``, lines of one-width characters are never a table.

    Text that stands turned comes after the rest, as a part of its own.
    """
    by_turn = sorted(fragments, key=lambda each: each.turn)
    parts = [list(part) for _, part in groupby(by_turn, key=lambda each: each.turn)]
    for turned, part in enumerate(sorted(parts, key=lambda part: -sum(len(each.text) for each in part))):
        rtl = is_rtl("".join(each.text for each in part[:200]))
        for column in _split(part, rtl=rtl):
            yield Column(list(_items(rows_of(column), code=code)), bool(turned))


def rows_of(fragments: Sequence[Fragment]) -> list[Row]:
    """Fragments that stand on one line, lines from top to bottom, each in its direction of reading."""
    rows: list[Row] = []
    tallest: Fragment | None = None
    for each in sorted(fragments, key=lambda fragment: fragment.middle):
        if tallest and each.middle - tallest.middle <= _SAME_LINE * max(tallest.size, each.size):
            rows[-1].append(each)
            tallest = max(tallest, each, key=lambda fragment: fragment.size)
        else:
            rows.append([each])
            tallest = each
    for row in rows:
        if len(row) > 1:
            row.sort(key=lambda each: each.left, reverse=is_rtl("".join(each.text for each in row)))
    return rows


def text_of(row: Row) -> str:
    """The words of a line; in characters of one width, as far apart as they stand."""
    if len(row) == 1:
        return row[0].text
    pieces = [row[0].text]
    for previous, each in pairwise(row):
        gap = max(each.left - previous.right, previous.left - each.right)
        if gap >= _JOINED * min(previous.size, each.size) or each.fixed:
            pieces.append(
                " " * max(round(gap / (FIXED_WIDTH * each.size)), 1) if each.fixed and previous.fixed else " "
            )
        pieces.append(each.text)
    return "".join(pieces)


def is_rtl(text: str) -> bool:
    """Whether most letters of ``text`` are written from right to left."""
    right_to_left = len(_RTL.findall(text)) if not text.isascii() else 0
    return right_to_left > 0 and 2 * right_to_left > len(_LETTER.findall(text))


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
    lefts = sorted(each.left for each in fragments)
    rights = sorted(each.right for each in fragments)
    white = _GUTTER * statistics.median_low(each.size for each in fragments)
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
    white = _GUTTER * statistics.median_low(each.size for each in fragments)
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
        parts += [right, left] if rtl else [left, right]
    if across:
        parts.append(across)
    return parts


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
        if rows[start][0].text[0] == "|" and (end := _drawn_table_end(rows, start)):
            yield Table([_drawn_cells(text_of(row)) for row in rows[start:end]])
            start = end
        elif len(rows[start]) > 1 and (end := _table_end(rows, start, code=code)):
            yield Table(_records(rows[start:end]))
            start = end
        else:
            yield _line(rows[start])
            start += 1


def _line(row: Row) -> Line:
    if len(row) == 1:
        only = row[0]
        return Line(only.text, only.left, only.right, only.middle, only.size, only.bold, only.fixed, whole=True)
    longest = max(row, key=lambda each: len(each.text))
    return Line(
        text_of(row),
        min(each.left for each in row),
        max(each.right for each in row),
        longest.middle,
        longest.size,
        all(each.bold for each in row),
        all(each.fixed for each in row),
        whole=len(row) == 2 and len(row[0].text) <= _NUMBER_CHARACTERS,
    )


def _drawn_table_end(rows: list[Row], start: int) -> int:
    """Where a table that is drawn with characters, ``| a | b |``, ends; 0 if none begins at ``start``."""
    end = start
    while end < len(rows) and _is_drawn_row(rows[end]):
        end += 1
    return end if end - start > 1 else 0


def _is_drawn_row(row: Row) -> bool:
    return row[0].text.startswith("|") and row[-1].text.endswith("|") and text_of(row).count("|") > 2


def _drawn_cells(text: str) -> list[str]:
    return text.strip().strip("|").split("|")


def _table_end(rows: list[Row], start: int, *, code: bool) -> int:
    """The row after the last of a table that begins at ``start``; 0 if none does.

    Rows of a table leave common stretches of white between their cells. A row of one cell belongs to it when
    another of several follows, or when it continues a cell of the row above.
    """
    if not _has_cells(rows[start], code=code):
        return 0
    spans = _spans(rows[start])
    end, several = start + 1, 1
    for index in range(start + 1, len(rows)):
        row, above = rows[index], rows[index - 1]
        size = min(row[0].size, above[0].size)
        pitch = (row[0].middle - above[0].middle) / size
        merged = _merged(spans + _spans(row), _GUTTER * size)
        if _has_cells(row, code=code):
            if pitch > 4.5 or len(merged) < 2 or len({_at(merged, each) for each in row}) < 2:
                break
            several += 1
            end = index + 1
        elif len(merged) < len(spans) or pitch > 2.6 or _is_other_style(row, above):
            break
        elif end == index and pitch <= 1.4 and _at(merged, row[0]) > 0:
            end = index + 1
        spans = merged
    least = 2 if len(spans) > 2 or _white(spans) > 2 * rows[start][0].size else 3
    return end if several >= least else 0


def _has_cells(row: Row, *, code: bool) -> bool:
    return len(row) > 1 and not (code and all(each.fixed for each in row))


def _is_other_style(row: Row, above: Row) -> bool:
    return row[0].size > 1.15 * above[0].size or (row[0].bold and not any(each.bold for each in above))


def _spans(row: Row) -> list[tuple[float, float]]:
    return [(each.left, each.right) for each in row]


def _merged(spans: list[tuple[float, float]], white: float) -> list[tuple[float, float]]:
    """``spans`` from left to right, those nearer to each other than ``white`` as one."""
    merged: list[tuple[float, float]] = []
    for left, right in sorted(spans):
        if merged and left - merged[-1][1] < white:
            merged[-1] = (merged[-1][0], max(merged[-1][1], right))
        else:
            merged.append((left, right))
    return merged


def _white(spans: list[tuple[float, float]]) -> float:
    return min((other[0] - one[1] for one, other in pairwise(spans)), default=0.0)


def _at(columns: list[tuple[float, float]], each: Fragment) -> int:
    """The column with which ``each`` has most in common."""
    return max(
        range(len(columns)),
        key=lambda index: min(each.right, columns[index][1]) - max(each.left, columns[index][0]),
    )


def _records(rows: list[Row]) -> list[list[str]]:
    """A table's cells. What fills few columns, such as a head over several of them, doesn't tell where they are."""
    fullest = max(len(row) for row in rows)
    full = [row for row in rows if len(row) >= max(2, 0.6 * fullest)]
    white = 0.5 * min(each.size for row in full for each in row)
    columns = _merged([span for row in full for span in _spans(row)], white)
    if is_rtl("".join(each.text for row in rows for each in row)):
        columns = columns[::-1]
    records: list[list[str]] = []
    filled = 0
    continues = _continuations(rows)
    for row, continued in zip(rows, continues, strict=True):
        cells = [""] * len(columns)
        for each in row:
            column = _at(columns, each)
            cells[column] = f"{cells[column]} {each.text}".strip()
        if continued and not cells[0] and len(row) < filled:
            records[-1] = [f"{above}\n{cell}".strip() for above, cell in zip(records[-1], cells, strict=True)]
        else:
            records.append(cells)
            filled = len(row)
    return records


def _continuations(rows: list[Row]) -> list[bool]:
    """For each row, whether it stands as near to the one above as lines of one cell, while others stand further."""
    pitches = [other[0].middle - one[0].middle for one, other in pairwise(rows)]
    nearest = min(pitches, default=0.0)
    if not any(pitch > 1.25 * nearest for pitch in pitches):
        return [False] * len(rows)
    return [False] + [pitch <= 1.12 * nearest and pitch <= 1.5 * rows[0][0].size for pitch in pitches]
