"""Tells whether a text is an HTML page, or a part of one, by its first lines and its last."""

from __future__ import annotations

import re
from collections import Counter

# Possessive where they repeat: one way to read what stands before, so that a head that is neither costs no more.
PROLOGUE = r"\s*+ (?: (?><!--(?s:.*?)-->) \s*+ | <\?(?:xml|php)\b[^>]*+> \s*+ | <!\[(?:if|endif)\b[^>]*+> \s*+ )*+"
"""What may stand before a document's first element, for ``re.VERBOSE``."""

_PAGE = re.compile(
    PROLOGUE + r"(?: <!doctype\s+html | <(?:html|head|body|title|meta|style|link|script|base)[\s>] )",
    re.IGNORECASE | re.VERBOSE,
)
_LATE_PAGE = re.compile(r"\n\s{0,9}<(?:!doctype\s+html|html[\s>])", re.IGNORECASE)
_LATE_CHARACTERS = 2_000
_PAGE_END = re.compile(r"</html\s*>\s*\Z", re.IGNORECASE)

_ELEMENT = (
    r"(?:h[1-6]|p|div|section|article|main|header|footer|nav|aside|ul|ol|dl|table|blockquote|figure|pre|details|form"
    r"|center|a|b|i|u|em|strong|span|font|small|big|br|hr|img)"
)
_FRAGMENT = re.compile(PROLOGUE + rf"<{_ELEMENT}(?:\s[^<>]*+)?/?>", re.IGNORECASE | re.VERBOSE)
_FRAGMENT_END = re.compile(r"(?:</[a-z][a-z0-9]*\s*>|<[hb]r\s*/?>|-->)\s*\Z", re.IGNORECASE)
_TAG = re.compile(
    r"<(?P<end>/?)(?P<name>br|p|li|td|tr|div|ul|ol|table|b|i|u|em|strong|span|font|a|h[1-6])"
    r"(?P<attributes>\s[^<>]*)?/?>(?P<point>[ ]?[,.;:)])?",
    re.IGNORECASE,
)
_BREAKS = frozenset({"br", "p"})
_PARTS = {"li": ("ul", "ol"), "td": ("table",), "tr": ("table",)}
_MOST_ALONE = 0.25
_CODE_LINE = re.compile(r"(?<!&nbsp)[;{}][ \t]*$", re.MULTILINE)
_MOST_CODE_LINES = 0.3
_VERBATIM = re.compile(r"<(pre|script|style)\b.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_MARKDOWN_BLOCK = re.compile(r"(?:\A|\n[ \t]*\n) {0,3}(?:#{1,6} \S|```|~~~|[-*+] \S|\d+\. \S|\|.*\|[ \t]*(?:\n|\Z))")
_MARKDOWN_INLINE = re.compile(r"\*\*\S|\]\(|`")
_COMPONENT = re.compile(
    PROLOGUE
    + r"<(?:[A-Z][\w.]*+|[a-z][a-z0-9]*+(?:-[a-z0-9]++)++)(?![^<>]*\bxmlns)(?:\s[^<>]*)?>(?P<text>\s*+[^<\s])?",
    re.VERBOSE,
)
_JSX = re.compile(r"\s\w+=\{|\{/\*")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_LEAST_TAGS = 3


def is_page(head: str) -> bool:
    return _PAGE.match(head) is not None


def begins_with_element(head: str) -> bool:
    """Whether the first thing is an element of HTML, as in a page, a part of one, or a README."""
    return _FRAGMENT.match(head) is not None


def is_page_behind_text(head: str, end: str) -> bool:
    """Whether a page begins after a few lines, as some programs save it; ``end`` is the last characters."""
    late = _LATE_PAGE.search(head, 0, _LATE_CHARACTERS)
    return late is not None and "```" not in head[: late.start()] and _PAGE_END.search(end) is not None


def is_fragment(head: str, end: str) -> bool:
    """Whether the text is HTML from its first element to its last, without a page around it.

    A README may begin so and be Markdown, of which HTML in it knows nothing until a blank line.
    """
    if not begins_with_element(head) or _MARKDOWN_BLOCK.search(_VERBATIM.sub("", head)):
        return False
    return _FRAGMENT_END.search(end) is not None or _is_tagged(head)


def is_tagged_text(head: str) -> bool:
    """Whether a text that begins with no element has its lines and words marked by them; prose may speak of tags."""
    if _BLANK_LINE.search(head.strip()) or _MARKDOWN_BLOCK.search(head) or not _is_tagged(head):
        return False
    return len(_CODE_LINE.findall(head)) <= _MOST_CODE_LINES * (head.strip().count("\n") + 1)


def is_component(head: str) -> bool:
    """Whether the text begins with an element of its author's own, as MDX knows them, around text or Markdown."""
    component = _COMPONENT.match(head)
    return component is not None and bool(component["text"] or _JSX.search(head) or _MARKDOWN_BLOCK.search(head))


def _is_tagged(text: str) -> bool:
    """Whether tags part and mark the text. Those that it speaks of, or types in angle brackets, have no end tag."""
    if _MARKDOWN_INLINE.search(text):
        return False
    begun, marked, ended = Counter[str](), Counter[str](), Counter[str]()
    alone = 0
    for tag in _TAG.finditer(text):
        name = tag["name"].lower()
        if tag["end"]:
            ended[name] += 1
        elif "=" in (tag["attributes"] or ""):
            marked[name] += 1
        elif tag["point"] and name in _BREAKS:
            alone += 1
        else:
            begun[name] += 1
    begun_at_all = begun + marked
    used = marked.total()
    for name in begun.keys() | ended.keys():
        is_part = any(begun_at_all[whole] for whole in _PARTS.get(name, ()))
        is_whole = any(name in wholes and begun_at_all[part] > 1 for part, wholes in _PARTS.items())
        if name in _BREAKS or is_part or is_whole:
            used += begun[name] + ended[name]
        else:
            used += min(begun[name], ended[name]) + min(begun_at_all[name], ended[name])
            alone += max(begun[name] - ended[name], 0)
    return used >= _LEAST_TAGS and alone <= _MOST_ALONE * used
