"""An HTML table's rows while they are read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum, auto
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from citewell.extract.building import TextBuilder
from citewell.extract.table_heads import Row, with_one_head

_LONGEST_SPAN = 50
_LONGEST_CELL = 1_500
_LONGEST_STRUCTURED_CELL = 300
_LONGEST_CELL_ALONE = 150
"""In a table of one row, which has no head: a longer one is what a notice says, beside its kind or its picture."""

_CELLS = frozenset({"td", "th"})
_BESIDE_ANOTHER = "td + td, td + th, th + td, th + th"
_ROW_GROUPS = frozenset({"thead", "tbody", "tfoot"})


class HtmlTable:
    """Takes the cells of one table in order. The text of a merged cell stands once, at its top left, but in a head.

    What stands in a complex cell (:func:`complex_cells`) comes between the rows above it and those below, over which
    the head stands again.
    """

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._row: Row = []
        self._row_is_head, self._row_is_in_thead = True, False
        self._thead_rows = self._th_rows = 0
        self._head: list[str] = []
        self._is_first = True
        self._rows_below: dict[int, int] = {}

    def begin_row(self) -> None:
        self._end_row()

    def cell(self, text: str, node: LexborNode, *, is_head: bool) -> None:
        self._pass_merged_cells()
        attributes = node.attributes
        columns = _span(attributes.get("colspan"))
        if (rows := _span(attributes.get("rowspan"))) > 1:
            self._rows_below.update(dict.fromkeys(range(len(self._row), len(self._row) + columns), rows))
        self._row += [text, *[None] * (columns - 1)]
        self._row_is_head = self._row_is_head and is_head
        self._row_is_in_thead = (
            (row := node.parent) is not None and row.parent is not None and row.parent.tag == "thead"
        )

    def write(self, builder: TextBuilder) -> None:
        """Everything since the last time: a table, or paragraphs where no two cells stand beside each other."""
        self._end_row()
        if _is_notice(self._rows):
            cells = [text for row in self._rows for text in row if text]
            builder.paragraph("\n".join(cell for cell in cells if cell.strip("[]") not in cells or "[" not in cell))
        elif any(map(_is_several, self._rows)):
            self._write_rows(builder)
        else:
            for row in self._rows:
                builder.paragraph("".join(filter(None, row)))
        self._is_first = self._is_first and not self._rows
        self._rows = []

    def _write_rows(self, builder: TextBuilder) -> None:
        if not self._is_first:
            builder.table([self._head, *[[text or "" for text in row] for row in self._rows]])
            return
        titles, rows = with_one_head(self._rows, self._head_rows())
        heads = max(self._thead_rows, self._th_rows)
        if 0 < heads <= len(titles):  # a single cell is the head then
            titles, rows = [], [[text or "" for text in row] for row in self._rows]
        for title in titles:
            builder.paragraph(title)
        builder.table(rows)
        if heads and _is_several(rows[0]):
            self._head = rows[0]

    def _head_rows(self) -> int | None:
        """As many as the page says; rows of head cells alone are one head where a cell reaches over some of them."""
        if self._thead_rows:
            return self._thead_rows
        is_merged = any(text is None for row in self._rows[: self._th_rows] for text in row)
        return self._th_rows if is_merged and self._th_rows > 1 else None

    def _end_row(self) -> None:
        if self._row:
            if self._is_first:
                index = len(self._rows)
                self._thead_rows += self._thead_rows == index and self._row_is_in_thead
                self._th_rows += self._th_rows == index and self._row_is_head
            self._rows.append(self._row)
        self._row, self._row_is_head = [], True
        self._rows_below = {column: rows - 1 for column, rows in self._rows_below.items() if rows > 1}

    def _pass_merged_cells(self) -> None:
        while len(self._row) in self._rows_below:
            self._row.append("")


class _Kind(Enum):
    """What a table is for: ``DATA`` names its columns or rows, ``GRID`` only has as many cells in each row.

    In ``ONE_ROW`` only one has cells beside each other.
    """

    DATA = auto()
    GRID = auto()
    ONE_ROW = auto()
    LAYOUT = auto()


class _Content(NamedTuple):
    """What stands in a cell; ``length`` in characters."""

    has_rows: bool
    has_heading: bool
    has_code: bool
    length: int

    def is_simple(self) -> bool:
        return not (self.has_rows or self.has_heading or self.has_code or self.length > _LONGEST_CELL)

    def suits(self, kind: _Kind) -> bool:
        """Whether it stays in its row, beside other cells."""
        is_page = (self.has_rows or self.has_heading) and self.length > _LONGEST_STRUCTURED_CELL
        if kind is _Kind.ONE_ROW and self.length > _LONGEST_CELL_ALONE:
            return False
        if kind in {_Kind.LAYOUT, _Kind.ONE_ROW}:
            return not (is_page or self.has_rows or self.has_code or self.length > _LONGEST_CELL)
        return kind is _Kind.DATA or not is_page


def complex_cells(root: LexborNode) -> frozenset[int]:
    """The ``mem_id`` of each cell under ``root`` that isn't one of a row: it holds rows itself, or a page of text.

    In a row of data no cell is: whatever stands in it is what the row is about, and stays beside its other cells.
    """
    rows = _around(table for node in root.css(_BESIDE_ANOTHER) if (table := _table_of(node)) is not None)
    headings = _around(root.css("h1, h2, h3, h4, h5, h6"))
    code = _around(root.css("pre"))
    kinds: dict[int, _Kind] = {}
    found = set()
    for cell in root.css("td, th"):
        here = cell.mem_id
        content = _Content(here in rows, here in headings, here in code, len(cell.text()))
        if content.is_simple() and content.length <= _LONGEST_CELL_ALONE:
            continue
        if not (content.suits(_kind_of_table(cell, kinds)) if _is_beside_others(cell) else content.is_simple()):
            found.add(here)
    return frozenset(found)


def _around(nodes: Iterable[LexborNode]) -> frozenset[int]:
    """The cells in which any of ``nodes`` stands."""
    found: set[int] = set()
    seen: set[int] = set()
    for node in nodes:
        parent = node.parent
        while parent is not None and parent.mem_id not in seen:
            seen.add(parent.mem_id)
            if parent.tag in _CELLS:
                found.add(parent.mem_id)
            parent = parent.parent
    return frozenset(found)


def _kind_of_table(cell: LexborNode, known: dict[int, _Kind]) -> _Kind:
    table = _table_of(cell)
    if table is None:
        return _Kind.LAYOUT
    if table.mem_id not in known:
        rows = [row for row in map(_cells_of, _rows_of(table)) if len(row) > 1]
        if len(rows) == 1 and not all(each.tag == "th" for each in rows[0]):
            known[table.mem_id] = _Kind.ONE_ROW
        elif any(each.tag == "th" for row in rows for each in row):
            known[table.mem_id] = _Kind.DATA
        else:
            is_grid = len(rows) > 1 and len(set(map(len, rows))) == 1
            known[table.mem_id] = _Kind.GRID if is_grid else _Kind.LAYOUT
    return known[table.mem_id]


def _rows_of(table: LexborNode) -> Iterable[LexborNode]:
    for child in table.iter():
        if child.tag in _ROW_GROUPS:
            yield from (row for row in child.iter() if row.tag == "tr")


def _cells_of(row: LexborNode) -> list[LexborNode]:
    return [child for child in row.iter() if child.tag in _CELLS]


def _is_notice(rows: Sequence[Row]) -> bool:
    """Whether a picture or word stands beside all the rest, as DocBook sets a warning: in one row is what it is."""
    if len(rows) < 2 or not _is_several(rows[0]):
        return False
    return not any(_is_several(row) or (row[0] or "").strip() for row in rows[1:]) and len(rows[0]) == 2


def _is_several(row: Sequence[str | None]) -> bool:
    return sum(1 for cell in row if cell and cell.strip()) > 1


def _table_of(cell: LexborNode) -> LexborNode | None:
    table = cell.parent
    while table is not None and table.tag != "table":
        table = table.parent
    return table


def _is_beside_others(cell: LexborNode) -> bool:
    before, after = cell.prev, cell.next
    while before is not None and before.tag not in _CELLS:
        before = before.prev
    while after is not None and after.tag not in _CELLS:
        after = after.next
    return before is not None or after is not None


def _span(value: str | None) -> int:
    if not value or not value.isascii() or not value.isdigit():
        return 1
    return min(max(int(value[:5]), 1), _LONGEST_SPAN)
