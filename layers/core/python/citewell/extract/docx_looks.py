"""Headings of Word documents that have none by style: short lines, larger or bolder than the text that follows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from citewell.extract.docx_styles import Styles, bold_in, hidden_in, list_in, size_in
from citewell.extract.docx_tables import content_of
from citewell.extract.ooxml import Element, W, value_of

_LARGE = 1.15  # times the size of running text
_HEADING_CHARACTERS, _LEAD_CHARACTERS = 120, 60
_LINES = 2
_SENTENCE_END = (".", ",", ";", "!")
_AMOUNT = re.compile(
    r".*(?::\s*[-+€$£¥]?\s?\d[\d.,'\s/-]*\S{0,3}|\d[.,]\d\d\s?(?:[A-Z]{3}|[€$£¥])|[€$£¥]\s?\d[\d.,']*)\s*"
)
_NUMBERED = re.compile(r"\d+((?:\.\d+)*)\.?\s")
_LOWEST = 6
_SPACES = {W + "tab": "\t", W + "br": "\n", W + "cr": "\n"}


class _Look(NamedTuple):
    """The greater one heads the other: size in half points, then 0 for a number like 1 and -2 for one like 1.1.1."""

    size: int
    height: int


@dataclass(frozen=True, slots=True)
class _Block:
    """``size`` is that of the smallest letters; a table has no text. ``depth`` is None outside of lists."""

    element: Element
    text: str
    bold: bool
    size: int
    depth: int | None


def headings_by_look(body: Element, styles: Styles) -> dict[Element, int]:
    """The level of each paragraph of ``body`` that looks like a heading."""
    blocks = [block for each in content_of(body) if (block := _block(each, styles)).text or each.tag == W + "tbl"]
    sizes, bold = Counter[int](), Counter[bool]()
    for block in blocks:
        sizes[block.size] += len(block.text)
        bold[block.bold] += len(block.text)
    if not sizes:
        return {}
    (body_size, _), body_is_bold = sizes.most_common(1)[0], bold[True] > bold[False]
    looks = [_look(block, body_size, bold=block.bold and not body_is_bold) for block in blocks]
    looks = _without_number_below(looks, [_depth(block) for block in blocks])
    found = {}
    for before, (block, look), after in zip([None, *looks], zip(blocks, looks, strict=True), looks[1:], strict=False):
        if look is None or not (after is None or after < look or block.depth):
            continue  # of lines that look alike, as those of an address do, the last one may head what follows
        if block.depth != 0 or before != look:  # but not of a list's items
            found[block.element] = look
    ranks = sorted({look.size for look in found.values()}, reverse=True)
    return {each: min(ranks.index(look.size) + 1 - look.height, _LOWEST) for each, look in found.items()}


def _look(block: _Block, body_size: int, *, bold: bool) -> _Look | None:
    """None where it looks like running text."""
    is_large = block.size >= _LARGE * body_size
    if not (is_large or (bold and block.size >= body_size)) or len(block.text) > _HEADING_CHARACTERS:
        return None
    if not any(map(str.isalpha, block.text)) or block.text.endswith(_SENTENCE_END) or _AMOUNT.fullmatch(block.text):
        return None
    is_lead = block.text.endswith(":")
    if block.text.count("\n") >= _LINES or (is_lead and len(block.text) > _LEAD_CHARACTERS):
        return None
    return _Look(block.size if is_large else body_size, -(_depth(block) or 0) - is_lead)


def _depth(block: _Block) -> int | None:
    """How deep the number before a paragraph goes, from 0; None where it has none."""
    written = _NUMBERED.match(block.text)
    return written[1].count(".") if written else block.depth


def _without_number_below(looks: Sequence[_Look | None], depths: Sequence[int | None]) -> list[_Look | None]:
    """Among headings of its size that have numbers like 1.1, one without a number is the lowest."""
    lowest = Counter[int]()
    for look, depth in zip(looks, depths, strict=True):
        if look is not None and depth is not None:
            lowest[look.size] = min(look.height, lowest[look.size])
    return [
        look._replace(height=look.height + lowest[look.size] - 1)
        if look is not None and depth is None and lowest[look.size]
        else look
        for look, depth in zip(looks, depths, strict=True)
    ]


def _block(element: Element, styles: Styles) -> _Block:
    if element.tag != W + "p":
        return _Block(element, "", bold=False, size=0, depth=None)
    properties = element.find(W + "pPr")
    style = value_of(properties, "pStyle") if properties is not None else None
    runs = list(_runs(element, style, styles))
    text = "".join(text for text, _, _ in runs).strip()
    seen = [(bold, size) for text, bold, size in runs if text.strip()]
    number, depth = list_in(properties)
    inherited = styles.numbering(style)
    if depth is None and (number or inherited):
        depth = inherited[1] if inherited else 0
    return _Block(element, text, all(bold for bold, _ in seen), min((size for _, size in seen), default=0), depth)


def _runs(paragraph: Element, style: str | None, styles: Styles) -> Iterator[tuple[str, bool, int]]:
    """Text, bold and size of each run of a paragraph itself."""
    for run in paragraph.iter(W + "r"):
        around = [each.tag for each in _up_to(run, paragraph)]
        own = run.find(W + "rPr")
        if W + "p" in around or W + "moveFrom" in around or hidden_in(own):
            continue
        named = value_of(own, "rStyle") if own is not None else None
        bold, size = styles.look_of_characters(named) if named else (None, None)
        said = bold_in(own)
        bold = said if said is not None else bold
        yield (
            "".join(each.text or "" if each.tag == W + "t" else _SPACES.get(each.tag, "") for each in run),
            styles.bold(style) if bold is None else bold,
            size_in(own) or size or styles.size(style),
        )


def _up_to(element: Element, last: Element) -> Sequence[Element]:
    between = []
    for each in element.iterancestors():
        if each is last:
            break
        between.append(each)
    return between
