"""Cut a passage into what can be quoted on its own: sentences, list items, table rows, lines of code.

Works on the passage's text alone, as it stands in the document: Markdown, plain text, or fragments of HTML. What comes
out reads as plain text; only code keeps backticks around it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citewell.core.sentences import sentence_spans

_BLOCK_TAG = re.compile(r"</?(?:p|div|h[1-6]|li|ul|ol|tr|table|section|article|br|hr|dt|dd|blockquote)\b[^<>]*>", re.I)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--.*?-->", re.DOTALL)

_FENCE = re.compile(r"[ ]{0,3}(```|~~~)")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}(?:\s|$)")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:=+|-{2,}|\*{3,}|_{3,})[ \t]*$")
_DELIMITER_ROW = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?=\S)")
_CELL_BORDER = re.compile(r"(?<!\\)\|")

_ANNOUNCES = (":", "：")

_IMAGE = re.compile(r"!\[([^\[\]]*)\]\([^()]*\)")
_LINK = re.compile(r"\[([^\[\]]+)\](?:\([^()]*\)|\[[^\[\]]*\])")
# Bounded: with many openings and no end, each would search the whole line.
_EMPHASIS = re.compile(r"(?<!\\)(\*\*\*|\*\*|\*|~~)(?=\S)(.{1,500}?)(?<=[^\s\\])\1")
_UNDERSCORES = re.compile(r"(?<![\w\\])(__|_)(?=\S)(.{1,500}?)(?<=[^\s\\])\1(?!\w)")
_QUOTED = re.compile(r"^[ ]{0,3}(?:>[ ]?)+")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_CODE_SPAN = re.compile(r"`[^`]+`")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """``text`` is what is quoted; ``lead_in`` the sentence that introduces it, such as a list's, or empty."""

    text: str
    lead_in: str = ""


def excerpts(text: str) -> list[Excerpt]:
    """The excerpts of a passage's ``text``, in order.

    Headings are none, for they are the passage's section already; nor is what holds no letter and no digit.
    """
    found = _excerpts(_lines(text))
    return [excerpt for excerpt in found if any(map(str.isalnum, excerpt.text))]


def _lines(text: str) -> list[str]:
    if _BLOCK_TAG.search(text):
        text = html.unescape(_TAG.sub("", _BLOCK_TAG.sub("\n\n", text)))
    return text.split("\n")


def _excerpts(lines: Sequence[str]) -> Iterator[Excerpt]:
    lead_in = ""
    place = 0
    while place < len(lines):
        end = _block_end(lines, place)
        block = lines[place:end]
        place = end
        if not block[0].strip() or _HEADING.match(block[0]) or _UNDERLINE.match(block[0]):
            continue
        if _FENCE.match(block[0]):
            yield from _code(block, lead_in)
        elif _is_row(block[0]):
            yield from _rows(block)
        elif _LIST_ITEM.match(block[0]):
            yield from _sentences(_LIST_ITEM.sub("", block[0], count=1), block[1:], lead_in)
            continue  # the items that follow have the same lead-in
        else:
            yield from _sentences(block[0], block[1:], "")
            lead_in = _announcement(block)
            continue
        lead_in = ""


def _block_end(lines: Sequence[str], start: int) -> int:
    """Where the block that begins at ``start`` ends; a line of its own where it is none."""
    first = lines[start]
    rest = range(start + 1, len(lines))
    if fence := _FENCE.match(first):
        return next((n + 1 for n in rest if lines[n].strip().startswith(fence[1])), len(lines))
    if not first.strip() or _HEADING.match(first) or _UNDERLINE.match(first):
        return start + 1
    if _is_row(first):
        return next((n for n in rest if not _is_row(lines[n])), len(lines))
    return next((n for n in rest if not _continues(lines[n])), len(lines))


def _continues(line: str) -> bool:
    """Whether ``line`` is a further line of the paragraph or list item before it."""
    begins_another = any(kind.match(line) for kind in (_FENCE, _HEADING, _UNDERLINE, _LIST_ITEM))
    return bool(line.strip()) and not begins_another and not _is_row(line)


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|") and len(_CELL_BORDER.findall(line)) > 1


def _code(block: Sequence[str], lead_in: str) -> Iterator[Excerpt]:
    for line in block[1:]:
        code = line.strip().replace("`", "")
        if code and not _FENCE.match(line):
            yield Excerpt(text=f"`{code}`", lead_in=lead_in)


def _rows(block: Sequence[str]) -> Iterator[Excerpt]:
    """Each row with the names of its columns, where the passage holds the table's head."""
    headed = len(block) > 1 and bool(_DELIMITER_ROW.match(block[1]))
    names = _cells(block[0]) if headed else []
    for line in block[2:] if headed else block:
        cells = _cells(line)
        if _DELIMITER_ROW.match(line) or not any(cells):
            continue
        named = [
            f"{names[column]}: {cell}" if column < len(names) and names[column] else cell
            for column, cell in enumerate(cells)
            if cell
        ]
        yield Excerpt(text="; ".join(part.rstrip(".") for part in named) + ".")


def _cells(line: str) -> list[str]:
    return [plain(cell.replace("\\|", "|")) for cell in _CELL_BORDER.split(line.strip().strip("|"))]


def _sentences(first: str, more: Sequence[str], lead_in: str) -> Iterator[Excerpt]:
    text = plain(_joined([first, *more]))
    for start, end in sentence_spans(text):
        sentence = without_open_code(text[start:end])
        # What announces a list says nothing without it; it comes back as the items' lead-in.
        if not sentence.endswith(_ANNOUNCES):
            yield Excerpt(text=sentence, lead_in=lead_in)


def _announcement(paragraph: Sequence[str]) -> str:
    """The last sentence of ``paragraph``, if it announces what follows."""
    text = plain(_joined(paragraph))
    return without_open_code(text[slice(*sentence_spans(text)[-1])]) if text.endswith(_ANNOUNCES) else ""


def _joined(lines: Sequence[str]) -> str:
    """Wrapped lines as one; no space between lines where the script has none."""
    joined = ""
    for line in lines:
        line = _QUOTED.sub("", line).strip()
        spaceless = joined[-1:] > "\u2e7f" and line[:1] > "\u2e7f"
        joined += line if spaceless or not joined else f" {line}"
    return joined


def plain(text: str) -> str:
    """``text`` on one line without Markdown's inline marks, but for whole code spans."""
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))
    for emphasis in (_EMPHASIS, _UNDERSCORES):
        text = emphasis.sub(r"\2", text)
    text = without_open_code(_ESCAPED.sub(r"\1", text))
    return " ".join(text.replace("~~~", "").split())


def without_open_code(text: str) -> str:
    """``text`` without its backticks where they don't pair up: one left open would pair with the next excerpt's."""
    return text.replace("`", "") if "`" in _CODE_SPAN.sub("", text) else text
