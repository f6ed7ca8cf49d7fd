"""What lies over a sheet or hangs on its cells: text boxes, charts, comments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from citewell.extract.alternative_texts import picture_line
from citewell.extract.building import clean_line
from citewell.extract.charts import GRAPHICS
from citewell.extract.drawing import plain_text
from citewell.extract.ooxml import MC, A, Element, Package, S, number_of
from citewell.extract.sheet_rows import Sheet

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"
_NAMES = tuple(_DRAWING + name for name in ("nvPicPr", "nvGraphicFramePr", "nvGrpSpPr"))
"""What names pictures, charts and groups, and says what they show; shapes say what they have to say themselves."""


@dataclass(frozen=True, slots=True)
class Graphic:
    """A chart or diagram: the element that stands for it in ``part``."""

    part: str
    element: Element


class Asides:
    """Of the sheets of one workbook, whose part is ``main``."""

    def __init__(self, package: Package, main: str) -> None:
        self._package, self._main = package, main

    def of(self, part: str, sheet: Sheet) -> Iterator[str | Graphic]:
        """What lies over a sheet, then the comments on its visible cells; no text is blank.

        Over it lie text boxes and charts, and pictures that are described.
        """
        drawing = self._package.related(part, "drawing")
        root = self._package.spare_xml(drawing) if drawing is not None else None
        for element in _floating(root) if root is not None else ():
            if element.tag in GRAPHICS:
                yield Graphic(drawing or "", element)
            elif element.tag in _NAMES:
                named = element.find(_DRAWING + "cNvPr")
                if named is not None and (line := picture_line(named.get("descr"), named.get("title"))):
                    yield line
            elif text := plain_text(element):
                yield text
        threads = self._package.related_xml(part, "threadedComment")
        comments = self._threaded(threads) if threads is not None else self._plain_comments(part)
        for author, cell, text in comments:
            if sheet.shows(cell):
                by = f"Comment ({author})" if author else "Comment"
                yield f"{by} on {cell}: {text}"

    def shows_pictures(self, part: str) -> bool:
        drawing = self._package.related_xml(part, "drawing")
        return drawing is not None and any(True for _ in drawing.iter(A + "blip"))

    def _threaded(self, root: Element) -> Iterator[tuple[str, str, str]]:
        people = self._package.related_xml(self._main, "person")
        names = {each.get("id"): each.get("displayName", "") for each in people} if people is not None else {}
        for each in root:
            text = each.findtext("{*}text") or ""
            yield clean_line(names.get(each.get("personId"), "")), each.get("ref", ""), text

    def _plain_comments(self, part: str) -> Iterator[tuple[str, str, str]]:
        root = self._package.related_xml(part, "comments")
        if root is None:
            return
        authors = [each.text or "" for each in root.iterfind(f"{S}authors/{S}author")]
        for each in root.iter(S + "comment"):
            number = number_of(each.get("authorId"))
            author = authors[number] if number is not None and 0 <= number < len(authors) else ""
            text = "".join(piece.text or "" for piece in each.iter(S + "t"))
            # Excel begins the comment itself with its author's name.
            yield clean_line(author), each.get("ref", ""), clean_line(text).removeprefix(f"{author}:").strip()


def _floating(parent: Element) -> Iterator[Element]:
    """Bodies of text, graphics and names, but not what older versions show instead of one that they don't know."""
    for child in parent:
        if child.tag.endswith("}txBody") or child.tag in GRAPHICS or child.tag in _NAMES:
            yield child
        elif child.tag != MC + "Fallback":
            yield from _floating(child)
