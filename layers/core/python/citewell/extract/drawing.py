"""Text in shapes and tables of DrawingML, the language of slides and of what floats over sheets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citewell.extract import numerals
from citewell.extract.building import TextBuilder
from citewell.extract.formulas import formula
from citewell.extract.numerals import Numeral
from citewell.extract.ooxml import MATH, MC, A, Element, chosen_branch, number_of
from citewell.extract.superscripts import raised_after
from citewell.extract.symbols import has_symbols, spelled
from citewell.extract.table_heads import with_one_head

_LEVELS = 9
_TRUE = ("1", "true")
_MOST_COLUMNS = 1_000
_BULLETS = (A + "buNone", A + "buChar", A + "buAutoNum", A + "buBlip")
_AUTOMATIC = re.compile(r"(?P<numeral>.+?)(?P<form>Period|ParenR|ParenBoth|Plain|Minus)")
_FORMS = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})", "Plain": "{}", "Minus": "{}-"}
_NUMERALS: dict[str, Numeral] = {
    "alphaLc": numerals.lower_letters,
    "alphaUc": numerals.letters,
    "romanLc": numerals.lower_roman,
    "romanUc": numerals.roman,
    "circleNumDb": numerals.circled,
    "circleNumWdBlack": numerals.circled,
    "circleNumWdWhite": numerals.circled,
    "ea1Chs": numerals.chinese,
    "ea1Cht": numerals.chinese,
}


@dataclass(frozen=True, slots=True)
class _Line:
    """A paragraph; ``marker`` is None where it is no item of a list."""

    text: str
    depth: int
    marker: str | None


def write_text(builder: TextBuilder, body: Element, styles: Sequence[Element] = ()) -> None:
    """Write the paragraphs and lists of a text body.

    ``styles`` (``a:lstStyle`` and its like, the nearest first) say what is a list where a paragraph doesn't.
    """
    builder.end_list()
    for line in _lines(body, styles):
        if line.marker is None:
            builder.paragraph(line.text)
        else:
            builder.item(line.text, depth=line.depth, marker=line.marker)


def plain_text(body: Element) -> str:
    """The paragraphs of a text body, one a line."""
    return "\n".join(filter(str.strip, map(_paragraph_text, body.iterfind(A + "p"))))


def write_table(builder: TextBuilder, table: Element) -> None:
    """Write an ``a:tbl``; a merged cell's text stands in its first row and column, blanks in the others."""
    rows = [[_cell_text(cell) for cell in row.iterfind(A + "tc")][:_MOST_COLUMNS] for row in table.iterfind(A + "tr")]
    lines, rows_under_head = with_one_head(rows)
    for line in lines:
        builder.paragraph(line)
    builder.table(rows_under_head)


def _cell_text(cell: Element) -> str | None:
    body = cell.find(A + "txBody")
    if cell.get("vMerge") in _TRUE:
        return ""
    if cell.get("hMerge") in _TRUE:
        return None
    return plain_text(body) if body is not None else ""


def _lines(body: Element, styles: Sequence[Element]) -> Iterator[_Line]:
    own = body.find(A + "lstStyle")
    chain = [*([own] if own is not None else []), *styles]
    counts: list[tuple[str, int] | None] = [None] * _LEVELS
    for paragraph in body.iterfind(A + "p"):
        text = _paragraph_text(paragraph)
        if not text.strip():
            continue
        properties = paragraph.find(A + "pPr")
        level = number_of(properties.get("lvl")) if properties is not None else None
        depth = min(max(level or 0, 0), _LEVELS - 1)
        bullet = _bullet(properties, depth, chain)
        counts[depth + 1 :] = [None] * (_LEVELS - depth - 1)
        counts[depth] = _counted(counts[depth], bullet)
        yield _Line(text, depth, _marker(counts[depth], bullet))


def _bullet(properties: Element | None, depth: int, chain: Sequence[Element]) -> Element | None:
    """The nearest element that says what stands before a paragraph; None where that is nothing."""
    levels = [properties, *(style.find(f"{A}lvl{depth + 1}pPr") for style in chain)]
    said = (each for level in levels if level is not None for each in level if each.tag in _BULLETS)
    found = next(said, None)
    return None if found is None or found.tag == A + "buNone" else found


def _counted(before: tuple[str, int] | None, bullet: Element | None) -> tuple[str, int] | None:
    """Scheme and number of a numbered paragraph, given those of the last one on its level."""
    if bullet is None or bullet.tag != A + "buAutoNum":
        return None
    scheme = bullet.get("type", "")
    if before is not None and before[0] == scheme:
        return scheme, before[1] + 1
    return scheme, number_of(bullet.get("startAt")) or 1


def _marker(counted: tuple[str, int] | None, bullet: Element | None) -> str | None:
    if counted is None:
        return None if bullet is None else "-"
    scheme, number = counted
    match = _AUTOMATIC.fullmatch(scheme)
    numeral = _NUMERALS.get(match["numeral"] if match else scheme, str)
    return _FORMS[match["form"] if match else "Plain"].format(numeral(number))


def _paragraph_text(paragraph: Element) -> str:
    text = ""
    for piece, is_raised in _pieces(paragraph):
        text += raised_after(text, piece) if is_raised else piece
    return text


def _pieces(parent: Element) -> Iterator[tuple[str, bool]]:
    """Texts, and whether each is written above the line."""
    for child in parent:
        if child.tag in (A + "r", A + "fld"):
            yield _run_text(child), _is_raised(child)
        elif child.tag == A + "br":
            yield "\n", False
        elif child.tag == MC + "AlternateContent":
            yield from _pieces(chosen_branch(child))
        elif child.tag.startswith(MATH) or child.find(f".//{MATH}oMath") is not None:
            yield formula(child), False


def _is_raised(run: Element) -> bool:
    properties = run.find(A + "rPr")
    return properties is not None and (number_of(properties.get("baseline", "").removesuffix("%")) or 0) > 0


def _run_text(run: Element) -> str:
    text: str = run.findtext(A + "t") or ""
    if has_symbols(text):
        font = run.find(f"{A}rPr/{A}sym")
        text = spelled(text, font.get("typeface", "") if font is not None else "symbol")
    return text
