"""How much of an element is links, and which links lead to the content or to the pages before and after."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice, takewhile

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.extract.html_elements import BLOCKS, CODE, HEADINGS, LISTS

_MOST_LINKED = 0.5
_HEADINGS = "h1, h2, h3, h4, h5, h6"
_LINKS_OF_HEADINGS = "h1 a, h2 a, h3 a, h4 a, h5 a, h6 a"
_TABS = re.compile(r"\btabs?\b", re.IGNORECASE)
_TO_TABS = "a[href^='#'], [role=tab], [data-toggle], [data-bs-toggle]"

_SKIPS = re.compile(
    r"""(?: skip | jump\ to | zum\ (?:haupt)?inhalt | zur\ (?:haupt)?navigation | direkt\ zu[mr]? | springen?
        | überspringen | (?:haupt)?navigation\ überspringen | (?:aller|passer|accéder)\ (?:au|à) | saltar | ir\ al?
        | pasar\ al ) \b""",
    re.IGNORECASE | re.VERBOSE,
)
"""How the words of a link to the content begin, in English, German, French and Spanish."""

_TO_THE_TOP = re.compile(
    r"""\W* (?: (?:(?:back|go|return)\s)? (?:to\s)? (?:the\s)? top (?:\sof\s(?:the\s|this\s)?page)? | scroll\ to\ top
        | (?:zurück\s)? (?:nach\ oben | zum\ (?:seiten)?anfang)
        | (?:retour\ (?:en|vers\ le)\s)? haut (?:\sde\s(?:la\s)?page)?
        | (?:volver\s)? arriba | torna\ su | naar\ boven ) \W*""",
    re.IGNORECASE | re.VERBOSE,
)
"""The words of a link to the top of the page, in English, German, French, Spanish, Italian and Dutch."""

_LONGEST_SKIP = 60
_MOST_LINKS = 20
_LEAST_LINKS = 3
_LEAST_LINKED = 0.8
_LETTER = re.compile(r"\w")
_MAY_BE_A_MENU = frozenset({"ul", "ol", "table", "div", "p"})
_MOST_BETWEEN = 8
_MOST_ABOVE = 500
_LONGEST_LINE = 250
_PARTS = BLOCKS | LISTS | CODE | HEADINGS.keys() | {"table", "dl"}
_LINES = frozenset({"p", "li", "div", "span", "td"})


def text_length(node: LexborNode) -> int:
    """In characters that aren't white space: how a page is indented says nothing of it."""
    return _length(node.text())


def linked_length(node: LexborNode) -> int:
    return sum(text_length(link) for link in node.css("a"))


def is_mostly_links(node: LexborNode) -> bool:
    """Whether more than half of its text is linked, of what isn't in headings; or it only has pictures that are."""
    if not (linked := linked_length(node)):
        return not text_length(node) and node.css_first("a img") is not None
    in_headings = sum(map(text_length, node.css(_HEADINGS)))
    rest = text_length(node) - in_headings
    if not rest:
        return linked > _MOST_LINKED * in_headings
    return linked - sum(map(text_length, node.css(_LINKS_OF_HEADINGS))) > _MOST_LINKED * rest


def is_menu(node: LexborNode) -> bool:
    """Whether it is mostly links, and neither data in a table nor the labels of tabs, read with what is under them."""
    return is_mostly_links(node) and not (_is_data(node) or _opens_tabs(node))


def _is_data(node: LexborNode) -> bool:
    if node.tag == "table":
        return node.css_first("th") is not None and node.css_first("tr + tr") is not None
    return node.tag == "td" and len(node.css("a")) == 1


def _opens_tabs(node: LexborNode) -> bool:
    return _TABS.search(node.attributes.get("class") or "") is not None and node.css_first(_TO_TABS) is not None


def links_to_content(tree: LexborHTMLParser) -> Iterator[LexborNode]:
    """Those that stand before any heading, by themselves, and say that they skip something."""
    before = takewhile(lambda node: node.tag == "a", tree.css(f"a[href*='#'], {_HEADINGS}"))
    for link in islice((link for link in before if _skips(link)), _MOST_LINKS):
        if not link.text().strip() or _line_of_links(link) is not None:
            yield link


def links_to_neighbours(tree: LexborHTMLParser) -> Iterator[LexborNode]:
    """Those to the page before and the one after, with the line that they make."""
    for link in tree.css("a[rel~=prev], a[rel~=next]")[:_MOST_LINKS]:
        if (line := _line_of_links(link)) is not None:
            yield line


def links_to_the_top(tree: LexborHTMLParser) -> Iterator[LexborNode]:
    """Those that stand by themselves, as between the sections of a long page."""
    for link in tree.css("a[href^='#']"):
        if _TO_THE_TOP.fullmatch(_words_of(link)) and _is_among_blocks(link):
            yield link


def menus_above(heading: LexborNode, tree: LexborHTMLParser) -> Iterator[LexborNode]:
    """Elements of several links that stand before the page's first heading."""
    nodes = tree.css(f"{_HEADINGS}, a")
    if heading.mem_id not in {node.mem_id for node in nodes if node.tag != "a"}:
        return
    found: dict[int, LexborNode] = {}
    links = Counter[int]()
    for link in islice(takewhile(lambda node: node.tag == "a", nodes), _MOST_ABOVE):
        for node in islice(_around(link), _MOST_BETWEEN):
            if node.tag in _MAY_BE_A_MENU:
                found.setdefault(node.mem_id, node)
                links[node.mem_id] += 1
    yield from (found[node] for node, count in links.items() if count >= _LEAST_LINKS)


def _around(node: LexborNode) -> Iterator[LexborNode]:
    around = node.parent
    while around is not None:
        yield around
        around = around.parent


def is_linked_throughout(node: LexborNode) -> bool:
    """Whether hardly a word of it isn't linked, whatever signs stand between the links."""
    linked = sum(_letters_in(link) for link in node.css("a"))
    return linked >= _LEAST_LINKED * _letters_in(node)


def _letters_in(node: LexborNode) -> int:
    return len(_LETTER.findall(node.text()))


def _is_among_blocks(link: LexborNode) -> bool:
    """Whether no text stands right beside it."""
    for direction in ("prev", "next"):
        beside: LexborNode | None = getattr(link, direction)
        if beside is not None and beside.is_text_node and not (beside.text_content or "").strip():
            beside = getattr(beside, direction)
        if beside is not None and beside.tag not in _PARTS and beside.tag != "br":
            return False
    return True


def _skips(link: LexborNode) -> bool:
    return _SKIPS.match(_words_of(link)) is not None


def _words_of(link: LexborNode) -> str:
    """Its own, or those that stand for its picture; empty for more than such a link says."""
    picture = link.css_first("img[alt]")
    words = " ".join(
        (link.text().strip() or (picture.attributes["alt"] if picture is not None else None) or "").split()
    )
    return words if len(words) <= _LONGEST_SKIP else ""


def _line_of_links(link: LexborNode) -> LexborNode | None:
    """What the link stands in, as far as that is a line of links; the link itself where it stands among blocks."""
    line = link.parent
    if line is None or line.tag not in _LINES:
        return link
    is_long = text_length(line) > _LONGEST_LINE
    if line.tag == "div" and (is_long or any(each.tag in _PARTS for each in line.iter())):
        return link
    return line if not is_long and is_mostly_links(line) else None


def _length(text: str) -> int:
    return len("".join(text.split()))
