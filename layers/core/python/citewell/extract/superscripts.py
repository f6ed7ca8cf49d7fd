"""Digits that are written above the line."""

from __future__ import annotations

_RAISED = str.maketrans("0123456789+-−n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ")
_RAISED_SIGNS = ("⁺", "⁻")


def superscript(text: str) -> str:
    """``text`` with its digits and signs above the line."""
    return text.translate(_RAISED)


def raised_after(before: str, text: str) -> str:
    """A raised ``text`` after ``before``: an exponent where that is a number, as ``10⁶`` would read 106 without."""
    follows_number = before[-1:].isdigit() or before.endswith(_RAISED_SIGNS)
    return superscript(text) if follows_number and not any(map(str.isalpha, text)) else text
