"""What stands open around a page's text, which says where that text goes when a block ends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from citewell.extract.building import TextBuilder
from citewell.extract.html_elements import BLOCKS
from citewell.extract.html_running_text import RunningText, begins_with

_BLANK_LINE = re.compile(r"\n\s*\n")  # as pages have it that part paragraphs with two ``br``


class Place(Enum):
    """Where text goes."""

    FLOW = auto()
    HEADING = auto()
    ITEM = auto()
    TERM = auto()
    CELL = auto()


@dataclass(slots=True)
class Open:
    """``depth`` of an item, level of a heading; ``lines`` are the blocks that don't end this heading."""

    place: Place
    marker: str = ""
    depth: int = 0
    lines: frozenset[str] = frozenset()


class OpenBlocks:
    """A stack of its own, so that no page nests too deep for it; ``text`` is that since the last block."""

    def __init__(self, builder: TextBuilder) -> None:
        self.text = RunningText()
        self.code_depth = 0
        self._builder = builder
        self._stack = [Open(Place.FLOW)]
        self._picture = ""
        self._said = ""

    @property
    def here(self) -> Open:
        """The innermost."""
        return self._stack[-1]

    def is_in_cell(self) -> bool:
        return self.here.place is Place.CELL

    def begin(self, place: Place, *, marker: str = "", depth: int = 0) -> None:
        self.flush()
        self._stack.append(Open(place, marker, depth))

    def end(self) -> str:
        """Close the innermost; its text, which isn't written."""
        self._stack.pop()
        return self.text.take().text

    def close(self) -> None:
        """Write the innermost, and close it."""
        self.flush()
        self._stack.pop()

    def part(self) -> None:
        """A block begins or ends here; inside a cell, an item or a heading that only parts lines."""
        if self.code_depth:
            self.text.end_line()
        elif self.here.place is not Place.FLOW:
            self.text.add_verbatim("\n")
        else:
            self.flush()

    def flush(self) -> None:
        """Write the text since the last time as what is open."""
        text, is_picture = self.text.take()
        here = self.here
        if not text.strip():
            return
        if is_picture and here.place is Place.FLOW:
            self._hold(text)
            return
        self.write_picture(before=text)
        self._said = text
        if here.place is Place.ITEM:
            self._builder.item(text, depth=here.depth, marker=here.marker)
            here.marker = ""  # what goes on after an inner list
        elif here.place is Place.HEADING:
            self._builder.heading(here.depth, text.replace("\n", " "))
            here.place = Place.FLOW  # what goes on is no heading
        else:
            for paragraph in _BLANK_LINE.split(text):
                self._builder.paragraph(paragraph)

    def end_heading(self, *, before: str) -> None:
        """A heading that nobody closed goes on to the next one, and ends for a reader where a block begins.

        One that is all in blocks, or has some that say nothing by themselves, was written so.
        """
        here = self.here
        if here.place is not Place.HEADING:
            return
        if here.lines and self.text.is_blank():
            here.lines = BLOCKS
        if before not in here.lines:
            self.flush()

    def begin_code(self) -> None:
        if not self.code_depth:
            self.flush()
        self.code_depth += 1

    def end_code(self) -> None:
        self.code_depth -= 1
        if not self.code_depth:
            self.write_picture()
            self._builder.code(self.text.take().text)

    def write_picture(self, *, before: str = "") -> None:
        """The one that is held, unless the block that follows it, ``before`` which it stands, says the same."""
        picture, self._picture = self._picture, ""
        if picture and not begins_with(before, picture):
            self._builder.paragraph(picture)

    def _hold(self, picture: str) -> None:
        """A caption or title that says the same may follow it, or have been before it."""
        self.write_picture()
        self._picture = "" if begins_with(self._said, picture) and begins_with(picture, self._said) else picture
