"""Puts the text of an RTF document into blocks: RTF has no tree, only ends of paragraphs, cells and rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from citewell.extract.building import TextBuilder

_MOST_COLUMNS = 1_000


@dataclass(slots=True)
class Paragraph:
    """What a paragraph's control words say of it; ``level`` is a heading's, from 1."""

    style: int = 0
    level: int | None = None
    is_title: bool = False
    in_table: bool = False
    depth: int = 0


@dataclass(slots=True)
class _Text:
    """A text in the making: the document's, or that of a note, which is written inside of a paragraph."""

    pieces: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def take(self) -> str:
        # Characters beyond the first 65,536 come as two halves.
        text = "".join(self.pieces).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        self.pieces.clear()
        return text


class Blocks:
    def __init__(self, builder: TextBuilder) -> None:
        self.title: str | None = None
        self._builder = builder
        self._texts = [_Text()]
        self._paragraph = Paragraph()
        self._cell: list[str] = []
        self._row: list[str] = []
        self._rows: list[list[str]] = []
        self._nested_row: list[str] = []
        self._nested_rows: list[list[str]] = []
        self._asides: list[tuple[str, list[str]]] = []
        self._asides_of_table: list[tuple[str, list[str]]] = []

    def write(self, text: str, paragraph: Paragraph) -> None:
        if len(self._texts) == 1:
            self._paragraph = paragraph
        self._texts[-1].pieces.append(text)

    def end_paragraph(self, paragraph: Paragraph, marker: str) -> None:
        text = self._texts[-1].take()
        if len(self._texts) > 1:
            self._texts[-1].lines.append(f"{marker} {text}" if marker else text)
        elif paragraph.in_table:
            self._cell.append(f"{_shown(marker)} {text}" if marker else text)
        else:
            self._end_table()
            self._write_paragraph(text, paragraph, marker)
            self._write_asides(self._asides)

    def end_cell(self, *, nested: bool) -> None:
        if len(self._texts) > 1:
            self.end_paragraph(self._paragraph, "")
            return
        self._cell.append(self._texts[0].take())
        row = self._nested_row if nested else self._row
        if len(row) < _MOST_COLUMNS:
            row.append("\n".join(filter(str.strip, self._cell)))
        self._cell.clear()

    def end_row(self, *, nested: bool) -> None:
        if len(self._texts) > 1:
            return
        rows, row = (self._nested_rows, self._nested_row) if nested else (self._rows, self._row)
        rows.append(row.copy())
        row.clear()
        self._asides_of_table += self._asides
        self._asides = []

    def begin_aside(self) -> None:
        self._texts.append(_Text())

    def end_aside(self, name: str) -> None:
        """``name`` is empty for a text box, whose paragraphs stand for themselves."""
        ended = self._texts.pop()
        self._asides.append((name, [*ended.lines, ended.take()]))

    def finish(self) -> None:
        """Write what has no end of its own."""
        while len(self._texts) > 1:
            self.end_aside("")
        for nested in (True, False):
            if self._nested_row if nested else self._row:
                self.end_row(nested=nested)
        self._end_table()
        self._write_paragraph(self._texts[0].take(), self._paragraph, "")
        self._write_asides(self._asides)

    def _write_paragraph(self, text: str, paragraph: Paragraph, marker: str) -> None:
        if paragraph.level is not None:
            if paragraph.is_title and self.title is None:
                self.title = text.strip() or None
            shown = marker if marker and _shown(marker) == marker else ""
            self._builder.heading(paragraph.level, f"{shown} {text}" if shown and text.strip() else text)
        elif marker:
            self._builder.item(text, depth=paragraph.depth, marker=_shown(marker))
        else:
            self._builder.paragraph(text)

    def _end_table(self) -> None:
        for rows in (self._rows, self._nested_rows):
            if rows:
                self._builder.table(rows)
        self._rows, self._nested_rows = [], []
        for line in self._cell:
            self._builder.paragraph(line)
        self._cell.clear()
        self._write_asides(self._asides_of_table)

    def _write_asides(self, asides: list[tuple[str, list[str]]]) -> None:
        for name, lines in asides:
            if name:
                text = "\n".join(filter(str.strip, lines))
                self._builder.paragraph(f"{name}: {text}" if text else "")
            else:
                for line in lines:
                    self._builder.paragraph(line)
        asides.clear()


def _shown(marker: str) -> str:
    """A list's sign: whatever isn't a number or letter is a bullet, and so is Word's hollow one, an o."""
    return marker if marker != "o" and any(character.isalnum() for character in marker) else "-"
