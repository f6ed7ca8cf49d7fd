"""Excel workbooks (ECMA-376 SpreadsheetML): a sheet is a page with its name as heading.

Cells are read as they are shown: formulas as the values they last had, numbers and dates in their format. Hidden
sheets, rows and columns are left out, but for rows that a filter or a folded outline hides for the moment. Only cells
that are there are looked at, however large a sheet says it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.building import TextBuilder, clean_line
from citewell.extract.drawing import plain_text
from citewell.extract.ooxml import MC, A, Element, Package, R, S, number_of
from citewell.extract.options import ReadOptions
from citewell.extract.sheet_cells import Cells
from citewell.extract.sheet_rows import Sheet, read_sheet
from citewell.extract.sheet_tables import SheetTable, tables_in

_TRUE = ("1", "true")


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """Raises DocumentRejected ``corrupt``, ``encrypted``, ``archive_bomb``, ``too_large`` or ``empty``."""
    package = Package(data, options.limits)
    main = package.main_part("xl/workbook.xml")
    workbook = _Workbook(package, main, options.limits.characters)
    sheets = list(workbook.sheets())
    if len(sheets) > options.limits.pages:
        raise DocumentRejected("too_large", f"{len(sheets)} sheets, {options.limits.pages} allowed")
    builder = TextBuilder(options.limits)
    unread = []
    shows_pictures = False
    for number, sheet in enumerate(sheets, start=1):
        builder.page(number, anew=True)
        if sheet.hidden:
            continue
        if (cells := workbook.read(sheet.part)) is None:
            unread.append(number)
            continue
        assert sheet.part is not None
        tables = tables_in(cells, options.limits.characters)
        _write(builder, sheet.name, tables, workbook.asides(sheet.part, cells))
        shows_pictures |= workbook.shows_pictures(sheet.part)
    if unread and not builder.length:
        raise DocumentRejected("corrupt", "none of the sheets can be read")
    if shows_pictures and not builder.length:
        raise DocumentRejected("no_text_layer", "no text, only pictures, on the sheets")
    properties = package.properties()
    return builder.finish(title=properties.title, pages=len(sheets), unread_pages=unread, language=properties.language)


@dataclass(frozen=True, slots=True)
class _SheetEntry:
    """``part`` is None where the workbook names a sheet that isn't there."""

    name: str
    part: str | None
    hidden: bool


class _Workbook:
    def __init__(self, package: Package, main: str, most_characters: int) -> None:
        self._package = package
        self._main = main
        self._root = package.xml(main)
        properties = self._root.find(S + "workbookPr")
        self._most_characters = most_characters
        self._cells = Cells(package, main, since_1904=properties is not None and properties.get("date1904") in _TRUE)

    def sheets(self) -> Iterator[_SheetEntry]:
        for each in self._root.iterfind(f"{S}sheets/{S}sheet"):
            part = self._package.target(self._main, each.get(R + "id"))
            yield _SheetEntry(each.get("name", ""), part, each.get("state", "visible") != "visible")

    def read(self, part: str | None) -> Sheet | None:
        """None for a sheet that isn't there or is damaged."""
        if part is None:
            return None
        tables = (self._package.spare_xml(table) for table in self._package.all_related(part, "table"))
        filtered = any(True for table in tables if table is not None for _ in table.iter(S + "filterColumn"))
        try:
            sheet = read_sheet(
                self._package.data(part), self._cells, filtered=filtered, most_characters=self._most_characters
            )
        except DocumentRejected as rejected:
            if rejected.code != "corrupt":
                raise
            return None
        self._most_characters -= sheet.characters
        return sheet

    def shows_pictures(self, part: str) -> bool:
        drawing = self._package.related_xml(part, "drawing")
        return drawing is not None and any(True for _ in drawing.iter(A + "blip"))

    def asides(self, part: str, sheet: Sheet) -> Iterator[str]:
        """Text boxes over a sheet, then the comments on its visible cells."""
        drawing = self._package.related_xml(part, "drawing")
        for body in _text_bodies(drawing) if drawing is not None else ():
            yield plain_text(body)
        threads = self._package.related_xml(part, "threadedComment")
        comments = self._threaded(threads) if threads is not None else self._plain_comments(part)
        for author, cell, text in comments:
            if sheet.shows(cell):
                by = f"Comment ({author})" if author else "Comment"
                yield f"{by} on {cell}: {text}"

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


def _text_bodies(parent: Element) -> Iterator[Element]:
    """Those of the shapes in a drawing, but not of what older versions show instead of one that they don't know."""
    for child in parent:
        if child.tag.endswith("}txBody"):
            yield child
        elif child.tag != MC + "Fallback":
            yield from _text_bodies(child)


def _write(builder: TextBuilder, name: str, tables: list[SheetTable], asides: Iterator[str]) -> None:
    lines = [each for each in asides if each.strip()]
    if not tables and not lines:
        return
    builder.heading(1, name)
    for table in tables:
        for line in table.lines_before:
            builder.paragraph(line)
        builder.table(table.rows)
    for line in lines:
        builder.paragraph(line)
