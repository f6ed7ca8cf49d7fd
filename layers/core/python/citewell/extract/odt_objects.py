"""Formulas, charts, sheets and drawings in an OpenDocument text: each is a document of its own in the package."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.errors import DocumentRejected
from citewell.extract import xml
from citewell.extract.archives import Archive
from citewell.extract.mathml import MATH_ML
from citewell.extract.odt_forms import Forms
from citewell.extract.odt_styles import DRAW, OFFICE, TABLE, TEXT
from citewell.extract.ooxml import Element

_CHART = "{urn:oasis:names:tc:opendocument:xmlns:chart:1.0}"
_DRAWN = {OFFICE + name for name in ("drawing", "presentation", "text")}
_REFERENCE = "{http://www.w3.org/1999/xlink}href"


class Objects:
    """Each is read once, however often it is named. ``forms`` are those of the text itself."""

    def __init__(self, archive: Archive, forms: Forms) -> None:
        self.forms = forms
        self._archive = archive
        self._read: set[str] = set()

    def shown_in(self, frame: Element) -> Iterator[Element]:
        """The objects of a frame; what is damaged, or of another kind, is left out."""
        for each in frame.iterfind(DRAW + "object"):
            name = each.get(_REFERENCE, "").removeprefix("./") + "/content.xml"
            if name in self._archive and name not in self._read:
                self._read.add(name)
                root = self._parsed(name)
                if root is not None and (is_formula(root) or root.find(OFFICE + "body") is not None):
                    yield root

    def _parsed(self, name: str) -> Element | None:
        try:
            return xml.parse(self._archive.read(name))
        except DocumentRejected as rejected:
            if rejected.code != "corrupt":
                raise
            return None


def is_formula(root: Element) -> bool:
    return bool(root.tag == MATH_ML + "math")


def lines_of(root: Element) -> list[str]:
    """The title of a chart; the text of a drawing, shape by shape, or of a document."""
    chart = _chart(root)
    if chart is not None:
        title = chart.find(_CHART + "title")  # those of its axes are further in
        return [" ".join(map(_text, title.iter(TEXT + "p")))] if title is not None else []
    drawn = (each for each in root.find(OFFICE + "body") if each.tag in _DRAWN)
    return [_text(line) for each in drawn for line in each.iter(TEXT + "h", TEXT + "p")]


def table_of(root: Element) -> Element | None:
    """The numbers of a chart, which it keeps as a table (a row for each category); the first sheet of a workbook."""
    chart = _chart(root)
    return (
        chart.find(TABLE + "table")
        if chart is not None
        else root.find(f"{OFFICE}body/{OFFICE}spreadsheet/{TABLE}table")
    )


def _chart(root: Element) -> Element | None:
    return next(root.iter(_CHART + "chart"), None)


def _text(line: Element) -> str:
    return "".join(line.itertext())
