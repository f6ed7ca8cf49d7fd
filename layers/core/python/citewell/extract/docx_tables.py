"""The blocks in a part of a Word document, and the rows of its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from citewell.extract.ooxml import MC, Element, W, chosen_branch, number_of, value_of
from citewell.extract.table_heads import Row, with_one_head
from citewell.extract.table_shapes import FEWEST_CHARACTERS, FEWEST_PARAGRAPHS, reshaped

CHUNK = W + "altChunk"
_TRANSPARENT = {W + name for name in ("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo")}
_MOST_COLUMNS = 1_000


def content_of(container: Element, *tags: str) -> Iterator[Element]:
    """Paragraphs, tables and documents in ``container`` (or what ``tags`` names), content controls and such opened."""
    wanted = tags or (W + "p", W + "tbl", CHUNK)
    for child in container:
        if child.tag in wanted:
            yield child
        elif child.tag in _TRANSPARENT:
            yield from content_of(child, *tags)
        elif child.tag == MC + "AlternateContent":
            yield from content_of(chosen_branch(child), *tags)


def cells_of_frame(table: Element) -> list[Element]:
    """The cells of a table that is but a frame around text, as it has one column; none of a true table."""
    rows = [list(content_of(row, W + "tc")) for row in content_of(table, W + "tr")]
    return [cell for row in rows for cell in row] if all(len(row) == 1 for row in rows) else []


def cells_of_layout(table: Element, is_heading: Callable[[Element], bool]) -> list[Element]:
    """The cells of a table that sets out a page; none of a true table.

    Some hold a heading with text under it, or its only row holds several paragraphs or a table.
    """
    rows = [list(content_of(row, W + "tc")) for row in content_of(table, W + "tr")]
    cells = [cell for row in rows for cell in row]
    if not _any_section(cells, is_heading) and not (len(rows) == 1 and any(map(_is_column, cells))):
        return []
    return [cell for cell in cells if not _goes_on(cell.find(W + "tcPr"))]


def _is_column(cell: Element) -> bool:
    texts = {each: sum(len(text.text or "") for text in each.iter(W + "t")) for each in content_of(cell)}
    filled = [each for each, length in texts.items() if length]
    long = len(filled) >= FEWEST_PARAGRAPHS and sum(texts.values()) >= FEWEST_CHARACTERS
    return long or any(each.tag == W + "tbl" for each in filled)


def _any_section(cells: list[Element], is_heading: Callable[[Element], bool]) -> bool:
    for cell in cells:
        kinds = [is_heading(each) for each in content_of(cell, W + "p") if any(True for _ in each.iter(W + "t"))]
        if True in kinds and False in kinds[kinds.index(True) :]:
            return True
    return False


def table_of(table: Element, text_of: Callable[[Element], str]) -> tuple[list[str], list[list[str]]]:
    """The lines above a table and its rows, the first one the head; ``text_of`` reads a cell.

    A merged cell's text stands in its first row and column, blanks in the others.
    """
    rows: list[Row] = []
    head_rows = 0
    for row in content_of(table, W + "tr"):
        properties = row.find(W + "trPr")
        if properties is None or not any(_is_on(properties, name) for name in ("del", "hidden")):
            head_rows += head_rows == len(rows) and properties is not None and _is_on(properties, "tblHeader")
            rows.append(_row(row, properties, text_of))
    return with_one_head(reshaped(rows, head_rows), head_rows or None)


def _row(row: Element, properties: Element | None, text_of: Callable[[Element], str]) -> Row:
    cells: Row = [""] * _spanned(properties, "gridBefore", 0)
    for cell in content_of(row, W + "tc"):
        properties = cell.find(W + "tcPr")
        cells.append("" if _goes_on(properties) else text_of(cell))
        if len(cells) < _MOST_COLUMNS:
            cells += [None] * (_spanned(properties, "gridSpan", 1) - 1)
    return cells


def _is_on(properties: Element, name: str) -> bool:
    found = properties.find(W + name)
    return found is not None and found.get(W + "val") not in ("0", "false", "off")


def _goes_on(properties: Element | None) -> bool:
    """Whether a cell goes on with the one above or left of it, or was deleted."""
    if properties is None:
        return False
    if properties.find(W + "cellDel") is not None:
        return True
    merges = (properties.find(W + name) for name in ("vMerge", "hMerge"))
    return any(merge is not None and merge.get(W + "val", "continue") == "continue" for merge in merges)


def _spanned(properties: Element | None, name: str, least: int) -> int:
    value = number_of(value_of(properties, name)) if properties is not None else None
    return min(max(value or 0, least), _MOST_COLUMNS)
