"""How the paragraphs of an OpenDocument text look."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.extract.heading_looks import Paragraph
from citewell.extract.odt_styles import TABLE, TEXT, Styles
from citewell.extract.odt_tables import content_of
from citewell.extract.ooxml import Element

_SPACES = {TEXT + "tab": "\t", TEXT + "line-break": "\n", TEXT + "s": " "}
_INLINE = {TEXT + "span", TEXT + "a"}


def paragraphs_of(body: Element, styles: Styles) -> list[Paragraph]:
    """Those with text, and the tables between them."""
    return [each for each in _blocks(body, styles, None) if each.text or each.element.tag == TABLE + "table"]


def _blocks(container: Element, styles: Styles, depth: int | None) -> Iterator[Paragraph]:
    """``depth`` is the one of the list that ``container`` is an item of."""
    for each in content_of(container):
        if each.tag == TEXT + "list":
            for item in each.iterchildren(TEXT + "list-item", TEXT + "list-header"):
                yield from _blocks(item, styles, 0 if depth is None else depth + 1)
        elif each.tag == TEXT + "p":
            yield _paragraph(each, styles, depth)
        elif each.tag == TABLE + "table":
            yield Paragraph(each, "", bold=False, size=0, depth=None)


def _paragraph(element: Element, styles: Styles, depth: int | None) -> Paragraph:
    style = element.get(TEXT + "style-name")
    runs = list(_runs(element, styles, bold=bool(styles.bold(style)), size=styles.size(style)))
    seen = [(bold, size) for text, bold, size in runs if text.strip()]
    text = "".join(text for text, _, _ in runs).strip()
    return Paragraph(element, text, all(bold for bold, _ in seen), min((size for _, size in seen), default=0), depth)


def _runs(parent: Element, styles: Styles, *, bold: bool, size: float) -> Iterator[tuple[str, bool, float]]:
    """Text, bold and size of what stands in one form."""
    style = parent.get(TEXT + "style-name")
    if styles.hidden(style):
        return
    if parent.tag in _INLINE and style is not None:
        said = styles.bold(style)
        bold, size = bold if said is None else said, styles.size(style, around=size)
    yield (parent.text or "").replace("\n", " "), bold, size
    for child in parent:
        if child.tag in _INLINE:
            yield from _runs(child, styles, bold=bold, size=size)
        elif child.tag in _SPACES:
            yield _SPACES[child.tag], bold, size
        yield (child.tail or "").replace("\n", " "), bold, size
