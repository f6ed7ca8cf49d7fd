"""Tables whose grid isn't what a reader sees."""

from __future__ import annotations

import pytest

from citewell.core.values import BlockKind
from citewell.extract import extract
from citewell.extract.table_heads import Row
from citewell.extract.table_shapes import reshaped
from tests.documents.office import cell, docx, odt, paragraph, table

HEAD: Row = ["", "2024", "2025"]
SENTENCE = "The site lies within an area that floods every other spring. "


def lines(*texts: str) -> str:
    return "\n".join(texts)


def open_document_cell(*content: str) -> str:
    return f"<table:table-cell>{''.join(content)}</table:table-cell>"


def open_document_table(*cells: str) -> str:
    return f"<table:table><table:table-row>{''.join(cells)}</table:table-row></table:table>"


# --- rows that are lines of one row ---


def test_lines_that_stand_side_by_side_are_rows() -> None:
    stacked: Row = [
        lines("", "Income", "Tax", "Net"),
        lines("€", "1,200", "200", "1,000"),
        lines("€", "900", "-", "900"),
    ]
    assert reshaped([HEAD, stacked], 0) == [
        HEAD, ["", "€", "€"], ["Income", "1,200", "900"], ["Tax", "200", "-"], ["Net", "1,000", "900"],
    ]  # fmt: skip


def test_blank_lines_at_a_cells_end_count_for_nothing_and_spans_stay() -> None:
    stacked: Row = [lines("a", "b", "c", "", ""), None, lines("1", "2", "3"), ""]
    assert reshaped([HEAD, stacked], 0)[1:] == [["a", None, "1", ""], ["b", None, "2", ""], ["c", None, "3", ""]]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param([lines("Anna", "Sales", "Bern"), lines("Bob", "Legal", "Rome")], id="no numbers"),
        pytest.param([lines("a", "b"), lines("1", "2")], id="two lines"),
        pytest.param([lines("a", "b", "c", "d"), lines("1", "2", "3")], id="not as many lines"),
        pytest.param([lines("a", SENTENCE * 2, "c"), lines("1", "2", "3")], id="text"),
        pytest.param([lines("1", "2", "3")], id="one cell"),
    ],
)
def test_other_lines_stay_in_their_row(row: Row) -> None:
    assert reshaped([HEAD, row], 0) == [HEAD, row]


def test_the_head_is_never_parted() -> None:
    head: Row = [lines("a", "b", "c"), lines("1", "2", "3")]
    assert reshaped([head, ["x", "y"]], 0) == [head, ["x", "y"]]
    assert reshaped([["x", "y"], head], 2) == [["x", "y"], head]


def test_rows_set_as_lines_are_read_from_documents() -> None:
    cells = ("", "Income", "Tax", "Net"), ("€", "12", "2", "10")
    side = [cell("".join(map(paragraph, each))) for each in cells]
    written = "".join(open_document_cell(*(f"<text:p>{line}</text:p>" for line in each)) for each in cells)
    head = "".join(open_document_cell(f"<text:p>{each}</text:p>") for each in ("Year", "2024"))
    shown = ["| Year | 2024 |", "| --- | --- |", "|  | € |", "| Income | 12 |", "| Tax | 2 |", "| Net | 10 |"]
    assert extract(docx(table(["Year", "2024"], side))).text.split("\n") == shown
    rows = open_document_table(head, "</table:table-row><table:table-row>", written)
    assert extract(odt(rows)).text.split("\n") == shown


# --- forms ---


def test_a_form_drawn_with_cells_of_all_widths_has_no_columns() -> None:
    name: Row = ["Name", None, "Ann", None, None, None]
    born: Row = ["Born", None, None, None, "1990", None]
    title: Row = ["Applicant", None, None, None, None, None]
    assert reshaped([title, name, born], 0) == [title, ["Name", "Ann"], ["Born", "1990"]]


def test_columns_stay_where_some_row_has_half_of_them() -> None:
    rows: list[Row] = [["Plan", None, "Real", None], ["1", "2", "3", "4"]]
    assert reshaped(rows, 0) == rows
    assert reshaped([["Name", None, "Ann", None]], 0) == [["Name", None, "Ann", None]]


# --- columns of a page ---


COLUMN = [f"<text:p>{SENTENCE * 2}</text:p>"] * 3
SIDE_BY_SIDE = [
    pytest.param(docx(table(["Profile", cell(paragraph(SENTENCE * 2) * 3)])), id="docx"),
    pytest.param(
        odt(open_document_table(open_document_cell("<text:p>Profile</text:p>"), open_document_cell(*COLUMN))), id="odt"
    ),
]
INNER = "</table:table-row><table:table-row>".join(
    "".join(open_document_cell(f"<text:p>{each}</text:p>") for each in row) for row in ("ab", "12")
)
NESTED = [
    pytest.param(docx(table(["Prices", cell(table(["a", "b"], ["1", "2"]))])), id="docx"),
    pytest.param(
        odt(
            open_document_table(
                open_document_cell("<text:p>Prices</text:p>"), open_document_cell(open_document_table(INNER))
            )
        ),
        id="odt",
    ),
]


@pytest.mark.parametrize("document", SIDE_BY_SIDE)
def test_the_only_row_of_a_table_may_set_out_a_page(document: bytes) -> None:
    read = extract(document)
    assert read.text == "\n\n".join(["Profile", *[(SENTENCE * 2).strip()] * 3])
    assert {block.kind for block in read.blocks} == {BlockKind.PARAGRAPH}


@pytest.mark.parametrize("document", NESTED)
def test_a_table_in_such_a_row_stands_in_its_place(document: bytes) -> None:
    assert extract(document).text == "Prices\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"


@pytest.mark.parametrize("rows", [["Name", cell(paragraph("Ann") * 4)], ["Scope", cell(paragraph(SENTENCE * 4))]])
def test_the_only_row_of_a_table_stays_one_where_its_cells_are_short(rows: list[str]) -> None:
    assert [block.kind for block in extract(docx(table(rows))).blocks] == [BlockKind.TABLE]


def test_a_section_in_a_cell_of_an_open_document_is_one() -> None:
    cells = [
        open_document_cell('<text:h text:outline-level="2">Scope</text:h><text:p>All.</text:p>'),
        open_document_cell("<text:p>2024</text:p>"),
    ]
    read = extract(odt(open_document_table(*cells) * 2))
    assert read.text == "Scope\n\nAll.\n\n2024\n\nScope\n\nAll.\n\n2024"
    assert read.blocks[1].headings == ("Scope",)
