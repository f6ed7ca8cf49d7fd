"""Styles of an OpenDocument text: which are titles, which hide their text, and how lists are numbered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from citewell.extract import numerals
from citewell.extract.numerals import Numeral
from citewell.extract.ooxml import Element, number_of

OFFICE, TEXT, TABLE, DRAW, STYLE, SVG = (
    f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}"
    for name in ("office", "text", "table", "drawing", "style", "svg-compatible")
)
BULLET = "-"
_CODE_NAMES = {"Preformatted_20_Text", "Preformatted Text", "Source_20_Code"}
_LONGEST_CHAIN = 50
_MOST_LEVELS = 10
_NUMERALS: dict[str, Numeral] = {
    "a": numerals.lower_letters,
    "A": numerals.letters,
    "i": numerals.lower_roman,
    "I": numerals.roman,
    "一, 二, 三, ...": numerals.chinese,
    "①, ②, ③, ...": numerals.circled,
    "Α, Β, ... (gr)": numerals.greek,
    "α, β, ... (gr)": numerals.lower_greek,
    "А, Б, .., Аа, Аб, ... (ru)": numerals.russian,
    "А, Б, .., Аа, Бб, ... (ru)": numerals.russian,
    "а, б, .., аа, аб, ... (ru)": numerals.lower_russian,
    "а, б, .., аа, бб, ... (ru)": numerals.lower_russian,
    "أ, ب, ت, ...": numerals.arabic,
    "ก, ข, ค, ...": numerals.thai,
}
_FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_BOLD = 600
_LENGTH = re.compile(r"(\d+(?:\.\d+)?)(pt|%)")
_SIZE = 12.0  # where nothing says another one
_RAISED = re.compile(r"super|[1-9]")
_PLACEHOLDER = re.compile(r"%(\d+)%([^%]*)")
_FORMATS = tuple(
    f"{{{namespace}}}num-list-format"
    for namespace in (STYLE[1:-1], "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0")
)
OUTLINE = "Outline"
"""The name under which the numbering of headings stands, as LibreOffice calls it where lists refer to it."""


@dataclass(frozen=True, slots=True)
class _Level:
    """``form`` is None for a bullet, empty where nothing is shown.

    ``text`` has ``%2%`` where the number of level 2 stands, and the one of each other level in the same way.
    """

    form: str | None
    text: str
    start: int


class Styles:
    """The styles of ``styles.xml`` and of the content itself."""

    def __init__(self, roots: list[Element]) -> None:
        self._styles: dict[str, Element] = {}
        self._lists: dict[str, dict[int, _Level]] = {}
        self._defaults: list[Element] = []
        for root in roots:
            for each in root.iter(STYLE + "style"):
                self._styles[each.get(STYLE + "name", "")] = each
            self._defaults += (
                each for each in root.iter(STYLE + "default-style") if each.get(STYLE + "family") == "paragraph"
            )
            for each in root.iter(TEXT + "list-style", TEXT + "outline-style"):
                name = each.get(STYLE + "name", "") if each.tag == TEXT + "list-style" else OUTLINE
                self._lists[name] = {number_of(level.get(TEXT + "level")) or 1: _level(level) for level in each}

    def is_title(self, style: str | None) -> bool:
        return any(name == "Title" for name, _ in self._chain(style))

    def is_code(self, style: str | None) -> bool:
        return style in _CODE_NAMES or any(name in _CODE_NAMES for name, _ in self._chain(style))

    def outline_level(self, style: str | None) -> int | None:
        """From 1; None where the style is none of a heading."""
        levels = (each.get(STYLE + "default-outline-level") for _, each in self._chain(style))
        return next((number_of(level) for level in levels if level is not None), None)

    def list_style(self, style: str | None) -> str | None:
        """The list style that a paragraph style brings along."""
        names = (each.get(STYLE + "list-style-name") for _, each in self._chain(style))
        return next((name for name in names if name is not None), None)

    def hidden(self, style: str | None) -> bool:
        for _, each in self._chain(style):
            properties = each.find(STYLE + "text-properties")
            display = properties.get(TEXT + "display") if properties is not None else None
            if display is not None:
                return bool(display == "none")
        return False

    def leaves_lists(self, style: str | None) -> bool:
        """Whether paragraphs of a style have no number though the one that it is based on gives them one."""
        return self.list_style(style) == ""

    def bold(self, style: str | None) -> bool | None:
        """None where the style leaves it to what is around it."""
        weights = (self._of_text(each, _FO + "font-weight") for _, each in self._chain(style))
        weight = next((weight for weight in weights if weight is not None), None)
        return None if weight is None else weight == "bold" or (number_of(weight) or 0) >= _BOLD

    def size(self, style: str | None, around: float | None = None) -> float:
        """In points; ``around`` is the size of the paragraph that a style of characters stands in."""
        factor = 1.0
        for each in [*(each for _, each in self._chain(style)), *(self._defaults if around is None else ())]:
            size = _LENGTH.fullmatch(self._of_text(each, _FO + "font-size") or "")
            if size is not None and size[2] == "pt":
                return factor * float(size[1])
            factor *= float(size[1]) / 100 if size is not None else 1
        return factor * (_SIZE if around is None else around)

    @staticmethod
    def _of_text(style: Element, attribute: str) -> str | None:
        properties = style.find(STYLE + "text-properties")
        value: str | None = properties.get(attribute) if properties is not None else None
        return value

    def raised(self, style: str | None) -> bool:
        for _, each in self._chain(style):
            properties = each.find(STYLE + "text-properties")
            position = properties.get(STYLE + "text-position") if properties is not None else None
            if position is not None:
                return bool(_RAISED.match(position))
        return False

    def level(self, list_style: str | None, depth: int) -> _Level | None:
        """``depth`` from 0."""
        return self._lists.get(list_style, {}).get(depth + 1) if list_style is not None else None

    def _chain(self, style: str | None) -> Iterator[tuple[str, Element]]:
        for _ in range(_LONGEST_CHAIN):  # a style may be its own parent
            each = self._styles.get(style) if style is not None else None
            if style is None or each is None:
                return
            yield style, each
            style = each.get(STYLE + "parent-style-name")


class Counter:
    """The numbers that one list, or all headings, have come to."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._counts: list[int | None] = [None] * _MOST_LEVELS

    def marker(self, list_style: str | None, depth: int, start: int | None = None) -> str | None:
        """What stands before the next item at ``depth`` (from 0); ``start`` where the item begins anew."""
        depth = min(depth, _MOST_LEVELS - 1)
        level = self._styles.level(list_style, depth)
        current = self._counts[depth]
        if start is None:
            start = current + 1 if current is not None else self._start(list_style, depth)
        self._counts[depth] = start
        self._counts[depth + 1 :] = [None] * (_MOST_LEVELS - depth - 1)
        for above in range(depth):  # a level that was skipped has come to its first number
            if self._counts[above] is None:
                self._counts[above] = self._start(list_style, above)
        if level is None or level.form is None:
            return None if list_style == OUTLINE else BULLET
        if not level.form:
            return None
        return _PLACEHOLDER.sub(lambda shown: self._shown(list_style, shown), level.text).strip() or None

    def _shown(self, list_style: str | None, shown: re.Match[str]) -> str:
        """The number of a level with what follows it; nothing of a level that has no number."""
        depth = int(shown[1]) - 1
        level = self._styles.level(list_style, depth)
        if level is None or not level.form or not 0 <= depth < _MOST_LEVELS:
            return ""
        count = self._counts[depth]
        return _NUMERALS.get(level.form, str)(self._start(list_style, depth) if count is None else count) + shown[2]

    def _start(self, list_style: str | None, depth: int) -> int:
        level = self._styles.level(list_style, depth)
        return level.start if level is not None else 1


def _level(source: Element) -> _Level:
    numbered = source.tag in (TEXT + "list-level-style-number", TEXT + "outline-level-style")
    start = number_of(source.get(TEXT + "start-value"))
    return _Level(
        form=source.get(STYLE + "num-format", "") if numbered else None,
        text=next(filter(None, map(source.get, _FORMATS)), None) or _text_of_level(source),
        start=1 if start is None else start,
    )


def _text_of_level(source: Element) -> str:
    """As prefix, suffix and the count of levels have it, which is all that documents before LibreOffice 7 say."""
    last = number_of(source.get(TEXT + "level")) or 1
    count = min(max(number_of(source.get(TEXT + "display-levels")) or 1, 1), _MOST_LEVELS)
    numbers = ".".join(f"%{each}%" for each in range(max(1, last - count + 1), last + 1))
    return f"{source.get(STYLE + 'num-prefix', '')}{numbers}{source.get(STYLE + 'num-suffix', '')}"
