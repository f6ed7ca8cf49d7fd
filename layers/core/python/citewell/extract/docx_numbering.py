"""The numbers of a Word document's lists and headings, counted as Word counts them (ECMA-376 part 1, 17.9)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.extract import numerals
from citewell.extract.numerals import Numeral
from citewell.extract.ooxml import Element, W, number_of, value_of

BULLET = "-"
_LEVELS = 9
_PLACEHOLDER = re.compile(r"%([1-9])")
_NUMERALS: dict[str, Numeral] = {
    "decimalZero": numerals.two_digits,
    "upperRoman": numerals.roman,
    "lowerRoman": numerals.lower_roman,
    "upperLetter": numerals.letters,
    "lowerLetter": numerals.lower_letters,
    "ordinal": numerals.ordinal,
    "decimalEnclosedCircle": numerals.circled,
    "decimalEnclosedCircleChinese": numerals.circled,
    "chineseCounting": numerals.chinese,
    "chineseCountingThousand": numerals.chinese,
    "taiwaneseCounting": numerals.chinese,
    "taiwaneseCountingThousand": numerals.chinese,
    "ideographDigital": numerals.chinese,
    "japaneseCounting": numerals.chinese,
    "japaneseDigitalTen": numerals.chinese,
    "russianUpper": numerals.russian,
    "russianLower": numerals.lower_russian,
    "hebrew1": numerals.hebrew,
    "hebrew2": numerals.hebrew_letters,
    "ganada": numerals.ganada,
    "chosung": numerals.chosung,
    "iroha": numerals.iroha,
    "irohaFullWidth": numerals.iroha,
    "aiueo": numerals.aiueo,
    "aiueoFullWidth": numerals.aiueo,
    "arabicAlpha": numerals.arabic,
    "arabicAbjad": numerals.abjad,
    "thaiLetters": numerals.thai,
    "ideographTraditional": numerals.stems,
    "ideographZodiac": numerals.branches,
    "chicago": numerals.marks,
    "cardinalText": numerals.cardinal_words,
    "ordinalText": numerals.ordinal_words,
    "numberInDash": numerals.in_dashes,
    "hex": numerals.hexadecimal,
}


@dataclass(frozen=True, slots=True)
class _Level:
    form: str = "decimal"
    text: str = ""
    start: int = 1
    restarts: bool = True
    legal: bool = False
    style: str | None = None


@dataclass(frozen=True, slots=True)
class _List:
    """One ``w:num``. Those with the same ``counted_with`` count on from one another."""

    counted_with: str
    levels: dict[int, _Level]
    restarted: dict[int, int]


class Numbering:
    """Call :meth:`marker` for every numbered paragraph, in the document's order."""

    def __init__(self, root: Element | None, list_of_style: dict[str, str]) -> None:
        """``list_of_style``: the list (``numId``) that a numbering style names."""
        self._lists: dict[str, _List] = {}
        self._counts: dict[str, list[int | None]] = {}
        self._begun: set[str] = set()
        if root is None:
            return
        abstract = {each.get(W + "abstractNumId", ""): each for each in root.iterfind(W + "abstractNum")}
        linked = {each.get(W + "numId", ""): value_of(each, "abstractNumId") for each in root.iterfind(W + "num")}
        for each in root.iterfind(W + "num"):
            identifier = value_of(each, "abstractNumId") or ""
            source = abstract.get(identifier)
            if source is not None and (style := value_of(source, "numStyleLink")):
                identifier = linked.get(list_of_style.get(style, "")) or identifier
                source = abstract.get(identifier)
            levels = {} if source is None else _levels(source)
            self._lists[each.get(W + "numId", "")] = _with_overrides(each, identifier, levels)

    def level_of_style(self, number: str, styles: Sequence[str]) -> int:
        """The level that a list gives to the first of some paragraph styles that it names; 0 when it names none."""
        levels = self._lists[number].levels if number in self._lists else {}
        return next((level for style in styles for level, each in levels.items() if each.style == style), 0)

    def marker(self, number: str, level: int) -> str | None:
        """What stands before the next paragraph of list ``number`` (``w:numId``): ``BULLET``, ``2.1.``, ``c)``.

        None where nothing does.
        """
        found = self._lists.get(number)
        if found is None or not 0 <= level < _LEVELS:
            return None
        counts = self._advance(number, found, level)
        own = found.levels.get(level, _Level())
        if own.form == "bullet":
            return BULLET
        shown = _PLACEHOLDER.sub(lambda match: _shown(found, counts, int(match[1]) - 1, legal=own.legal), own.text)
        return shown.strip() or None

    def _advance(self, number: str, found: _List, level: int) -> list[int | None]:
        counts = self._counts.setdefault(found.counted_with, [None] * _LEVELS)
        if number not in self._begun:
            self._begun.add(number)
            for restarted in found.restarted:
                counts[restarted:] = [None] * (_LEVELS - restarted)
        current = counts[level]
        counts[level] = _start(found, level) if current is None else current + 1
        for above in range(level):  # a level that was skipped has come to its first number
            if counts[above] is None:
                counts[above] = _start(found, above)
        for deeper in range(level + 1, _LEVELS):
            if found.levels.get(deeper, _Level()).restarts:
                counts[deeper] = None
        return counts


def _start(found: _List, level: int) -> int:
    return found.restarted.get(level, found.levels.get(level, _Level()).start)


def _shown(found: _List, counts: list[int | None], level: int, *, legal: bool) -> str:
    count = counts[level]
    form = found.levels.get(level, _Level()).form
    if form in ("none", "bullet"):
        return ""
    numeral = str if legal else _NUMERALS.get(form, str)
    return numeral(_start(found, level) if count is None else count)


def _levels(source: Element) -> dict[int, _Level]:
    return {number_of(each.get(W + "ilvl")) or 0: _level(each) for each in source.iterfind(W + "lvl")}


def _level(source: Element) -> _Level:
    # The form may be one that only newer versions know; then it stands in the fallback of an alternative.
    form = next((each.get(W + "val") for each in source.iter(W + "numFmt") if each.get(W + "val") != "custom"), None)
    start = number_of(value_of(source, "start"))
    return _Level(
        form=form or "decimal",
        text=value_of(source, "lvlText") or "",
        start=0 if start is None else start,
        restarts=value_of(source, "lvlRestart") != "0",
        legal=source.find(W + "isLgl") is not None and value_of(source, "isLgl") not in ("0", "false"),
        style=value_of(source, "pStyle"),
    )


def _with_overrides(source: Element, identifier: str, levels: dict[int, _Level]) -> _List:
    levels, restarted = dict(levels), {}
    for override in source.iterfind(W + "lvlOverride"):
        level = number_of(override.get(W + "ilvl")) or 0
        if (own := override.find(W + "lvl")) is not None:
            levels[level] = replace(_level(own), style=levels.get(level, _Level()).style)
        if (start := number_of(value_of(override, "startOverride"))) is not None and 0 <= level < _LEVELS:
            restarted[level] = start
    return _List(identifier, levels, restarted)
