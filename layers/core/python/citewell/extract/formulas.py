"""Formulas of Office documents (OMML, ECMA-376 part 1, 22.1) on one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from citewell.extract.formula_lines import Part, grouped, scripts, side_by_side
from citewell.extract.ooxml import MATH, Element
from citewell.extract.superscripts import superscript

_COMBINING_CIRCUMFLEX = "\u0302"
_COMBINING_OVERLINE = "\u0305"
_COMBINING_LOW_LINE = "\u0332"
_PARAGRAPH = MATH + "oMathPara"
_SCRIPTED = ("sSup", "sSub", "sSubSup", "limLow", "limUpp")
_WITH_SCRIPTS = {MATH + name for name in _SCRIPTED}


def formula(element: Element) -> str:
    """A formula on one line: ``(a + b)/2``, ``x^2``, ``∑_(i=1)^n i``, ``[1, 2; 3, 4]``; several are lines."""
    if element.tag == MATH + "t":
        return element.text or ""
    if element.tag == _PARAGRAPH:
        return "\n".join(filter(None, map(formula, element)))
    name = element.tag.removeprefix(MATH)
    if (write := _WRITERS.get(name)) is not None:
        return write(element)
    return side_by_side(Part(formula(each), ends_off_line=each.tag in _WITH_SCRIPTS) for each in element)


def _fraction(element: Element) -> str:
    sign = "¦" if _said(element, "type", "bar") == "noBar" else "/"  # as in ``(n¦k)``: n over k
    return sign.join(grouped(part) for part in _parts(element, "num", "den") if part)


def _with_scripts(element: Element) -> str:
    base, low, high, under, over = _parts(element, "e", "sub", "sup", "lim", "lim")
    if element.tag == MATH + "limUpp":
        return grouped(base) + scripts("", over)
    return grouped(base) + scripts(low or under, high)


def _before(element: Element) -> str:
    base, low, high = _parts(element, "e", "sub", "sup")
    return scripts(low, high) + grouped(base)


def _root(element: Element) -> str:
    degree, base = _parts(element, "deg", "e")
    return f"{superscript(degree)}√{grouped(base)}"


def _operator(element: Element) -> str:
    low, high, base = _parts(element, "sub", "sup", "e")
    return f"{_said(element, 'chr', '∫')}{scripts(low, high)} {base}".strip()


def _delimited(element: Element) -> str:
    parts = [formula(each) for each in element.iterfind(MATH + "e")]
    separator = _said(element, "sepChr", "|")
    return _said(element, "begChr", "(") + separator.join(parts) + _said(element, "endChr", ")")


def _matrix(element: Element) -> str:
    rows = element.iterfind(MATH + "mr")
    return "; ".join(", ".join(formula(cell) for cell in row.iterfind(MATH + "e")) for row in rows)


def _lines(element: Element) -> str:
    return "; ".join(formula(each) for each in element.iterfind(MATH + "e"))


def _function(element: Element) -> str:
    return " ".join(filter(None, _parts(element, "fName", "e")))


def _accented(element: Element) -> str:
    return grouped(*_parts(element, "e")) + _said(element, "chr", _COMBINING_CIRCUMFLEX)


def _barred(element: Element) -> str:
    below = _said(element, "pos", "bot") == "bot"
    return grouped(*_parts(element, "e")) + (_COMBINING_LOW_LINE if below else _COMBINING_OVERLINE)


_WRITERS: dict[str, Callable[[Element], str]] = {
    "f": _fraction,
    **dict.fromkeys(_SCRIPTED, _with_scripts),
    "sPre": _before,
    "rad": _root,
    "nary": _operator,
    "d": _delimited,
    "m": _matrix,
    "eqArr": _lines,
    "func": _function,
    "acc": _accented,
    "bar": _barred,
}


def _parts(element: Element, *names: str) -> Sequence[str]:
    found = (element.find(MATH + name) for name in names)
    return ["" if part is None else formula(part) for part in found]


def _said(element: Element, name: str, otherwise: str) -> str:
    """What the element's properties say; a character that is said to be none is empty."""
    found = element.find(f"{element.tag}Pr/{MATH}{name}")
    return otherwise if found is None else found.get(MATH + "val", "")
