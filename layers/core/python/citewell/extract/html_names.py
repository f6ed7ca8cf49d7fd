"""What elements are called, by class or id, where that says that they stand around a page's content.

A name is only looked at as a whole, or as whole words: ``main-nav`` and ``navPrimary`` have the word ``nav``, and
``unavailable`` doesn't.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from functools import lru_cache


class Called(Enum):
    """What a name says: ``AROUND`` by itself, ``MENU`` only of what is mostly links, ``UNSEEN`` is read out aloud."""

    AROUND = auto()
    MENU = auto()
    UNSEEN = auto()


# As they stand in the pages that each of these writes; ``#`` is before an id and ``.`` before a class, as in CSS.
_AROUND_BY_ORIGIN = {
    "layouts": """
        #nav #navigation #navbar #sidebar #header #footer #breadcrumbs .breadcrumb .breadcrumbs .nav .navbar .sidebar
        .footer .site-header .site-footer .page-footer #page-footer .skip-link .skip-to-content .skiplink""",
    "cookie managers": """
        .cc-window #onetrust-consent-sdk #CybotCookiebotDialog #usercentrics-root #cookie-law-info-bar
        .cky-consent-container #BorlabsCookieBox #didomi-host""",
    "advertising": """
        .adsbygoogle .advertisement .advert .ad-slot .ad-container .ad-wrapper .ad-banner .banner-ad .google-ad""",
    "sharing": """
        .social-share .social-sharing .share-buttons .share-links .sharedaddy .addtoany_content .a2a_kit
        .addthis_toolbox .shariff .newsletter-signup""",
    "WordPress": "#respond .widget-area .jp-relatedposts #colophon",
    "MediaWiki": """
        .mw-editsection .mw-jump-link .mw-indicators .mw-cite-backlink .mw-empty-elt .navbox .vertical-navbox
        .sistersitebox .printfooter .catlinks .authority-control .vector-column-start .vector-page-toolbar
        .mw-portlet #p-lang-btn #siteSub #contentSub .noprint #mw-navigation #mw-panel #column-one #jump-to-nav
        #siteNotice""",
    "Confluence": """
        .page-metadata #breadcrumb-section .ia-fixed-sidebar #likes-and-labels-container
        #comments-section""",
    "Sphinx": ".sphinxsidebar .wy-nav-side .rst-versions .viewcode-link .viewcode-back",
    "MkDocs, Docusaurus": ".md-header .md-tabs .md-sidebar .md-footer .md-skip .theme-edit-this-page",
    "Doxygen": "#titlearea #navrow1 #navrow2 #navrow3 #navrow4 #nav-path #side-nav .navpath .qindex .ttc .icona",
    "Javadoc": ".topNav .bottomNav .subNav .top-nav .sub-nav",
    "DocBook": ".navheader .navfooter",
}
_AROUND = frozenset(name.lower() for names in _AROUND_BY_ORIGIN.values() for name in names.split())

_UNSEEN = frozenset({
    "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader-only", "screenreader",
    "element-invisible", "assistive-text", "a-offscreen",
})  # fmt: skip
"""Classes of Bootstrap, the HTML5 boilerplate, WordPress and Drupal for words that are there for screen readers."""

_MENU_WORDS = frozenset({
    "menu", "menus", "submenu", "nav", "navi", "navigation", "subnav", "sidenav", "topnav", "navbar", "navlist",
    "breadcrumb", "breadcrumbs", "pagination", "paginator", "pager", "paging", "skip", "skipnav", "tabs", "related",
})  # fmt: skip

_NO_MENU = frozenset({"no", "not", "non", "without", "item", "link", "entry", "card"})
"""With such a word it has none, or is a part of one: of a site's menu, which goes as a whole, or of a canteen's."""

_OF_COOKIES = frozenset({"cookie", "cookies", "gdpr", "dsgvo", "consent"})
_OF_A_BANNER = frozenset({
    "banner", "bar", "box", "consent", "dialog", "disclaimer", "hint", "layer", "message", "modal", "notice",
    "notification", "overlay", "popup", "toast", "warning",
})  # fmt: skip
"""Together with a word for cookies; "consent" is one for both, as a form of consent is none for cookies."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@lru_cache(maxsize=4096)
def called(classes: str, identifier: str) -> Called | None:
    """What the values of an element's ``class`` and ``id`` say of it."""
    names = classes.split()
    if any(f".{name.lower()}" in _AROUND for name in names) or f"#{identifier.lower()}" in _AROUND:
        return Called.AROUND
    kinds = {_by_words(frozenset(_words(name))) for name in (*names, identifier)}
    if kinds != {None}:
        return Called.AROUND if Called.AROUND in kinds else Called.MENU
    return Called.UNSEEN if any(name.lower() in _UNSEEN for name in names) else None


def _by_words(words: frozenset[str]) -> Called | None:
    of_cookies = words & _OF_COOKIES
    if of_cookies and (words & _OF_A_BANNER) - ({"consent"} if of_cookies == {"consent"} else set()):
        return Called.AROUND
    return Called.MENU if words & _MENU_WORDS and not words & _NO_MENU else None


def _words(name: str) -> Iterator[str]:
    return (word.lower() for word in _WORD.findall(name[:100]))


def words_of(identifier: str) -> list[str]:
    """Those of an id, to be compared with those of the heading that it was made of."""
    return re.findall(r"\w+", identifier.replace("_", " ").lower())
