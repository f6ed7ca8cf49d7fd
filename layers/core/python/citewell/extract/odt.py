"""OpenDocument texts (OASIS OpenDocument 1.3), as LibreOffice writes them.

As in Word documents, insertions are in, deletions and hidden text are out, and a paragraph or table is followed by its
text boxes, notes and annotations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract import xml
from citewell.extract.archives import Archive
from citewell.extract.building import TextBuilder, clean_line
from citewell.extract.heading_looks import headings_by_look
from citewell.extract.odt_forms import Forms
from citewell.extract.odt_lines import Line, read_drawing, read_line
from citewell.extract.odt_looks import paragraphs_of
from citewell.extract.odt_objects import Objects, lines_of, table_of
from citewell.extract.odt_styles import BULLET, DRAW, OFFICE, OUTLINE, STYLE, TABLE, TEXT, Counter, Styles
from citewell.extract.odt_tables import CELLS, HEAD_ROWS, REPEATED, cells_of_frame, cells_of_layout, content_of, rows_of
from citewell.extract.ooxml import Element, number_of
from citewell.extract.options import ReadOptions
from citewell.extract.table_heads import Row, with_one_head
from citewell.extract.table_shapes import reshaped

_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_MOST_COLUMNS = 1_000
_MOST_REPEATED_ROWS = 100
_PAGE_PARTS = [STYLE + part + which for part in ("header", "footer") for which in ("", "-first", "-left")]
_NOTE_TITLES = {"footnote": "Footnote", "endnote": "Endnote"}


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """Raises DocumentRejected ``corrupt``, ``archive_bomb``, ``too_large``, ``no_text_layer`` or ``empty``."""
    archive = Archive(data, options.limits)
    content = xml.parse(archive.read("content.xml"))
    others = {name: xml.parse(archive.read(name)) for name in ("styles.xml", "meta.xml") if name in archive}
    body = content.find(f"{OFFICE}body/{OFFICE}text")
    if body is None:
        raise DocumentRejected("corrupt", "the document has no body of text")
    builder = TextBuilder(options.limits)
    styles = Styles([each for each in (others.get("styles.xml"), content) if each is not None])
    document = _Document(styles, Objects(archive, Forms(body)), builder)
    document.read(body)
    if not builder.length:
        if any(True for _ in body.iter(DRAW + "image")):
            raise DocumentRejected("no_text_layer", "no text, only pictures, in the document")
        document.read_headers(others.get("styles.xml"))
    title, language = (_property(others.get("meta.xml"), name) for name in ("title", "language"))
    return builder.finish(title=document.title or title, language=language)


@dataclass(slots=True)
class _Asides:
    """What hangs on the text that is being read, until it may be written."""

    lines: list[Line] = field(default_factory=list)
    tables: list[Element] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)

    def take(self, line: Line) -> None:
        self.lines.append(line)
        self.pictures += line.pictures


@dataclass(frozen=True, slots=True)
class _List:
    """The list that is being read: its style, the depth of its items from 0, and how far it has counted."""

    style: str | None
    depth: int
    counter: Counter


class _Document:
    def __init__(self, styles: Styles, objects: Objects, builder: TextBuilder) -> None:
        self.title: str | None = None
        self._styles = styles
        self._objects = objects
        self._builder = builder
        self._headings = Counter(styles)
        self._looks: Mapping[Element, int] = {}
        self._counters: dict[str, Counter] = {}

    def read(self, body: Element) -> None:
        if not any(map(self._is_section, body.iter(TEXT + "h", TEXT + "p"))):
            self._looks = headings_by_look(paragraphs_of(body, self._styles))
        self.blocks(body)

    def blocks(self, container: Element) -> None:
        """Headings, paragraphs, lists and tables, with what hangs on them."""
        for element in content_of(container):
            asides = _Asides()
            if element.tag == TEXT + "h":
                self._heading(element, asides)
            elif element.tag == TEXT + "p":
                self._paragraph(element, asides)
            elif element.tag == TEXT + "list":
                self._builder.end_list()
                self._list(element, None)
            elif element.tag == TABLE + "table":
                self._table(element, asides)
            else:
                line = read_drawing(element, self._objects)
                asides.take(line)
                self._builder.paragraph(line.text)
            self._write_asides(asides)

    def read_headers(self, styles: Element | None) -> None:
        """For a document that has no other text: what stands at the head and foot of its pages."""
        for part in styles.iter(*_PAGE_PARTS) if styles is not None else ():
            self.blocks(part)

    # --- headings, paragraphs, lists ---

    def _heading(self, element: Element, asides: _Asides) -> None:
        text = self._line(element, asides)
        style = element.get(TEXT + "style-name")
        marker = element.findtext(TEXT + "number")
        numbered = element.get(TEXT + "is-list-header") != "true" and not self._styles.leaves_lists(style)
        if text.strip() and numbered:
            depth = self._level(element) - 1
            marker = self._headings.marker(OUTLINE, depth, _start(element, TEXT + "start-value")) or marker
        self._write_heading(element, text, marker)

    def _write_heading(self, element: Element, text: str, marker: str | None) -> None:
        self._builder.heading(self._level(element), f"{marker} {text}" if marker else text)

    def _level(self, heading: Element) -> int:
        style = heading.get(TEXT + "style-name")
        level = number_of(heading.get(TEXT + "outline-level")) or self._styles.outline_level(style)
        return level or self._looks.get(heading, 1)

    def _is_section(self, paragraph: Element) -> bool:
        """Whether it is a heading by style, other than the document's title."""
        style = paragraph.get(TEXT + "style-name")
        is_heading = paragraph.tag == TEXT + "h" or self._styles.outline_level(style)
        return bool(is_heading) and not self._styles.is_title(style)

    def _paragraph(self, element: Element, asides: _Asides) -> None:
        text = self._line(element, asides)
        style = element.get(TEXT + "style-name")
        if self._styles.is_title(style):
            self.title = self.title or text.strip() or None
            self._builder.heading(1, text)
        elif level := self._styles.outline_level(style) or self._looks.get(element):
            self._builder.heading(level, text)
        elif self._styles.is_code(style):
            self._builder.code(text, goes_on=True)
        else:
            self._builder.paragraph(text)

    def _list(self, element: Element, outer: _List | None) -> None:
        opened = self._opened(element, outer)
        for item in element:
            if item.tag in (TEXT + "list-item", TEXT + "list-header"):
                self._item(item, opened)

    def _opened(self, element: Element, outer: _List | None) -> _List:
        style = element.get(TEXT + "style-name") or (outer.style if outer else None)
        if outer is not None:
            return _List(style, outer.depth + 1, outer.counter)
        paragraph = next(element.iter(TEXT + "p"), None)
        if style is None and paragraph is not None:
            style = self._styles.list_style(paragraph.get(TEXT + "style-name"))
        goes_on = element.get(TEXT + "continue-list")
        if goes_on is None and element.get(TEXT + "continue-numbering") == "true":
            goes_on = f"style {style}"
        counter = self._counters.get(goes_on or "") or Counter(self._styles)
        for name in (element.get(_XML_ID), f"style {style}"):
            if name is not None:
                self._counters[name] = counter
        return _List(style, 0, counter)

    def _item(self, item: Element, opened: _List) -> None:
        """Its first paragraph has the number, the others follow as they are."""
        numbered = item.tag == TEXT + "list-item"
        for element in content_of(item):
            asides = _Asides()
            if element.tag == TEXT + "list":
                self._list(element, opened)
            elif element.tag == TEXT + "h" and opened.style == OUTLINE:
                self._heading(element, asides)
                numbered = False
            elif element.tag in (TEXT + "h", TEXT + "p"):
                text, marker = self._line(element, asides), None
                if numbered:
                    start = _start(item, TEXT + "start-value")
                    marker, numbered = opened.counter.marker(opened.style, opened.depth, start), False
                self._write_item(element, text, opened.depth, marker)
            elif element.tag == TABLE + "table":
                self._table(element, asides)
            self._write_asides(asides)

    def _write_item(self, element: Element, text: str, depth: int, marker: str | None) -> None:
        if element.tag == TEXT + "h" or (element in self._looks and marker != BULLET):
            self._write_heading(element, text, None if marker == BULLET else marker)
        elif marker is None:
            self._builder.paragraph(text)
        else:
            self._builder.item(text, depth=depth, marker=marker)

    def _line(self, element: Element, asides: _Asides) -> str:
        line = read_line(element, self._styles, self._objects)
        asides.take(line)
        return line.text

    # --- what hangs on a paragraph or a table ---

    def _write_asides(self, asides: _Asides) -> None:
        for line in asides.lines:
            for box in line.boxes:
                self.blocks(box)
        for picture in asides.pictures:
            self._builder.paragraph(picture)
        for line in asides.lines:
            for shown in line.objects:
                self._write_object(shown)
        for table in asides.tables:
            inner = _Asides()
            self._table(table, inner)
            self._write_asides(inner)
        self._write_notes(asides)

    def _write_object(self, shown: Element) -> None:
        self._builder.paragraph("\n".join(lines_of(shown)))
        if (table := table_of(shown)) is not None:
            self._write_table(table, _Asides())

    def _write_notes(self, asides: _Asides) -> None:
        for line in asides.lines:
            for note in line.notes:
                body = note.find(TEXT + "note-body")
                if body is not None:
                    self._aside(_NOTE_TITLES.get(note.get(TEXT + "note-class", ""), "Note"), body)
        for line in asides.lines:
            for annotation in line.annotations:
                author = clean_line(annotation.findtext(_DUBLIN_CORE + "creator") or "")
                self._aside(f"Comment ({author})" if author else "Comment", annotation)

    def _aside(self, name: str, container: Element) -> None:
        inner = _Asides()
        if text := self._plain(container, inner):
            self._builder.paragraph(f"{name}: {text}")
        self._write_asides(inner)

    # --- tables ---

    def _table(self, table: Element, asides: _Asides) -> None:
        for cell in (cells := cells_of_frame(table) or cells_of_layout(table)):
            self.blocks(cell)
        if not cells:
            self._write_table(table, asides)

    def _write_table(self, table: Element, asides: _Asides) -> None:
        rows: list[Row] = []
        head_rows = 0
        for row in rows_of(table):
            cells = self._cells(row, asides)
            times = number_of(row.get(TABLE + "number-rows-repeated")) or 1
            head_rows += head_rows == len(rows) and row.getparent().tag == HEAD_ROWS
            rows += [cells] * (min(times, _MOST_REPEATED_ROWS) if any(cells) else 0)
        lines, rows_under_head = with_one_head(reshaped(rows, head_rows), head_rows or None)
        for line in lines:
            self._builder.paragraph(line)
        self._builder.table(rows_under_head)

    def _cells(self, row: Element, asides: _Asides) -> Row:
        """A merged cell's text stands in its first row and column."""
        cells: Row = []
        covered = 0
        for cell in row:
            if cell.tag not in CELLS:
                continue
            times = max(0, min(number_of(cell.get(REPEATED)) or 1, _MOST_COLUMNS - len(cells)))
            if cell.tag == TABLE + "table-cell":
                cells += [self._plain(cell, asides)] * times
                covered = (number_of(cell.get(TABLE + "number-columns-spanned")) or 1) - 1
            else:
                cells += [None if covered > 0 else ""] * times
                covered -= times
        return cells

    def _plain(self, container: Element, asides: _Asides) -> str:
        """The text of a cell or note in lines, blank ones too; a table in it is put aside, unless it is but a frame."""
        text = "\n".join(self._plain_lines(container, asides, None))
        return text if text.strip() else ""

    def _plain_lines(self, container: Element, asides: _Asides, outer: _List | None) -> Iterator[str]:
        for element in content_of(container):
            if element.tag in (TEXT + "p", TEXT + "h"):
                yield self._line(element, asides)
                yield from asides.pictures
                asides.pictures = []
            elif element.tag == TEXT + "list":
                opened = self._opened(element, outer)
                for item in element:
                    lines = list(self._plain_lines(item, asides, opened))
                    marker = opened.counter.marker(opened.style, opened.depth) if lines else None
                    bare = marker is None or (marker == BULLET and not lines[0].strip())
                    yield "".join(lines[:1]) if bare else f"{marker} {lines[0]}"
                    yield from lines[1:]
            elif element.tag == TABLE + "table":
                for cell in (cells := cells_of_frame(element)):
                    yield from self._plain_lines(cell, asides, None)
                if not cells:
                    asides.tables.append(element)


def _start(element: Element, name: str) -> int | None:
    return number_of(element.get(name))


def _property(meta: Element | None, name: str) -> str | None:
    found = next(meta.iter(_DUBLIN_CORE + name), None) if meta is not None else None
    return (found.text or "").strip() or None if found is not None else None
