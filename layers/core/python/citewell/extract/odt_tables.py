"""The blocks in a part of an OpenDocument text, and the cells of its tables."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.extract.odt_lines import is_hidden
from citewell.extract.odt_styles import DRAW, TABLE, TEXT
from citewell.extract.ooxml import Element
from citewell.extract.table_shapes import FEWEST_CHARACTERS, FEWEST_PARAGRAPHS

_TRANSPARENT = {
    TEXT + name
    for name in (
        *("section", "index-body", "index-title", "numbered-paragraph", "table-of-content", "illustration-index"),
        *("table-index", "object-index", "user-index", "alphabetical-index", "bibliography"),
    )
}
HEAD_ROWS = TABLE + "table-header-rows"
_ROW_GROUPS = {HEAD_ROWS, TABLE + "table-rows", TABLE + "table-row-group"}
REPEATED = TABLE + "number-columns-repeated"
CELLS = {TABLE + "table-cell", TABLE + "covered-table-cell"}


def content_of(container: Element) -> Iterator[Element]:
    """The blocks of ``container``, sections and indexes opened."""
    for child in container:
        if child.tag in (TEXT + "h", TEXT + "p", TEXT + "list", TABLE + "table") or child.tag.startswith(DRAW):
            yield child
        elif child.tag in _TRANSPARENT and not is_hidden(child):
            yield from content_of(child)


def rows_of(table: Element) -> Iterator[Element]:
    for child in table:
        if child.tag == TABLE + "table-row" and child.get(TABLE + "visibility") != "collapse":
            yield child
        elif child.tag in _ROW_GROUPS:
            yield from rows_of(child)


def cells_of_frame(table: Element) -> list[Element]:
    """The cells of a table that is but a frame around text, as it has one column; none of a true table."""
    rows = _cells_by_row(table)
    one_column = all(len(row) == 1 and row[0].get(REPEATED) is None for row in rows)
    return [cell for row in rows for cell in row] if one_column else []


def cells_of_layout(table: Element) -> list[Element]:
    """The cells of a table that sets out a page; none of a true table.

    Some hold a heading with text under it, or its only row holds several paragraphs or a table.
    """
    rows = _cells_by_row(table)
    cells = [cell for row in rows for cell in row if cell.tag == TABLE + "table-cell"]
    is_layout = any(map(_is_section, cells)) or (len(rows) == 1 and any(map(_is_column, cells)))
    return cells if is_layout else []


def _cells_by_row(table: Element) -> list[list[Element]]:
    return [[each for each in row if each.tag in CELLS] for row in rows_of(table)]


def _is_section(cell: Element) -> bool:
    kinds = [each.tag == TEXT + "h" for each in _filled(cell)]
    return True in kinds and False in kinds[kinds.index(True) :]


def _is_column(cell: Element) -> bool:
    filled = _filled(cell)
    long = len(filled) >= FEWEST_PARAGRAPHS and sum(map(_length, filled)) >= FEWEST_CHARACTERS
    return long or any(each.tag == TABLE + "table" for each in filled)


def _filled(cell: Element) -> list[Element]:
    return list(filter(_length, content_of(cell)))


def _length(block: Element) -> int:
    return len("".join(block.itertext()).strip())
