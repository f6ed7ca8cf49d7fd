"""A list of a page while its items are read: how each is marked."""

from __future__ import annotations

from collections.abc import Callable

from selectolax.lexbor import LexborNode

from citewell.extract.html_elements import whole_number
from citewell.extract.numerals import letters, roman

_NUMERALS: dict[str, Callable[[int], str]] = {
    "a": lambda number: letters(number).lower(),
    "A": lambda number: letters(number).upper(),
    "i": lambda number: roman(number).lower(),
    "I": roman,
}


class OpenList:
    """Counts the items of an ``ol`` from its ``start``, down where it is ``reversed``; those of others have none."""

    def __init__(self, node: LexborNode, *, depth: int) -> None:
        self.depth = depth
        self._is_numbered = node.tag == "ol"
        self._style = node.attributes.get("type") or "1"
        self._step = -1 if self._is_numbered and "reversed" in node.attributes else 1
        first = sum(1 for child in node.iter() if child.tag == "li") if self._step < 0 else 1
        self._number = whole_number(node.attributes.get("start"), otherwise=first)

    def marker(self, item: LexborNode) -> str:
        if not self._is_numbered:
            return "-"
        number = whole_number(item.attributes.get("value"), otherwise=self._number)
        self._number = number + self._step
        style = item.attributes.get("type") or self._style
        return f"{_NUMERALS.get(style, str)(number)}."
