"""The head of a table whose first rows are merged: one row, as a table's text has but one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

Row = list[str | None]
"""Texts of cells, blank where merging with the row above covered one; None where the cell to the left reaches over."""

NUMBER = re.compile(r"[^\w]*\d[\d.,\s]*[^\w]*")
PERIOD = re.compile(r"(?:(?:[A-Za-z]{2,9}\.?|[QH]\d)[ /-]?)?(?:19|20)\d\d|[QH]\d")
"""A year or quarter, which heads a column as words do."""

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

    A wide cell that is the row's first and only one is rather a title. Where figures follow under all of the wide
    cells, what stands between, a name for each, may be years, and narrow ones may say more too.
    """
    if len(rows) < 3 or None not in rows[0] or None in rows[1]:
        return False
    first, second, third = _padded(rows[:3])
    is_wide = [above is None or after is None for above, after in zip(first, [*first[1:], ""], strict=True)]
    if [index for index, wide in enumerate(is_wide) if wide and first[index] is not None] == [0]:
        return False
    columns = list(zip(_spread(first), second, third, is_wide, strict=True))
    names = [(above, below or "") for above, below, _, wide in columns if wide]
    figures = [text for _, _, text, wide in columns if wide and text]
    if figures and all(map(_is_figure, figures)) and len(set(names)) == len(names):
        return all(name and (PERIOD.fullmatch(name) or not _DIGITS.fullmatch(name)) for _, name in names)
    says_more = any(above and below for above, below, _, wide in columns if not wide)
    return not says_more and all(name and not _DIGITS.fullmatch(name) for _, name in names)


def _is_figure(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None and PERIOD.fullmatch(text) is None


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
