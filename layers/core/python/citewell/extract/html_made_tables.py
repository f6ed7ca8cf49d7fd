"""Tables made of other elements than a table's: of those that ARIA calls so, or that a style sets out as one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.extract.html_styles import StyleSheet

_ROLES = {
    **dict.fromkeys(("table", "grid", "treegrid"), "table"),
    "row": "tr",
    **dict.fromkeys(("cell", "gridcell"), "td"),
    **dict.fromkeys(("columnheader", "rowheader"), "th"),
}
_DISPLAYS = {
    tag: re.compile(rf"\bdisplay\s*:\s*{value}\s*(?:;|!|\Z)", re.IGNORECASE)
    for tag, value in (("table", "table"), ("tr", "table-row"), ("td", "table-cell"))
}
_OWN_TAGS = frozenset({"table", "thead", "tbody", "tfoot", "tr", "td", "th"})
_BLOCKS = "h1, h2, h3, h4, h5, h6, pre, table"
_MOST_BETWEEN = 8
_LONGEST_CELL = 300


class _Table(NamedTuple):
    node: LexborNode
    rows: dict[int, list[LexborNode]]
    is_styled: bool


def made_tables(tree: LexborHTMLParser, sheet: StyleSheet) -> dict[int, str]:
    """The tag that each part of such a table stands for (``table``, ``tr``, ``th``, ``td``), by its ``mem_id``.

    A style also sets out pages and forms so: only what has as many short cells in each of its rows is a table.
    """
    parts = {node.mem_id: (tag, False) for node, tag in _by_role(tree)}
    for node, tag in _by_style(tree, sheet):
        parts.setdefault(node.mem_id, (tag, True))
    found: dict[int, str] = {}
    tables = _tables(tree, parts)
    blocks = (*(table.node for table in tables), *(tree.css(_BLOCKS) if tables else ()))
    around_blocks = {around.mem_id for block in blocks if (around := _around(block, parts)) is not None}
    for table in tables:
        cells = [cell.mem_id for row in table.rows.values() for cell in row]
        if around_blocks.isdisjoint(cells) and _is_table(table):
            found |= {part: parts[part][0] for part in (table.node.mem_id, *table.rows, *cells)}
    return found


def _by_role(tree: LexborHTMLParser) -> Iterator[tuple[LexborNode, str]]:
    for node in tree.css("[role]"):
        if (tag := _ROLES.get((node.attributes.get("role") or "").lower())) and node.tag not in _OWN_TAGS:
            yield node, tag


def _by_style(tree: LexborHTMLParser, sheet: StyleSheet) -> Iterator[tuple[LexborNode, str]]:
    styled = tree.css("[style*='table' i]")
    for tag, display in _DISPLAYS.items():
        selectors = sheet.selectors_that_say(display)
        nodes = tree.css(", ".join(selectors)) if selectors else []
        for node in (*nodes, *(each for each in styled if display.search(each.attributes.get("style") or ""))):
            if node.tag not in _OWN_TAGS:
                yield node, tag


def _tables(tree: LexborHTMLParser, parts: Mapping[int, tuple[str, bool]]) -> list[_Table]:
    """Those that have rows with cells, none of which stands in another."""
    tables: dict[int, _Table] = {}
    for cell in tree.css("*") if any(tag in {"td", "th"} for tag, _ in parts.values()) else ():
        if parts.get(cell.mem_id, ("", False))[0] not in {"td", "th"}:
            continue
        row = _around(cell, parts)
        table = _around(row, parts) if row is not None and parts[row.mem_id][0] == "tr" else None
        if row is not None and table is not None and parts[table.mem_id][0] == "table":
            known = tables.setdefault(table.mem_id, _Table(table, {}, parts[table.mem_id][1]))
            known.rows.setdefault(row.mem_id, []).append(cell)
    return list(tables.values())


def _around(node: LexborNode, parts: Mapping[int, tuple[str, bool]]) -> LexborNode | None:
    """The nearest part of a table in which it stands."""
    around = node.parent
    for _ in range(_MOST_BETWEEN):
        if around is None or around.mem_id in parts:
            return around
        around = around.parent
    return None


def _is_table(table: _Table) -> bool:
    rows: Sequence[Sequence[LexborNode]] = list(table.rows.values())
    widths = set(map(len, rows))
    if len(rows) < 2 or max(widths) < 2 or (table.is_styled and len(widths) > 1):
        return False
    return all(len(cell.text()) <= _LONGEST_CELL for row in rows for cell in row)
