"""Characters of the symbol fonts, which have no meaning of their own: ``ü`` in Wingdings is a check mark.

The Symbol font's order is Adobe's (https://unicode.org/Public/MAPPINGS/VENDORS/ADOBE/symbol.txt); of Wingdings only
what people put into documents is here: boxes, marks, arrows, bullets.
"""

from __future__ import annotations

import re

_SYMBOL = dict(
    zip(
        range(0x20, 0x7F),
        " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
        strict=True,
    )
) | dict(
    zip(
        range(0xA0, 0xFF),
        "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
        strict=True,
    )
)
_WINGDINGS = {
    0x21: "✏", 0x22: "✂", 0x28: "☎", 0x2A: "✉", 0x46: "☞", 0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6E: "■", 0x6F: "□",
    0x71: "❑", 0x72: "❒", 0x73: "⬧", 0x74: "⧫", 0x75: "◆", 0x76: "❖", 0x77: "⬥", 0x9E: "·", 0x9F: "•", 0xA1: "○",
    0xA7: "▪", 0xA8: "◻", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xEF: "⇦", 0xF0: "⇨",
    0xF1: "⇧", 0xF2: "⇩", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "□"}
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}
SYMBOLS = range(0xF020, 0xF100)
"""Where Unicode means nothing by a character: for those that mean something in a symbol font only."""

SYMBOL_CHARACTER = re.compile("[\uf020-\uf0ff]")


def check_box(*, checked: bool) -> str:
    """As forms show one in documents that are text; those of PDFs, which are found by their place, are ``[x]``."""
    return "☒" if checked else "☐"


def has_symbols(text: str) -> bool:
    """Whether ``text`` has characters that mean something in a symbol font only."""
    return not text.isascii() and SYMBOL_CHARACTER.search(text) is not None


def is_symbol_font(font: str) -> bool:
    return font.lower() in _FONTS


def symbol(code: int, font: str) -> str:
    """The character that ``code`` shows in ``font``; empty for a picture that has none.

    Word writes a symbol font's characters at U+F000 and above.
    """
    table = _FONTS.get(font.lower())
    if table is not None:
        return table.get(code - 0xF000 if code in SYMBOLS else code, "")
    return "" if code in SYMBOLS or code == 0 or 0xD800 <= code < 0xE000 or code > 0x10FFFF else chr(code)


def spelled(text: str, font: str) -> str:
    """``text`` as it looks in ``font``, where that is a symbol font."""
    return "".join(symbol(ord(character), font) for character in text) if is_symbol_font(font) else text
