"""What of a page isn't its content: navigation, advertising, what is hidden, what only a browser reads."""

from __future__ import annotations

import re
from collections.abc import Iterable

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.extract.html_styles import hidden_selectors

NEVER_READ = [
    "script", "style", "template", "svg", "iframe", "object", "embed", "audio", "video", "canvas",
    "select", "datalist", "textarea", "input", "progress", "meter", "annotation", "annotation-xml", "rp", "rt", "del",
]  # fmt: skip
"""Elements whose content a reader of the page doesn't see as its text."""

_HIDDEN = "[hidden]:not([hidden='until-found' i]), [aria-hidden='true' i], dialog:not([open])"
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all)", re.IGNORECASE)
_OUTSIDE_OF_CONTENT = (
    "nav, menu[type=toolbar], [role=navigation], [role=search], [role=contentinfo], [role=banner], "
    "[role=complementary], [role=alertdialog], #nav, #navigation, #navbar, #sidebar, #footer, #breadcrumbs, "
    ".breadcrumb, .breadcrumbs, .nav, .navbar, .sidebar, .footer, .site-header, .site-footer, .skip-link, "
    ".skip-to-content, .cookie-banner, #cookie-banner, .cookie-consent, #cookie-consent, .cookie-notice,"
    "#cookie-notice, .cookie-bar, #cookie-bar, .cc-window, #onetrust-consent-sdk, #CybotCookiebotDialog,"
    "#usercentrics-root, #cookie-law-info-bar, .cky-consent-container, #BorlabsCookieBox, #didomi-host,"
    ".toc-macro, .sharedaddy, #respond"
)
_OF_LINKS = "#menu, ul[id^='menu-'], article aside, main aside, [role=main] aside"
"""Navigation or content: a canteen has a menu too, and an aside in an article is its note or a list of others."""

_OF_THE_PAGE = "header, footer, aside"
_NOTE = re.compile(
    r"\b(?:note|(?:foot|end)?notes|notice|warning|caution|danger|important|info|tip|hint|callout|admonition)\b",
    re.IGNORECASE,
)
_OPENS = re.compile(r"accordion|collaps|expand|faq|question|disclosure|toggle", re.IGNORECASE)
_OPENED = re.compile(r"accordion|collaps|panel|answer|content", re.IGNORECASE)
_PANEL = re.compile(
    r"accordion|collaps|\btab-?(?:pane|panel|content)|\bfaq|answer|expand(?:er|able|-content)|spoiler", re.IGNORECASE
)
_OF_ITS_CONTENT = ", ".join(
    f"{outer} {inner}"
    for outer in ("article", "main", "section", "blockquote", "figure", "[role=main]")
    for inner in ("header", "footer")
)
_ASIDE_IN_CONTENT = "article aside, main aside, [role=main] aside"
_WIKI = (
    ".mw-editsection, .mw-jump-link, .mw-indicators, .mw-cite-backlink, .mw-empty-elt, .navbox, .vertical-navbox,"
    ".sistersitebox, .printfooter, .catlinks, #toc, .toc, sup.reference, .authority-control, .vector-column-start,"
    ".vector-page-toolbar, .mw-portlet, #p-lang-btn, #siteSub, #contentSub, .noprint,"
    "#mw-navigation, #mw-panel, #column-one, #jump-to-nav, #siteNotice, #breadcrumb-section, .page-metadata"
)
_LINE_NUMBERS = (
    "pre .ln, pre .lineno, pre .linenos, pre .line-number, pre .line-numbers-rows, td.linenos, td.lineno, td.gutter,"
    "td.blob-num, td.hljs-ln-numbers"
)
_MARKS_OF_LINKS = frozenset("¶#§🔗⚓↩↑^") | {"↩\ufe0e", "↩\ufe0f"}
"""Texts of links within the page that stand for nothing but the link."""

_MAIN = "main, [role=main]"

_LEAST_OF_MAIN = 0.4
_MOST_DROPPED = 0.5
_MOST_LINKED = 0.5
_MOST_KEPT = 20


class Boilerplate:
    """Says of each element of a parsed page, asked in document order, whether it is left out.

    Nothing that holds more than half of the page's text is: then the marking is wrong, or a script was to show it.
    """

    def __init__(self, tree: LexborHTMLParser) -> None:
        hidden = hidden_selectors(tree)
        tree.strip_tags(NEVER_READ)
        if not _is_all_without_script(tree):
            tree.strip_tags(["noscript"])
        self.root = _content_root(tree)
        self._length = len(self.root.text()) if self.root is not None else 0
        self._kept = 0
        self._candidates = _ids([*_candidates(tree), *(tree.css(", ".join(hidden)) if hidden else ())])

    def drops(self, node: LexborNode) -> bool:
        if node.mem_id not in self._candidates or self._kept > _MOST_KEPT:
            return False
        if len(node.text()) <= _MOST_DROPPED * self._length:
            return True
        self._kept += 1  # elements this large hold one another: without an end, reading them would be quadratic
        return False


def _is_all_without_script(tree: LexborHTMLParser) -> bool:
    """Whether only readers without scripts see any text at all."""
    said = sum(len(each.text().strip()) for each in tree.css("noscript"))
    return tree.body is not None and 0 < len(tree.body.text().strip()) <= said


def _content_root(tree: LexborHTMLParser) -> LexborNode | None:
    """The page's one main part where it says which that is, else its body."""
    body = tree.body
    mains = tree.css(_MAIN)
    if body is None or len(mains) != 1:
        return body
    return mains[0] if len(mains[0].text()) >= _LEAST_OF_MAIN * len(body.text()) else body


def _candidates(tree: LexborHTMLParser) -> Iterable[LexborNode]:
    yield from tree.css(f"{_OUTSIDE_OF_CONTENT}, {_WIKI}, {_LINE_NUMBERS}")
    yield from (node for node in tree.css(_HIDDEN) if not _is_panel(node))
    yield from (
        node
        for node in tree.css("[style]")
        if _HIDDEN_STYLE.search(node.attributes.get("style") or "") and not _is_panel(node)
    )
    inner = _ids(tree.css(f"{_OF_ITS_CONTENT}, {_ASIDE_IN_CONTENT}"))
    heading = _page_heading(tree)
    yield from (node for node in tree.css(_OF_THE_PAGE) if node.mem_id not in inner and not _is_content(node, heading))
    yield from (node for node in tree.css(_OF_LINKS) if _is_mostly_links(node))
    yield from (node for node in tree.css("button") if not (_is_heading(node.parent) or _opens_panel(node)))


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
    few = tree.css("header h1")[:_MOST_KEPT]
    return next((each for each in few if words and each.text().split() == words), None)


def _is_content(node: LexborNode, heading: LexborNode | None) -> bool:
    """Whether a header holds the page's own heading, or an aside is a note among paragraphs."""
    if node.tag == "header":
        return heading is not None and (inner := node.css_first("h1")) is not None and inner.mem_id == heading.mem_id
    return node.tag == "aside" and _NOTE.search(node.attributes.get("class") or "") is not None


def _is_panel(node: LexborNode) -> bool:
    """Whether its reader opens it: what stands under a tab, or under a question."""
    role, classes = (node.attributes.get(name) or "" for name in ("role", "class"))
    is_navigation = "nav" in classes or "menu" in classes
    return role == "tabpanel" or (_PANEL.search(classes) is not None and not is_navigation)


def _opens_panel(button: LexborNode) -> bool:
    """Whether it is a tab, or opens what stands right after it, as the question of an answer."""
    if button.attributes.get("role") == "tab":
        return True
    panel = button.next
    while panel is not None and panel.is_text_node:
        panel = panel.next
    if panel is None or panel.tag not in {"div", "section"}:
        return False
    return bool(
        _OPENS.search(button.attributes.get("class") or "") or _OPENED.search(panel.attributes.get("class") or "")
    )


def _is_mostly_links(node: LexborNode) -> bool:
    return sum(len(link.text()) for link in node.css("a")) > _MOST_LINKED * len(node.text().strip())


def _is_heading(node: LexborNode | None) -> bool:
    return node is not None and (
        node.tag in {"h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt"} or node.attributes.get("role") == "heading"
    )


def _ids(nodes: Iterable[LexborNode]) -> frozenset[int]:
    return frozenset(node.mem_id for node in nodes)
