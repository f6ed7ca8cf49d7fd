"""Writes what a reader finds as one text with blocks: the same form, whatever the format."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest

from citewell.core.values import Block, BlockKind, ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.normalising import is_blank, normalise
from citewell.extract.options import Limits

_HEADING_CHARACTERS = 120
_TO_WRITE_ON = "_____"
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\ufffe\uffff]+")
# What most text is made of: none of it changes, by itself or beside another. So only its white space needs a look.
_PLAIN = re.compile(
    "[\n -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u3041-\u3096\u4e00-\u9fff]*"
)
_PRESENTATION_FORMS = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdff\ufe70-\ufefc]+")


class TextBuilder:
    """Takes the blocks of a document in reading order; :meth:`finish` gives the text.

    Blocks are parted by a blank line, the items of one list by a line end. A block that is blank is left out.
    Every text given is cleaned: normalised, white space collapsed (but in code), invisible characters gone, ligatures
    in letters. Raises DocumentRejected ``too_large`` when the text outgrows ``limits.characters``.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pieces: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._path: list[tuple[int, str]] = []
        self._headings: tuple[str, ...] = ()  # of the path
        self._page: int | None = None
        self._list_open = False

    @property
    def length(self) -> int:
        """Characters written so far."""
        return self._length

    def apart(self) -> TextBuilder:
        """An empty builder under the same limits, for what is to be looked at before it is written."""
        return TextBuilder(self._limits)

    def page(self, number: int, *, anew: bool = False) -> None:
        """What follows stands on this page, slide or sheet (from 1); ``anew``: under no heading of the ones before."""
        self._page = number
        if anew:
            self._go_to([])
        self._list_open = False

    def metadata(self, fields: Iterable[tuple[str, str]]) -> None:
        """What the document says of itself, one ``Name: value`` a line; only before every other block."""
        lines = (f"{clean_line(name)}: {clean_line(value)}" for name, value in fields if not is_blank(value))
        self._add(BlockKind.METADATA, "\n".join(lines))

    def heading(self, level: int, text: str) -> None:
        """A heading of ``level`` (1 is the highest). A line to write on is a paragraph, whatever its style."""
        line = clean_line(text)
        if is_blank(line):
            return
        if _TO_WRITE_ON in line:
            self.paragraph(text)
            return
        above = [heading for heading in self._path if heading[0] < level]
        self._go_to([*above, (level, shortened(line))])
        self._add(BlockKind.HEADING, line)

    def paragraph(self, text: str) -> None:
        """Lines given apart stay apart."""
        self._add(BlockKind.PARAGRAPH, clean(text))

    def item(self, text: str, *, depth: int = 0, marker: str = "-") -> None:
        """A list's item. ``marker`` is what a reader sees before it: a bullet becomes ``-``, numbers stay."""
        line = clean(text).replace("\n", " ")
        if is_blank(line):
            return
        was_open = self._list_open
        line = f"{'  ' * depth}{marker} {line}"
        if was_open and self._blocks[-1].kind is BlockKind.LIST:
            self._extend("\n", line)
        else:
            self._add(BlockKind.LIST, line)
        self._list_open = True

    def end_list(self) -> None:
        """The next item begins another list."""
        self._list_open = False

    def code(self, text: str, *, goes_on: bool = False) -> None:
        """Verbatim but for line ends and control characters. ``goes_on``: one block with code written just before."""
        code = normalise(text).strip("\n").rstrip()
        if goes_on and self._blocks and self._blocks[-1].kind is BlockKind.CODE and not is_blank(code):
            self._extend("\n", code)
        else:
            self._add(BlockKind.CODE, code)

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Rows of cells, the first one the head: written with pipes, a row a line, dashes under the head.

        Rows and columns in which every cell is blank are left out.
        """
        if sum(map(len, rows)) > self._limits.characters:
            raise self._too_large()
        cleaned = [[clean_line(cell).replace("|", "\\|") for cell in row] for row in rows]
        written = list(zip_longest(*[row for row in cleaned if any(row)], fillvalue=""))
        columns = [column for column in written if any(column)]
        lines = ["| " + " | ".join(row) + " |" for row in zip(*columns, strict=True)]
        if lines:
            lines.insert(1, "| " + " | ".join(["---"] * len(columns)) + " |")
        self._add(BlockKind.TABLE, "\n".join(lines))

    @contextmanager
    def beside_the_text(self) -> Iterator[None]:
        """Headings written meanwhile hold until it ends: what floats over a page doesn't go on below it."""
        path = self._path
        yield
        self._go_to(path)

    def include(self, document: ExtractedText) -> None:
        """The blocks of another document but for what it says of itself; its headings are of the levels they have."""
        for block in document.blocks:
            text = document.text[block.start : block.end]
            if block.kind is BlockKind.HEADING:
                self.heading(len(block.headings), text)
            elif block.kind is not BlockKind.METADATA:
                self._add(block.kind, text)

    def finish(
        self,
        *,
        title: str | None = None,
        pages: int | None = None,
        unread_pages: Sequence[int] = (),
        language: str | None = None,
        effective_date: str | None = None,
    ) -> ExtractedText:
        """The whole document. Raises DocumentRejected ``empty`` when nothing was written."""
        if not self._blocks:
            raise DocumentRejected("empty", "the document holds no text")
        return ExtractedText(
            "".join(self._pieces),
            tuple(self._blocks),
            title=shortened(clean_line(title)) or None if title else None,
            pages=pages,
            unread_pages=tuple(unread_pages),
            language=language,
            effective_date=effective_date,
        )

    def _add(self, kind: BlockKind, text: str) -> None:
        self._list_open = False
        if is_blank(text):
            return
        self._append("\n\n" if self._blocks else "", text)
        self._blocks.append(Block(kind, self._length - len(text), self._length, self._headings, self._page))

    def _go_to(self, path: list[tuple[int, str]]) -> None:
        self._path = path
        self._headings = tuple([heading for _, heading in path])

    def _extend(self, separator: str, text: str) -> None:
        """Go on with the last block."""
        self._append(separator, text)
        last = self._blocks[-1]
        self._blocks[-1] = Block(last.kind, last.start, self._length, last.headings, last.page)

    def _append(self, separator: str, text: str) -> None:
        self._pieces += (separator, text)
        self._length += len(separator) + len(text)
        if self._length > self._limits.characters:
            raise self._too_large()

    def _too_large(self) -> DocumentRejected:
        return DocumentRejected("too_large", f"more than {self._limits.characters} characters of text")


def clean(text: str) -> str:
    """Text in one form: NFC, ``\\n`` line ends, one space between words, no invisible characters, ligatures spelled."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    if not _PLAIN.fullmatch(text):
        text = _PRESENTATION_FORMS.sub(_in_letters, _INVISIBLE.sub("", text))
        text = normalise(text)  # at last, as what stood between two characters may have kept them from being one
    if "\n" not in text:
        return " ".join(text.split())
    return "\n".join(line for line in (" ".join(each.split()) for each in text.split("\n")) if line)


def _in_letters(form: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", form[0])


def clean_line(text: str) -> str:
    """:func:`clean`, on one line."""
    return clean(text).replace("\n", " ")


def shortened(line: str) -> str:
    """At most 120 characters of a heading, cut at a word."""
    if len(line) <= _HEADING_CHARACTERS:
        return line
    cut = line[: _HEADING_CHARACTERS - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[_HEADING_CHARACTERS // 2 :] else cut) + "…"
