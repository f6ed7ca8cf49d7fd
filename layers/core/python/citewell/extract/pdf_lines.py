"""Reads the words of a PDF's page, line by line.

A character's place costs a call into PDFium, so only lines are asked for, and words where a line has wide gaps.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any

from citewell.extract.pdf_fragments import FIXED_WIDTH, GLYPHS, MARKER, SAME_LINE, Fragment
from citewell.extract.pdf_places import Edges, page_box, turned
from citewell.extract.pdf_rulings import Rulings
from citewell.extract.pdf_text_page import SOFT_BREAK, TextPage
from citewell.extract.pdf_type import likely_size, look_of
from citewell.extract.symbols import SYMBOL_CHARACTER, SYMBOLS, has_symbols, symbol

_LINE_END = "\r\n"  # as PDFium writes it
_LINE = re.compile(rf"[^\r\n{SOFT_BREAK}]*[^\s{SOFT_BREAK}][^\r\n{SOFT_BREAK}]*{SOFT_BREAK}?")
_HALF = re.compile("[\ud800-\udfff]")
_BULLETS = frozenset(GLYPHS) | set(map(chr, SYMBOLS))
_EAST_ASIAN = "\u2e80"  # and all characters after it
_LETTER = re.compile(r"[^\W_]|[.,;:)'’]")
_WORD = re.compile(r"\S+")
_WORDS = re.compile(r"[^\W\d_]{3}")
_LAM = "\u0644"
_ALEF_LAM = re.compile(f"[\u0622\u0623\u0625\u0627]{_LAM}")
_RULES = "|+=_:·.-–—"
_RULE = re.compile(rf"[\s{re.escape(_RULES)}]{{4,}}")  # a line that is drawn with characters

# All in ems, the size of the type, unless they say otherwise.
_GAP = 0.8  # between two words from which on they may stand in two columns
_SPACES = 0.19  # of a page's characters, from which on words may have come apart
_SPACED_OUT = 1.3  # times the white between two letters, below which there is no space
_ABOVE = 0.3  # between two words from which on they stand one above the other
_SAME_END = 1.5  # points
_SET_IN = 4.0  # the most that the first line of a paragraph is
_EQUAL = 0.15  # between the white before one word of a line that is justified and another
_EQUAL_GAPS = 2
_LENGTHS_OF_WORDS = 3  # below which cells may be as far from each other, too
_MARKER_GAP = 4.0  # between an item and its bullet
_MARKER_CHARACTERS = 8
_LINE_OF_PROSE = 0.53  # for each character, up to which a line has no wide gaps
_SHORT_LINE = 0.48  # the same for one so short that a gap hardly changes the mean
_SHORT = 30  # characters
_FIXED_LINE = 0.65
_MIDDLE = 0.35  # from what letters stand on to the middle between their heads and feet
_OVERLAP = -0.6  # of two words that still follow each other
_STACKED = 0.75  # that each character adds to the height of a column
_VERTICAL = 3  # columns from right to left are lines from top to bottom, once the page has been turned so

PlacedWord = tuple[str, int, list[Edges]]
"""A word, the index of its first character, and where this and its last one stand."""


def fragments_of(page: Any, text: TextPage, rulings: Rulings | None = None) -> list[Fragment]:
    """The ``text`` of ``page`` in the order in which it is drawn; ``rulings`` part words."""
    return _Fragments(page_box(page), text, rulings).read()


class _Fragments:
    """Gathers one page's text into fragments: line by line, and word by word where a line has wide gaps."""

    def __init__(self, page_box: Edges, text: TextPage, rulings: Rulings | None) -> None:
        self._text = text
        self._rulings = rulings
        self._page_box = page_box
        self._fragments: list[Fragment] = []
        self._is_spaced_out = False
        self._even: dict[int, list[PlacedWord]] = {}  # of lines that look justified, by their fragments' ids

    def read(self) -> list[Fragment]:
        characters = self._with_ligatures(self._text.characters())
        self._is_spaced_out = _may_be_spaced_out(characters)
        start, has_halves, are_shown = 0, False, False
        for line in characters.split(_LINE_END):
            end = start + len(line)
            if line.isprintable():
                if words := line.strip():
                    self._read_line(words, characters, start, end)
            else:  # it holds what ends a line, too, or halves of a character
                has_halves = has_halves or _HALF.search(line) is not None
                if not are_shown and has_symbols(line):
                    characters, are_shown = self._with_symbols(characters), True
                for part in _LINE.finditer(characters, start, end):
                    self._read_line(part[0].strip(), characters, part.start(), part.end())
            start = end + len(_LINE_END)
        if self._even:
            self._part_uneven()
        if has_halves:
            for each in self._fragments:
                each.text = each.text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        left, bottom, right, top = self._page_box
        sides = (right - left, top - bottom)
        return [each for each in self._fragments if _is_within(each, sides[each.turn % 2], sides[1 - each.turn % 2])]

    def _with_ligatures(self, characters: str) -> str:
        """PDFium turns the letters of a line from right to left around, and those of a lam-alef with them."""
        if _LAM not in characters:
            return characters
        letters = list(characters)
        for match in _ALEF_LAM.finditer(characters):
            at = match.start()
            alef, lam = self._text.boxes(at, at + 1) or (None, None)
            if alef == lam:  # they are one glyph
                letters[at : at + 2] = letters[at + 1], letters[at]
        return "".join(letters)

    def _with_symbols(self, characters: str) -> str:
        """Those that mean something in their font only as they look."""

        def shown(match: re.Match[str]) -> str:
            return _symbol(match[0], look_of(self._text.font(match.start())).symbols)

        return SYMBOL_CHARACTER.sub(shown, characters)

    def _read_line(self, words: str, characters: str, start: int, end: int) -> None:
        """``words`` are the ``characters`` from ``start`` to before ``end``, without the white space around them."""
        if words[0] in _RULES:
            if _RULE.fullmatch(words):
                return
            if words[0] == "|" and words[-1] == "|":
                self._read_drawn_cells(words, start)
                return
        boxes = self._text.pieces(start, end)
        if not boxes:
            boxes = self._text.boxes(start, end - 1)
        elif words[0] >= _EAST_ASIAN or words[-1] >= _EAST_ASIAN:
            boxes = self._with_ends(boxes, start, end)
        if not boxes:
            return
        fragment = self._fragment(words, start, boxes)
        is_parted = self._rulings is not None and self._is_parted(fragment, fragment.left, fragment.right)
        if is_parted or self._is_spaced_out or self._has_gaps(fragment, boxes):
            placed = [
                (match[0], match.start(), self._text.boxes(match.start(), match.end() - 1))
                for match in _WORD.finditer(characters, start, end)
            ]
            if is_parted or not _is_even(placed, fragment):
                self._join_words(placed)
                return
            self._even[id(fragment)] = placed
        if fragment.bold or fragment.fixed:
            within = (characters.find(" ", start + part * (end - start) // 4, end) + 1 for part in (1, 2, 3))
            self._limit_look(fragment, characters.rindex(words[-1], start, end), *filter(None, within))
        self._fragments.append(fragment)

    def _with_ends(self, pieces: list[Edges], start: int, end: int) -> list[Edges]:
        """``pieces`` of a line with its first and its last character, where these are in none: some fonts have none."""
        first, last = self._text.boxes(start), self._text.boxes(end - 1)
        before = [each for each in first if each[2] < pieces[0][0]]
        return before + pieces + [each for each in last if each[0] > pieces[-1][2]]

    def _read_drawn_cells(self, words: str, start: int) -> None:
        """Cells with lines between them that are characters need no telling apart."""
        if boxes := self._text.boxes(start):
            fragment = self._fragment(words, start, boxes)
            fragment.right = fragment.left + FIXED_WIDTH * fragment.size * len(words)
            self._fragments.append(fragment)

    def _has_gaps(self, fragment: Fragment, boxes: list[Edges]) -> bool:
        """Whether two of its parts stand far from each other, or it is wider than its characters can make it.

        Lines that run up or down a page, PDFium may take for one, whatever white there is between them.
        """
        size, characters = fragment.size, len(fragment.text)
        usual = _FIXED_LINE if fragment.fixed else _SHORT_LINE if characters < _SHORT else _LINE_OF_PROSE
        if fragment.right - fragment.left > usual * size * characters and " " in fragment.text:
            return True
        if len(boxes) == 1:
            return False
        wide, high = _GAP * size, _ABOVE * size
        if fragment.turn:
            boxes = [turned(box, fragment.turn, self._page_box) for box in boxes]
        for one, other in pairwise(boxes):
            if other[0] - one[2] > wide or one[0] - other[2] > wide:
                return True
            if other[1] - one[3] > high or one[1] - other[3] > high:
                return True
        return False

    def _part_uneven(self) -> None:
        """Lines that look justified are so where one before or after them fills the same column; others may be a
        table's.

        LaTeX sets the head of a table with as much white between all cells, too.
        """
        lines, self._fragments = self._fragments, []
        for each, before, after in zip(lines, [None, *lines], [*lines[1:], None], strict=False):
            placed = self._even.get(id(each))
            if placed and not any(other and _fills_column(other, each) for other in (before, after)):
                self._join_words(placed)
            else:
                each.order = len(self._fragments)
                self._fragments.append(each)

    def _join_words(self, placed: list[PlacedWord]) -> None:
        current: Fragment | None = None
        for word, at, boxes in placed:
            if boxes and (current is None or not self._continue(current, word, at, boxes)):
                current = self._fragment(word, at, boxes)
                self._fragments.append(current)
            elif current and not boxes:
                current.text += " " + word

    def _fragment(self, words: str, index: int, boxes: list[Edges]) -> Fragment:
        edges = boxes[0] if len(boxes) == 1 else _around(boxes)
        left, bottom, right, top = edges
        (a, b, c, d, x, y), size, font = self._text.type_of(index)
        bold, fixed, symbols = look_of(font)
        if symbols or words[0] in _BULLETS:
            bullet, rest = _symbol(words[0], symbols), words[1:].lstrip()
            if rest and not bullet.isalnum():  # what a line looks like is not for its bullet to say
                (a, b, c, d, x, y), size, font = self._text.type_of(index + len(words) - len(rest))
                bold, fixed, symbols = look_of(font)
                words = f"{'•' if has_symbols(bullet) and _WORDS.search(rest) else bullet} {rest}"
            else:
                words = bullet + words[1:]
        turn = 0 if b == 0 and a > 0 else round(math.atan2(b, a) / (math.pi / 2)) % 4
        size *= math.hypot(c, d)
        height = right - left if turn % 2 else top - bottom
        size = likely_size(size, height if height < 2 * size else _tallest(boxes, turn))
        is_stacked = (
            right - left < 1.5 * size and turn == 0 and len(words) > 1 and top - bottom > _STACKED * size * len(words)
        )
        if is_stacked:
            turn = _VERTICAL
        left, top, right, bottom = turned(edges, turn, self._page_box)
        # A line's height depends on its letters, so count from what they stand on.
        foot = self._page_box[3] - y if turn == 0 else turned((x, y, x, y), turn, self._page_box)[3]
        middle = (top + bottom) / 2 if is_stacked else foot - _MIDDLE * size
        return Fragment(words, left, right, middle, size, turn, bold, fixed, len(self._fragments))

    def _continue(self, current: Fragment, word: str, index: int, boxes: list[Edges]) -> bool:
        """Add ``word`` to ``current`` if it stands right beside it; an item may stand off its bullet."""
        left, top, right, bottom = turned(_around(boxes), current.turn, self._page_box)
        size = current.size
        gap = left - current.right
        if gap < _OVERLAP * size:
            gap = current.left - right
        if self._is_parted(current, *((current.right, left) if left > current.left else (right, current.left))):
            return False
        if top > current.bottom or bottom < current.top:
            return False
        is_marker = self._is_marker(current)
        if not _OVERLAP * size < gap < (_MARKER_GAP if is_marker else _GAP) * size:
            return False
        if is_marker:  # what a line looks like is not for its bullet to say
            (_, _, c, d, _, _), size, font = self._text.type_of(index)
            current.size = likely_size(size * math.hypot(c, d), bottom - top)
            current.bold, current.fixed, _ = look_of(font)
        elif current.bold or current.fixed:
            self._limit_look(current, index)
        current.text += word if _LETTER.fullmatch(word) and self._goes_on(current, index, gap) else " " + word
        current.left, current.right = min(current.left, left), max(current.right, right)
        return True

    def _goes_on(self, current: Fragment, index: int, gap: float) -> bool:
        """Whether a letter by itself belongs to the word before, as in text that is spaced out.

        Then what stands between them is no wider than between the two letters before.
        """
        before = current.text[-2:]
        if not (len(before) == 2 and before.isalnum() and self._text.is_guessed(index - 1)):
            return False
        one, *other = self._text.boxes(index - 3, index - 2)
        return bool(other) and 0 < gap < _SPACED_OUT * (other[0][0] - one[2])

    def _is_marker(self, latest: Fragment) -> bool:
        """Whether the fragment begun last is what an item or a heading is counted by: no cell in a row of others."""
        if len(latest.text) > _MARKER_CHARACTERS or not MARKER.fullmatch(latest.text):
            return False
        before = self._fragments[-2] if len(self._fragments) > 1 else None
        return not before or before.turn != latest.turn or abs(before.middle - latest.middle) >= SAME_LINE * latest.size

    def _is_parted(self, fragment: Fragment, left: float, right: float) -> bool:
        rulings = self._rulings
        return rulings is not None and rulings.part(fragment.turn, left - 0.5, right + 0.5, fragment.middle)

    def _limit_look(self, fragment: Fragment, *indexes: int) -> None:
        """Bold, or of one width, is what is so to its end, with what stands between."""
        for index in indexes:
            bold, fixed, _ = look_of(self._text.font(index))
            fragment.bold, fragment.fixed = fragment.bold and bold, fragment.fixed and fixed


def _may_be_spaced_out(characters: str) -> bool:
    most = _SPACES * len(characters)
    spaces = characters.count(" ")
    return spaces > most and spaces - characters.count(" .") - characters.count(" -") > most  # those are leaders


def _is_even(placed: list[PlacedWord], line: Fragment) -> bool:
    """Whether words of all lengths are as far from each other, as where they fill a column."""
    if line.turn or len({len(word) for word, _, _ in placed}) < _LENGTHS_OF_WORDS:
        return False
    edges = [_around(boxes) for _, _, boxes in placed if boxes]
    gaps = [max(other[0] - one[2], one[0] - other[2]) for one, other in pairwise(edges)]
    return len(gaps) >= _EQUAL_GAPS and max(gaps) - min(gaps) < _EQUAL * line.size


def _fills_column(line: Fragment, of: Fragment) -> bool:
    """Whether ``line`` ends where ``of`` does and begins about there: the last cell of a row begins further on."""
    return abs(line.right - of.right) < _SAME_END and abs(line.left - of.left) < _SET_IN * of.size


def _symbol(character: str, font: str) -> str:
    """What ``character`` looks like in a symbol font; itself if it has a meaning, or where that isn't known."""
    code = ord(character)
    has_meaning = not font or (code > (0x7F if font == "symbol" else 0xFF) and not has_symbols(character))
    return character if has_meaning else symbol(code, font) or character


def _is_within(each: Fragment, width: float, height: float) -> bool:
    half = each.size / 2
    return each.right > 0 and each.left < width and -half < each.middle < height + half


def _around(boxes: list[Edges]) -> Edges:
    if len(boxes) == 1:
        return boxes[0]
    if len(boxes) == 2:
        (left, bottom, right, top), (left2, bottom2, right2, top2) = boxes
        return (  # as min() and max() do in three times the time
            left if left < left2 else left2,
            bottom if bottom < bottom2 else bottom2,
            right if right > right2 else right2,
            top if top > top2 else top2,
        )
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def _tallest(boxes: list[Edges], turn: int) -> float:
    """The height of the tallest one."""
    low, high = (0, 2) if turn % 2 else (1, 3)
    return max([box[high] - box[low] for box in boxes])
