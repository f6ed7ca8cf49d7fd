"""Where a message's header ends: at its blank line, unless fields that it lacks follow that."""

from __future__ import annotations

import re

_END = re.compile(r"\r?\n\r?\n")
_BLANK = re.compile(r"(?:[ \t]*\r?\n)+")
_FIELD = re.compile(r"([!-9;-~]+):")
_MAILBOX_LINE = re.compile(r"From [^\n]*\n")
_MAIN_FIELDS = frozenset({"from", "to", "date", "subject"})
_LEAST_MORE = 2
_MOST_PARTS = 10


def end_of_head(text: str) -> int:
    """Where the header that ``text`` begins with ends; no field is read that stands there twice, as in what is quoted.

    ``len(text)`` where no blank line is.
    """
    first = _END.search(text)
    if first is None:
        return len(text)
    end, names = first.start(), _names_in(text[: first.start()])
    for _ in range(_MOST_PARTS):
        start = _BLANK.match(text, end)
        if start is None or not names:
            break
        following = _END.search(text, start.end())
        next_end = following.start() if following else len(text)
        more = _names_in(text[start.end() : next_end])
        lacks = more - names
        is_quoted = not names.isdisjoint(more & _MAIN_FIELDS)
        if is_quoted or ("content-type" not in lacks and len(lacks & _MAIN_FIELDS) < _LEAST_MORE):
            break
        end, names = next_end, names | more
    return end


def _names_in(text: str) -> frozenset[str]:
    """The fields' names, in lower case; none where other lines stand among them."""
    mailbox_line = _MAILBOX_LINE.match(text)
    lines = text[mailbox_line.end() if mailbox_line else 0 :].split("\n")
    fields = [_FIELD.match(line) for line in lines if line.strip() and not line[0].isspace()]
    return frozenset() if None in fields else frozenset(field[1].lower() for field in fields if field)
