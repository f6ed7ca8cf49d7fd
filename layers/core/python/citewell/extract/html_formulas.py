"""Formulas of a page: MathML, whose parts would run together as plain text."""

from __future__ import annotations

import re

from lxml import etree
from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.extract.mathml import MATH_ML, mathml
from citewell.extract.ooxml import Element

_DEEPEST = 50
_NAME = re.compile(r"[a-z]+(?:-[a-z]+)?")
_ATTRIBUTES = ("accent", "open", "close", "separators")


def write_formulas_out(tree: LexborHTMLParser) -> None:
    """Put in place of each formula its line of text; one that is damaged stays as it is."""
    for math in tree.css("math"):
        if len(math.css("math")) > 1:  # itself is one; what replaces it would take the inner ones along
            continue
        try:
            line = mathml(_element(math)).strip()
        except ValueError:
            continue
        if line:
            math.replace_with(line)


def _element(node: LexborNode, depth: int = 0) -> Element:
    """Raises ValueError for what nests too deep, or holds what no XML may."""
    if depth > _DEEPEST or not _NAME.fullmatch(node.tag or ""):
        raise ValueError("no formula")
    element = etree.Element(f"{MATH_ML}{node.tag}")
    for name in _ATTRIBUTES:
        if (value := node.attributes.get(name)) is not None:
            element.set(name, value)
    for child in node.iter(include_text=True):
        if child.is_text_node:
            _append_text(element, child.text_content or "")
        else:
            element.append(_element(child, depth + 1))
    return element


def _append_text(element: Element, text: str) -> None:
    if len(element):
        element[-1].tail = (element[-1].tail or "") + text
    else:
        element.text = (element.text or "") + text
