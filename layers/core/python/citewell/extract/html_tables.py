"""An HTML table's rows while they are read."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from citewell.extract.building import TextBuilder

_LONGEST_SPAN = 50
_LONGEST_CELL = 1_500
_LONGEST_HEADED_CELL = 300
_CELLS = frozenset({"td", "th"})
_BESIDE_ANOTHER = "td + td, td + th, th + td, th + th"


class HtmlTable:
    """Takes the cells of one table in order. The text of a merged cell stands once, at its top left.

    What stands in a complex cell (:func:`complex_cells`) comes between the rows above it and those below.
    """

    def __init__(self) -> None:
        self._rows: list[list[str]] = []
        self._row: list[str] = []
        self._rows_below: dict[int, int] = {}

    def begin_row(self) -> None:
        self._end_row()

    def cell(self, text: str, node: LexborNode) -> None:
        self._pass_merged_cells()
        attributes = node.attributes
        columns = _span(attributes.get("colspan"))
        if (rows := _span(attributes.get("rowspan"))) > 1:
            self._rows_below.update(dict.fromkeys(range(len(self._row), len(self._row) + columns), rows))
        self._row += [text, *[""] * (columns - 1)]

    def write(self, builder: TextBuilder) -> None:
        """Everything since the last time: a table, or paragraphs where no two cells stand beside each other."""
        self._end_row()
        if any(sum(1 for cell in row if cell.strip()) > 1 for row in self._rows):
            builder.table(self._rows)
        else:
            for row in self._rows:
                builder.paragraph("".join(row))
        self._rows = []

    def _end_row(self) -> None:
        if self._row:
            self._rows.append(self._row)
        self._row = []
        self._rows_below = {column: rows - 1 for column, rows in self._rows_below.items() if rows > 1}

    def _pass_merged_cells(self) -> None:
        while len(self._row) in self._rows_below:
            self._row.append("")


def complex_cells(root: LexborNode) -> frozenset[int]:
    """The ``mem_id`` of each cell under ``root`` that isn't one of a row: it holds rows itself, or a page of text.

    A heading or code makes a cell such when nothing stands beside it; beside others it is what the row is about.
    """
    found: set[int] = set()
    for node in root.css(_BESIDE_ANOTHER):
        if (table := _table_of(node)) is not None:
            _add_cells_around(table, found)
    heads: dict[int, bool] = {}
    for node in root.css("h1, h2, h3, h4, h5, h6, pre"):
        cell = _cell_of(node)
        if cell is not None and cell.mem_id not in found and _stands_for_itself(cell, node, heads):
            _add_cells_around(node, found)
    found.update(cell.mem_id for cell in root.css("td, th") if len(cell.text()) > _LONGEST_CELL)
    return frozenset(found)


def _add_cells_around(node: LexborNode, found: set[int]) -> None:
    parent = node.parent
    while parent is not None and parent.mem_id not in found:
        if parent.tag in _CELLS:
            found.add(parent.mem_id)
        parent = parent.parent


def _cell_of(node: LexborNode) -> LexborNode | None:
    parent = node.parent
    while parent is not None and parent.tag not in _CELLS:
        parent = None if parent.tag == "table" else parent.parent
    return parent


def _stands_for_itself(cell: LexborNode, node: LexborNode, heads: dict[int, bool]) -> bool:
    if not _is_beside_others(cell):
        return True
    if node.tag != "pre":
        return len(cell.text()) > _LONGEST_HEADED_CELL
    if (table := _table_of(cell)) is None:
        return True
    if table.mem_id not in heads:
        heads[table.mem_id] = table.css_first("th") is not None
    return not heads[table.mem_id]


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
