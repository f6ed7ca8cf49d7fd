"""Elements other than ``pre`` whose lines are shown as they stand in the page's source: code, and texts of any kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.extract.html_elements import BLOCKS
from citewell.extract.html_styles import StyleSheet

_KEEPS_LINES = re.compile(r"\bwhite-space\s*:\s*(?:pre(?:-wrap|-line)?|break-spaces)\s*(?:;|!|\Z)", re.IGNORECASE)
_IS_VERBATIM = re.compile(r"\bwhite-space\s*:\s*pre\s*(?:;|!|\Z)", re.IGNORECASE)
_MONOSPACED = re.compile(r"\bfont-family\s*:[^;]*\b(?:monospace|consolas|courier|menlo|monaco)\b", re.IGNORECASE)
_LINES_OF_DOXYGEN = "div.fragment > div.line:first-child"
_MAY_KEEP_LINES = BLOCKS | {"td", "th", "li", "dd"}


def made_code(tree: LexborHTMLParser) -> dict[int, str]:
    """``pre`` by the ``mem_id`` of each element that stands for one: Doxygen's, and those that editors copy."""
    lines = (node.parent for node in tree.css(_LINES_OF_DOXYGEN))
    copied = (node for node, style in _styled(tree) if _IS_VERBATIM.search(style) and _MONOSPACED.search(style))
    return {node.mem_id: "pre" for node in (*lines, *copied) if node is not None}


def keeping_lines(tree: LexborHTMLParser, sheet: StyleSheet) -> frozenset[int]:
    """The ``mem_id`` of each block in which a line end parts lines."""
    selectors = sheet.selectors_that_say(_KEEPS_LINES)
    named = tree.css(", ".join(selectors)) if selectors else []
    styled = (node for node, style in _styled(tree) if _KEEPS_LINES.search(style))
    return frozenset(node.mem_id for node in (*named, *styled) if node.tag in _MAY_KEEP_LINES)


def _styled(tree: LexborHTMLParser) -> Iterator[tuple[LexborNode, str]]:
    for node in tree.css("[style*='white-space' i]"):
        if node.tag in _MAY_KEEP_LINES:
            yield node, node.attributes.get("style") or ""
