"""The title of a slide that was drawn as a text box, since its layout has none or another one was wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from citewell.extract.drawing import plain_text
from citewell.extract.ooxml import A, Element, P, number_of
from citewell.extract.slide_layout import Box, Inherited, placeholder_of

_USUAL_SIZE = 1_800
_LEAST_SIZE = 2_000
"""Hundredths of a point, as all sizes here."""

_MOST_CHARACTERS = 120
_MOST_LINES = 3


def drawn_title(shapes: Sequence[tuple[Element, Box | None]], inherited: Inherited) -> Element | None:
    """The text box that a reader takes for the title: above all else that is said, and in larger letters.

    ``shapes`` are those of a slide that have something to say; pictures may stand higher.
    """
    placed = [(shape, box) for shape, box in shapes if box is not None]
    if len(placed) < 2:
        return None
    title, box = min(placed, key=lambda each: each[1].top)
    middle = (box.top + box.bottom) // 2
    others = [shape for shape, _ in shapes if shape is not title]
    if (
        title.tag != P + "sp"
        or placeholder_of(title) is not None
        or not _is_short(plain_text(title.find(P + "txBody")))
        or any(other.top < middle for shape, other in placed if shape is not title)
    ):
        return None
    size = min(_sizes(title, inherited), default=0)
    largest = max((each for shape in others for each in _sizes(shape, inherited)), default=0)
    return title if size >= _LEAST_SIZE and size > largest else None


def _is_short(text: str) -> bool:
    return len(text) <= _MOST_CHARACTERS and len(text.splitlines()) <= _MOST_LINES


def _sizes(shape: Element, inherited: Inherited) -> Iterator[int]:
    """Those of its letters; tables, and what stands in groups, say them where they aren't the usual ones."""
    styles = [*shape.iterfind(f"{P}txBody/{A}lstStyle"), *inherited.list_styles(placeholder_of(shape))]
    for paragraph in shape.iter(A + "p"):
        properties = paragraph.find(A + "pPr")
        level = (number_of(properties.get("lvl")) if properties is not None else None) or 0
        said = (_size(style.find(f"{A}lvl{level + 1}pPr/{A}defRPr")) for style in styles)
        usual = next(filter(None, said), _USUAL_SIZE)
        for run in paragraph.iter(A + "r", A + "fld"):
            if (run.findtext(A + "t") or "").strip():
                yield _size(run.find(A + "rPr")) or usual


def _size(properties: Element | None) -> int | None:
    return number_of(properties.get("sz")) if properties is not None else None
