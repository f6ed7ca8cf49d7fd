"""Parts of formulas, written on one line so that they stay apart."""

from __future__ import annotations


def scripts(low: str, high: str) -> str:
    """What stands below and above the line after something: ``_i^2``."""
    return (f"_{grouped(low)}" if low else "") + (f"^{grouped(high)}" if high else "")


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
