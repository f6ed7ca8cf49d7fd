"""What the elements of a page are: by their names, and by what ARIA, Word and Google Docs say in attributes."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.extract.alternative_texts import what_is_said

HEADINGS = {f"h{level}": level for level in range(1, 7)}
_MAY_BE_A_HEADING = frozenset({"div", "p", "span"})
_LEVEL_OF_A_ROLE = 2  # as ARIA has it where the page doesn't say
LISTS = frozenset({"ul", "ol", "menu", "dir"})
CODE = frozenset({"pre", "xmp", "listing", "plaintext"})
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "legend", "main",
    "nav", "p", "search", "section", "summary", "optgroup", "caption", "tbody", "thead", "tfoot",
})  # fmt: skip
LINES_OF_A_HEADING = frozenset({"div", "hgroup", "center"})

_LONGEST_HEADING = 250
GOOGLE_LIST = re.compile(r"\blst-kix_(\w+)-(\d)\b")
"""The class of each ``ul`` or ``ol`` that Google Docs writes: one for each run of items of one depth of a list."""

_WORD_LIST = re.compile(r"mso-list\s*:\s*l\d+\s+level(\d)\b", re.IGNORECASE)
"""The style of each item that Word writes, a paragraph."""

_LETTERS_AS_BULLETS = "oqvØü"  # what they show is a matter of their font
_NUMERAL = re.compile(r"\(?\w{1,5}(?:\.\w{1,3})*[.)]{1,2}|\d+(?:\.\d+)*")


def headings_by_role(root: LexborNode) -> dict[int, int]:
    """The level of each element that the page says stands for a heading, by its ``mem_id``."""
    meant = (node for node in root.css("[role=heading]") if node.tag in _MAY_BE_A_HEADING)
    return {node.mem_id: _level(node.attributes.get("aria-level")) for node in meant}


def _level(value: str | None) -> int:
    return min(max(whole_number(value, otherwise=_LEVEL_OF_A_ROLE), 1), len(HEADINGS))


def word_items_of(root: LexborNode) -> dict[int, int]:
    """The depth of each paragraph that is an item of a list of Word's, by its ``mem_id``."""
    found = ((node, _WORD_LIST.search(node.attributes.get("style") or "")) for node in root.css("p[style*='mso-list']"))
    return {node.mem_id: max(int(level[1]) - 1, 0) for node, level in found if level}


def with_marker_apart(text: str) -> tuple[str, str]:
    """The marker of an item that Word writes, its first word as a rule, and its text."""
    marker, _, rest = text.strip().partition(" ")
    if _NUMERAL.fullmatch(marker):
        return marker, rest
    is_bullet = len(marker) == 1 and (not marker.isalnum() or marker in _LETTERS_AS_BULLETS)
    return "-", rest if is_bullet else text


def top_headings_of(part: LexborHTMLParser | LexborNode) -> list[LexborNode]:
    return part.css("h1") or part.css("[role=heading][aria-level='1']")


def is_long_heading(node: LexborNode) -> bool:
    """Whether it holds more than anybody writes in one."""
    return len(" ".join(node.text().split())) > _LONGEST_HEADING


def heading_text(node: LexborNode) -> str:
    """A heading's own words, as far as it goes for a reader."""
    ends = BLOCKS | LISTS | CODE | HEADINGS.keys() | {"table", "dl"}
    if not is_long_heading(node):
        ends -= LINES_OF_A_HEADING
    texts: list[str] = []
    for child in node.iter(include_text=True):
        if child.tag in ends:
            if any(map(str.strip, texts)):
                break
            ends = ends if is_long_heading(node) else frozenset()
        is_parted = child.tag in BLOCKS or child.tag == "br" or child.css_first("br, div, p") is not None
        texts.append(f" {child.text(separator=' ')} " if is_parted else child.text())
    return " ".join("".join(texts).split())


def text_of_image(node: LexborNode) -> str:
    """What is written for those who can't see it, where that says something."""
    return what_is_said(node.attributes.get("alt"))


def whole_number(value: str | None, *, otherwise: int) -> int:
    return int(value) if value and re.fullmatch(r"\s*-?[0-9]{1,9}\s*", value) else otherwise
