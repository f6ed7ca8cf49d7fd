"""The head of a table whose first rows are merged: one row, as a table's text has but one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

Row = list[str | None]
"""Texts of cells, blank where merging with the row above covered one; None where the cell to the left reaches over."""

_MOST_HEAD_ROWS = 5
_DIGITS = re.compile(r"[\d.,]+")


def with_one_head(rows: Sequence[Row], head_rows: int | None = None) -> tuple[list[str], list[list[str]]]:
    """The lines above a table, then its rows, the first one the head.

    A first row that is one cell is a line above. ``head_rows``: as many as the document says are the head, None where
    it doesn't; then it has two where the cells of the second part those of the first. A column's head is what stands
    over it in each of these rows: ``2023 Plan``.
    """
    titles = list(takewhile(_is_title, rows[:-1]))
    rest = rows[len(titles) :]
    count = (head_rows or 0) - len(titles)
    if head_rows is None and _has_head_of_two_rows(rest):
        count = 2
    if 1 < count <= min(len(rest) - 1, _MOST_HEAD_ROWS):
        head: Row = [_joined(column) for column in zip(*map(_spread, _padded(rest[:count])), strict=True)]
        rest = [head, *rest[count:]]
    return [title[0] or "" for title in titles], [[text or "" for text in row] for row in rest]


def _is_title(row: Row) -> bool:
    return len(row) > 1 and all(text is None for text in row[1:])


def _has_head_of_two_rows(rows: Sequence[Row]) -> bool:
    """Whether others say more under each wide cell of the first row, and nothing does under a narrow one with a text.

    A wide cell that is the row's first and only one is rather a title.
    """
    if len(rows) < 3 or None not in rows[0] or None in rows[1]:
        return False
    first, second = _padded(rows[:2])
    columns = list(zip(first, second, [*first[1:], ""], strict=True))
    if [index for index, (above, _, after) in enumerate(columns) if above is not None and after is None] == [0]:
        return False
    return all(
        below and not _DIGITS.fullmatch(below) if above is None or after is None else not (above and below)
        for above, below, after in columns
    )


def _padded(rows: Sequence[Row]) -> list[Row]:
    width = max(map(len, rows), default=0)
    return [[*row, *[""] * (width - len(row))] for row in rows]


def _spread(row: Row) -> list[str]:
    spread: list[str] = []
    for text in row:
        spread.append((spread[-1] if spread else "") if text is None else text)
    return spread


def _joined(column: Sequence[str]) -> str:
    return " ".join(dict.fromkeys(filter(None, column)))
