"""Elements within lines that a style shows as blocks: without that, the words in two of them would be one."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from citewell.extract.html_styles import StyleSheet

_IS_BLOCK = re.compile(r"\bdisplay\s*:\s*(?:block|flex|grid|list-item|table)\s*(?:;|!|\Z)", re.IGNORECASE)
_IN_LINES = frozenset({"a", "b", "cite", "em", "i", "label", "small", "span", "strong", "time", "u"})


def made_blocks(tree: LexborHTMLParser, sheet: StyleSheet) -> dict[int, str]:
    """``div`` by the ``mem_id`` of each."""
    selectors = sheet.selectors_that_say(_IS_BLOCK)
    named = tree.css(", ".join(selectors)) if selectors else []
    styled = (node for node in tree.css("[style*='display' i]") if _IS_BLOCK.search(node.attributes.get("style") or ""))
    return {node.mem_id: "div" for node in (*named, *styled) if node.tag in _IN_LINES}
