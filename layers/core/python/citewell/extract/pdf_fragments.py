"""Words that stand together on a PDF's page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from citewell.extract.pdf_text_page import SOFT_BREAK

HYPHENS = f"\u2010\u00ad{SOFT_BREAK}-"
GLYPHS = "•‣◦▪▫■□●○◆◇►▶➢➤❖❑❒◻"
MARKS = "☐☑☒✓✔✗✘"  # what begins an item and says something of it
BULLETS = MARKS + GLYPHS + "·∙–—*\uf020-\uf0ff-"  # those in private use are Symbol's, Wingdings'
MARKER = re.compile(rf"[{BULLETS}]|\(?(?:\d{{1,3}}|[A-Za-z]|[ivxIVX]{{1,5}})[.)]|\d{{1,2}}(?:\.\d{{1,2}})+\.?")

# In ems, the size of the type.
SAME_LINE = 0.45  # between the middles of what stands on one line, such as a raised figure
FIXED_WIDTH = 0.6  # as most type of one width has it
_CELLS_OF_A_TABLE = 3


@dataclass(slots=True)
class Fragment:
    """Words on one line without a wide gap between them.

    Lengths are points; ``left``, ``right`` and ``middle`` (of its height, downwards) are seen with its text upright,
    after ``turn`` quarter turns of the page. ``fixed``: of characters of one width. ``order`` counts up in the order in
    which the page draws its text. ``whole`` is false where a line was put together across a wide gap.
    """

    text: str
    left: float
    right: float
    middle: float
    size: float
    turn: int = 0
    bold: bool = False
    fixed: bool = False
    order: int = 0
    whole: bool = True

    @property
    def top(self) -> float:
        return self.middle - self.size / 2

    @property
    def bottom(self) -> float:
        return self.middle + self.size / 2


def may_be_table(fragments: list[Fragment]) -> bool:
    """Whether text stands beside other text in several places: no other page is worth the look at its lines.

    What is drawn next stands further down in running text, and beside or further up where a cell ends.
    """
    beside = 0
    for one, other in pairwise(fragments):
        if other.middle - one.middle < SAME_LINE * one.size:
            beside += 1
            if beside == _CELLS_OF_A_TABLE:
                return True
    return False
