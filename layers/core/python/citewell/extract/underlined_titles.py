"""Titles of reStructuredText and plain texts: Markdown knows two of their underlines, and takes others for fences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_RUN = re.compile(r"^(?P<sign>[=\-~^\"'*+#])(?P=sign){2,}(?=[ \t]*$)", re.MULTILINE)
_LINE_AFTER = re.compile(r"[ \t]*\n([^\n]*)")
_FENCE = re.compile(r"^ {0,3}(?P<fence>~{3,})[^\n]*$", re.MULTILINE)
_MARKDOWN_TITLE = re.compile(r"^#{1,6}[ \t]+\S", re.MULTILINE)
_WORDS = re.compile(r"[ \t]*[\"'(:`¿¡“„«]*[^\W_]")
_MARKDOWN_SIGNS = "=-"
_UNDER_ONLY = "~\"'"
"""What stands above and below a line too, but isn't its frame: fences, and the quotes of a program's texts."""
_LEAST_SIGNS = 4
_MOST_LONGER = 2
_DEEPEST = 6


class _Title(NamedTuple):
    """Where its lines begin, where its words do, and where its underline begins and ends."""

    start: int
    words: int
    line: int
    end: int
    style: str


def with_markdown_titles(text: str) -> tuple[str, dict[int, int]]:
    """A text of the same length in which these titles are Markdown's, without their words, and the levels by start.

    A title has a blank line before it and a longer line under it; the first kind of lines is the highest level, as
    reStructuredText has it. A text that has Markdown's own titles stays as it is.
    """
    if _MARKDOWN_TITLE.search(text):
        return text, {}
    titles = list(_without_fences(text, [*_titles(text)]))
    styles = list(dict.fromkeys(title.style for title in titles))
    if all(style in _MARKDOWN_SIGNS for style in styles):
        styles = list(_MARKDOWN_SIGNS)
    levels = {title.start: min(styles.index(title.style) + 1, _DEEPEST) for title in titles}
    parts: list[str] = []
    at = 0
    for start, words, line, end, _ in titles:
        over = "=" * (words - start - 1) + "\n" if start < words else ""
        parts += text[at:start], over, "x" * (line - words - 1), "\n", "=" * (end - line)
        at = end
    return "".join([*parts, text[at:]]), levels


def _titles(text: str) -> Iterator[_Title]:
    for run in _RUN.finditer(text):
        sign, line, end = run["sign"], run.start(), run.end()
        words = text.rfind("\n", 0, max(line - 1, 0)) + 1
        if line == 0 or not _WORDS.match(text, words, line - 1):
            continue
        length, signs = len(text[words : line - 1].strip()), end - line
        if length > signs or (signs < _LEAST_SIGNS and sign not in "=-~"):
            continue
        over = text.rfind("\n", 0, max(words - 1, 0)) + 1
        is_framed = sign not in _UNDER_ONLY and words > 0 and text[over : words - 1].rstrip() == run[0]
        start = over if is_framed else words
        if (is_framed or not text[words].isspace()) and _is_blank_before(text, start) and _ends(text, run, length):
            yield _Title(start, words, line, end, sign * 2 if is_framed else sign)


def _is_blank_before(text: str, start: int) -> bool:
    return not text[text.rfind("\n", 0, max(start - 1, 0)) + 1 : start].strip()


def _ends(text: str, run: re.Match[str], length: int) -> bool:
    """Whether a blank line follows; a text may do so under what would be a fence, if it is as long as the title."""
    following = _LINE_AFTER.match(text, run.end())
    is_blank = following is None or not following[1].strip()
    signs = run.end() - run.start()
    if run["sign"] == "~":
        return signs == length or (signs <= length + _MOST_LONGER and is_blank)
    return is_blank


def _without_fences(text: str, titles: list[_Title]) -> Iterator[_Title]:
    """All but those whose line begins or ends a block of code."""
    fences = {fence.start(): fence for fence in _FENCE.finditer(text)} if "~~~" in text else {}
    by_line = {title.line: title for title in titles}
    opened = ""
    is_fence: set[int] = set()
    starts = list(fences)
    for index, start in enumerate(starts):
        fence = fences[start]["fence"]
        is_bare = fences[start][0].strip() == fence
        if opened:
            is_fence.add(start)
            opened = "" if is_bare and len(fence) >= len(opened) else opened
        elif start not in by_line or _is_closed(fence, fences, starts[index + 1 : index + 2], by_line):
            is_fence.add(start)
            opened = fence
    return (title for title in titles if title.line not in is_fence)


def _is_closed(fence: str, fences: dict[int, re.Match[str]], following: list[int], by_line: dict[int, _Title]) -> bool:
    return any(
        start not in by_line
        and fences[start][0].strip() == fences[start]["fence"]
        and len(fences[start][0]) >= len(fence)
        for start in following
    )
