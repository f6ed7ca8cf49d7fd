"""What the groups of an RTF document have set, and its styles."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from citewell.extract.rtf_blocks import Paragraph
from citewell.extract.rtf_formulas import FormulaPart

_HEADING_NAME = re.compile(r"heading ?([1-9])", re.IGNORECASE)


@dataclass(slots=True)
class State:
    """What a group has set; its end brings back the outer one's.

    ``into`` is where text goes: ``body``, ``formula``, a name of what is collected, or ``nothing``. Properties are
    looked for in a ``picture``, in the code of a ``field`` and its ``form``. ``formula`` is the part of it to write in.
    """

    into: str = "body"
    paragraph: Paragraph = field(default_factory=Paragraph)
    font: int = 0
    hidden: bool = False
    deleted: bool = False
    raised: bool = False
    unicode_skip: int = 1
    opens: str | None = None
    formula: FormulaPart | None = None
    is_part: bool = False
    """Whether the group has said which part of the formula it is."""

    def inner(self) -> State:
        """What a group begins with. Written out, as documents open groups by the hundred thousand."""
        outer = self.paragraph
        paragraph = Paragraph(
            outer.style, outer.level, outer.is_title, outer.in_table, outer.nested, outer.depth, outer.list_number,
            outer.marker,
        )  # fmt: skip
        inner = State(self.into, paragraph, self.font, self.hidden, self.deleted, self.raised, self.unicode_skip)
        inner.formula = self.formula
        return inner


@dataclass(frozen=True, slots=True)
class Style:
    """``level`` is a heading's, from 1."""

    level: int | None = None
    is_title: bool = False


def style_of(name: str, level: int | None) -> Style:
    """``level`` is the one that the style says it has."""
    is_title = name.lower() == "title"
    heading = _HEADING_NAME.fullmatch(name)
    return Style(int(heading[1]) if heading else 1 if is_title else level, is_title)
