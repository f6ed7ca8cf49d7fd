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
_MOST_SELECTORS = 50
_MOST_HIDDEN = 1_000
"""More than anybody writes, and each element is compared with all of them."""

_HIDES = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all)", re.IGNORECASE)


class StyleSheet:
    """That of a page, read once, before its elements are taken out of the tree."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._has_script = tree.css_first("script, [onclick]") is not None
        self._text = _COMMENT.sub("", "\n".join(style.text() for style in tree.css("style")))
        self._rules = [
            (simple, body)
            for selectors, body in _rules(self._text)
            if (simple := [each for each in map(str.strip, selectors.split(",")) if _SIMPLE_SELECTOR.fullmatch(each)])
        ]

    def selectors_that_say(self, declaration: re.Pattern[str]) -> list[str]:
        """Selectors of a single class or id for which there is such a declaration, the first fifty."""
        return self._that_say(declaration)[:_MOST_SELECTORS]

    def hidden_selectors(self) -> list[str]:
        """Selectors of a single class or id that it hides, and that nothing in it may show again.

        A page with a script is left alone: its tabs and panels are hidden until somebody opens them.
        """
        found = [] if self._has_script else self._that_say(_HIDES)[:_MOST_HIDDEN]
        names = Counter(_NAME.findall(self._text)) if found else Counter[str]()
        return [selector for selector in found if names[_NAME.findall(selector)[0]] == 1]

    def _that_say(self, declaration: re.Pattern[str]) -> list[str]:
        said = (selector for selectors, body in self._rules if declaration.search(body) for selector in selectors)
        return list(dict.fromkeys(said))


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
