"""Panels that a page's reader opens: what stands under a tab, or under a question; and the buttons that open them."""

from __future__ import annotations

import re
from functools import cached_property

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.extract.html_links import is_mostly_links
from citewell.extract.html_names import called

_OPENS = re.compile(r"accordion|collaps|expand|faq|question|disclosure|toggle", re.IGNORECASE)
_OPENED = re.compile(r"accordion|collaps|panel|answer|content", re.IGNORECASE)
_PANEL = re.compile(
    r"accordion|collaps|\btab-?(?:pane|panel|content)|\bfaq|answer|expand(?:er|able|-content)|spoiler", re.IGNORECASE
)
_NAMES = ("aria-controls", "data-target", "data-bs-target")
_MOST_NAMED = 100


def is_panel(node: LexborNode) -> bool:
    role, classes = (node.attributes.get(name) or "" for name in ("role", "class"))
    is_navigation = "nav" in classes or "menu" in classes
    return role == "tabpanel" or (_PANEL.search(classes) is not None and not is_navigation)


class Panels:
    """Those of a page, by the buttons that open them."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree

    def are_opened_by(self, button: LexborNode) -> bool:
        """Whether it is a tab, or opens what it names or what stands right after it, as the question of an answer."""
        if button.attributes.get("role") == "tab" or not self._named.isdisjoint(_named_by(button)):
            return True
        panel = button.next
        while panel is not None and panel.is_text_node:
            panel = panel.next
        if panel is None or panel.tag not in {"div", "section"}:
            return False
        return bool(
            _OPENS.search(button.attributes.get("class") or "") or _OPENED.search(panel.attributes.get("class") or "")
        )

    @cached_property
    def _named(self) -> frozenset[str]:
        """The ids of what buttons open, of all that is neither a menu nor a tool such as a search."""
        buttons = self._tree.css(", ".join(f"button[{name}]" for name in _NAMES))[:_MOST_NAMED]
        names = frozenset(name for button in buttons for name in _named_by(button))
        parts = (
            {node.attributes.get("id") or "": node for node in self._tree.css("div[id], section[id]")} if names else {}
        )
        return frozenset(name for name in names & parts.keys() if not _is_tool(parts[name]))


def _named_by(button: LexborNode) -> frozenset[str]:
    return frozenset((button.attributes.get(name) or "").removeprefix("#") for name in _NAMES) - {""}


def _is_tool(part: LexborNode) -> bool:
    attributes = part.attributes
    is_called_so = called(attributes.get("class") or "", attributes.get("id") or "") is not None
    has_tools = part.css_first("form, button") is not None
    return is_called_so or has_tools or not part.text().strip() or is_mostly_links(part)
