"""Formulas and charts in an OpenDocument text: each is a document of its own in the package."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.errors import DocumentRejected
from citewell.extract import xml
from citewell.extract.archives import Archive
from citewell.extract.mathml import MATH_ML
from citewell.extract.odt_styles import DRAW, TABLE, TEXT
from citewell.extract.ooxml import Element

_CHART = "{urn:oasis:names:tc:opendocument:xmlns:chart:1.0}"
_REFERENCE = "{http://www.w3.org/1999/xlink}href"


class Objects:
    """Each is read once, however often it is named."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._read: set[str] = set()

    def shown_in(self, frame: Element) -> Iterator[Element]:
        """The formulas and charts of a frame; what is damaged, or of another kind, is left out."""
        for each in frame.iterfind(DRAW + "object"):
            name = each.get(_REFERENCE, "").removeprefix("./") + "/content.xml"
            if name in self._archive and name not in self._read:
                self._read.add(name)
                root = self._parsed(name)
                if root is not None and (is_formula(root) or _chart(root) is not None):
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


def chart_title(root: Element) -> str:
    chart = _chart(root)
    title = chart.find(_CHART + "title") if chart is not None else None  # those of its axes are further in
    return " ".join("".join(line.itertext()) for line in title.iter(TEXT + "p")) if title is not None else ""


def chart_table(root: Element) -> Element | None:
    """The numbers, which the chart keeps as a table: a row for each category, a column for each series."""
    chart = _chart(root)
    return chart.find(TABLE + "table") if chart is not None else None


def _chart(root: Element) -> Element | None:
    return next(root.iter(_CHART + "chart"), None)
