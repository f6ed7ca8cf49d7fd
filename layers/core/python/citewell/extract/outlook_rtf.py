"""Outlook's RTF: compressed ([MS-OXRTFCP]), and often HTML in disguise ([MS-OXRTFEX])."""

from __future__ import annotations

import codecs
import re

from citewell.extract.rtf_codes import Font

_DICTIONARY = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor "
    rb"MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_WINDOW = 4_096
_HEADER_BYTES = 16
_COMPRESSED = b"LZFu"

_TOKEN = re.compile(
    rb"\\(?P<word>[a-z]{1,32})(?P<number>-?\d{1,9})? ?|\\'(?P<hex>[0-9a-fA-F]{2})|\\(?P<sign>[^a-z])"
    rb"|(?P<brace>[{}])|(?P<text>[^\\{}\r\n]+)",
    re.DOTALL,
)
_ENCAPSULATED = re.compile(rb"\\fromhtml1?\b")
_HEAD_BYTES = 1_024
_SIGNS = {
    b"par": "\n", b"line": "\n", b"tab": "\t", b"bullet": "•", b"endash": "–", b"emdash": "—",
    b"lquote": "‘", b"rquote": "’", b"ldblquote": "“", b"rdblquote": "”",
    b"~": "\xa0", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}",
}  # fmt: skip
_SKIPPED = frozenset({b"fonttbl", b"colortbl", b"stylesheet", b"info", b"pntext"})


def unpacked(data: bytes) -> bytes:
    """RTF out of the form in which Outlook keeps it; what is cut off is read as far as it goes."""
    packed, size = data[_HEADER_BYTES:], int.from_bytes(data[4:8], "little")
    if data[8:12] != _COMPRESSED:
        return packed[:size]
    output = bytearray(_DICTIONARY)
    end = len(output) + size
    at = 0
    while at < len(packed) and len(output) < end:
        control = packed[at]
        at += 1
        for bit in range(8):
            if not control >> bit & 1:
                output += packed[at : at + 1]
                at += 1
                continue
            place, length = divmod(int.from_bytes(packed[at : at + 2], "big"), 16)
            at += 2
            # A place in a window of 4 KB that goes round: what was written there last.
            start = len(output) - (len(output) - place) % _WINDOW
            if not 0 <= start < len(output) or at > len(packed):
                return bytes(output[len(_DICTIONARY) : end])
            if start + length + 2 <= len(output):
                output += output[start : start + length + 2]
                continue
            for index in range(start, start + length + 2):  # of which the end is written meanwhile
                output.append(output[index])
    return bytes(output[len(_DICTIONARY) : end])


def html_in_rtf(rtf: bytes) -> str:
    """The page that was made RTF, as it was; empty where the RTF was none."""
    return _Page().read(rtf) if _ENCAPSULATED.search(rtf, 0, _HEAD_BYTES) else ""


class _Page:
    """Text counts, and the content of ``htmltag``; what stands between ``htmlrtf`` and ``htmlrtf0`` was added."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._bytes = bytearray()
        self._codepage = "cp1252"
        self._fonts: dict[int, Font] = {}
        self._font = 0
        self._groups: list[tuple[bool, bool, int]] = []
        self._skipped = False
        self._added = False
        self._starred = False
        self._replaced = False

    def read(self, rtf: bytes) -> str:
        for token in _TOKEN.finditer(rtf):
            if token["brace"]:
                self._brace(token["brace"])
            elif token["word"]:
                self._word(token["word"], token["number"])
            elif token["sign"] == b"*":
                self._starred = True
            elif token["sign"]:
                self._sign(token["sign"])
            else:
                self._add(bytes.fromhex(token["hex"].decode()) if token["hex"] else token["text"])
        self._decode()
        return "".join(self._text)

    def _brace(self, brace: bytes) -> None:
        self._starred = self._replaced = False
        if brace == b"{":
            self._groups.append((self._skipped, self._added, self._font))
        elif self._groups:
            self._skipped, self._added, font = self._groups.pop()
            self._set_font(font)

    def _word(self, word: bytes, number: bytes | None) -> None:
        if self._starred:
            self._starred = False
            self._skipped = word != b"htmltag"
        elif word in _SKIPPED:
            self._skipped = True
        elif word == b"htmlrtf":
            self._added = number != b"0"
        elif word == b"ansicpg" and number:
            self._codepage = _codec(f"cp{number.decode()}")
        elif word == b"f" and number:
            self._set_font(int(number))
        elif word == b"fcharset" and number:
            self._fonts.setdefault(self._font, Font()).charset = int(number)
        elif word == b"u" and number:
            self._decode()
            self._show(chr(int(number) & 0xFFFF))
            self._replaced = True  # what follows is for programs without Unicode
        else:
            self._sign(word)

    def _set_font(self, font: int) -> None:
        if font != self._font:
            self._decode()
            self._font = font

    def _sign(self, name: bytes) -> None:
        if sign := _SIGNS.get(name):
            self._decode()
            self._show(sign)

    def _show(self, text: str) -> None:
        if not self._skipped and not self._added:
            self._text.append(text)

    def _add(self, data: bytes) -> None:
        if self._replaced:
            data = data[1:]
            self._replaced = False
        if not self._skipped and not self._added:
            self._bytes += data

    def _decode(self) -> None:
        if self._bytes:
            font = self._fonts.get(self._font) or Font()
            self._text.append(font.decode(bytes(self._bytes), default=self._codepage))
            self._bytes.clear()


def _codec(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"
