"""Digits that are written above the line."""

from __future__ import annotations

import re

BEGIN, END = "\ufdd0", "\ufdd1"
"""Stand around raised characters until :func:`with_raised`; Unicode has them for no character."""

_MARKED = re.compile(f"{BEGIN}([^{BEGIN}{END}]*){END}")
_RAISED = str.maketrans("0123456789+-−n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ")
_RAISED_SIGNS = ("⁺", "⁻")


def superscript(text: str) -> str:
    """``text`` with its digits and signs above the line."""
    return text.translate(_RAISED)


def raised_after(before: str, text: str) -> str:
    """A raised ``text`` after ``before``: an exponent where that is a number, as ``10⁶`` would read 106 without."""
    follows_number = before[-1:].isdigit() or before.endswith(_RAISED_SIGNS)
    return superscript(text) if follows_number and not any(map(str.isalpha, text)) else text


def with_raised(text: str) -> str:
    """``text`` with what is marked as raised in its place."""
    if BEGIN not in text:
        return text
    found = _MARKED.sub(lambda each: raised_after(text[: each.start()][-1:], each[1]), text)
    return found.replace(BEGIN, "").replace(END, "")
