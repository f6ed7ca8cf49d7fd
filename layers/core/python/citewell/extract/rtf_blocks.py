"""Puts the text of an RTF document into blocks: RTF has no tree, only ends of paragraphs, cells and rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain

from citewell.core.values import ExtractedText
from citewell.extract.building import TextBuilder
from citewell.extract.rtf_tables import MOST_CELLS, PlannedRow, RowPlan, sets_out_a_page, table_of

_LAST_NUMBER = re.compile(r"\d{1,6}(?=\D*\Z)")
_LONGEST_MARKER = 20


@dataclass(slots=True)
class Paragraph:
    """What a paragraph's control words say of it; ``level`` is a heading's, from 1."""

    style: int = 0
    level: int | None = None
    is_title: bool = False
    in_table: bool = False
    nested: bool = False
    depth: int = 0
    list_number: int = 0
    marker: str = ""
    """That of the item before, where these are its properties too."""


@dataclass(slots=True)
class _Table:
    """A table in the making: its rows, the cells of the next one, the paragraphs of the next cell.

    It ``is_frame`` as long as each row is one cell.
    """

    rows: list[PlannedRow] = field(default_factory=list)
    row: list[str] = field(default_factory=list)
    cell: list[str] = field(default_factory=list)
    is_frame: bool = True


_Aside = tuple[str, ExtractedText | str]


class Blocks:
    """Of a document, or of what stands beside its text: a note, a comment or a text box."""

    def __init__(self, builder: TextBuilder) -> None:
        self.title: str | None = None
        self._builder = builder
        self._pieces: list[str] = []
        self._paragraph = Paragraph()
        self.plan = RowPlan()
        self._outer_plan: RowPlan | None = None
        self._outer, self._nested = _Table(), _Table()
        self._asides: list[_Aside] = []
        self._asides_of_table: list[_Aside] = []

    def write(self, text: str, paragraph: Paragraph) -> None:
        self._paragraph = paragraph
        self._pieces.append(text)

    def end_paragraph(self, paragraph: Paragraph, marker: str) -> None:
        text = self._take()
        marker = _marker_of(text, paragraph, marker)
        if paragraph.in_table:
            table = self._nested if paragraph.nested else self._outer
            if table is self._outer:
                self._part_frame()
            table.cell.append(_item(text, marker))
        else:
            self._end_table()
            self._write_paragraph(text, paragraph, marker)
            self._write_asides(self._asides)

    def end_cell(self, paragraph: Paragraph, marker: str, *, nested: bool) -> None:
        table = self._nested if nested else self._outer
        if table is self._outer:
            self._part_frame()
        text = self._take()
        table.cell.append(_item(text, _marker_of(text, paragraph, marker)))
        if len(table.row) < MOST_CELLS:
            table.row.append("\n".join(table.cell))
        table.cell.clear()

    def end_row(self, *, nested: bool) -> None:
        table = self._nested if nested else self._outer
        table.rows.append((table.row, self.plan))
        table.is_frame = table.is_frame and len(table.row) == 1
        table.row = []
        if nested and self._outer_plan is not None:
            self.plan, self._outer_plan = self._outer_plan, None
        self._asides_of_table += self._asides
        self._asides = []

    def begin_plan(self) -> None:
        """What is said of rows from here on."""
        self.plan = RowPlan()

    def begin_nested_plan(self) -> None:
        """A nested row's plan is told at its end, when that of the row around it may have been told already."""
        if self._outer_plan is None:
            self._outer_plan = self.plan

    def aside(self) -> Blocks:
        """What is to be given to :meth:`end_aside` when it has been written."""
        return Blocks(self._builder.apart())

    def end_aside(self, name: str, aside: Blocks) -> None:
        """``name`` is empty for a text box, whose blocks stand for themselves."""
        aside.finish()
        if aside._builder.length:
            self._asides.append((name, aside._builder.finish()))

    def add_line(self, line: str) -> None:
        """One that follows the paragraph or table."""
        self._asides.append(("", line))

    def finish(self) -> None:
        """Write what has no end of its own."""
        for nested in (True, False):
            if (self._nested if nested else self._outer).row:
                self.end_row(nested=nested)
        self._end_table()
        self._write_paragraph(self._take(), self._paragraph, "")
        self._write_asides(self._asides)

    def _take(self) -> str:
        # Characters beyond the first 65,536 come as two halves.
        text = "".join(self._pieces).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        self._pieces.clear()
        return text

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
        for table in (self._outer, self._nested):
            if table.rows:
                self._write_table(table)
                table.rows.clear()
                table.is_frame = True
        for table in (self._outer, self._nested):
            for line in table.cell:
                self._builder.paragraph(line)
            table.cell.clear()
        self._write_asides(self._asides_of_table)

    def _part_frame(self) -> None:
        """What stands in a frame before a table is written before it, as what follows stands after it."""
        frame = self._outer
        if self._nested.rows and frame.is_frame and len(self.plan.cells) == 1 and not frame.row:
            before, frame.cell = frame.cell, []
            frame.rows.append((["\n".join(before)], self.plan))
            self._end_table()

    def _write_table(self, table: _Table) -> None:
        if table.is_frame or sets_out_a_page(table.rows):
            for line in chain.from_iterable(text.split("\n") for texts, _ in table.rows for text in texts):
                self._builder.paragraph(line)
            return
        lines, rows_under_head = table_of(table.rows)
        for line in lines:
            self._builder.paragraph(line)
        self._builder.table(rows_under_head)

    def _write_asides(self, asides: list[_Aside]) -> None:
        for name, content in asides:
            if isinstance(content, str):
                self._builder.paragraph(content)
            elif name:
                self._builder.paragraph(f"{name}: {content.text}")
            else:
                with self._builder.beside_the_text():
                    self._builder.include(content)
        asides.clear()


def _shown(marker: str) -> str:
    """A list's sign: whatever isn't a number or letter is a bullet, and so is Word's hollow one, an o."""
    return marker if marker != "o" and any(character.isalnum() for character in marker) else "-"


def _item(text: str, marker: str) -> str:
    return f"{_shown(marker)} {text}" if marker and text.strip() else text


def _marker_of(text: str, paragraph: Paragraph, marker: str) -> str:
    """The one that is written there; else the next of the list that the paragraph's properties are still those of."""
    is_next = not marker and paragraph.list_number > 0 and paragraph.marker != ""
    if not text.strip():
        return paragraph.marker if is_next else marker
    if is_next:
        marker, counted = _LAST_NUMBER.subn(lambda number: str(int(number[0]) + 1), paragraph.marker)
        marker = marker if counted else "-"
    paragraph.marker = marker if len(marker) <= _LONGEST_MARKER else ""
    return marker
