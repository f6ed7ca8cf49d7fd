"""Tables on a page: drawn with characters, between ruled lines, or told by the white between their cells alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from citewell.extract.pdf_fragments import Fragment
from citewell.extract.pdf_places import Edges
from citewell.extract.pdf_rows import Row, is_rtl, rows_of, text_of
from citewell.extract.pdf_rulings import THIN

Spans = list[tuple[float, float]]

GUTTER = 0.6  # ems of white between two columns
_GUTTER_IN_TABLE = 0.5
_RULED_GUTTER = 0.3
_SHORTEST_RULE = 9.0  # points
_SAME_RULE = 2.0  # points between the pieces of one ruled line
_ALIGNED = 6.0
_FEWEST_RULES = 4
_FULL = 0.75  # of a record's columns, from which on a line of text is a record of its own


@dataclass(slots=True)
class Table:
    rows: list[list[str]]


class _Rule(NamedTuple):
    """A level line, in points; ``height`` counts downwards."""

    left: float
    right: float
    height: float


@dataclass(slots=True)
class RuledTable(Fragment):
    """Stands for all the fragments of a table between ruled lines, so that it finds its place among the others."""

    rows: tuple[tuple[str, ...], ...] = ()


# --- between ruled lines ---


def with_ruled_tables(fragments: list[Fragment], drawn: Sequence[Edges]) -> list[Fragment]:
    """``fragments`` with one that stands for each table whose rows are parted by ruled lines, in place of its own."""
    for left, right, heights in _ruled_areas(_rules(drawn)):
        inside = [
            each
            for each in fragments
            if heights[0] < each.middle < heights[-1] and left < (each.left + each.right) / 2 < right
        ]
        if any(isinstance(each, RuledTable) for each in inside):
            continue  # its lines make cells
        if inside and (rows := _ruled_rows(inside, heights)):
            first = inside[0]
            taken = set(map(id, inside))
            fragments = [each for each in fragments if id(each) not in taken]
            middle = heights[0] + first.size / 2
            fragments.append(RuledTable(" ", left, right, middle, first.size, first.turn, order=first.order, rows=rows))
    return fragments


def _rules(drawn: Sequence[Edges]) -> list[_Rule]:
    """The level ones among the lines that the page draws."""
    return [
        _Rule(left, right, (top + bottom) / 2)
        for left, top, right, bottom in drawn
        if right - left >= _SHORTEST_RULE and bottom - top <= THIN
    ]


def _ruled_areas(rules: Sequence[_Rule]) -> Iterator[tuple[float, float, list[float]]]:
    """Left, right and the heights of the lines where several equally long ones stand one below the other."""
    lines: list[_Rule] = []
    for rule in sorted(rules, key=lambda each: each.height):
        if lines and rule.height - lines[-1].height < _SAME_RULE:
            last = lines[-1]
            lines[-1] = _Rule(min(last.left, rule.left), max(last.right, rule.right), last.height)
        else:
            lines.append(rule)
    area: list[_Rule] = []
    for line in lines:
        if area and not (abs(line.left - area[0].left) < _ALIGNED and abs(line.right - area[0].right) < _ALIGNED):
            if line.left > area[0].left - _ALIGNED and line.right < area[0].right + _ALIGNED:
                continue  # within a row: under some of its cells only
            yield from _ended(area)
            area = []
        area.append(line)
    yield from _ended(area)


def _ended(area: list[_Rule]) -> Iterator[tuple[float, float, list[float]]]:
    if len(area) >= _FEWEST_RULES:
        yield area[0].left, area[0].right, [line.height for line in area]


def _ruled_rows(inside: list[Fragment], heights: list[float]) -> tuple[tuple[str, ...], ...]:
    """The records of a table; none where what stands between the lines isn't in columns."""
    bands = [rows_of([each for each in inside if above < each.middle <= below]) for above, below in pairwise(heights)]
    columns = _columns([row for rows in bands for row in rows], _RULED_GUTTER)
    written = [rows for rows in bands if rows]
    if len(columns) < 2 or len(written) < 2:
        return ()
    in_columns = sum(len(_filled(rows, columns)) > 1 for rows in written)
    if 2 * in_columns <= len(written):
        return ()
    return tuple(tuple(record) for rows in written for record in _ruled_records(rows, columns))


def _ruled_records(rows: list[Row], columns: Spans) -> Iterator[list[str]]:
    """What stands between two lines is one record, unless several of its lines fill most of the columns."""
    most = max(2.0, _FULL * len(_filled(rows, columns)))
    starts = [index for index, row in enumerate(rows) if len(_filled([row], columns)) >= most]
    starts = [0, *starts[1:]] if len(starts) > 1 else [0]
    for start, end in pairwise([*starts, len(rows)]):
        yield [
            "\n".join(filter(None, cell))
            for cell in zip(*(_cells(row, columns) for row in rows[start:end]), strict=True)
        ]


def _filled(rows: list[Row], columns: Spans) -> set[int]:
    return {_at(columns, each) for row in rows for each in row}


# --- drawn with characters ---


def drawn_table_end(rows: list[Row], start: int) -> int:
    """Where a table that is drawn with characters, ``| a | b |``, ends; 0 if none begins at ``start``."""
    end = start
    while end < len(rows) and _is_drawn_row(rows[end]):
        end += 1
    return end if end - start > 1 else 0


def _is_drawn_row(row: Row) -> bool:
    return row[0].text.startswith("|") and row[-1].text.endswith("|") and text_of(row).count("|") > 2


def drawn_cells(text: str) -> list[str]:
    return text.strip().strip("|").split("|")


# --- told by white space ---


def spaced_table_end(rows: list[Row], start: int, *, code: bool) -> int:
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
        if any(isinstance(each, RuledTable) for each in row):
            break
        size = min(row[0].size, above[0].size)
        pitch = (row[0].middle - above[0].middle) / size
        merged = _merged(spans + _spans(row), GUTTER * size)
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


def _spans(row: Row) -> Spans:
    return [(each.left, each.right) for each in row]


def _merged(spans: Spans, white: float) -> Spans:
    """``spans`` from left to right, those nearer to each other than ``white`` as one."""
    merged: Spans = []
    for left, right in sorted(spans):
        if merged and left - merged[-1][1] < white:
            merged[-1] = (merged[-1][0], max(merged[-1][1], right))
        else:
            merged.append((left, right))
    return merged


def _white(spans: Spans) -> float:
    return min((other[0] - one[1] for one, other in pairwise(spans)), default=0.0)


def _at(columns: Spans, each: Fragment) -> int:
    """The column with which ``each`` has most in common."""
    return max(
        range(len(columns)),
        key=lambda index: min(each.right, columns[index][1]) - max(each.left, columns[index][0]),
    )


def spaced_records(rows: list[Row]) -> list[list[str]]:
    """A table's cells."""
    columns = _columns(rows, _GUTTER_IN_TABLE)
    records: list[list[str]] = []
    filled = 0
    continues = _continuations(rows)
    for row, continued in zip(rows, continues, strict=True):
        cells = _cells(row, columns)
        if continued and not cells[0] and len(row) < filled:
            records[-1] = [f"{above}\n{cell}".strip() for above, cell in zip(records[-1], cells, strict=True)]
        elif continued and cells[0] and not records[-1][0] and len(row) > filled:  # which stands on the cell's foot
            records[-1] = [f"{above}\n{cell}".strip() for above, cell in zip(records[-1], cells, strict=True)]
            filled = len(row)
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


# --- columns ---


def _columns(rows: list[Row], white: float) -> Spans:
    """Where the columns stand, in the order of reading; ``white`` ems part them.

    What fills few of them, such as a head over several, doesn't tell where they are.
    """
    fullest = max((len(row) for row in rows), default=0)
    full = [row for row in rows if len(row) >= max(2, 0.6 * fullest)]
    if not full:
        return []
    size = min(each.size for row in full for each in row)
    columns = _merged([span for row in full for span in _spans(row)], white * size)
    return columns[::-1] if is_rtl("".join(each.text for row in rows for each in row)) else columns


def _cells(row: Row, columns: Spans) -> list[str]:
    cells = [""] * len(columns)
    for each in row:
        column = _at(columns, each)
        cells[column] = f"{cells[column]} {each.text}".strip()
    return cells
