"""How the paragraphs of a Word document look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from citewell.extract.docx_styles import Styles, bold_in, hidden_in, list_in, size_in
from citewell.extract.docx_tables import content_of
from citewell.extract.heading_looks import Paragraph
from citewell.extract.ooxml import Element, W, value_of

_SPACES = {W + "tab": "\t", W + "br": "\n", W + "cr": "\n"}


def paragraphs_of(body: Element, styles: Styles) -> list[Paragraph]:
    """Those with text, and the tables between them."""
    blocks = ((_block(each, styles), each.tag) for each in content_of(body))
    return [block for block, tag in blocks if block.text or tag == W + "tbl"]


def _block(element: Element, styles: Styles) -> Paragraph:
    if element.tag != W + "p":
        return Paragraph(element, "", bold=False, size=0, depth=None)
    properties = element.find(W + "pPr")
    style = value_of(properties, "pStyle") if properties is not None else None
    runs = list(_runs(element, style, styles))
    text = "".join(text for text, _, _ in runs).strip()
    seen = [(bold, size) for text, bold, size in runs if text.strip()]
    number, depth = list_in(properties)
    inherited = styles.numbering(style)
    if depth is None and (number or inherited):
        depth = inherited[1] if inherited else 0
    return Paragraph(element, text, all(bold for bold, _ in seen), min((size for _, size in seen), default=0), depth)


def _runs(paragraph: Element, style: str | None, styles: Styles) -> Iterator[tuple[str, bool, int]]:
    """Text, bold and size of each run of a paragraph itself."""
    for run in paragraph.iter(W + "r"):
        around = [each.tag for each in _up_to(run, paragraph)]
        own = run.find(W + "rPr")
        if W + "p" in around or W + "moveFrom" in around or hidden_in(own):
            continue
        named = value_of(own, "rStyle") if own is not None else None
        bold, size = styles.look_of_characters(named) if named else (None, None)
        said = bold_in(own)
        bold = said if said is not None else bold
        yield (
            "".join(each.text or "" if each.tag == W + "t" else _SPACES.get(each.tag, "") for each in run),
            styles.bold(style) if bold is None else bold,
            size_in(own) or size or styles.size(style),
        )


def _up_to(element: Element, last: Element) -> Sequence[Element]:
    between = []
    for each in element.iterancestors():
        if each is last:
            break
        between.append(each)
    return between
