"""Markdown's block structure: where headings, code, tables, lists and paragraphs begin and end.

Only markdown-it's block rules run; what stands inside a line is never parsed, so one line may be megabytes long.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, code
from markdown_it.token import Token

from citewell.core.values import Block, BlockKind, ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.asciidoc import with_markdown_signs
from citewell.extract.building import shortened
from citewell.extract.declaring import date_of, language_tag_of
from citewell.extract.decoding import decode
from citewell.extract.normalising import is_blank, normalise
from citewell.extract.options import ReadOptions
from citewell.extract.ruled_tables import with_markdown_rules
from citewell.extract.underlined_titles import with_markdown_titles

_HEADING_CHARACTERS = 120
_SETEXT_LINES = 3
_FRAMED_LINES = 3

_KINDS = {
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "table_open": BlockKind.TABLE,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
}
_FRONT_MATTER = re.compile(
    r"\n*---[ \t]*\n"
    r"(?=(?:[ \t]*(?:#[^\n]*)?\n)*[\w.'\"-]+[ \t]*:\s)"  # the first line of it that says anything is `name:`
    r"(?P<fields>(?s:.*?)\n)"
    r"(?:---|\.\.\.)[ \t]*(?:\n|\Z)"
)
_FIELD = r"^{name}[ \t]*:[ \t]*(?P<value>[^\n]*)(?P<more>(?:\n[ \t]+[^\n]*)*)"
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^']|'')*)'")
_HTML_FRAGMENT = re.compile(r"\s*<(?:h[1-6]|p|div|section|article|main|ul|ol|dl|table)[\s>]", re.IGNORECASE)
_HTML_HEADING = re.compile(r"[ \t]*<h([1-6])(?:\s[^<>]*)?>(.*)</h\1\s*>[ \t]*", re.IGNORECASE)

_MARKED = re.compile(r"^ {0,3}(?:#{1,6}[ \t]+\S|```|~~~[^~\n]*$)|\]\(|`[^`\n]+`|\*\*\w", re.MULTILINE)

_LONGEST_SILENCE = 5_000
_SILENT = re.compile(
    r"!\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])"  # a picture
    r"|\]\([^()]*\)|\]\[[^\[\]]*\]"  # where it leads
    r"|</?[A-Za-z!][^<>]*>"
    r"|^\.\.[ ][^\n]*(?:\n[ \t]+[^\n]*)*"  # reStructuredText's targets and directives
    r"|^\[\[[^\n]*\]\][ \t]*$",  # AsciiDoc's anchors
    re.MULTILINE,
)

_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_IMAGE = re.compile(r"!\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_ANCHOR = re.compile(r"\s*\{[#.][^{}]*\}\s*$")
_EMPHASIS = re.compile(r"(?<!\\)(\*\*\*|\*\*|\*|~~|`+)(?=\S)(.+?)(?<![\s\\])\1")
_UNDERSCORES = re.compile(r"(?<![\w\\])(___|__|_)(?=\S)(.+?)(?<![\s\\])\1(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")

_COMMENTS = re.compile(r"(?:(?><!--(?s:.*?)-->)\s*+)++")


class _Stretch(NamedTuple):
    """A top-level block before heading paths are known; ``level`` is 0 for all but headings."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    heading: str = ""


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    """Markdown or plain text of any encoding, without comments. Raises DocumentRejected ``empty``, ``undecodable``."""
    text = normalise(decode(data, content_type=options.content_type))
    if is_blank(text):
        raise DocumentRejected("empty", "the object holds nothing but white space and control characters")
    text = _without_comments(text)
    if is_blank(text):
        raise DocumentRejected("empty", "the object holds nothing but comments")
    return read_markdown(text)


def read_markdown(text: str) -> ExtractedText:
    """Blocks, title, language and date of a normalised text. The text itself stays as it is.

    The title is the front matter's, else the first level-1 heading that no other heading or text precedes; pictures
    and signs for programs may.
    """
    front = _FRONT_MATTER.match(text)
    body = front.end() if front else 0
    fields = front["fields"] if front else ""
    title = _front_matter_value(fields, "title")
    stretches = list(_stretches(text, body))
    first = next((each for each in stretches if each.level or _says_something(text[each.start : each.end])), None)
    if title is None and first is not None and first.level == 1:
        title = first.heading
    blocks = [Block(BlockKind.METADATA, text.index("---"), _last_visible(text, 0, body))] if front else []
    blocks.extend(_with_paths(stretches))
    return ExtractedText(
        text,
        tuple(blocks),
        title,
        language=language_tag_of(_front_matter_value(fields, "language", "lang") or ""),
        effective_date=date_of(_front_matter_value(fields, "effective[_-]date", "date") or ""),
    )


def _without_comments(text: str) -> str:
    """Without the blocks that are HTML comments alone, which no reader sees; those in code are its text."""
    if "<!--" not in text:
        return text
    front = _FRONT_MATTER.match(text)
    kept, at = [], 0
    for stretch in _stretches(text, front.end() if front else 0):
        if text.startswith("<!--", stretch.start) and _COMMENTS.fullmatch(text, stretch.start, stretch.end):
            kept.append(text[at : stretch.start])
            at = stretch.end
    kept.append(text[at:])
    return "".join(kept)


def _with_paths(stretches: list[_Stretch]) -> Iterator[Block]:
    path: list[tuple[int, str]] = []
    headings: tuple[str, ...] = ()
    for stretch in stretches:
        if stretch.level:
            while path and path[-1][0] >= stretch.level:
                path.pop()
            path.append((stretch.level, stretch.heading))
            headings = tuple(heading for _, heading in path)
        yield Block(stretch.kind, stretch.start, stretch.end, headings)


# --- blocks ---


class _Lines(StateBlock):
    """Remembers the outermost block's kind and drops every other token.

    A list or table of a few megabytes would otherwise hold gigabytes of tokens that nobody reads.
    """

    outermost: tuple[str, str] = ("", "")
    _scratch = Token("", "", 0)

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        if nesting < 0:
            self.level -= 1
        elif self.level == 0:
            self.outermost = (ttype, tag)
        if nesting > 0:
            self.level += 1
        return self._scratch


def _parser(*, indented_code: bool, single_lines: bool) -> MarkdownIt:
    """``single_lines`` says whether one indented line is code too."""
    # Link definitions count as text here: a reader may well ask for the address.
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    if not single_lines:
        parser.block.ruler.at("code", _code_of_several_lines)
    return parser if indented_code else parser.disable("code")


def _code_of_several_lines(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """In a text without Markdown's signs, one indented line is a title or a table's head, unless a colon announces it.

    The rules that follow take such a line as they take any other.
    """
    if not code(state, line, end, silent) or state.line > line + 1:
        return state.is_code_block(line)
    before = line - 1
    while before >= 0 and state.isEmpty(before):
        before -= 1
    return before >= 0 and state.src[state.bMarks[before] : state.eMarks[before]].rstrip().endswith(":")


def _stretches(text: str, start: int) -> Iterator[_Stretch]:
    """The top-level blocks of ``text[start:]`` in order; all text between them is white space."""
    # HTML is indented for its own reasons, so in a text that begins with a tag indentation isn't code.
    parser = _parser(
        indented_code=not _HTML_FRAGMENT.match(text, start), single_lines=bool(_MARKED.search(text, start))
    )
    source, levels = with_markdown_titles(with_markdown_signs(with_markdown_rules(text[start:])))
    state = _Lines(source, parser, {}, [])
    rules = parser.block.ruler.getRules("")
    line = state.skipEmptyLines(0)
    while line < state.lineMax:
        state.line, state.tight = line, True
        any(rule(state, line, state.lineMax, False) for rule in rules)  # the last one, paragraph, takes anything
        first, last = start + state.bMarks[line], start + state.eMarks[state.line - 1]
        opened, tag = state.outermost
        yield from _classified(text, first, last, opened, f"h{levels.get(first - start, tag[1:])}")
        line = state.skipEmptyLines(state.line)


def _classified(text: str, start: int, end: int, opened: str, tag: str) -> Iterator[_Stretch]:
    end = _last_visible(text, start, end)
    if opened == "html_block":
        yield from _html_stretches(text, start, end)
    elif opened == "heading_open" and (heading := _heading_text(text[start:end])):
        yield _Stretch(BlockKind.HEADING, start, end, int(tag[1:]), heading)
    elif end > start:
        yield _Stretch(_KINDS.get(opened, BlockKind.PARAGRAPH), start, end)


def _html_stretches(text: str, start: int, end: int) -> Iterator[_Stretch]:
    """Lines that are one HTML heading, and what stands between them."""
    paragraph = start
    for line_start, line_end in _lines(text, start, end):
        match = _HTML_HEADING.fullmatch(text, line_start, line_end)
        heading = _plain(match[2]) if match else ""
        if not match or not heading:
            continue
        if before := text[paragraph:line_start].rstrip():
            yield _Stretch(BlockKind.PARAGRAPH, paragraph, paragraph + len(before))
        yield _Stretch(BlockKind.HEADING, line_start, _last_visible(text, line_start, line_end), int(match[1]), heading)
        paragraph = min(line_end + 1, end)
    if text[paragraph:end].strip():
        yield _Stretch(BlockKind.PARAGRAPH, paragraph, end)


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        line_end = text.find("\n", start, end)
        line_end = end if line_end < 0 else line_end
        yield start, line_end
        start = line_end + 1


def _last_visible(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip())


# --- headings and titles ---


def _heading_text(source: str) -> str:
    """The words of an ATX or setext heading; empty for one that has none or is a paragraph over a dashed line."""
    lines = source.split("\n")
    if len(lines) == _FRAMED_LINES and lines[0].strip() == lines[2].strip():
        lines = lines[1:]
    if len(lines) == 1:
        sign = source.strip()[:1]
        return _plain(re.sub(rf"(?:^|\s){sign}+\s*$", "", source.strip().lstrip(sign)))
    if len(lines) - 1 > _SETEXT_LINES:
        return ""
    return _plain(" ".join(lines[:-1]))


def _plain(markup: str) -> str:
    """A heading as one short line of words: no tags, emphasis, code marks or link targets."""
    words = markup[: 20 * _HEADING_CHARACTERS]
    for pattern, replacement in (
        (_TAG, ""),
        (_IMAGE, r"\1"),
        (_LINK, r"\1"),
        (_ANCHOR, ""),
        (_EMPHASIS, r"\2"),
        (_UNDERSCORES, r"\2"),
        (_EMPHASIS, r"\2"),
        (_ESCAPE, r"\1"),
    ):
        words = pattern.sub(replacement, words)
    return shortened(" ".join(html.unescape(words).split()))


def _says_something(source: str) -> bool:
    """Whether a block is more than badges, logos and signs for programs."""
    if len(source) > _LONGEST_SILENCE:
        return True
    rest, silent = _SILENT.subn("", source)
    return not silent or re.search(r"\w", rest) is not None


def _front_matter_value(fields: str, *names: str) -> str | None:
    """The value of the first of these fields that stands there, as far as it is a plain YAML scalar."""
    for name in names:
        match = re.search(_FIELD.format(name=name), fields, re.IGNORECASE | re.MULTILINE)
        if match and (value := _scalar(match["value"].strip(), match["more"])):
            return value
    return None


def _scalar(value: str, more: str) -> str:
    if not value or value[0] in "|>":
        return _plain(more)
    if quoted := _QUOTED.match(value):
        double, single = quoted.groups()
        return _plain(single.replace("''", "'") if double is None else re.sub(r"\\(.)", r"\1", double))
    return _plain(re.split(r"\s#", value, maxsplit=1)[0])
