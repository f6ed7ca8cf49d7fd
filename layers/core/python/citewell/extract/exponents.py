"""Raised characters in a text that has no other way to raise them."""

from __future__ import annotations

import re

RAISED, LEVEL = "\ufdd0", "\ufdd1"
"""Stand before and after raised characters until :func:`with_exponents`; Unicode has them for no character."""

_EXPONENT = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_RAISED_TEXT = re.compile(f"{RAISED}([^{RAISED}{LEVEL}]*){LEVEL}")


def exponent(text: str, *, before: str) -> str:
    """``text`` as it stands raised after ``before``: of a number it mustn't become the last digits."""
    return text.translate(_EXPONENT) if before[-1:].isdigit() else text


def with_exponents(text: str) -> str:
    """``text`` with what is marked as raised in its place."""
    if RAISED not in text:
        return text
    found = _RAISED_TEXT.sub(lambda each: exponent(each[1], before=text[: each.start()][-1:]), text)
    return found.replace(RAISED, "").replace(LEVEL, "")
