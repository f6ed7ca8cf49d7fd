"""Headings of documents that have none by style: short lines, larger or bolder than the text that follows."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from citewell.extract.heading_words import AMOUNT, SENTENCE_END
from citewell.extract.ooxml import Element

_LARGE = 1.15  # times the size of running text
_HEADING_CHARACTERS, _LEAD_CHARACTERS = 120, 60
_LINES = 2
_ALIKE = 2
_TOWN = re.compile(r"\d{5}\s.*", re.DOTALL)
_NUMBERED = re.compile(r"^\d+((?:\.\d+)*)\.?\s+")
_LOWEST = 6


class _Look(NamedTuple):
    """The greater one heads the other: its size, then 0 for a number like 1 and -2 for one like 1.1.1."""

    size: float
    height: int


@dataclass(frozen=True, slots=True)
class Paragraph:
    """``size`` is that of the smallest letters, in any unit; ``depth`` is None outside of lists.

    What is no paragraph, as a table, has no text.
    """

    element: Element
    text: str
    bold: bool
    size: float
    depth: int | None


def headings_by_look(blocks: Sequence[Paragraph]) -> Mapping[Element, int]:
    """The level of each of ``blocks``, which follow each other, that looks like a heading."""
    sizes, bold = Counter[float](), Counter[bool]()
    for block in blocks:
        sizes[block.size] += len(block.text)
        bold[block.bold] += len(block.text)
    if not sizes:
        return {}
    (body_size, _), body_is_bold = sizes.most_common(1)[0], bold[True] > bold[False]
    looks = [_look(block, body_size, bold=block.bold and not body_is_bold) for block in blocks]
    looks = _without_number_below(looks, [_depth(block) for block in blocks])
    found = {}
    for index, (block, look) in enumerate(zip(blocks, looks, strict=True)):
        if look is not None and index + 1 < len(blocks) and (block.depth or _heads(looks, index, block.depth)):
            found[block.element] = look
    ranks = sorted({look.size for look in found.values()}, reverse=True)
    return {each: min(ranks.index(look.size) + 1 - look.height, _LOWEST) for each, look in found.items()}


def _heads(looks: Sequence[_Look | None], index: int, depth: int | None) -> bool:
    """Whether a line heads what follows: no line of an address or item of a list, next to which others look alike.

    Of two lines outside of lists, the second one does.
    """
    look, after = looks[index], looks[index + 1]
    if look is None or (after is not None and after >= look):
        return False
    before = looks[max(index - _ALIKE, 0) : index]
    return look not in before[-1:] if depth is not None else before != [look] * _ALIKE


def _look(block: Paragraph, body_size: float, *, bold: bool) -> _Look | None:
    """None where it looks like running text."""
    is_large = block.size >= _LARGE * body_size
    if not (is_large or (bold and block.size >= body_size)) or len(block.text) > _HEADING_CHARACTERS:
        return None
    if not any(map(str.isalpha, block.text)) or block.text.endswith(SENTENCE_END):
        return None
    if AMOUNT.fullmatch(block.text) or _TOWN.fullmatch(block.text):
        return None
    is_lead = block.text.endswith(":")
    if block.text.count("\n") >= _LINES or (is_lead and len(block.text) > _LEAD_CHARACTERS):
        return None
    if "\t" in _NUMBERED.sub("", block.text, count=1):  # the head of columns that are set with tabs
        return None
    return _Look(block.size if is_large else body_size, -(_depth(block) or 0) - is_lead)


def _depth(block: Paragraph) -> int | None:
    """How deep the number before a paragraph goes, from 0; None where it has none."""
    written = _NUMBERED.match(block.text)
    return written[1].count(".") if written else block.depth


def _without_number_below(looks: Sequence[_Look | None], depths: Sequence[int | None]) -> list[_Look | None]:
    """Among headings of its size that have numbers like 1.1, one without a number is the lowest."""
    lowest: defaultdict[float, int] = defaultdict(int)
    for look, depth in zip(looks, depths, strict=True):
        if look is not None and depth is not None:
            lowest[look.size] = min(look.height, lowest[look.size])
    return [
        look._replace(height=look.height + lowest[look.size] - 1)
        if look is not None and depth is None and lowest[look.size]
        else look
        for look, depth in zip(looks, depths, strict=True)
    ]
