"""What the styles of a Word document say that matters to a text: what is a heading, hidden, or numbered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from citewell.extract.ooxml import Element, W, number_of, value_of

_BODY_LEVEL = 9
_HEADING_NAME = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_LIST_NAME = re.compile(r"list (?:bullet|number) ([2-5])", re.IGNORECASE)
_CODE_NAMES = {"html preformatted", "preformatted text", "source code", "code", "macro text"}
_LONGEST_CHAIN = 50
_SIZE = 20  # where nothing says another one


@dataclass(frozen=True, slots=True)
class _Style:
    """Each field is None where the style leaves it to the one it is based on."""

    name: str
    based_on: str | None
    outline_level: int | None
    hidden: bool | None
    bold: bool | None
    size: int | None
    list_number: str | None
    list_level: int | None


class Styles:
    """Styles by their ids, which are localised; names of built-in ones are English in every language."""

    def __init__(self, root: Element | None) -> None:
        self._styles: dict[str, _Style] = {}
        self._default: str | None = None
        defaults = root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr") if root is not None else None
        self._default_size = size_in(defaults) or _SIZE
        for each in root.iterfind(W + "style") if root is not None else ():
            identifier = each.get(W + "styleId", "")
            self._styles[identifier] = _style(each)
            if each.get(W + "type") == "paragraph" and each.get(W + "default") in ("1", "true", "on"):
                self._default = identifier

    def heading_level(self, style: str | None) -> int | None:
        """1 to 9; None for the styles of body text. A title is of level 1."""
        for identifier, each in self._chain(style):
            if each.outline_level is not None:
                return each.outline_level + 1 if 0 <= each.outline_level < _BODY_LEVEL else None
            if match := _HEADING_NAME.fullmatch(each.name or identifier):
                return int(match[1])
            if self._is_title(each):
                return 1
        return None

    def is_title(self, style: str | None) -> bool:
        """Whether the document's title is written in this style or one that is based on it."""
        return any(self._is_title(each) for _, each in self._chain(style))

    def is_code(self, style: str | None) -> bool:
        """Whether lines of code are written in this style, as far as one of the usual names says so."""
        return any(each.name.lower() in _CODE_NAMES for _, each in self._chain(style))

    def hidden(self, style: str | None) -> bool:
        return next((each.hidden for _, each in self._chain(style) if each.hidden is not None), False)

    def bold(self, style: str | None) -> bool:
        return next((each.bold for _, each in self._chain(style) if each.bold is not None), False)

    def size(self, style: str | None) -> int:
        """Of the letters, in half points."""
        return next((each.size for _, each in self._chain(style) if each.size is not None), self._default_size)

    def look_of_characters(self, style: str) -> tuple[bool | None, int | None]:
        """Bold and size, each None where a style of characters leaves it to the paragraph."""
        chain = [each for _, each in self._chain(style)]
        bold = next((each.bold for each in chain if each.bold is not None), None)
        return bold, next((each.size for each in chain if each.size is not None), None)

    def numbering(self, style: str | None) -> tuple[str, int | None, list[str]] | None:
        """List, level if a style says it, and the styles up to the one that names the list, the nearest first."""
        level, passed = None, []
        for identifier, each in self._chain(style):
            passed.append(identifier)
            level = each.list_level if level is None else level
            if each.list_number is not None:
                return each.list_number, level, passed
        return None

    def list_depth(self, style: str | None) -> int:
        """How far items in this style are set in, from 0: of "List Bullet 2", whose list has but one level, 1."""
        names = (_LIST_NAME.fullmatch(each.name) for _, each in self._chain(style))
        return next((int(match[1]) - 1 for match in names if match), 0)

    def lists(self) -> dict[str, str]:
        """The list (``numId``) of every style that names one."""
        return {identifier: each.list_number for identifier, each in self._styles.items() if each.list_number}

    def _chain(self, style: str | None) -> Iterator[tuple[str, _Style]]:
        identifier = style or self._default
        for _ in range(_LONGEST_CHAIN):  # a style may be based on itself
            if identifier is None:
                return
            # A document without its styles part still says Heading1.
            each = self._styles.get(identifier, _Style(identifier, None, None, None, None, None, None, None))
            yield identifier, each
            identifier = each.based_on

    @staticmethod
    def _is_title(style: _Style) -> bool:
        return style.name.lower() == "title"


def hidden_in(properties: Element | None) -> bool | None:
    """Whether run properties hide their text; None where they don't say."""
    return _switch(properties, "vanish")


def bold_in(properties: Element | None) -> bool | None:
    """Whether run properties make their text bold; None where they don't say."""
    return _switch(properties, "b")


def _switch(properties: Element | None, name: str) -> bool | None:
    switch = properties.find(W + name) if properties is not None else None
    return None if switch is None else switch.get(W + "val") not in ("0", "false", "off")


def size_in(properties: Element | None) -> int | None:
    """The size that run properties give, in half points; None where they don't say."""
    return number_of(value_of(properties, "sz")) if properties is not None else None


def list_in(properties: Element | None) -> tuple[str | None, int | None]:
    """List and level in paragraph properties, each None where they don't say."""
    numbering = properties.find(W + "numPr") if properties is not None else None
    if numbering is None:
        return None, None
    return value_of(numbering, "numId"), number_of(value_of(numbering, "ilvl"))


def outline_level_in(properties: Element | None) -> int | None:
    """From 0; 9 is body text. None where paragraph properties don't say."""
    return number_of(value_of(properties, "outlineLvl")) if properties is not None else None


def _style(source: Element) -> _Style:
    paragraph, characters = source.find(W + "pPr"), source.find(W + "rPr")
    list_number, list_level = list_in(paragraph)
    return _Style(
        name=value_of(source, "name") or "",
        based_on=value_of(source, "basedOn"),
        outline_level=outline_level_in(paragraph),
        hidden=hidden_in(characters),
        bold=bold_in(characters),
        size=size_in(characters),
        list_number=list_number,
        list_level=list_level,
    )
