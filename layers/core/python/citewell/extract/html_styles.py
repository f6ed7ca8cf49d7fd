"""What a page's own style sheet hides, or sets out in a way that says what it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_BRACED = re.compile(r"([^{}]*)([{}])")
_SIMPLE_SELECTOR = re.compile(r"[a-z]*[.#][A-Za-z_][\w-]*", re.IGNORECASE)
_NAME = re.compile(r"[.#][A-Za-z_][\w-]*")
_HIDES = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all)", re.IGNORECASE)


def hidden_selectors(tree: LexborHTMLParser) -> list[str]:
    """Selectors of a single class or id that the page's style hides, and that nothing in it may show again.

    A page with a script is left alone: its tabs and panels are hidden until somebody opens them.
    """
    if tree.css_first("script, [onclick]") is not None:
        return []
    sheet = _sheet(tree)
    found = _selectors(sheet, _HIDES)
    names = Counter(_NAME.findall(sheet)) if found else Counter[str]()
    return [selector for selector in found if names[_NAME.findall(selector)[0]] == 1]


def selectors_that_say(tree: LexborHTMLParser, declaration: re.Pattern[str]) -> list[str]:
    """Selectors of a single class or id for which the page's style has such a declaration."""
    return _selectors(_sheet(tree), declaration)


def _sheet(tree: LexborHTMLParser) -> str:
    return _COMMENT.sub("", "\n".join(style.text() for style in tree.css("style")))


def _selectors(sheet: str, declaration: re.Pattern[str]) -> list[str]:
    return [
        selector
        for selectors, body in _rules(sheet)
        if declaration.search(body)
        for selector in map(str.strip, selectors.split(","))
        if _SIMPLE_SELECTOR.fullmatch(selector)
    ]


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """The selectors and declarations of each rule that holds for every medium."""
    depth, prelude = 0, ""
    for text, brace in _BRACED.findall(sheet[: sheet.rfind("}") + 1]):  # behind the last there is nothing to find
        if brace == "{":
            depth += 1
            prelude = text if depth == 1 else prelude
        else:
            if depth == 1 and "@" not in prelude:
                yield prelude, text
            depth = max(depth - 1, 0)
