"""Fragments of a page that stand on one line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter

from citewell.extract.pdf_fragments import FIXED_WIDTH, MARKER, SAME_LINE, Fragment

Row = list[Fragment]

_MIDDLE = attrgetter("middle")
_JOINED = 0.15  # ems of white below which two pieces are one word
_OVERLAP = -0.6  # and that they may stand on each other
_SHADOW = 0.3  # between the beginnings of words that are drawn twice
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LETTER = re.compile(r"[^\W\d_]")


def rows_of(fragments: Sequence[Fragment]) -> list[Row]:
    """Fragments that stand on one line, lines from top to bottom, each in its direction of reading.

    What is drawn twice, for its shadow or to be bold, stands there once.
    """
    rows: list[Row] = []
    tallest: Fragment | None = None
    for each in sorted(fragments, key=_MIDDLE):
        if tallest and each.middle - tallest.middle <= SAME_LINE * (
            tallest.size if tallest.size >= each.size else each.size
        ):
            rows[-1].append(each)
            tallest = tallest if tallest.size >= each.size else each
        else:
            rows.append([each])
            tallest = each
    for row in rows:
        if len(row) > 1:
            row.sort(key=lambda each: each.left, reverse=is_rtl("".join(each.text for each in row)))
            row[1:] = [each for before, each in pairwise(row) if not _is_shadow(each, before)]
    return rows


def _is_shadow(each: Fragment, before: Fragment) -> bool:
    return each.text == before.text and abs(each.left - before.left) < _SHADOW * each.size


def text_of(row: Row) -> str:
    """The words of a line; in characters of one width, as far apart as they stand."""
    if len(row) == 1:
        return row[0].text
    pieces = [row[0].text]
    if MARKER.fullmatch(row[0].text):  # drawn by itself, and may be as near as letters are
        pieces.append(" ")
        row = row[1:]
        pieces.append(row[0].text)
    for previous, each in pairwise(row):
        gap = max(each.left - previous.right, previous.left - each.right)
        size = min(previous.size, each.size)
        stands_on_it = gap < _OVERLAP * size and not unicodedata.category(each.text[0]).startswith("M")
        if gap >= _JOINED * size or stands_on_it or each.fixed or previous.text[-1] == ":":
            pieces.append(
                " " * max(round(gap / (FIXED_WIDTH * each.size)), 1) if each.fixed and previous.fixed else " "
            )
        pieces.append(each.text)
    return "".join(pieces)


def is_rtl(text: str) -> bool:
    """Whether most letters of ``text`` are written from right to left."""
    right_to_left = len(_RTL.findall(text)) if not text.isascii() else 0
    return right_to_left > 0 and 2 * right_to_left > len(_LETTER.findall(text))
