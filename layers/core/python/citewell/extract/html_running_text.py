"""The text of a page's block while it is read: white space as a browser shows it, pictures by what is said of them."""

from __future__ import annotations

import re
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from citewell.extract.html_superscripts import BEGINNING, end_superscript

_SPACE = re.compile(r"\s+")
_SPACE_IN_LINES = re.compile(r"[^\S\n]+")
_BEGINS, _ENDS = "\ufdd0", "\ufdd1"  # around what is said of a picture; Unicode has these for a program's own use
_PICTURE = re.compile(f"{_BEGINS}([^{_BEGINS}{_ENDS}]*){_ENDS}")
_BETWEEN = re.compile(rf"[\s{_BEGINS}]*")


class Taken(NamedTuple):
    """``is_picture``: nothing stands there but what is said of pictures."""

    text: str
    is_picture: bool


class RunningText:
    """Is told of what stands in a block piece by piece; :meth:`take` gives the whole, and it begins anew."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._lines_kept = 0

    def keep_lines(self, *, begins: bool) -> None:
        """From here to where that ends, a line end parts lines."""
        self._lines_kept += 1 if begins else -1

    def add(self, text: str) -> None:
        self._pieces.append((_SPACE_IN_LINES if self._lines_kept else _SPACE).sub(" ", text))

    def add_verbatim(self, text: str) -> None:
        self._pieces.append(text)

    def add_picture(self, said: str) -> None:
        self._pieces.append(f" {_BEGINS}{said}{_ENDS} ")

    def begin_superscript(self) -> None:
        self._pieces.append(BEGINNING)

    def end_superscript(self, node: LexborNode) -> None:
        end_superscript(self._pieces, node)

    def end_line(self) -> None:
        """Unless one has just ended."""
        if self._pieces and not self._pieces[-1].endswith("\n"):
            self._pieces.append("\n")

    def is_blank(self) -> bool:
        return not "".join(self._pieces).strip()

    def take(self) -> Taken:
        text = "".join(self._pieces)
        self._pieces.clear()
        if _BEGINS not in text:
            return Taken(text, is_picture=False)
        return Taken(_PICTURE.sub(_said_once, text), is_picture=not _PICTURE.sub("", text).strip())


def begins_with(text: str, words: str) -> bool:
    """Whether ``text`` says ``words`` first, however they are spaced and cased."""
    said, first = " ".join(text.split()).casefold(), " ".join(words.split()).casefold()
    return said.startswith(first) and not said[len(first) : len(first) + 1].isalnum()


def _said_once(picture: re.Match[str]) -> str:
    """What is said of a picture, unless the text beside it says it too: a flag's country, a card's title."""
    said, text = picture[1], picture.string
    between = _BETWEEN.match(text, picture.end())
    start = between.end() if between else picture.end()
    before = text[max(0, picture.start() - len(said) - 2) : picture.start()].rstrip()
    is_repeated = begins_with(text[start : start + len(said) + 1], said) or before.casefold().endswith(said.casefold())
    return "" if is_repeated else said
