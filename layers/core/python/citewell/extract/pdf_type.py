"""What the type is like that a PDF's words are set in."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from citewell.extract.pdf_text_page import Font

_BOLD = re.compile(r"bold|black|heavy|demi|-medi(?!um)|^cm(?:ss)?b|^sfbx", re.IGNORECASE)
_FIXED = re.compile(r"courier|mono|nimbusmon|consol|menlo|typewriter|cm(?:sl)?tt|lettergothic|fixed", re.IGNORECASE)
_SYMBOLS = re.compile(r"(wingdings|symbol)(?:[- ]?(?:regular|mt))?[- ]?(2?)(?![\w3])", re.IGNORECASE)
_FORCE_BOLD = 1 << 18
_FIXED_PITCH = 1
_TALLEST = 12.0  # times the height of what is drawn, which may be a dash


class Look(NamedTuple):
    """Whether a font is bold, whether its characters have one width, and which symbol font it is, if it is one."""

    bold: bool
    fixed: bool
    symbols: str


@lru_cache(maxsize=1_000)
def look_of(font: Font) -> Look:
    name, flags = font[0].decode("latin-1"), font[1]
    name = name.partition("+")[2] or name
    symbols = _SYMBOLS.match(name)
    return Look(
        bool(_BOLD.search(name)) or bool(flags & _FORCE_BOLD),
        bool(_FIXED.search(name)) or bool(flags & _FIXED_PITCH),
        " ".join(filter(None, symbols.groups())).lower() if symbols else "",
    )


def likely_size(size: float, height: float) -> float:
    """The size of type as it is seen; by the height of its box where a font's own figures can't be true."""
    is_likely = 0.2 * height < size < _TALLEST * height or (height < 1.0 <= size)
    return size if is_likely else max(height, 1.0)
