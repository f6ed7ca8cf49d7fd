"""Where a text may be cut, from the best places to the worst."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import pairwise

from citewell.core.sentences import sentence_spans
from citewell.core.values import Block, BlockKind


class Strength(IntEnum):
    """How much belongs apart what stands on the two sides of a boundary; the lowest number is the best cut."""

    BLOCK = 0
    ITEM = 1  # a list's item, a blank line inside a block
    FULL_LINE = 2  # a line end that is a sentence's end too
    LINE = 3
    SENTENCE = 4
    CLAUSE = 5
    WORD = 6


_CLOSING = r"[\"'”’»›)\]）」』】》〉*_]*"
_PATTERNS = {
    Strength.ITEM: re.compile(r"\n(?:[ \t]*\n\s*|(?=[ ]{0,3}(?:[-*+•]|\d{1,9}[.)])[ \t]))"),
    Strength.FULL_LINE: re.compile(rf"[.!?:;…。！？：；।؟]{_CLOSING}[ \t]*\n"),
    Strength.LINE: re.compile(r"\n"),
    Strength.CLAUSE: re.compile(r"[,;:،؛]\s+|\s[–—]\s|[，、；：]"),
    Strength.WORD: re.compile(r"\s+"),
}
_WHOLE = frozenset({BlockKind.CODE, BlockKind.TABLE, BlockKind.HEADING, BlockKind.METADATA})
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")


def boundaries(
    text: str,
    blocks: Sequence[Block],
    strength: Strength,
    *,
    start: int,
    end: int,
    whole: frozenset[int] = frozenset(),
) -> Iterator[int]:
    """Offsets strictly between ``start`` and ``end`` of the places of one strength, ascending.

    ``blocks`` are those that the span touches. A heading isn't parted from what follows it, and blocks whose start
    is in ``whole`` aren't cut inside.
    """
    if strength is Strength.BLOCK:
        places: Iterator[int] = (
            block.start for previous, block in pairwise(blocks) if previous.kind is not BlockKind.HEADING
        )
    else:
        places = (
            place
            for block in blocks
            if block.start not in whole
            for place in _inside(text, block, strength, start=max(start, block.start), end=min(end, block.end))
        )
    return (place for place in places if start < place < end)


def kept_whole(block: Block) -> bool:
    """Whether a block that fits in a chunk by itself must not be cut through."""
    return block.kind in _WHOLE


def splits_character(text: str, offset: int) -> bool:
    """Whether a cut at ``offset`` would part what a reader sees as one character."""
    if offset <= 0 or offset >= len(text):
        return False
    here, before = text[offset], text[offset - 1]
    return (
        unicodedata.combining(here) > 0
        or here in _JOINERS
        or before == "\u200d"
        or "\U0001f3fb" <= here <= "\U0001f3ff"
    )


def _inside(text: str, block: Block, strength: Strength, *, start: int, end: int) -> Iterator[int]:
    if block.kind is BlockKind.TABLE:
        if strength < Strength.LINE:
            return
        start = max(start, after_head(text, block))
    if strength is Strength.SENTENCE:
        yield from (start + offset for offset, _ in sentence_spans(text[start:end])[1:])
    else:
        yield from (match.end() for match in _PATTERNS[strength].finditer(text, start, end))


def after_head(text: str, block: Block) -> int:
    """Where the head of the table ``block`` ends: its first row and the dashes under it."""
    offset = block.start
    for _ in range(2):
        offset = text.find("\n", offset, block.end) + 1 or block.end
    return offset
