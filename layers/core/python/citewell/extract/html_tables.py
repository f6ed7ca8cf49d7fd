"""An HTML table's rows while they are read."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from citewell.extract.building import TextBuilder

_LONGEST_SPAN = 100
_LONGEST_CELL = 1_500


class HtmlTable:
    """Takes the cells of one table in order. The text of a merged cell stands once, at its top left.

    ``complex_cells`` are the cells that hold more than a line (:func:`complex_cells`): a page's layout is made of
    them. They are no cells of a row but stand for themselves, between the rows before and those after.
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
    """The ``mem_id`` of each cell under ``root`` that holds a table, a heading or code, or a page of text."""
    found: set[int] = set()
    for node in root.css("table, h1, h2, h3, h4, h5, h6, pre"):
        parent = node.parent
        while parent is not None and parent.mem_id not in found:
            if parent.tag in {"td", "th"}:
                found.add(parent.mem_id)
            parent = parent.parent
    for cell in root.css("td, th"):
        if cell.mem_id not in found and len(cell.text()) > _LONGEST_CELL:
            found.add(cell.mem_id)
    return frozenset(found)


def _span(value: str | None) -> int:
    if not value or not value.isascii() or not value.isdigit():
        return 1
    return min(max(int(value[:5]), 1), _LONGEST_SPAN)
