"""An HTML page's elements, in document order, to blocks."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from selectolax.lexbor import LexborNode

from citewell.extract.building import TextBuilder
from citewell.extract.html_tables import HtmlTable, complex_cells
from citewell.extract.numerals import letters, roman
from citewell.extract.superscripts import raised_after

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_CODE = frozenset({"pre", "xmp", "listing", "plaintext"})
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "legend", "main",
    "nav", "p", "search", "section", "summary", "optgroup", "caption", "tbody", "thead", "tfoot",
})  # fmt: skip
_LINES_OF_A_HEADING = frozenset({"div", "hgroup", "center"})
_LONGEST_HEADING = 250
_SPACE = re.compile(r"\s+")
_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|avif)", re.IGNORECASE)
_SAYS_NOTHING = frozenset({
    "image", "img", "picture", "photo", "photograph", "logo", "icon", "banner", "avatar", "spacer",
    "thumbnail", "screenshot", "figure", "graphic", "arrow", "bullet",
})  # fmt: skip


class _Place(Enum):
    """Where text goes: what stands open around it."""

    FLOW = auto()
    HEADING = auto()
    ITEM = auto()
    TERM = auto()
    CELL = auto()


@dataclass(slots=True)
class _Open:
    """``depth`` of an item, level of a heading; ``lines`` are the blocks that don't end this heading."""

    place: _Place
    marker: str = ""
    depth: int = 0
    lines: frozenset[str] = frozenset()


@dataclass(slots=True)
class _List:
    numbered: bool
    style: str
    number: int
    step: int


class BlockWriter:
    """Is told of each node twice, before its children and after them; writes blocks as soon as they are whole.

    It holds its own stack of what is open, so that no page nests too deep for it.
    """

    def __init__(self, builder: TextBuilder, root: LexborNode) -> None:
        self._builder = builder
        self._complex_cells = complex_cells(root)
        self._text: list[str] = []
        self._open = [_Open(_Place.FLOW)]
        self._lists: list[_List] = []
        self._tables: list[HtmlTable] = []
        self._inner_tables = 0
        self._terms: list[str] = []
        self._code_depth = 0
        self._headings_open = 0

    def enter(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if node.is_text_node:
            self._add_text(node.text_content or "")
        elif action := _ENTER.get(tag):
            action(self, node)
        elif tag in _BLOCKS:
            self._end_heading(before=tag)
            self._break()

    def leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if action := _LEAVE.get(tag):
            action(self, node)
        elif tag in _BLOCKS:
            self._break()
            self._end_heading(before=tag)

    def finish(self) -> None:
        self._flush()
        self._write_terms()

    # --- text ---

    def _add_text(self, text: str) -> None:
        self._text.append(text if self._code_depth else _SPACE.sub(" ", text))

    def _line_break(self, _: LexborNode) -> None:
        self._text.append("\n")

    def _part_words(self, _: LexborNode) -> None:
        self._text.append(" ")

    def _quotation_mark(self, _: LexborNode) -> None:
        self._text.append('"')

    def _image(self, node: LexborNode) -> None:
        alt = (node.attributes.get("alt") or "").strip()
        if alt and alt.lower() not in _SAYS_NOTHING and not _FILE_NAME.fullmatch(alt):
            self._text.append(f" {alt} ")

    def _enter_superscript(self, _: LexborNode) -> None:
        self._text.append("\x00")  # marks where it began; no text holds it, as the parser replaces it

    def _leave_superscript(self, node: LexborNode) -> None:
        """An exponent of a number mustn't become its last digits, nor a note's number a word's."""
        for start in range(len(self._text) - 1, -1, -1):
            if self._text[start] == "\x00":
                before = "".join(self._text[max(0, start - 1) : start])
                text = "".join(self._text[start + 1 :])
                self._text[start:] = [_superscript(before, text, is_note=node.css_first("a") is not None)]
                return

    # --- blocks ---

    def _break(self) -> None:
        """A block begins or ends here; inside a cell, an item or a heading that only parts lines."""
        if self._code_depth or self._open[-1].place is not _Place.FLOW:
            self._text.append("\n")
        else:
            self._flush()

    def _flush(self) -> None:
        """Write the text since the last time as what is open."""
        text = "".join(self._text)
        self._text.clear()
        here = self._open[-1]
        if not text.strip():
            return
        if here.place is _Place.ITEM:
            self._builder.item(text, depth=here.depth, marker=here.marker)
            here.marker = ""  # what goes on after an inner list
        elif here.place is _Place.HEADING:
            self._builder.heading(here.depth, text.replace("\n", " "))
            here.place = _Place.FLOW  # what goes on is no heading
        else:
            self._builder.paragraph(text)

    def _begin(self, place: _Place, *, marker: str = "", depth: int = 0) -> None:
        self._flush()
        self._open.append(_Open(place, marker, depth))

    def _end(self) -> str:
        text = "".join(self._text)
        self._text.clear()
        self._open.pop()
        return text

    def _is_in_cell(self) -> bool:
        return self._open[-1].place is _Place.CELL

    def _enter_heading(self, node: LexborNode) -> None:
        if self._is_in_cell():
            self._break()
            return
        # One within another, which was never closed, isn't looked at again: that would take quadratic time.
        has_lines = not self._headings_open and not is_long_heading(node)
        self._headings_open += 1
        self._begin(_Place.HEADING, depth=_HEADINGS[node.tag or ""])
        self._open[-1].lines = _LINES_OF_A_HEADING if has_lines else frozenset()

    def _end_heading(self, *, before: str) -> None:
        """A heading that nobody closed goes on to the next one, and ends for a reader where a block begins.

        One that is all in blocks, or has some that say nothing by themselves, was written so.
        """
        here = self._open[-1]
        if here.place is not _Place.HEADING:
            return
        if here.lines and not "".join(self._text).strip():
            here.lines = _BLOCKS
        if before not in here.lines:
            self._flush()

    def _leave_heading(self, _: LexborNode) -> None:
        if self._is_in_cell():
            self._break()
            return
        self._headings_open -= 1
        self._flush()
        self._open.pop()

    def _enter_code(self, _: LexborNode) -> None:
        if self._is_in_cell():
            self._break()
            return
        if not self._code_depth:
            self._flush()
        self._code_depth += 1

    def _leave_code(self, _: LexborNode) -> None:
        if self._is_in_cell():
            self._break()
            return
        self._code_depth -= 1
        if not self._code_depth:
            self._builder.code("".join(self._text))
            self._text.clear()

    # --- lists ---

    def _enter_list(self, node: LexborNode) -> None:
        self._part_list()
        numbered = node.tag == "ol"
        step = -1 if numbered and "reversed" in node.attributes else 1
        first = sum(1 for _ in _items(node)) if step < 0 else 1
        number = _whole_number(node.attributes.get("start"), otherwise=first)
        self._lists.append(_List(numbered, node.attributes.get("type") or "1", number, step))

    def _leave_list(self, _: LexborNode) -> None:
        self._part_list()
        self._lists.pop()
        if not self._lists:
            self._builder.end_list()

    def _part_list(self) -> None:
        if self._is_in_cell():
            self._text.append("\n")
        else:
            self._flush()

    def _enter_item(self, node: LexborNode) -> None:
        marker = self._marker(node)
        if self._is_in_cell():
            self._text.append(f"\n{marker} ")
        else:
            self._begin(_Place.ITEM, marker=marker, depth=max(len(self._lists) - 1, 0))

    def _leave_item(self, _: LexborNode) -> None:
        if not self._is_in_cell():
            self._flush()
            self._open.pop()

    def _marker(self, node: LexborNode) -> str:
        if not self._lists or not self._lists[-1].numbered:
            return "-"
        here = self._lists[-1]
        number = _whole_number(node.attributes.get("value"), otherwise=here.number)
        here.number = number + here.step
        style = node.attributes.get("type") or here.style
        return f"{_NUMERALS.get(style, str)(number)}."

    def _enter_term(self, _: LexborNode) -> None:
        if self._is_in_cell():
            self._break()
        else:
            self._begin(_Place.TERM)

    def _leave_term(self, _: LexborNode) -> None:
        if self._is_in_cell():
            self._break()
        else:
            self._terms.append(self._end().strip())

    def _enter_description(self, _: LexborNode) -> None:
        if self._is_in_cell():
            self._break()
            return
        self._begin(_Place.ITEM, marker="-", depth=len(self._lists))
        if self._terms:
            self._text.append(f"{', '.join(self._terms)}: ")
            self._terms.clear()

    def _leave_descriptions(self, _: LexborNode) -> None:
        self._write_terms()
        if not self._lists:
            self._builder.end_list()
        self._break()

    def _write_terms(self) -> None:
        """Those that nothing describes."""
        for term in self._terms:
            self._builder.paragraph(term)
        self._terms.clear()

    # --- tables ---

    def _enter_table(self, _: LexborNode) -> None:
        if self._is_in_cell():  # of a single column, or it would be a complex cell
            self._inner_tables += 1
            self._break()
        else:
            self._flush()
            self._tables.append(HtmlTable())

    def _leave_table(self, _: LexborNode) -> None:
        if self._inner_tables:
            self._inner_tables -= 1
            self._break()
        else:
            self._flush()
            self._tables.pop().write(self._builder)

    def _enter_row(self, _: LexborNode) -> None:
        if self._tables and not self._inner_tables:
            self._tables[-1].begin_row()

    def _enter_cell(self, node: LexborNode) -> None:
        if self._inner_tables:
            self._break()
        elif node.mem_id in self._complex_cells:
            if self._tables:
                self._tables[-1].write(self._builder)
            self._begin(_Place.FLOW)
        else:
            self._begin(_Place.CELL)

    def _leave_cell(self, node: LexborNode) -> None:
        if self._inner_tables:
            self._break()
        elif self._open[-1].place is _Place.FLOW:
            self._flush()
            self._open.pop()
        elif self._tables:
            self._tables[-1].cell(self._end(), node)
        else:
            self._builder.paragraph(self._end())

    def _enter_caption(self, _: LexborNode) -> None:
        if self._inner_tables:
            self._break()
        else:
            self._begin(_Place.FLOW)

    def _leave_caption(self, _: LexborNode) -> None:
        if self._inner_tables:
            self._break()
        else:
            self._flush()
            self._open.pop()


_Action = Callable[[BlockWriter, LexborNode], None]

_ENTER: dict[str, _Action] = {
    "br": BlockWriter._line_break,
    "img": BlockWriter._image,
    "q": BlockWriter._quotation_mark,
    "label": BlockWriter._part_words,
    "button": BlockWriter._part_words,
    "sup": BlockWriter._enter_superscript,
    "li": BlockWriter._enter_item,
    "dt": BlockWriter._enter_term,
    "dd": BlockWriter._enter_description,
    "table": BlockWriter._enter_table,
    "tr": BlockWriter._enter_row,
    "td": BlockWriter._enter_cell,
    "th": BlockWriter._enter_cell,
    "caption": BlockWriter._enter_caption,
    **dict.fromkeys(_HEADINGS, BlockWriter._enter_heading),
    **dict.fromkeys(_LISTS, BlockWriter._enter_list),
    **dict.fromkeys(_CODE, BlockWriter._enter_code),
}
_LEAVE: dict[str, _Action] = {
    "q": BlockWriter._quotation_mark,
    "label": BlockWriter._part_words,
    "button": BlockWriter._part_words,
    "sup": BlockWriter._leave_superscript,
    "li": BlockWriter._leave_item,
    "dt": BlockWriter._leave_term,
    "dd": BlockWriter._leave_item,
    "dl": BlockWriter._leave_descriptions,
    "table": BlockWriter._leave_table,
    "td": BlockWriter._leave_cell,
    "th": BlockWriter._leave_cell,
    "caption": BlockWriter._leave_caption,
    **dict.fromkeys(_HEADINGS, BlockWriter._leave_heading),
    **dict.fromkeys(_LISTS, BlockWriter._leave_list),
    **dict.fromkeys(_CODE, BlockWriter._leave_code),
}
_NUMERALS: dict[str, Callable[[int], str]] = {
    "a": lambda number: letters(number).lower(),
    "A": lambda number: letters(number).upper(),
    "i": lambda number: roman(number).lower(),
    "I": roman,
}


def is_long_heading(node: LexborNode) -> bool:
    """Whether it holds more than anybody writes in one."""
    return len(" ".join(node.text().split())) > _LONGEST_HEADING


def heading_text(node: LexborNode) -> str:
    """A heading's own words, as far as it goes for a reader."""
    ends = _BLOCKS | _LISTS | _CODE | _HEADINGS.keys() | {"table"}
    if not is_long_heading(node):
        ends -= _LINES_OF_A_HEADING
    texts: list[str] = []
    for child in node.iter(include_text=True):
        if child.tag in ends:
            if any(map(str.strip, texts)):
                break
            ends = ends if is_long_heading(node) else frozenset()
        is_parted = child.tag in _BLOCKS or child.tag == "br" or child.css_first("br, div, p") is not None
        texts.append(f" {child.text(separator=' ')} " if is_parted else child.text())
    return " ".join("".join(texts).split())


def _superscript(before: str, text: str, *, is_note: bool) -> str:
    if is_note:
        return text if text.startswith("[") else f"[{text}]"
    return raised_after(before, text)


def _items(node: LexborNode) -> list[LexborNode]:
    return [child for child in node.iter() if child.tag == "li"]


def _whole_number(value: str | None, *, otherwise: int) -> int:
    return int(value) if value and re.fullmatch(r"\s*-?[0-9]{1,9}\s*", value) else otherwise
