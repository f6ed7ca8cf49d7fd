"""What of a page isn't its content: navigation, advertising, what is hidden, what only a browser reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from functools import cached_property
from typing import Literal

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.extract.html_elements import HEADINGS
from citewell.extract.html_links import (
    is_linked_throughout,
    is_menu,
    linked_length,
    links_to_content,
    links_to_neighbours,
    links_to_the_top,
    menus_above,
    text_length,
)
from citewell.extract.html_names import Called, called, words_of
from citewell.extract.html_panels import Panels, is_panel
from citewell.extract.html_styles import StyleSheet

NEVER_READ = [
    "script", "style", "template", "svg", "iframe", "object", "embed", "audio", "video", "canvas",
    "select", "datalist", "textarea", "input", "progress", "meter", "annotation", "annotation-xml", "rp", "rt", "del",
]  # fmt: skip
"""Elements whose content a reader of the page doesn't see as its text."""

_HIDDEN = "[hidden]:not([hidden='until-found' i]), [aria-hidden='true' i], dialog:not([open])"
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all)", re.IGNORECASE)
_OUTSIDE_OF_CONTENT = (
    "nav, menu[type=toolbar], [role=navigation], [role=search], [role=contentinfo], [role=banner], "
    "[role=complementary], [role=alertdialog], sup.reference"
)
_OF_LINKS = "#menu, ul[id^='menu-'], article aside, main aside, [role=main] aside"
"""Navigation or content: a canteen has a menu too, and an aside in an article is its note or a list of others."""

_OF_THE_PAGE = "header, footer, aside"
_NOTE = re.compile(
    r"\b(?:note|(?:foot|end)?notes|notice|warning|caution|danger|important|info|tip|hint|callout|admonition)\b",
    re.IGNORECASE,
)
_OF_ITS_CONTENT = ", ".join(
    f"{outer} {inner}"
    for outer in ("article", "main", "section", "blockquote", "figure", "[role=main]")
    for inner in ("header", "footer")
)
_ASIDE_IN_CONTENT = "article aside, main aside, [role=main] aside"
_LINE_NUMBERS = (
    "pre .ln, pre .lineno, pre .linenos, pre .line-number, pre .line-numbers-rows, td.linenos, td.lineno, td.gutter,"
    "td.blob-num, td.hljs-ln-numbers, .fragment .lineno"
)
_MARKS_OF_LINKS = frozenset("¶#§🔗⚓↩↑^") | {"↩\ufe0e", "↩\ufe0f"}
"""Texts of links within the page that stand for nothing but the link."""

_PIXEL = "img[width='1'][height='1'], img[width='1px'][height='1px'], img[width='0'], img[height='0']"
_NEVER_MEANT = frozenset({"html", "body", "main", *HEADINGS})
"""By a name: that of a heading is made of its words."""

_IN_LINES = frozenset({"a", "span", "b", "strong", "i", "em", "code", "small", "button", "label", "img", "tr", "th"})
"""Where the name of a menu says what is chosen in one."""

_CONTENTS = "#toc, .toc, .toc-macro"
"""Lists of the page's own parts: a book's first page may be hardly more."""

_MAIN = "main, [role=main]"
_NO_TEXT_OF_ITS_OWN = frozenset({"a", *HEADINGS})

_LEAST_OF_MAIN = 0.4
_MOST_DROPPED = 0.5
_MOST_ABOVE = 0.3
_LEAST_PROSE = 200
_LEAST_OTHER_TEXT = 10
_MOST_READ_AGAIN = 20  # times the length of the page
_MOST_KEPT = 100  # of each mark
_MOST_HEADINGS = 20
_MOST_ABOVE_HEADING = 3


class _Mark(Enum):
    """Why an element may be left out: ``CALLED`` so by its name, ``MENU`` if it is mostly links as well.

    Where it stands ``ABOVE`` the first heading, that and a page of text below it make it a menu. Where it is ``HIDDEN``
    at first, or the contents, it may be what the page is for.
    """

    ABOVE = auto()
    MENU = auto()
    CALLED = auto()
    AROUND = auto()
    HIDDEN = auto()


class Boilerplate:
    """Says of each element of a parsed page, asked in document order, whether it is left out.

    Nothing that holds more than half of the page's text is: then the marking is wrong, or a script was to show it.
    Nor is anything for its name alone that holds most of what isn't linked. But what is mostly links goes at any size
    where a text remains.
    """

    def __init__(self, tree: LexborHTMLParser, sheet: StyleSheet) -> None:
        hidden = sheet.hidden_selectors()
        tree.strip_tags(NEVER_READ)
        if not _is_all_without_script(tree):
            tree.strip_tags(["noscript"])
        self.root = _content_root(tree)
        self._length = text_length(self.root) if self.root is not None else 0
        self._left_to_read = _MOST_READ_AGAIN * self._length
        self._kept: Counter[_Mark] = Counter()
        self._marks: dict[int, _Mark] = {}
        for mark, node in _marked(tree, hidden):
            is_hidden_menu = mark is _Mark.HIDDEN and self._marks.get(node.mem_id, mark) is not mark
            self._marks[node.mem_id] = _Mark.AROUND if is_hidden_menu else mark

    def drops(self, node: LexborNode) -> bool:
        mark = self._marks.get(node.mem_id)
        if mark is None or self._left_to_read < 0 or self._kept[mark] > _MOST_KEPT:
            return False
        length = text_length(node)
        if self._is_left_out(node, mark, length):
            return True
        self._kept[mark] += 1  # such elements hold one another: without an end, reading them would be quadratic
        self._left_to_read -= length
        return False

    def _is_left_out(self, node: LexborNode, mark: _Mark, length: int) -> bool:
        is_large = length > _MOST_DROPPED * self._length
        if mark is _Mark.HIDDEN:
            return not is_large
        if mark is _Mark.ABOVE:
            is_small = length <= _MOST_ABOVE * self._prose and self._prose > _LEAST_PROSE
            return is_small and is_menu(node) and is_linked_throughout(node)
        if mark is _Mark.MENU or is_large:
            return is_menu(node) and (not is_large or self._has_other_text)
        return mark is _Mark.AROUND or length <= _LEAST_PROSE or not self._is_most_of_the_prose(node, length)

    def _is_most_of_the_prose(self, node: LexborNode, length: int) -> bool:
        return length - linked_length(node) > max(_LEAST_PROSE, _MOST_DROPPED * self._prose)

    @cached_property
    def _prose(self) -> int:
        """The length of the page's text that isn't linked."""
        return self._length - (linked_length(self.root) if self.root is not None else 0)

    @cached_property
    def _has_other_text(self) -> bool:
        """Whether anything is said beside headings and links, outside of all that is marked and may be left out."""
        length = menus = 0
        nodes = [self.root] if self.root is not None else []
        while nodes and length < _LEAST_OTHER_TEXT:
            node = nodes.pop()
            if node.is_text_node:
                length += text_length(node)
            elif node.tag not in _NO_TEXT_OF_ITS_OWN:
                mark = self._marks.get(node.mem_id)
                menus += mark is _Mark.MENU
                if mark is None or (mark is _Mark.MENU and menus <= _MOST_KEPT and not is_menu(node)):
                    nodes += node.iter(include_text=True)
        return length >= _LEAST_OTHER_TEXT


def _is_all_without_script(tree: LexborHTMLParser) -> bool:
    """Whether only readers without scripts see any text at all."""
    said = sum(map(text_length, tree.css("noscript")))
    return tree.body is not None and 0 < text_length(tree.body) <= said


def _content_root(tree: LexborHTMLParser) -> LexborNode | None:
    """The page's one main part where it says which that is, else its body."""
    body = tree.body
    mains = tree.css(_MAIN)
    if body is None or len(mains) != 1:
        return body
    (main,) = mains
    length, of_page = text_length(main), text_length(body)
    if length < _LEAST_OF_MAIN * of_page:  # a page's menus may be longer than what it says
        length, of_page = length - linked_length(main), of_page - linked_length(body)
    return main if length >= max(_LEAST_OF_MAIN * of_page, 1) else body


def _marked(tree: LexborHTMLParser, hidden: list[str]) -> Iterator[tuple[_Mark, LexborNode]]:
    """Each element that may be left out, the weakest marks first; ``hidden`` are selectors of its style sheet."""
    heading, panels = _page_heading(tree), Panels(tree)
    yield from _marked_above(tree, heading)
    for node in tree.css(_OF_LINKS):
        yield _Mark.MENU, node
    yield from _marked_by_names(tree, heading)
    inner = _ids(tree.css(f"{_OF_ITS_CONTENT}, {_ASIDE_IN_CONTENT}"))
    for node in tree.css(_OF_THE_PAGE):
        if node.mem_id not in inner and not _is_content(node, heading):
            yield _Mark.AROUND, node
    for node in (
        *tree.css(f"{_OUTSIDE_OF_CONTENT}, {_LINE_NUMBERS}, {_PIXEL}"),
        *links_to_content(tree),
        *links_to_neighbours(tree),
        *links_to_the_top(tree),
        *(node for node in tree.css("button") if not (_is_heading(node.parent) or panels.are_opened_by(node))),
    ):
        yield _Mark.AROUND, node
    styled = (node for node in tree.css("[style]") if _HIDDEN_STYLE.search(node.attributes.get("style") or ""))
    for node in (*tree.css(f"{_HIDDEN}, {_CONTENTS}"), *styled):
        if not is_panel(node):
            yield _Mark.HIDDEN, node
    for node in tree.css(", ".join(hidden)) if hidden else ():
        yield _Mark.HIDDEN, node


def _marked_above(tree: LexborHTMLParser, heading: LexborNode | None) -> Iterator[tuple[_Mark, LexborNode]]:
    around_heading = _around(heading)
    for node in menus_above(heading, tree) if heading is not None else ():
        if node.mem_id not in around_heading:
            yield _Mark.ABOVE, node


def _marked_by_names(tree: LexborHTMLParser, heading: LexborNode | None) -> Iterator[tuple[_Mark, LexborNode]]:
    around_heading = _around(heading)
    for node in tree.css("[class], [id]"):
        attributes = node.attributes
        classes, identifier = attributes.get("class") or "", attributes.get("id") or ""
        kind = called(classes, identifier)
        if kind is None or node.tag in _NEVER_MEANT:
            continue
        if kind is Called.UNSEEN:
            if _is_said_twice(node):
                yield _Mark.AROUND, node
        elif kind is Called.MENU:
            if node.tag not in _IN_LINES and node.mem_id not in around_heading:
                yield _Mark.MENU, node
        elif called(classes, "") is Called.AROUND or not (
            _is_named_for_its_heading(node, identifier)
            or (identifier.lower() == "header" and node.mem_id in around_heading)
        ):
            yield _Mark.CALLED, node


def _around(node: LexborNode | None) -> frozenset[int]:
    """What the node stands in."""
    found = set()
    while node is not None and (node := node.parent) is not None:
        found.add(node.mem_id)
    return frozenset(found)


def _is_named_for_its_heading(node: LexborNode, identifier: str) -> bool:
    first: LexborNode | None = node
    for _ in range(_MOST_ABOVE_HEADING):
        first = next(first.iter(), None) if first is not None else None
        if first is not None and first.tag in HEADINGS:
            return words_of(first.text()) == words_of(identifier.replace("-", " "))
    return False


def _is_said_twice(node: LexborNode) -> bool:
    """Whether words for screen readers stand beside the same ones, or lead to the content."""
    if node.tag == "a":
        return (node.attributes.get("href") or "").startswith("#")
    words = node.text().split()
    beside = (each for each in (_beside(node, "prev"), _beside(node, "next")) if each is not None)
    return any(each.text().split() == words and "aria-hidden" not in each.attributes for each in beside)


def _beside(node: LexborNode, direction: Literal["prev", "next"]) -> LexborNode | None:
    """The text or element right before or after it."""
    here: LexborNode | None = getattr(node, direction)
    if here is not None and here.is_text_node and not here.text().strip():
        here = getattr(here, direction)
    return here


def without_marks_of_links(tree: LexborHTMLParser) -> None:
    """Take the links out that lead to the heading in which they stand, or from a note back to the text."""
    for link in tree.css("a[href^='#']"):
        text = link.first_child
        if text is not None and text.next is None and (text.text_content or "").strip() in _MARKS_OF_LINKS:
            link.decompose()


def _page_heading(tree: LexborHTMLParser) -> LexborNode | None:
    """The only level-1 heading, or the one in a header that says what the page's title does."""
    headings = tree.css("h1")
    if len(headings) == 1:
        return headings[0]
    title = tree.css_first("head title")
    words = title.text().split() if title is not None else []
    few = tree.css("header h1, #header h1")[:_MOST_HEADINGS]
    return next((each for each in few if words and each.text().split() == words), None)


def _is_content(node: LexborNode, heading: LexborNode | None) -> bool:
    """Whether a header holds the page's own heading, or an aside is a note among paragraphs."""
    if node.tag == "header":
        return heading is not None and (inner := node.css_first("h1")) is not None and inner.mem_id == heading.mem_id
    return node.tag == "aside" and _NOTE.search(node.attributes.get("class") or "") is not None


def _is_heading(node: LexborNode | None) -> bool:
    return node is not None and (
        node.tag in {"h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt"} or node.attributes.get("role") == "heading"
    )


def _ids(nodes: Iterable[LexborNode]) -> frozenset[int]:
    return frozenset(node.mem_id for node in nodes)
