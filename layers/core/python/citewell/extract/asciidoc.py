"""Titles of AsciiDoc and of wikis, and AsciiDoc's blocks: Markdown knows neither, and takes code in them for titles."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TITLE = re.compile(r"(?P<signs>={1,6})[ \t]+(?=[^\s=])")
_MARKDOWN_TITLE = re.compile(r"#{1,6}[ \t]+\S")
_DELIMITER = re.compile(r"(?:-{4,}|\.{4,}|={4,}|_{4,}|\*{4,}|\+{4,}|/{4,}|`{3,}\w*)[ \t]*")
_VERBATIM = frozenset("-.`")
_LEAST_TITLES = 2
_MOST_LONGER = 2
"""An underline is as long as its title, or nearly; a line of signs of any other length begins a block."""


def with_markdown_signs(text: str) -> str:
    """A text of the same length in which these titles and blocks of code have Markdown's signs.

    One that has fewer than two such titles, or any of Markdown's outside of its code, stays as it is.
    """
    if "\n=" not in text:
        return text
    lines = text.split("\n")
    signs = list(_signs(lines))
    titles = sum(1 for line, sign in zip(lines, signs, strict=True) if sign == "#" and line[0] == "=")
    if titles < _LEAST_TITLES or any(sign == "#" and line[0] == "#" for line, sign in zip(lines, signs, strict=True)):
        return text
    return "\n".join(map(_signed, lines, signs))


def _signs(lines: list[str]) -> Iterator[str]:
    """For each line ``#`` for a title, `````` for what is around code, ``x`` around other blocks; else nothing."""
    opened, before = "", ""
    for line in lines:
        sign = ""
        if opened:
            if line.rstrip() == opened:
                sign, opened = _sign_of(opened), ""
        elif _DELIMITER.fullmatch(line) and not _is_underline(line.rstrip(), before):
            opened = line[: len(line) - len(line.lstrip("`"))] or line.rstrip()
            sign = _sign_of(opened)
        elif _TITLE.match(line) or _MARKDOWN_TITLE.match(line):
            sign = "#"
        yield sign
        before = line


def _sign_of(delimiter: str) -> str:
    return "`" if delimiter[0] in _VERBATIM else "x"


def _is_underline(line: str, before: str) -> bool:
    title = before.strip()
    return title[:1] not in {"", "[", "."} and abs(len(title) - len(line)) <= _MOST_LONGER


def _signed(line: str, sign: str) -> str:
    if sign == "#":
        signs = len(line) - len(line.lstrip("="))
        return "#" * signs + line[signs:]
    return sign * len(line.rstrip()) + line[len(line.rstrip()) :] if sign else line
