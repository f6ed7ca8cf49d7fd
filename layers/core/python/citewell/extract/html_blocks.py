"""An HTML page's elements, in document order, to blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

from selectolax.lexbor import LexborNode

from citewell.extract.building import TextBuilder
from citewell.extract.html_elements import (
    BLOCKS,
    CODE,
    GOOGLE_LIST,
    HEADINGS,
    LINES_OF_A_HEADING,
    LISTS,
    headings_by_role,
    is_long_heading,
    text_of_image,
    with_marker_apart,
    word_items_of,
)
from citewell.extract.html_lists import OpenList
from citewell.extract.html_open_blocks import OpenBlocks, Place
from citewell.extract.html_tables import HtmlTable, complex_cells


class BlockWriter:
    """Is told of each node twice, before its children and after them; writes blocks as soon as they are whole."""

    def __init__(
        self, builder: TextBuilder, root: LexborNode, *, tags: Mapping[int, str], keeping_lines: Set[int]
    ) -> None:
        """``tags`` are those that elements stand for which have others, by their ``mem_id``.

        A line end in a block of ``keeping_lines`` is one for its reader.
        """
        self._builder = builder
        self._tags = tags
        self._keeping_lines = keeping_lines
        self._complex_cells = complex_cells(root)
        self._roles = headings_by_role(root)
        self._word_items = word_items_of(root)
        self._open = OpenBlocks(builder)
        self._lists: list[OpenList] = []
        self._tables: list[HtmlTable] = []
        self._inner_tables = 0
        self._terms: list[str] = []
        self._headings_open = 0
        self._google_list = ""
        self._word_item: int | None = None

    def enter(self, node: LexborNode) -> None:
        tag = self._tag_of(node)
        if self._keeping_lines and node.mem_id in self._keeping_lines:
            self._open.text.keep_lines(begins=True)
        if node.is_text_node:
            self._add_text(node)
        elif self._roles and node.mem_id in self._roles:
            self._enter_heading(node)
        elif action := _ENTER.get(tag):
            action(self, node)
        elif tag in BLOCKS:
            self._open.end_heading(before=tag)
            self._open.part()
            if self._word_items and node.mem_id in self._word_items and self._open.here.place is Place.FLOW:
                self._word_item = node.mem_id
                self._open.begin(Place.ITEM, depth=self._word_items[node.mem_id])

    def leave(self, node: LexborNode) -> None:
        tag = self._tag_of(node)
        if self._keeping_lines and node.mem_id in self._keeping_lines:
            self._open.text.keep_lines(begins=False)
        if self._roles and node.mem_id in self._roles:
            self._leave_heading(node)
        elif action := _LEAVE.get(tag):
            action(self, node)
        elif self._word_item is not None and node.mem_id == self._word_item:
            self._leave_word_item()
        elif tag in BLOCKS:
            self._open.part()
            self._open.end_heading(before=tag)

    def finish(self) -> None:
        self._open.flush()
        self._write_terms()

    def _tag_of(self, node: LexborNode) -> str:
        return (self._tags.get(node.mem_id) if self._tags else None) or node.tag or ""

    # --- text ---

    def _add_text(self, node: LexborNode) -> None:
        text = node.text_content or ""
        if not self._open.code_depth:
            self._open.text.add(text)
        elif text.strip() or node.parent is None or node.parent.mem_id not in self._tags:
            self._open.text.add_verbatim(text)

    def _line_break(self, _: LexborNode) -> None:
        self._open.text.add_verbatim("\n")

    def _part_words(self, _: LexborNode) -> None:
        self._open.text.add_verbatim(" ")

    def _quotation_mark(self, _: LexborNode) -> None:
        self._open.text.add_verbatim('"')

    def _image(self, node: LexborNode) -> None:
        if text := text_of_image(node):
            self._open.text.add_picture(text)

    def _enter_superscript(self, _: LexborNode) -> None:
        self._open.text.begin_superscript()

    def _leave_superscript(self, node: LexborNode) -> None:
        self._open.text.end_superscript(node)

    # --- headings and code ---

    def _enter_heading(self, node: LexborNode) -> None:
        if self._open.is_in_cell():
            self._open.part()
            return
        # One within another, which was never closed, isn't looked at again: that would take quadratic time.
        has_lines = not self._headings_open and not is_long_heading(node)
        self._headings_open += 1
        self._open.begin(Place.HEADING, depth=HEADINGS.get(node.tag or "") or self._roles[node.mem_id])
        self._open.here.lines = LINES_OF_A_HEADING if has_lines else frozenset()

    def _leave_heading(self, _: LexborNode) -> None:
        if self._open.is_in_cell():
            self._open.part()
            return
        self._headings_open -= 1
        self._open.close()

    def _enter_code(self, _: LexborNode) -> None:
        if self._open.is_in_cell():
            self._open.part()
        else:
            self._open.begin_code()

    def _leave_code(self, _: LexborNode) -> None:
        if self._open.is_in_cell():
            self._open.part()
        else:
            self._open.end_code()

    # --- lists ---

    def _enter_list(self, node: LexborNode) -> None:
        self._part_list()
        google = GOOGLE_LIST.search(node.attributes.get("class") or "")
        if not self._lists and (google is None or google[1] != self._google_list):
            self._builder.end_list()
        self._google_list = google[1] if google else ""
        self._lists.append(OpenList(node, depth=int(google[2]) if google else len(self._lists)))

    def _leave_list(self, _: LexborNode) -> None:
        self._part_list()
        self._lists.pop()

    def _depth(self) -> int:
        return self._lists[-1].depth if self._lists else 0

    def _part_list(self) -> None:
        if self._open.is_in_cell():
            self._open.text.add_verbatim("\n")
        else:
            self._open.flush()

    def _enter_item(self, node: LexborNode) -> None:
        marker = self._lists[-1].marker(node) if self._lists else "-"
        if self._open.is_in_cell():
            self._open.text.add_verbatim(f"\n{marker} ")
        else:
            self._open.begin(Place.ITEM, marker=marker, depth=self._depth())

    def _leave_item(self, _: LexborNode) -> None:
        if not self._open.is_in_cell():
            self._open.close()

    def _leave_word_item(self) -> None:
        self._word_item = None
        depth = self._open.here.depth
        marker, text = with_marker_apart(self._open.end())
        self._open.write_picture(before=text)
        self._builder.item(text, depth=depth, marker=marker)

    def _enter_term(self, _: LexborNode) -> None:
        if self._open.is_in_cell():
            self._open.part()
        else:
            self._open.begin(Place.TERM)

    def _leave_term(self, _: LexborNode) -> None:
        if self._open.is_in_cell():
            self._open.part()
        else:
            self._terms.append(self._open.end().strip())

    def _enter_description(self, _: LexborNode) -> None:
        if self._open.is_in_cell():
            self._open.part()
            return
        self._open.begin(Place.ITEM, marker="-", depth=self._depth())
        if self._terms:
            self._open.text.add_verbatim(f"{', '.join(self._terms).removesuffix(':')}: ")
            self._terms.clear()

    def _leave_descriptions(self, node: LexborNode) -> None:
        self._write_terms()
        self._leave_list(node)

    def _write_terms(self) -> None:
        """Those that nothing describes."""
        self._open.write_picture()
        for term in self._terms:
            self._builder.paragraph(term)
        self._terms.clear()

    # --- tables ---

    def _enter_table(self, _: LexborNode) -> None:
        if self._open.is_in_cell():  # of a single column, or it would be a complex cell
            self._inner_tables += 1
            self._open.part()
        else:
            self._open.flush()
            self._tables.append(HtmlTable())

    def _leave_table(self, _: LexborNode) -> None:
        if self._inner_tables:
            self._inner_tables -= 1
            self._open.part()
        else:
            self._open.flush()
            self._open.write_picture()
            self._tables.pop().write(self._builder)

    def _enter_row(self, _: LexborNode) -> None:
        if self._tables and not self._inner_tables:
            self._tables[-1].begin_row()

    def _enter_cell(self, node: LexborNode) -> None:
        if self._inner_tables:
            self._open.part()
        elif node.mem_id in self._complex_cells:
            if self._tables:
                self._open.write_picture()
                self._tables[-1].write(self._builder)
            self._open.begin(Place.FLOW)
        else:
            self._open.begin(Place.CELL)

    def _leave_cell(self, node: LexborNode) -> None:
        if self._inner_tables:
            self._open.part()
        elif self._open.here.place is Place.FLOW:
            self._open.close()
        elif self._tables:
            self._tables[-1].cell(self._open.end(), node, is_head=self._tag_of(node) == "th")
        else:
            self._open.write_picture()
            self._builder.paragraph(self._open.end())

    def _enter_caption(self, _: LexborNode) -> None:
        if self._inner_tables:
            self._open.part()
        else:
            self._open.begin(Place.FLOW)

    def _leave_caption(self, _: LexborNode) -> None:
        if self._inner_tables:
            self._open.part()
        else:
            self._open.close()


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
    **dict.fromkeys(HEADINGS, BlockWriter._enter_heading),
    "dl": BlockWriter._enter_list,
    **dict.fromkeys(LISTS, BlockWriter._enter_list),
    **dict.fromkeys(CODE, BlockWriter._enter_code),
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
    **dict.fromkeys(HEADINGS, BlockWriter._leave_heading),
    **dict.fromkeys(LISTS, BlockWriter._leave_list),
    **dict.fromkeys(CODE, BlockWriter._leave_code),
}
