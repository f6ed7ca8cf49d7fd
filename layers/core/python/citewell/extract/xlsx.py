"""Excel workbooks (ECMA-376 SpreadsheetML): a sheet is a page with its name as heading.

Cells are read as they are shown: formulas as the values they last had (as themselves if they never had one),
numbers and dates in their format. Hidden sheets, rows and columns are left out, but for rows that a filter or a folded
outline hides for the moment. Only cells that are there are looked at, however large a sheet says it is. What lies over
a sheet follows its tables: text boxes, charts, comments, at last documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.building import TextBuilder
from citewell.extract.charts import write_graphic
from citewell.extract.inner_documents import InnerDocuments
from citewell.extract.ooxml import Package, R, S, number_of
from citewell.extract.options import ReadOptions
from citewell.extract.sheet_asides import Asides, Graphic
from citewell.extract.sheet_cells import Cells
from citewell.extract.sheet_rows import Sheet, read_sheet
from citewell.extract.sheet_tables import SheetTable, tables_in

_TRUE = ("1", "true")


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """Raises DocumentRejected ``corrupt``, ``encrypted``, ``archive_bomb``, ``too_large`` or ``empty``."""
    return _read(data, options, only_shown=False)


def read_inner(data: bytes, options: ReadOptions) -> ExtractedText:
    """The same of a workbook in another document, which shows but the sheet that was looked at last."""
    return _read(data, options, only_shown=True)


def _read(data: bytes, options: ReadOptions, *, only_shown: bool) -> ExtractedText:
    package = Package(data, options.limits)
    main = package.main_part("xl/workbook.xml")
    workbook = _Workbook(package, main, options.limits.characters)
    sheets = list(workbook.sheets())
    if len(sheets) > options.limits.pages:
        raise DocumentRejected("too_large", f"{len(sheets)} sheets, {options.limits.pages} allowed")
    asides = Asides(package, main)
    builder = TextBuilder(options.limits)
    inner = InnerDocuments(package, builder, None if only_shown else options)
    unread = []
    shows_pictures = False
    for number, sheet in enumerate(sheets, start=1):
        builder.page(number, anew=True)
        if sheet.hidden or (only_shown and number != workbook.shown_sheet):
            continue
        if (cells := workbook.read(sheet.part)) is None:
            unread.append(number)
            continue
        assert sheet.part is not None
        tables = tables_in(cells, options.limits.characters)
        _write(builder, sheet.name, tables, list(asides.of(sheet.part, cells)), package)
        for shown in cells.objects:
            inner.write_object(sheet.part, shown)
        shows_pictures |= asides.shows_pictures(sheet.part)
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
        self._most_characters = most_characters
        self._cells = Cells(
            package,
            main,
            since_1904=self._says("workbookPr", "date1904"),
            calculated=not self._says("calcPr", "fullCalcOnLoad"),
        )

    def _says(self, name: str, attribute: str) -> bool:
        properties = self._root.find(S + name)
        return properties is not None and properties.get(attribute) in _TRUE

    @property
    def shown_sheet(self) -> int:
        view = self._root.find(f"{S}bookViews/{S}workbookView")
        return (number_of(view.get("activeTab")) or 0) + 1 if view is not None else 1

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


def _write(
    builder: TextBuilder, name: str, tables: list[SheetTable], asides: list[str | Graphic], package: Package
) -> None:
    if not tables and not asides:
        return
    builder.heading(1, name)
    for table in tables:
        for line in table.lines_before:
            builder.paragraph(line)
        builder.table(table.rows)
    for aside in asides:
        if isinstance(aside, str):
            builder.paragraph(aside)
        else:
            write_graphic(builder, package, aside.part, aside.element)
