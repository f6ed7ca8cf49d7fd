"""Lines and tables of a PDF's page, to headings, paragraphs, lists, code and tables."""

from __future__ import annotations

import re
import statistics
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby, pairwise
from typing import NamedTuple

from citewell.extract.building import TextBuilder
from citewell.extract.heading_words import AMOUNT, SENTENCE_END
from citewell.extract.pdf_fragments import BULLETS, FIXED_WIDTH, HYPHENS, MARKS
from citewell.extract.pdf_layout import Column, Line
from citewell.extract.pdf_profile import Profile
from citewell.extract.pdf_rows import is_rtl
from citewell.extract.pdf_tables import Table
from citewell.extract.pdf_text_page import SOFT_BREAK

_HAN_OR_KANA = re.compile("[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef]")
_ITEM = re.compile(
    rf"(?P<marker>[{BULLETS}]|\(?(?:\d{{1,3}}|[A-Za-z]|[ivxIVX]{{1,5}})[.)])\s+(?=\S)"
    # As Chinese and Japanese write them, without white space.
    rf"|(?P<tight>[・•●○■□◆◇※]|\d{{1,2}}[、．)）.]|[(（][\d一二三四五六七八九十]{{1,3}}[)）])\s*(?={_HAN_OR_KANA.pattern})"
)
_HEADING_NUMBER = re.compile(r"\s*(?:\d{1,3}(?:\.\d{1,3})*\.?|[A-Z]\.|[IVX]{1,5}\.)\s+")
_SIGNS = ("■", "◆", "●", "►", "▶")  # before headings, too
_BOXES = ("□", "◻", "❑", "❒", "○")
_PLAIN_BULLETS = ("•", "◦", "▪", "■", "●", "○")
_NUMBERED = re.compile(r"[(（]?(?:\d|[A-Za-z]|[一二三四五六七八九十])")
_LEADERS = re.compile(r"\.{4,}|(?:\. ){4,}\.?|(?:…\s?){2,}|(?:- ?){5,}|(?:_ ?){5,}")
_PARAGRAPH_END = (".", ":", "?", "!", "”", '"')
_LAST_WORD = re.compile(rf"(\w+)[{HYPHENS}]$")
_WORD_CHARACTERS = 60
_ADDRESS = re.compile(r"(?:://|www\.|@|\w\.\w+/)\S*$")
_FIRST_WORD = re.compile(r"\w+")
_FIRST_HAN_OR_KANA = "\u3000"

_HEADING_LINES = 3
_HEADING_CHARACTERS = 200
_BOLD_HEADING_CHARACTERS = 120
_DEEPEST_HEADING = 6
_INDENT = 0.8  # ems by which a line has to be set in to say something


class _Item(NamedTuple):
    depth: int
    marker: str
    begins_list: bool


class PageWriter:
    """Writes columns to ``text``. ``title`` is the first heading of the first level, once there is one."""

    def __init__(self, text: TextBuilder, profile: Profile) -> None:
        self._text = text
        self._profile = profile
        self._outline: Collection[str] = ()
        self._title_size: float | None = None
        self._lines: list[str] = []
        self._item: _Item | None = None
        self._end: tuple[Line, float] | None = None
        self._head: list[str] = []  # of the table that was written last, if nothing was since
        self._at_top = True
        self.title: str | None = None

    def write(
        self, columns: Iterable[Column], *, outline: Collection[str] = (), title_size: float | None = None
    ) -> None:
        """``outline`` is what the document's outline names on this page, as :func:`as_named` has it; ``title_size`` is
        that of the page's own title, on slides."""
        self._outline = outline
        self._title_size = title_size
        self._at_top = True
        for column in columns:
            for is_table, items in groupby(column.items, key=lambda item: isinstance(item, Table)):
                if is_table:
                    for item in items:
                        self._write_table(item)
                else:
                    self._head = []
                    self._write_lines([item for item in items if isinstance(item, Line)], turned=column.turned)
                self._at_top = False
        self._close()

    def _open(self, lines: list[str], item: _Item | None = None, *, goes_on: bool = False) -> None:
        """Begin to write running text. It stays open, as it may go on at the top of the next column."""
        if goes_on and self._lines:
            self._lines += lines
        else:
            self._close()
            self._lines, self._item = lines, item

    def _close(self) -> None:
        lines, item, self._lines = self._lines, self._item, []
        if not lines:
            return
        if not item:
            self._text.end_list()
            self._text.paragraph(self._joined(lines))
            return
        if item.begins_list:
            self._text.end_list()
        self._text.item(self._joined(lines), depth=item.depth, marker=item.marker)

    def _write_table(self, table: Line | Table) -> None:
        self._close()
        if isinstance(table, Table):
            rows = table.rows
            if _is_written_oddly("\0".join(["\0".join(row) for row in rows])):
                rows = [[self._joined(cell.split("\n")) for cell in row] for row in rows]
            if self._at_top and _is_rest(self._head, rows[0]):
                rows.insert(0, self._head)
            self._head = rows[0]
            self._text.table(rows)

    def _write_lines(self, lines: list[Line], *, turned: bool) -> None:
        for is_code, members in groupby(lines, key=self._is_code):
            if is_code:
                self._close()
                self._text.code(_indented(list(members)))
            else:
                self._write_paragraphs(list(members), turned=turned)

    def _is_code(self, line: Line) -> bool:
        is_code = self._profile.code and line.fixed and not line.text.startswith(_PLAIN_BULLETS)
        return is_code and not self._is_large(line.size)

    def _is_large(self, size: float) -> bool:
        headings = self._profile.headings
        return bool(headings) and size >= headings[-1] - 0.25

    def _write_paragraphs(self, lines: list[Line], *, turned: bool) -> None:
        right = max(line.right for line in lines)
        depths: list[float] = []
        was_numbered = False
        for number, (item, paragraph) in enumerate(_paragraphs(lines, right)):
            first = paragraph[0]
            if not turned and (level := self._heading_level(paragraph, is_item=bool(item))):
                self._write_heading(level, paragraph)
                depths = []
            elif item:
                while depths and depths[-1] > first.left + 1:
                    depths.pop()
                if not depths or depths[-1] < first.left - _INDENT * first.size:
                    depths.append(first.left)
                marker = item["marker"] or item["tight"]
                is_numbered = len(marker) > 1 and bool(_NUMBERED.match(marker))
                is_other_list = is_numbered != was_numbered and len(depths) == 1
                was_numbered = is_numbered
                is_said = marker in MARKS or (marker in _BOXES and marker in first.text[item.end() :])
                begin = item.start() if is_said else item.end()
                rest = [first.text[begin:], *[line.text for line in paragraph[1:]]]
                self._open(rest, _Item(len(depths) - 1, marker if is_numbered else "-", is_other_list))
                self._end = paragraph[-1], right
            else:
                goes_on = number == 0 and not turned and self._end is not None and _goes_on(*self._end, first)
                self._open(_logical_lines(paragraph, right), goes_on=goes_on)
                self._end = paragraph[-1], right
                depths = []

    def _write_heading(self, level: int, paragraph: list[Line]) -> None:
        self._close()
        words = self._joined([line.text for line in paragraph])
        if level == 1 and self.title is None:
            self.title = words
        self._text.heading(level, words)

    def _heading_level(self, paragraph: list[Line], *, is_item: bool) -> int:
        """1 is the highest; 0 where size and weight don't say clearly that it is a heading."""
        if len(paragraph) > _HEADING_LINES:
            return 0
        profile = self._profile
        size = max([line.size for line in paragraph])
        is_title = self._title_size is not None and size >= self._title_size - 0.25
        is_large = is_title or self._is_large(size)
        is_bold = paragraph[0].bold and not profile.bold and size >= 0.95 * profile.body
        if not (is_large or is_bold or self._outline) or not all(line.whole for line in paragraph):
            return 0
        words = " ".join(line.text for line in paragraph)
        if len(words) > _HEADING_CHARACTERS or not any(map(str.isalpha, words)) or _has_leaders(words):
            return 0
        if is_item and not _NUMBERED.match(words) and not (is_large and self._may_be_signed(words, is_bold=is_bold)):
            return 0
        if is_title:
            return 1
        if is_large:
            level = sum(heading > size + 0.25 for heading in profile.headings) + 1
            return max(level, 2) if self._title_size is not None else level
        level = min(len(profile.headings) + 1, _DEEPEST_HEADING)
        if self._outline and as_named(words) in self._outline:
            return level
        is_bold = is_bold and all(line.bold for line in paragraph)
        if not is_bold or len(words) > _BOLD_HEADING_CHARACTERS or words.endswith(SENTENCE_END):
            return 0
        return 0 if AMOUNT.fullmatch(words) else level

    def _may_be_signed(self, words: str, *, is_bold: bool) -> bool:
        """Whether a line in large type with a bullet may be a heading: slides and flyers have items in it, too."""
        is_sign = words.startswith(_SIGNS) and is_bold and not self._profile.slides
        return is_sign or _HAN_OR_KANA.search(words) is not None

    def _joined(self, lines: list[str]) -> str:
        """Lines as running text: a word that was cut at a line's end is whole again."""
        text = ""
        for line in lines:
            if text.endswith("\n") or not text:
                text += line
            elif text[-1] in HYPHENS and (cut := _LAST_WORD.search(text, max(len(text) - _WORD_CHARACTERS, 0))):
                text = self._without_hyphen(text, cut, line)
            elif text[-1] >= _FIRST_HAN_OR_KANA and _HAN_OR_KANA.match(text[-1]) and _HAN_OR_KANA.match(line[:1]):
                text += line
            else:
                text += " " + line
        text = text.replace(SOFT_BREAK, "-")
        return _LEADERS.sub(" ... ", text) if _has_leaders(text) else text

    def _without_hyphen(self, text: str, cut: re.Match[str], line: str) -> str:
        """A hyphen stays where the document writes it within a line, too, in an address, or where no word can go on."""
        before, after = cut[1], _FIRST_WORD.match(line)
        if not after or not (after[0][0].isalpha() and before[-1].isalpha()):
            return f"{text[:-1]}- {line}" if not after else f"{text[:-1]}-{line}"
        is_compound = (before.lower(), after[0].lower()) in self._profile.compounds
        if is_compound or (after[0][0].isupper() and not before.isupper()) or _ADDRESS.search(text):
            return f"{text[:-1]}-{line}"
        return text[:-1] + line


def as_named(heading: str) -> str:
    """The words of a heading as they compare: an outline may leave out its number, and spaces differ."""
    return "".join(_HEADING_NUMBER.sub("", heading).split()).casefold()


def _has_leaders(text: str) -> bool:
    # Few lines have any, and these look-ups take a hundredth of the search.
    may_have = ".." in text or ". ." in text or "…" in text or "- -" in text or "--" in text or "_" in text
    return may_have and _LEADERS.search(text) is not None


def _is_written_oddly(text: str) -> bool:
    """Whether there is something in ``text`` to be joined or replaced."""
    return "\n" in text or SOFT_BREAK in text or _has_leaders(text)


def _goes_on(above: Line, right: float, below: Line) -> bool:
    """Whether the last line of a column, whose right end is ``right``, goes on with the first line of the next one."""
    if above.text[-1] in HYPHENS:
        return below.text[0].isalpha()
    is_within = below.text[0].islower() and not above.text.endswith((*_PARAGRAPH_END, ";"))
    return is_within and not _ends_early(above, below, right)


def _is_rest(head: list[str], row: list[str]) -> bool:
    """Whether a table that begins a page with ``row`` is the rest of the one that ended the page before."""
    return len(head) == len(row) and head != row and any(map(str.isdigit, "".join(row)))


def _paragraphs(lines: list[Line], right: float) -> Iterator[tuple[re.Match[str] | None, list[Line]]]:
    """Lines that belong together, and the marker with which they begin if they are an item."""
    pitches = [other.middle - one.middle for one, other in pairwise(lines)]
    usual = statistics.median_low(pitches) if pitches else 0.0
    typical = statistics.median_low([line.size for line in lines])  # that pitch is of lines of this size
    paragraph: list[Line] = []
    of_item: re.Match[str] | None = None
    for line in lines:
        item = _ITEM.match(line.text)
        if not paragraph:
            of_item = item
        elif item or _begins_anew(
            line,
            paragraph,
            of_item=of_item is not None,
            usual=usual if line.size < 1.15 * typical else 0.0,
            right=right,
        ):
            yield of_item, paragraph
            paragraph, of_item = [], item
        paragraph.append(line)
    if paragraph:
        yield of_item, paragraph


def _begins_anew(line: Line, paragraph: list[Line], *, of_item: bool, usual: float, right: float) -> bool:
    above, first = paragraph[-1], paragraph[0]
    pitch = line.middle - above.middle
    size = max(line.size, above.size)
    if pitch > 1.3 * min(max(usual, 1.15 * size), 2.4 * size) or pitch < 0:
        return True
    alike = 0.05 if line.bold else 0.14  # a line in another typeface may be smaller, of headings one below the other no
    if abs(line.size - above.size) > alike * size or line.bold != above.bold:
        return True
    if of_item:
        return line.left < first.left + 0.3 * size and _ends_early(above, line, right) and not is_rtl(line.text)
    if not above.text.endswith(_PARAGRAPH_END):
        return False
    return line.right < above.right - _INDENT * size if is_rtl(line.text) else line.left > above.left + _INDENT * size


def _logical_lines(paragraph: list[Line], right: float) -> list[str]:
    """The lines of a paragraph; one that ends although the next word would have fitted ends in a line end."""
    lines = [line.text for line in paragraph]
    may_lead = _has_leaders("\n".join(lines))
    for index, (one, other) in enumerate(pairwise(paragraph)):
        if (may_lead and _has_leaders(one.text)) or (one.text[-1] not in HYPHENS and _ends_early(one, other, right)):
            lines[index] += "\n"
    return lines


def _ends_early(line: Line, below: Line, right: float) -> bool:
    """Whether the first word of the line below would have fitted, so that the line was ended on purpose."""
    end = line.right + 0.5 * line.size
    if end >= right:  # as most lines do
        return False
    word = below.text.split(" ", 1)[0]
    return end + (below.right - below.left) * (len(word) + 1) / max(len(below.text), 1) < right


def _indented(lines: list[Line]) -> str:
    """Lines of code with the white space before them, and empty lines where there is room for one."""
    left = min(line.left for line in lines)
    pitches = [other.middle - one.middle for one, other in pairwise(lines)]
    usual = min((pitch for pitch in pitches if pitch > 0), default=0.0)
    text = ""
    for index, line in enumerate(lines):
        if index:
            text += "\n\n" if pitches[index - 1] > 1.7 * usual else "\n"
        text += " " * round((line.left - left) / (FIXED_WIDTH * line.size)) + line.text
    return text
