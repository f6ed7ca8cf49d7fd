"""Formulas in MathML (as OpenDocument keeps them) on one line, in the form of :mod:`citewell.extract.formulas`."""

from __future__ import annotations

from collections.abc import Callable

from citewell.extract.formula_lines import Part, grouped, scripts, side_by_side
from citewell.extract.ooxml import Element
from citewell.extract.superscripts import superscript

MATH_ML = "{http://www.w3.org/1998/Math/MathML}"

_INVISIBLE = "\u2061\u2062\u2063\u2064"  # function, times, comma, plus that nobody sees
_WORDS = {MATH_ML + name for name in ("mi", "mo", "mtext")}
_WITH_SCRIPTS = {MATH_ML + name for name in ("msub", "msup", "msubsup")}


def mathml(element: Element) -> str:
    """``(a+b)/2``, ``x^2``, ``∑_(i=1)^n i``. A formula's source in another language, an annotation, is left out."""
    write = _WRITERS.get(element.tag.removeprefix(MATH_ML))
    return write(element) if write is not None else _line(element)


def _line(element: Element) -> str:
    return side_by_side(_part(each) for each in element)


def _part(element: Element) -> Part:
    text = mathml(element)
    is_word = element.tag in _WORDS and len(text) > 1 and text.isalpha()
    return Part(text, ends_off_line=element.tag in _WITH_SCRIPTS, is_word=is_word)


def _leaf(element: Element) -> str:
    return "".join(element.itertext()).strip()


def _operator(element: Element) -> str:
    sign = _leaf(element).strip(_INVISIBLE)
    return f" {sign} " if sign in ("=", "+", "-", "−", "±", "<", ">", "≤", "≥", "≠", "≈", "→") else sign


def _fraction(element: Element) -> str:
    return "/".join(grouped(mathml(part)) for part in element)


def _with_scripts(element: Element) -> str:
    base, low, high, *_ = [*map(mathml, element), "", "", ""]
    if element.get("accent") == "true":
        return grouped(base) + low
    if element.tag in (MATH_ML + "msup", MATH_ML + "mover"):
        low, high = "", low
    if len(base) == 1 and not base.isalnum():  # a sum's sign and its like stand apart from what is summed
        return f"{base}{scripts(low, high)} "
    return grouped(base) + scripts(low, high)


def _root(element: Element) -> str:
    if element.tag == MATH_ML + "msqrt":
        return "√" + grouped(_line(element))
    base, degree, *_ = [*map(mathml, element), "", ""]
    return f"{superscript(degree)}√{grouped(base)}"


def _fenced(element: Element) -> str:
    separator = (element.get("separators") or ",")[:1]
    return f"{element.get('open', '(')}{separator.join(map(mathml, element))}{element.get('close', ')')}"


def _rows(element: Element) -> str:
    return "; ".join(", ".join(mathml(cell) for cell in row) for row in element)


_WRITERS: dict[str, Callable[[Element], str]] = {
    **dict.fromkeys(("mi", "mn", "mtext", "ms"), _leaf),
    "mo": _operator,
    "mfrac": _fraction,
    **dict.fromkeys(("msub", "msup", "msubsup", "munder", "mover", "munderover"), _with_scripts),
    **dict.fromkeys(("msqrt", "mroot"), _root),
    "mfenced": _fenced,
    "mtable": _rows,
    **dict.fromkeys(("annotation", "annotation-xml"), lambda _: ""),
}
