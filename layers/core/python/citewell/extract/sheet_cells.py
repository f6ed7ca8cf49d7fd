"""The text that a cell of a workbook shows."""

from __future__ import annotations

import re
from functools import lru_cache, partial

from citewell.extract import xml
from citewell.extract.number_formats import BUILT_IN, Formatter, formatter, plain
from citewell.extract.ooxml import Element, Package, S, number_of
from citewell.extract.superscripts import raised_after

_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_PLAIN_INTEGER = re.compile(r"-?[0-9]{1,40}")
_OF_NEWER_VERSIONS = re.compile(r"_xl(?:fn|ws|pm|udf)\.")
_NUMBERS_KEPT = 20_000
_UNCALCULATED = "0.0"  # of Apache POI
_PLACEHOLDERS = ("", "0", _UNCALCULATED)
_POSITION = f"{S}rPr/{S}vertAlign"
_F, _V, _IS, _T, _R = (S + name for name in ("f", "v", "is", "t", "r"))


class Cells:
    """Reads cells, given a workbook's strings and number formats.

    ``calculated``: the results beside its formulas are true. Libraries that write workbooks leave them out, or write 0,
    and have the spreadsheet calculate them when it opens the file.
    """

    def __init__(self, package: Package, main: str, *, since_1904: bool, calculated: bool) -> None:
        strings = package.related(main, "sharedStrings")
        self._strings = [_rich_text(each) for each in xml.iterate(package.data(strings), S + "si")] if strings else []
        self._formatters = _formatters(package.related_xml(main, "styles"), since_1904=since_1904)
        self._calculated = calculated
        self._formatted = lru_cache(_NUMBERS_KEPT)(self._number_in_format)  # a sheet has the same dates again and again

    def text(self, cell: Element) -> str:
        """Empty for a cell that shows nothing. A formula without a result is shown itself: ``=SUM(B2:B5)``."""
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            inline = cell.find(_IS)
            return _rich_text(inline) if inline is not None else ""
        value, formula = "", None
        # Several times as fast as asking lxml for it, which counts with a million cells.
        for child in (cell[0],) if len(cell) == 1 else cell:
            if child.tag == _V:
                value = child.text or ""
            elif child.tag == _F:
                formula = child
        if formula is not None and self._lacks_result(kind, value):
            return _formula(formula)
        return self._value(kind, value, cell.get("s")) if value else ""

    def _lacks_result(self, kind: str, value: str) -> bool:
        if not self._calculated:
            return value in _PLACEHOLDERS
        # An empty text is a result; spreadsheets write a zero that is one without decimals.
        return value == _UNCALCULATED or (not value and kind != "str")

    def _value(self, kind: str, value: str, style: str | None) -> str:
        match kind:
            case "n":
                return self._number(value, style)
            case "s":
                number = number_of(value)
                return self._strings[number] if number is not None and 0 <= number < len(self._strings) else ""
            case "b":
                return "FALSE" if value.strip() == "0" else "TRUE"
            case "d":
                return _date_and_time(value)
        return _unescaped(value)  # a formula's text, or an error such as #DIV/0!

    def _number(self, value: str, style: str | None) -> str:
        show = self._formatters.get(style or "0")
        if show is not None:
            return self._formatted(value, show)
        return value if _PLAIN_INTEGER.fullmatch(value) else self._number_in_format(value, plain)

    def _number_in_format(self, value: str, show: Formatter) -> str:
        try:
            return show(float(value))
        except ValueError:
            return _unescaped(value)


def _formula(element: Element) -> str:
    """As its reader would see it in the cell; one that is but a copy of another's doesn't say what it is."""
    return "=" + (_OF_NEWER_VERSIONS.sub("", element.text or "") or "…")


def _formatters(styles: Element | None, *, since_1904: bool) -> dict[str, Formatter]:
    """By a cell's style, for those that have a number format of their own."""
    if styles is None:
        return {}
    make = partial(formatter, since_1904=since_1904)
    codes = BUILT_IN | {
        number: each.get("formatCode", "")
        for each in styles.iterfind(f"{S}numFmts/{S}numFmt")
        if (number := number_of(each.get("numFmtId"))) is not None
    }
    by_code: dict[str, Formatter] = {}
    found: dict[str, Formatter] = {}
    for index, each in enumerate(styles.iterfind(f"{S}cellXfs/{S}xf")):
        code = codes.get(number_of(each.get("numFmtId")) or 0)
        if code is not None and code.lower() not in ("general", "@"):
            if code not in by_code:
                by_code[code] = make(code)
            found[str(index)] = by_code[code]
    return found


def _rich_text(element: Element) -> str:
    """The text of a string; how its characters are read (phonetic runs) is left out."""
    text = ""
    for child in element:
        if child.tag == _T:
            text += child.text or ""
        elif child.tag == _R:
            piece = child.findtext(_T) or ""
            position = child.find(_POSITION)
            is_raised = position is not None and position.get("val") == "superscript"
            text += raised_after(text, piece) if is_raised else piece
    return _unescaped(text)


def _unescaped(text: str) -> str:
    """Characters that XML can't hold are written as ``_x000D_``."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _date_and_time(value: str) -> str:
    date, _, time = value.strip().removesuffix("Z").partition("T")
    time = time.removesuffix(":00").split(".")[0]
    return date if time in ("", "00:00") else f"{date} {time}"
