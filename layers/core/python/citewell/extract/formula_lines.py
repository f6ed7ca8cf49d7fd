"""Parts of formulas, written on one line so that they stay apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


def scripts(low: str, high: str) -> str:
    """What stands below and above the line after something: ``_i^2``."""
    return (f"_{grouped(low)}" if low else "") + (f"^{grouped(high)}" if high else "")


@dataclass(frozen=True, slots=True)
class Part:
    """Of a line. What ends above or below it is parted from letters and digits that follow, a word from all."""

    text: str
    ends_off_line: bool = False
    is_word: bool = False


def side_by_side(parts: Iterable[Part]) -> str:
    """``x^2 y`` rather than ``x^2y``, ``7 mod p`` rather than ``7modp``."""
    text, apart = "", False
    for part in parts:
        if part.text:
            apart = (apart or part.is_word) and text[-1:].isalnum() and part.text[0].isalnum()
            text += f" {part.text}" if apart else part.text
            apart = part.ends_off_line or part.is_word
    return text


def grouped(part: str) -> str:
    """``part`` in brackets, unless it holds together without them."""
    return part if part.isalnum() or not part or _is_in_brackets(part) else f"({part})"


def _is_in_brackets(part: str) -> bool:
    """Whether the first bracket closes with the last."""
    depth = 0
    for index, character in enumerate(part):
        depth += (character == "(") - (character == ")")
        if depth <= 0:
            return depth == 0 and character == ")" and index == len(part) - 1
    return False
