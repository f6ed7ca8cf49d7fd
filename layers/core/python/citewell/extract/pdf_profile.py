"""What the pages of a PDF have in common: its running heads and feet, its sizes of type, its hyphenated words.

Taken from pages spread over the whole document, so that a long one needs no more memory than a short one.
"""

from __future__ import annotations

import math
import re
import statistics
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from citewell.extract.pdf_fragments import SAME_LINE, Fragment
from citewell.extract.pdf_pages import PageContent
from citewell.extract.pdf_rows import Row, rows_of, text_of

_SAMPLED = 64
_MARGIN = 0.08  # of the page's height, at both ends, where any line may be a running one
_EDGE = 0.14  # and where one in a single piece may be: further in, a table repeats its head
_RUNNING_LINES = 3
_RUNNING_CHARACTERS = 300
_APART = 1.7  # ems from a running line to what stands further in
_COUNTED = 3
_DIGITS = 4
_MOST = 0.6  # of the pages, or of the left or the right ones, show a running line
_HEADING = 1.15  # times the size of running text
_SLIDE_TYPE = 14.0  # points from which on a wide page is a slide, and no wide table
_SLIDES = 0.8  # of the pages
_REPORT = 0.3  # of the pages
_LINES_OF_REPORT = 8  # as wide as half the page
_FOOT = 0.2  # of a slide's height, in which its number stands
_SIDE = 0.15  # of its width, at both ends, the same
_HEADING_CHARACTERS = 200
_HEADING_LEVELS = 5
_NUMBER = re.compile(r"\d{1,4}")
_OF_ALL = re.compile(r"(?:\w{1,12}\.? ?)?#\s?(?:/|of|von|de|di|van|sur|av|af|z)\s?(\d{1,4})", re.IGNORECASE)
_ROMAN = re.compile(r"\W*([ivxl]{1,7})\W*")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50}
_COMPOUND = re.compile(r"(?<!\w)(\w++)(?=-(\w+))")

RunningKey = tuple[bool, float, str, int | None]
"""Whether it stands at the top; its size, since a title may have the words of the heads that follow it; those words,
``#`` for the page's number; that number less the page it stands on."""

EdgeRow = tuple[Row, list[RunningKey]]
"""A line at the top or the bottom of a page, and what it would be known by if it were a running one."""

Place = tuple[bool, int]
"""Whether it is at the top, and how high a line stands, in points downwards."""


@dataclass(frozen=True, slots=True)
class Running:
    """How running heads and feet are known: by their words, or by where pages are counted, with which numbers less the
    page's own. ``alone`` are the heights at which nothing but such a number stands in its place, as on slides, where it
    may be beside the text."""

    keys: frozenset[RunningKey]
    counted_at: frozenset[Place]
    counts: frozenset[int]
    alone: frozenset[tuple[int, int]]

    def has(self, row: Row, keys: Sequence[RunningKey]) -> bool:
        if not keys:
            return False
        if not self.keys.isdisjoint(keys):
            return True
        place = (keys[0][0], round(row[0].middle))
        # Beside the number stands what changes from chapter to chapter; before the first one, numbers are others.
        return place in self.counted_at and any(
            words == "#" or (offset in self.counts and (words[0] == "#" or words[-1] == "#"))
            for *_, words, offset in keys
            if offset is not None
        )


@dataclass(frozen=True, slots=True)
class Profile:
    """``body`` is the size of running text in points, ``headings`` those of headings, largest first.

    ``code`` says that characters of one width are something special. ``slides``: each page is one, with a title of its
    own. ``compounds`` are the pairs of words that stand with a hyphen between them, in lower case. ``edges`` are the
    lines at the edges of the pages it is taken from.
    """

    body: float
    headings: tuple[float, ...]
    bold: bool
    code: bool
    slides: bool
    running: Running
    compounds: frozenset[tuple[str, str]]
    edges: dict[int, list[EdgeRow]]
    pages: int

    def title_size(self, fragments: Sequence[Fragment]) -> float | None:
        """The size of the title on a slide of ``fragments``: the largest, if most lines are in smaller type."""
        sizes = sorted([each.size for each in fragments if _has_letters(each.text)]) if self.slides else []
        return sizes[-1] if sizes and sizes[-1] >= _HEADING * statistics.median_low(sizes) else None

    def without_running_lines(self, page: PageContent) -> list[Fragment]:
        """The page's fragments but for running heads, feet and page numbers; all if nothing else stands there."""
        edges = self.edges.pop(page.number, None) or list(_edge_rows(page))
        running = {id(each) for row, keys in edges if self._is_running(row, keys) for each in row}
        left = [each for each in page.fragments if id(each) not in running]
        if self.running.alone:
            counting = {id(each) for each, place in _counting(page) if place in self.running.alone}
            left = [each for each in left if id(each) not in counting]
        return left or page.fragments

    def _is_running(self, row: Row, keys: list[RunningKey]) -> bool:
        if self.running.has(row, keys):
            return True
        # A page that says which of how many it is needs no others to compare with.
        return any(
            offset == 0 and (last := _OF_ALL.fullmatch(words)) and int(last[1]) == self.pages
            for *_, words, offset in keys
        )


def sampled_pages(pages: int) -> list[int]:
    """Page numbers, in pairs of a left and a right one, spread over a document of ``pages``."""
    if pages <= _SAMPLED:
        return list(range(1, pages + 1))
    pairs = _SAMPLED // 2
    firsts = [1 + index * (pages - 1) // pairs for index in range(pairs)]
    return sorted({number for first in firsts for number in (first, first + 1)})


def profile_of(pages: Sequence[PageContent], count: int) -> Profile:
    """What ``pages`` have in common, taken from a document of ``count``."""
    sizes: Counter[float] = Counter()
    bold = fixed = 0
    compounds: set[tuple[str, str]] = set()
    for page in pages:
        for each in page.fragments:
            length = len(each.text)
            sizes[each.size] += length
            if each.bold:
                bold += length
            if each.fixed:
                fixed += length
            if "-" in each.text:
                compounds.update(_COMPOUND.findall(each.text.lower()))
    edges = {page.number: list(_edge_rows(page)) for page in pages}
    body, characters = _commonest(sizes), sizes.total()
    return Profile(
        body,
        _heading_sizes(pages, body),
        bold=2 * bold > characters,
        code=0 < 2 * fixed < characters,
        slides=body >= _SLIDE_TYPE and _are_wide(pages) and not _is_report(pages, body),
        running=_running(pages, edges, body),
        compounds=frozenset(compounds),
        edges=edges,
        pages=count,
    )


def _are_wide(pages: Sequence[PageContent]) -> bool:
    return sum(page.width > page.height for page in pages) >= _SLIDES * len(pages)


def _is_report(pages: Sequence[PageContent], body: float) -> bool:
    """Whether many pages go on with running text, without a title: a report may be wide and in large type, too."""
    return sum(_goes_on(page, body) for page in pages) >= _REPORT * len(pages)


def _goes_on(page: PageContent, body: float) -> bool:
    lines = sum(each.right - each.left > 0.5 * page.width for each in page.fragments)
    if lines < _LINES_OF_REPORT:
        return False
    of_body = [each for each in page.fragments if each.size >= body - 0.5]
    return bool(of_body) and min(of_body, key=lambda each: each.middle).size < _HEADING * body


def _commonest(sizes: Mapping[float, int]) -> float:
    characters: Counter[float] = Counter()
    for size, count in sizes.items():
        characters[_rounded(size)] += count
    return max(characters, key=lambda size: (characters[size], -size), default=10.0)


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _heading_sizes(pages: Sequence[PageContent], body: float) -> tuple[float, ...]:
    least = _HEADING * body
    sizes = {
        _rounded(each.size)
        for page in pages
        for each in page.fragments
        if each.size >= least and len(each.text) <= _HEADING_CHARACTERS and _has_letters(each.text)
    }
    return tuple(sorted(sizes, reverse=True)[:_HEADING_LEVELS])


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))


def _running(pages: Sequence[PageContent], edges: Mapping[int, list[EdgeRow]], body: float) -> Running:
    """What counts the pages, even if it names a chapter, too, and what else stands on most of them."""
    shown: defaultdict[RunningKey, set[int]] = defaultdict(set)
    written = _distinct(pages)
    for page in written:
        for row, keys in edges[page.number]:
            is_large = max(each.size for each in row) >= _HEADING * body
            for key in keys:
                if key[3] is None or not is_large:  # a heading may count as the pages do
                    shown[key].add(page.number)
    halves = [{page.number for page in written if page.number % 2 == half} for half in (0, 1)]
    counts = frozenset(key[3] for key, numbers in shown.items() if key[3] is not None and len(numbers) >= _COUNTED)
    known = frozenset(
        key
        for key, numbers in shown.items()
        if (len(numbers) > 1 and key[3] in counts)
        # A heading may come again on two pages of one side.
        or _is_on_most(numbers, halves, either=key[1] < _HEADING * body)
    )
    counted = {key for key in known if key[3] is not None}
    counted_at = [
        (named[0][0], round(row[0].middle))
        for page in written
        for row, named in edges[page.number]
        if not counted.isdisjoint(named)
    ]
    return Running(known, _about(counted_at), counts, _alone(written))


def _alone(pages: Sequence[PageContent]) -> frozenset[tuple[int, int]]:
    shown = Counter(place for page in pages for place in {place for _, place in _counting(page)})
    least = max(_COUNTED, _MOST * len(pages))
    return frozenset(place for place, count in shown.items() if count >= least)


def _counting(page: PageContent) -> Iterator[tuple[Fragment, tuple[int, int]]]:
    """The numbers by themselves that may count the pages, where they stand, and what they are less the page's.

    That is in the first or last line, or in a corner at the foot of a slide.
    """
    numbers = [each for each in page.fragments if each.text.isdecimal() and len(each.text) <= _DIGITS]
    if not numbers:
        return
    first, last = (end(each.middle for each in page.fragments) for end in (min, max))
    foot = (1 - _FOOT) * page.height if page.width > page.height else math.inf
    for each in numbers:
        is_aside = each.right < _SIDE * page.width or each.left > (1 - _SIDE) * page.width
        is_in_line = min(each.middle - first, last - each.middle) < SAME_LINE * each.size
        if is_in_line or (is_aside and each.middle > foot):
            yield each, (round(each.middle), int(each.text) - page.number)


def _distinct(pages: Sequence[PageContent]) -> list[PageContent]:
    """Those of ``pages`` that show something, but no copies: what an original and its copy share is all they say."""
    first = {tuple(each.text for each in page.fragments): page for page in reversed(pages) if page.fragments}
    return list(first.values())


def _about(places: Iterable[Place]) -> frozenset[Place]:
    """``places`` and those a point above and below: heights are rounded."""
    return frozenset((top, height + off) for top, height in places for off in (-1, 0, 1))


def _is_on_most(numbers: set[int], halves: list[set[int]], *, either: bool) -> bool:
    """Whether ``numbers`` are most of the pages, or of the left or right ones, if ``either`` will do."""
    parts = [halves[0] | halves[1], *(half for half in halves if either and numbers <= half)]
    return any(len(part) > 1 and len(numbers) >= max(2, _MOST * len(part)) for part in parts)


def _edge_rows(page: PageContent) -> Iterator[EdgeRow]:
    """The lines in a page's margins, and up to three at each end that white space parts from the rest."""
    middles = sorted(each.middle for each in page.fragments)
    if not middles:
        return
    height = page.height
    for top in (True, False):
        edge = _EDGE * height if top else (1 - _EDGE) * height
        edge = max(edge, middles[0]) if top else min(edge, middles[-1])
        rows = rows_of([each for each in page.fragments if (each.middle <= edge if top else each.middle >= edge)])
        for row in _apart(rows if top else rows[::-1], middles, height, top=top):
            size = _rounded(row[0].size)
            yield row, [(top, size, *named) for named in _names(text_of(row), page.number)]


def _apart(rows: list[Row], middles: list[float], height: float, *, top: bool) -> list[Row]:
    """Of ``rows`` from the edge inwards, those in the margin or up to the first wide gap before what is further in."""
    in_margin = parted = 0
    for index, row in enumerate(rows, 1):
        middle, size = row[0].middle, row[0].size
        if middle < _MARGIN * height or middle > (1 - _MARGIN) * height:
            in_margin = index
        elif index > _RUNNING_LINES:
            break
        inner = bisect_right(middles, middle + 0.5 * size) if top else bisect_left(middles, middle - 0.5 * size) - 1
        is_parted = 0 <= inner < len(middles) and abs(middles[inner] - middle) > _APART * size
        if is_parted and index <= _RUNNING_LINES and all(len(each) == 1 for each in rows[in_margin:index]):
            parted = index
            break
    return rows[: max(in_margin, parted)]


def _names(text: str, page: int) -> Iterator[tuple[str, int | None]]:
    words = " ".join(text.split())
    if len(words) > _RUNNING_CHARACTERS:
        return
    yield words, None
    for number in _NUMBER.finditer(words):
        yield words[: number.start()] + "#" + words[number.end() :], int(number[0]) - page
    if roman := _ROMAN.fullmatch(words):
        yield "#", _roman_value(roman[1]) - page


def _roman_value(numeral: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in numeral]
    return sum(
        -value if any(later > value for later in values[index + 1 :]) else value for index, value in enumerate(values)
    )
