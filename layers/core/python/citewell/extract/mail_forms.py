"""Which of two forms of one message is read: mostly both say the same, and sometimes one is only a remnant."""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.core.values import BlockKind, ExtractedText

_CLEARLY = 8
"""Words: more than a line such as "View this mail in your browser" has."""

_STUB_CHARACTERS = 600
_LEAST_WORDS = 5
_LONGEST_CELL = 60
"""Characters on average. Longer ones are texts that a page sets beside each other."""

_ADDRESS = re.compile(r"\b(?:https?:/|mailto:|www\.)\S+|\[(?:cid|image):[^\]\n]*\]", re.IGNORECASE)
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff\u3040-\u9fff"  # scripts whose lines break anywhere: a word a character
_WORD = re.compile(rf"[^\W{_UNSPACED}]+|\w")


def is_richer(page: ExtractedText, plain: str) -> bool:
    """Whether a page says clearly more than the plain form of the same message, or the same in tables.

    Words count, not how often they stand there: pages repeat themselves for narrow screens.
    """
    shown, said = _words(page.text), _words(plain)
    more, less = len(shown - said), len(said - shown)
    is_stub = not said or (len(plain) < _STUB_CHARACTERS and len(shown) >= _LEAST_WORDS and 2 * less > len(said))
    if is_stub and 2 * more > len(shown):
        return True  # it says that the message is a page, or gives nothing but addresses
    if more > less and more >= min(_CLEARLY, len(said) // 2 + 1):
        return True
    return 4 * less <= len(said) and any(map(_is_data, _tables(page)))


def is_same(page: ExtractedText, plain: str) -> bool:
    """Whether one says what the other does, but for a few words."""
    shown, said = _words(page.text), _words(plain)
    return 10 * len(shown ^ said) <= len(shown | said)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_ADDRESS.sub(" ", text).casefold()))


def _tables(page: ExtractedText) -> list[list[list[str]]]:
    tables = [page.text[block.start : block.end] for block in page.blocks if block.kind is BlockKind.TABLE]
    return [[line.strip("| ").split(" | ") for line in table.split("\n")] for table in tables]


def _is_data(rows: Sequence[Sequence[str]]) -> bool:
    """Whether most rows have several cells with a few words each; else the table only sets out a page."""
    filled = [[cell for cell in row if _WORD.search(cell)] for row in rows]
    several = [row for row in filled if len(row) > 1]
    cells = [cell for row in several for cell in row]
    return (
        len(several) > 1
        and 2 * len(several) >= sum(map(bool, filled))
        and sum(map(len, cells)) <= _LONGEST_CELL * len(cells)
    )
