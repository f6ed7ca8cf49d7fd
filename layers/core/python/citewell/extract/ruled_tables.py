"""Tables as reports and databases print them: rows between pipes, rules of dashes around. Markdown takes a rule for the
line under a title, and the rows above it for that title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_ROW = re.compile(r" {0,3}\|.*\|[ \t]*")
_SIGNS = re.compile(r" {0,3}[-+=|]{3,}+[ \t]*")
_DELIMITERS = re.compile(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?[ \t]*")
_CELL_END = re.compile(r"(?<!\\)\|")
_LEAST_ROWS = 2


def with_markdown_rules(text: str) -> str:
    """A text of the same length in which these tables are Markdown's, as far as their head is one line."""
    if "|\n" not in text:
        return text
    lines = text.split("\n")
    for first, last in _runs(lines):
        lines[first:last] = _as_markdown(lines[first:last])
    return "\n".join(lines)


def _runs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where lines that are rows or rules begin and end, at least two rows and a rule that isn't Markdown's."""
    first = 0
    for at in range(len(lines) + 1):
        if at < len(lines) and (_ROW.fullmatch(lines[at]) or _is_rule(lines[at])):
            continue
        run = lines[first:at]
        rules = [index for index, line in enumerate(run) if _is_rule(line)]
        is_markdown = rules[:1] == [1] and "|" in run[1] and _DELIMITERS.fullmatch(run[1]) is not None
        if rules and len(run) - len(rules) >= _LEAST_ROWS and not is_markdown:
            yield first, at
        first = at + 1


def _is_rule(line: str) -> bool:
    return _SIGNS.fullmatch(line) is not None and ("---" in line or "===" in line)


def _as_markdown(run: Sequence[str]) -> Iterator[str]:
    head = next(index for index, line in enumerate(run) if not _is_rule(line))
    columns = len(_CELL_END.findall(run[head].strip())) - 1
    for index, line in enumerate(run):
        signs = len(line) - 2 * columns
        if not _is_rule(line):
            yield line
        elif index < head:
            yield "x" * len(line)
        elif index == head + 1 and signs > 0:
            yield "|" + "-|" * (columns - 1) + "-" * signs + "|"
        else:
            yield "|" + "x" * (len(line) - 2) + "|"
