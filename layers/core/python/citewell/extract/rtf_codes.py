"""Tokens and characters of RTF: code pages, and control words that stand for one character."""

from __future__ import annotations

import codecs
import re

from citewell.extract.symbols import spelled, symbol

TOKEN = re.compile(
    rb"""\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?[0-9]{1,10})?[ ]?
       | \\'(?P<hex>[0-9a-fA-F]{2})
       | \\(?P<sign>[^a-zA-Z])
       | (?P<brace>[{}])
       | (?P<text>[^\\{}\r\n]+)
       | [\r\n]+ | \\""",
    re.VERBOSE | re.DOTALL,
)
_SYMBOL_CHARSET = 2
_DEFAULT_CHARSET = 1
_PAGES = {
    0: "cp1252",
    77: "mac_roman",
    78: "cp932",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}
_NAMED = {
    "Baltic": "cp1257",
    "CE": "cp1250",
    "Cyr": "cp1251",
    "CYR": "cp1251",
    "Greek": "cp1253",
    "Tur": "cp1254",
    "(Hebrew)": "cp1255",
    "(Arabic)": "cp1256",
    "(Vietnamese)": "cp1258",
    "(Thai)": "cp874",
}
"""How a font's name ends that Windows keeps for a script; documents of before charsets say nothing else."""

_NUMBERED = {936: "gb18030", 10000: "mac_roman", 10001: "cp932", 65001: "utf-8", 0: "cp1252"}

CHARACTERS = {
    "tab": "\t",
    "line": "\n",
    "lbr": "\n",
    "softline": "\n",
    "emdash": "—",
    "endash": "–",
    "emspace": " ",
    "enspace": " ",
    "qmspace": " ",
    "bullet": "•",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "zwj": "\u200d",
    "zwnj": "\u200c",
}
SIGNS = {b"~": "\u00a0", b"_": "-", b"{": "{", b"}": "}", b"\\": "\\"}


class Font:
    """How a font's bytes are read: by its charset, or by a code page that it names itself."""

    def __init__(self) -> None:
        self.charset = _DEFAULT_CHARSET
        self.page: str | None = None
        self.name = ""

    def decode(self, data: bytes, *, default: str) -> str:
        if self.charset == _SYMBOL_CHARSET:
            return spelled(data.decode("latin-1"), self.symbols)
        page = self.page or _PAGES.get(self.charset) or _NAMED.get(self.name.strip().rpartition(" ")[2], default)
        return data.decode(page, "replace")

    @property
    def symbols(self) -> str:
        """The symbol font that it is; Wingdings is the usual one for lists, and Symbol says so."""
        return self.name.strip() or "symbol"


class Fonts:
    """The fonts of a document by number; ``default`` is the one of its text."""

    def __init__(self) -> None:
        self.default = 0
        self._page = "cp1252"
        self._fonts: dict[int, Font] = {}

    def set_page(self, number: int) -> None:
        self._page = page_of(number) or self._page

    def font(self, number: int) -> Font:
        return self._fonts.setdefault(number, Font())

    def decode(self, data: bytes, number: int | None) -> str:
        """In the font of that number; None for what stands in no font."""
        font = self._fonts.get(number) if number is not None else None
        return data.decode(self._page, "replace") if font is None else font.decode(data, default=self._page)

    def character(self, code: int, number: int) -> str:
        """Symbols stand in the private area of Unicode."""
        if not 0xF000 <= code < 0xF100:
            return chr(code)
        font = self._fonts.get(number)
        return symbol(code, font.symbols if font is not None and font.charset == _SYMBOL_CHARSET else "symbol")


def page_of(number: int) -> str | None:
    """Python's name of a Windows code page, None for one that it doesn't know."""
    name = _NUMBERED.get(number, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return None
