"""Word documents (ECMA-376, transitional and strict).

Text stands where a reader of the final document sees it: insertions are in, deletions and hidden text are out. A
paragraph is followed by its text boxes and charts, its notes and its comments; those of a table follow the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.building import TextBuilder, clean_line
from citewell.extract.charts import write_graphic
from citewell.extract.docx_bindings import fill_in
from citewell.extract.docx_looks import paragraphs_of
from citewell.extract.docx_numbering import BULLET, Numbering
from citewell.extract.docx_runs import ParagraphText, Runs
from citewell.extract.docx_styles import Styles, hidden_in, list_in, outline_level_in
from citewell.extract.docx_tables import CHUNK, cells_of_frame, cells_of_layout, content_of, table_of
from citewell.extract.heading_looks import headings_by_look
from citewell.extract.inner_documents import InnerDocuments
from citewell.extract.ooxml import A, Element, Package, R, V, W, value_of
from citewell.extract.options import ReadOptions

_BODY_LEVEL = 9
_PICTURES = (A + "blip", V + "imagedata")
_NOTE_TITLES = {"footnote": "Footnote", "endnote": "Endnote"}
_SEPARATORS = {"separator", "continuationSeparator", "continuationNotice"}


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """Raises DocumentRejected ``corrupt``, ``encrypted``, ``archive_bomb``, ``too_large`` or ``empty``."""
    return _read(data, options, inner=options)


def read_inner(data: bytes, options: ReadOptions) -> ExtractedText:
    """The same of a document in another one: those in it are left out."""
    return _read(data, options, inner=None)


def _read(data: bytes, options: ReadOptions, *, inner: ReadOptions | None) -> ExtractedText:
    package = Package(data, options.limits)
    main = package.main_part("word/document.xml")
    builder = TextBuilder(options.limits)
    document = _Document(package, main, builder, InnerDocuments(package, builder, inner))
    root = package.xml(main)
    fill_in(root, package, main)
    document.read(root)
    if not builder.length:
        if any(True for _ in root.iter(*_PICTURES)):
            raise DocumentRejected("no_text_layer", "no text, only pictures, in the document")
        document.read_headers()
    properties = package.properties()
    title = document.title or properties.title or document.only_chapter
    return builder.finish(title=title, language=properties.language)


@dataclass(slots=True)
class _Asides:
    """What hangs on the text that is being read, until it may be written."""

    boxes: list[Element] = field(default_factory=list)
    graphics: list[Element] = field(default_factory=list)
    tables: list[Element] = field(default_factory=list)
    chunks: list[Element] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)

    def take(self, paragraph: ParagraphText) -> None:
        self.boxes += paragraph.boxes
        self.graphics += paragraph.graphics
        self.notes += paragraph.notes
        self.comments += paragraph.comments
        self.pictures += paragraph.pictures
        self.objects += paragraph.objects


@dataclass(frozen=True, slots=True)
class _Paragraph:
    text: str
    level: int | None = None
    is_title: bool = False
    is_code: bool = False
    marker: str | None = None
    depth: int = 0


class _Document:
    def __init__(self, package: Package, main: str, builder: TextBuilder, inner: InnerDocuments) -> None:
        self.title: str | None = None
        self._inner = inner
        self._package, self._main = package, main
        self._builder = builder
        self._styles = Styles(package.related_xml(main, "styles"))
        self._numbering = Numbering(package.related_xml(main, "numbering"), self._styles.lists())
        self._runs = Runs(self._styles)
        self._comments = _by_id(package.related_xml(main, "comments"), "comment")
        self._notes = {kind: _by_id(package.related_xml(main, f"{kind}s"), kind) for kind in _NOTE_TITLES}
        self._carried = ""
        self._looks: Mapping[Element, int] = {}
        self._chapters: list[str] = []
        self._opens_with_chapter = False

    @property
    def only_chapter(self) -> str | None:
        """The only heading of the first level, where it opens the document: a title in all but style."""
        return self._chapters[0] if self._opens_with_chapter and len(self._chapters) == 1 else None

    def read(self, root: Element) -> None:
        body = root.find(W + "body")
        if body is not None:
            if not any(map(self._is_section, body.iter(W + "p"))):
                self._looks = headings_by_look(paragraphs_of(body, self._styles))
            self._blocks(body)

    def read_headers(self) -> None:
        """For a document that has no other text: what stands at the head and foot of its pages."""
        for kind in ("header", "footer"):
            for part in self._package.all_related(self._main, kind):
                if (root := self._package.spare_xml(part)) is not None:
                    self._blocks(root)

    def _blocks(self, container: Element) -> None:
        """Paragraphs and tables with what hangs on them."""
        outer, self._carried = self._carried, ""
        for element in content_of(container):
            asides = _Asides()
            if element.tag == W + "p":
                if (paragraph := self._paragraph(element, asides)) is not None:
                    self._write(paragraph)
            elif element.tag == CHUNK:
                self._inner.write(self._main, element.get(R + "id"))
            else:
                self._table(element, asides)
            self._write_asides(asides)
        self._builder.paragraph(self._carried)
        self._carried = outer

    # --- paragraphs ---

    def _paragraph(self, element: Element, asides: _Asides) -> _Paragraph | None:
        """None where the text goes on in the next one: the paragraph's end was deleted, or it's but a large initial."""
        properties = element.find(W + "pPr")
        style = value_of(properties, "pStyle") if properties is not None else None
        read = self._runs.read(element, style)
        asides.take(read)
        text, self._carried = self._carried + read.text, ""
        if properties is not None and _goes_on_in_the_next(properties):
            self._carried = text
            return None
        if not text.strip() and _end_is_hidden(properties):
            return _Paragraph("")  # an empty one has a number as well, unless nothing of it can be seen
        level = self._level(properties, style)
        marker, depth = self._marker(properties, style)
        if level is None and marker != BULLET:
            level = self._looks.get(element)
        return _Paragraph(text, level, self._styles.is_title(style), self._styles.is_code(style), marker, depth)

    def _is_heading(self, paragraph: Element) -> bool:
        properties = paragraph.find(W + "pPr")
        style = value_of(properties, "pStyle") if properties is not None else None
        return style is not None and self._styles.heading_level(style) is not None

    def _level(self, properties: Element | None, style: str | None) -> int | None:
        """Of a heading, as the paragraph or else its style says."""
        direct = outline_level_in(properties)
        if direct is not None:
            return direct + 1 if 0 <= direct < _BODY_LEVEL else None
        return self._styles.heading_level(style)

    def _is_section(self, paragraph: Element) -> bool:
        """Whether it is a heading by style, other than the document's title."""
        properties = paragraph.find(W + "pPr")
        style = value_of(properties, "pStyle") if properties is not None else None
        return self._level(properties, style) is not None and not self._styles.is_title(style)

    def _marker(self, properties: Element | None, style: str | None) -> tuple[str | None, int]:
        number, depth = list_in(properties)
        if (number is None or depth is None) and (inherited := self._styles.numbering(style)):
            own, inherited_depth, styles = inherited
            number = own if number is None else number
            if depth is None:
                depth = inherited_depth or self._numbering.level_of_style(number, styles)
        if number is None:
            return None, 0
        return self._numbering.marker(number, depth or 0), depth or self._styles.list_depth(style)

    def _write(self, paragraph: _Paragraph) -> None:
        if not paragraph.text.strip():
            self._builder.end_list()
        elif paragraph.level is not None:
            self._write_heading(paragraph, paragraph.level)
        elif paragraph.marker is not None:
            self._builder.item(paragraph.text, depth=paragraph.depth, marker=paragraph.marker)
        elif paragraph.is_code:
            self._builder.code(paragraph.text, goes_on=True)
        else:
            self._builder.paragraph(paragraph.text)

    def _write_heading(self, paragraph: _Paragraph, level: int) -> None:
        if paragraph.is_title:
            self.title = self.title or paragraph.text
        elif level == 1:
            self._chapters.append(paragraph.text)
            self._opens_with_chapter |= not self._builder.length
        self._builder.heading(level, _numbered(paragraph, bullet=""))

    # --- what hangs on a paragraph or a table ---

    def _write_asides(self, asides: _Asides) -> None:
        for box in asides.boxes:
            with self._builder.beside_the_text():
                self._blocks(box)
        for picture in asides.pictures:
            self._builder.paragraph(picture)
        for graphic in asides.graphics:
            write_graphic(self._builder, self._package, self._main, graphic)
        for identifier in asides.objects:
            self._inner.write_object(self._main, identifier)
        for table in asides.tables:
            inner = _Asides()
            self._table(table, inner)
            self._write_asides(inner)
        for chunk in asides.chunks:
            self._inner.write(self._main, chunk.get(R + "id"))
        self._write_notes(asides)

    def _write_notes(self, asides: _Asides) -> None:
        for kind, identifier in asides.notes:
            note = self._notes[kind].pop(identifier, None)  # once, wherever else it is referred to
            if note is not None and note.get(W + "type") not in _SEPARATORS:
                self._aside(_NOTE_TITLES[kind], note)
        for identifier in asides.comments:
            if (comment := self._comments.pop(identifier, None)) is not None:
                author = clean_line(comment.get(W + "author", ""))
                self._aside(f"Comment ({author})" if author else "Comment", comment)

    def _aside(self, name: str, container: Element) -> None:
        inner = _Asides()
        if text := self._plain(container, inner):
            self._builder.paragraph(f"{name}: {text}")
        self._write_asides(inner)

    # --- tables ---

    def _table(self, table: Element, asides: _Asides) -> None:
        for cell in (cells := cells_of_frame(table) or cells_of_layout(table, self._is_heading)):
            self._blocks(cell)
        if not cells:
            self._write_table(table, asides)

    def _write_table(self, table: Element, asides: _Asides) -> None:
        lines, rows = table_of(table, lambda cell: self._plain(cell, asides))
        for line in lines:
            self._builder.paragraph(line)
        self._builder.table(rows)

    def _plain(self, container: Element, asides: _Asides) -> str:
        """The text of a cell or note in lines, blank ones too; a table in it is put aside, unless it is but a frame."""
        lines = []
        outer, self._carried = self._carried, ""
        for element in content_of(container):
            if element.tag == W + "p":
                if (paragraph := self._paragraph(element, asides)) is not None:
                    lines.append(_numbered(paragraph, bullet=BULLET))
                lines += asides.pictures
                asides.pictures = []
            elif element.tag == CHUNK:
                asides.chunks.append(element)
            elif cells := cells_of_frame(element):
                lines += [self._plain(cell, asides) for cell in cells]
            else:
                asides.tables.append(element)
        lines.append(self._carried)
        self._carried = outer
        text = "\n".join(lines)
        return text if text.strip() else ""


def _numbered(paragraph: _Paragraph, *, bullet: str) -> str:
    """With its number, which is all that some cells have, or with ``bullet`` before its text."""
    if paragraph.marker == BULLET:
        return f"{bullet} {paragraph.text}" if paragraph.text.strip() else ""
    return f"{paragraph.marker} {paragraph.text}" if paragraph.marker else paragraph.text


def _end_is_hidden(properties: Element | None) -> bool:
    return properties is not None and bool(hidden_in(properties.find(W + "rPr")))


def _goes_on_in_the_next(properties: Element) -> bool:
    frame = properties.find(W + "framePr")
    if frame is not None and frame.get(W + "dropCap", "none") != "none":
        return True
    mark = properties.find(W + "rPr")
    return mark is not None and any(mark.find(W + name) is not None for name in ("del", "moveFrom"))


def _by_id(root: Element | None, name: str) -> dict[str, Element]:
    return {each.get(W + "id", ""): each for each in root.iterfind(W + name)} if root is not None else {}
