"""Delimited values: what is a table, what only looks like one, and what its rows come to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.values import BlockKind
from citewell.errors import DocumentRejected
from citewell.extract import extract
from citewell.extract.options import Limits, ReadOptions


def rows(data: bytes | str) -> list[list[str]]:
    """The rows of the one table that ``data`` is, the dashes under its head left out."""
    extracted = extract(data.encode() if isinstance(data, str) else data)
    (table,) = [block for block in extracted.blocks if block.kind is BlockKind.TABLE]
    lines = extracted.text[table.start : table.end].split("\n")
    assert set(lines[1]) <= set("| -")
    return [line[2:-2].split(" | ") for line in (lines[0], *lines[2:])]


def is_table(text: str) -> bool:
    return any(block.kind is BlockKind.TABLE for block in extract(text.encode()).blocks)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_any_usual_delimiter_parts_cells(delimiter: str) -> None:
    text = "Name,Days,From\nAnn,25,May\nBob,30,June\n".replace(",", delimiter)
    assert rows(text) == [["Name", "Days", "From"], ["Ann", "25", "May"], ["Bob", "30", "June"]]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "cp1252", "utf-32"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_make_no_difference(encoding: str, line_end: str) -> None:
    text = "Straße,Größe\nMünchner Straße,fünf Räume\nKölner Straße,groß\n".replace("\n", line_end)
    assert rows(text.encode(encoding)) == [
        ["Straße", "Größe"],
        ["Münchner Straße", "fünf Räume"],
        ["Kölner Straße", "groß"],
    ]


def test_a_declared_delimiter_is_believed_and_not_shown() -> None:
    assert rows("sep=;\na;b\n1;2\n") == [["a", "b"], ["1", "2"]]


def test_decimal_commas_do_not_part_cells_in_a_table_of_semicolons() -> None:
    assert rows("Item;Price\nTea;1,50\nRice;2,25\n") == [["Item", "Price"], ["Tea", "1,50"], ["Rice", "2,25"]]


def test_quoted_cells_hold_delimiters_line_ends_and_quotation_marks() -> None:
    text = 'Name,Note\nAnn,"on leave,\nback in May"\nBob,"says ""hi"""\n'
    assert rows(text) == [["Name", "Note"], ["Ann", "on leave, back in May"], ["Bob", 'says "hi"']]


def test_a_quotation_mark_that_is_never_closed_does_not_swallow_the_rows_after_it() -> None:
    text = 'id,size\n1,5" pipe\n2,"6 inch\n3,7 inch\n4,8 inch\n'
    assert rows(text) == [["id", "size"], ["1", '5" pipe'], ["2", '"6 inch'], ["3", "7 inch"], ["4", "8 inch"]]


def test_a_cell_that_is_html_is_its_text_on_one_line() -> None:
    text = "id,body\n1,<p>25 days &amp; more.</p><ul><li>full time</li></ul>\n2,if a<b then b>a\n"
    assert rows(text) == [["id", "body"], ["1", "25 days & more. - full time"], ["2", "if a<b then b>a"]]


def test_ragged_rows_keep_their_cells() -> None:
    assert rows("a,b,c\n1,2\n3,4,5,6\n7,8,9\n") == [
        ["a", "b", "c", ""], ["1", "2", "", ""], ["3", "4", "5", "6"], ["7", "8", "9", ""]
    ]  # fmt: skip


def test_blank_rows_and_columns_are_left_out() -> None:
    assert rows("a,,b\n\n1,,2\n,,\n3,,4\n") == [["a", "b"], ["1", "2"], ["3", "4"]]


@pytest.mark.parametrize("title", ["Leave 2026\n\n", "Leave 2026,,\n"])
def test_a_title_above_the_table_is_not_its_head(title: str) -> None:
    extracted = extract(f"{title}Name,Days,From\nAnn,25,May\nBob,30,June\n".encode())
    assert [block.kind for block in extracted.blocks] == [BlockKind.PARAGRAPH, BlockKind.TABLE]
    assert extracted.text.startswith("Leave 2026\n\n| Name | Days | From |\n| --- | --- | --- |\n| Ann |")


def test_names_and_values_above_a_wider_table_are_not_its_head() -> None:
    extracted = extract(b"Account;DE12\nBalance;1.234,56;EUR\n\nDay;From;To;For;Sum;Fee\n1;a;b;c;2;0\n2;a;b;c;3;0\n")
    assert extracted.text.startswith(
        "Account DE12\n\nBalance 1.234,56 EUR\n\n| Day | From | To | For | Sum | Fee |\n| ---"
    )


@pytest.mark.parametrize("blank", ["", ",,"])
def test_narrower_rows_that_a_blank_one_parts_from_the_table_are_not_its_head(blank: str) -> None:
    text = f"Sales report,,\n{blank}\nCreated,2026-03-01,\n{blank}\nRegion,Q1,Q2\nEU,10,20\n{blank}\nUS,30,40\n"
    assert extract(text.encode()).text == (
        "Sales report\n\nCreated 2026-03-01\n\n"
        "| Region | Q1 | Q2 |\n| --- | --- | --- |\n| EU | 10 | 20 |\n| US | 30 | 40 |"
    )


def test_comments_above_the_table_are_read_before_it() -> None:
    extracted = extract(b"# Desks, by city\n#\n# of 2026\ncity,desks\nBern,12\nOslo,30\n")
    assert extracted.text == "Desks, by city\nof 2026\n\n| city | desks |\n| --- | --- |\n| Bern | 12 |\n| Oslo | 30 |"


def test_cells_parted_by_comma_and_space_are_a_table_too() -> None:
    assert rows("a, b, c\n1, 2, 3\n4, 5, 6\n") == [["a", "b", "c"], ["1", "2", "3"], ["4", "5", "6"]]


def test_two_columns_with_a_space_between_are_a_table_when_one_is_of_numbers() -> None:
    assert rows("city, desks\nBern, 12\nOslo, 30\n") == [["city", "desks"], ["Bern", "12"], ["Oslo", "30"]]


def test_a_pipe_in_a_cell_does_not_part_it() -> None:
    assert "| x \\| y | 2 |" in extract(b"a,b\nx | y,2\n3,4\n").text


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ('id,body\n1,"## Steps\n\n1. run\n```\nerr\n```\n"\n2,"- a\n- b"\n', ["id", "body"], ["2", "- a - b"]),
        ("# ,name,points\n1,Ann,5\n2,Bob,6\n", ["#", "name", "points"], ["2", "Bob", "6"]),
        ("rank,days\n# 1,5\n# 2,6\n", ["rank", "days"], ["# 2", "6"]),
        ("path,owner\n//srv/a,Ann\n//srv/b,Bob\n", ["path", "owner"], ["//srv/b", "Bob"]),
        ("name,v\n---,1\nAnn,2\nBob,3\n", ["name", "v"], ["Bob", "3"]),
        ("Tag;Land\n1. Januar;alle\n6. Januar;BW\n", ["Tag", "Land"], ["6. Januar", "BW"]),
    ],
)
def test_what_looks_like_markdown_in_a_cell_makes_a_table_no_markdown(
    text: str, first: list[str], last: list[str]
) -> None:
    table = rows(text)
    assert (table[0], table[-1]) == (first, last)


def test_only_the_delimiter_between_quoted_cells_parts_them() -> None:
    text = '"Was";"Wann";"Wer"\n"Tee, Kaffee";"1,50";"a, b"\n"Reis, Mehl";"2,25";"c, d"\n'
    assert rows(text)[1] == ["Tee, Kaffee", "1,50", "a, b"]
    assert rows("'a','b'\n'x, y','z'\n'p','q'\n") == [["a", "b"], ["x, y", "z"], ["p", "q"]]


def test_a_quotation_mark_may_stand_after_a_space() -> None:
    assert rows('name, "notes, etc"\nAnn, "a, b"\nBob, "c, d"\n') == [
        ["name", "notes, etc"], ["Ann", "a, b"], ["Bob", "c, d"]
    ]  # fmt: skip
    assert not is_table('She said, "go".\nHe said, "stay".\nWe said, "no".\n')


def test_a_cell_may_be_larger_than_the_standard_library_allows() -> None:
    note = "leave, " * 60_000
    assert rows(f'id,note\n1,"{note}"\n2,short\n')[1:] == [["1", note.strip()], ["2", "short"]]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Dear Ann,\nthanks for the note,\nBob", id="letter"),
        pytest.param("First, we met.\nThen, we ate.\nLast, we left.", id="a comma in each line"),
        pytest.param(
            "We met Ann, Bob, and Eve at the office.\nThey saw Dan, Fay, and Guy in the hall.\nSo did we, all, then.",
            id="as many commas in each line",
        ),
        pytest.param("Berlin, Germany\nParis, France\nRome, Italy", id="places"),
        pytest.param("apples\npears\nplums\n", id="list of one column"),
        pytest.param("1,000\n2,500\n13,750\n", id="numbers with thousands"),
        pytest.param("3,5\n4,25\n5,0\n", id="decimals"),
        pytest.param("09:00:00,123 INFO started\n09:00:01,456 INFO done\n", id="log"),
        pytest.param("f(a,b)\ng(c,d)\nh(e,f)\n", id="program"),
        pytest.param('a = [\n    "x",\n    "y",\n    ",",\n    "z",\n    "w",\n]', id="program's list"),
        pytest.param("'use strict';\nf(1);\n// a; b; c\n", id="program with a comment"),
        pytest.param("int a;\nint b;\nreturn a;\n", id="lines that end in a semicolon"),
        pytest.param("\tindented\n\tall through\n", id="tabs before lines"),
        pytest.param("# a,b\n\nc,d\ne,f\n", id="Markdown heading"),
        pytest.param("# Leave\na,b\nc,d,e\nf,g\n", id="lines of unlike length under a heading"),
        pytest.param("- a,b\n- c,d\n- e,f\n", id="Markdown list"),
        pytest.param("a,b,c", id="one line"),
    ],
)
def test_what_is_no_table_stays_as_it_is(text: str) -> None:
    assert not is_table(text)
    assert extract(text.encode()).text == text


def test_a_markdown_table_is_left_to_markdown() -> None:
    text = "a | b\n--- | ---\n1 | 2\n"
    assert extract(text.encode()).text == text


def test_a_line_of_spaces_is_passed_in_linear_time() -> None:
    assert rows(f"a,b\n1,2\n{' ' * 100_000}\n3,4\n") == [["a", "b"], ["1", "2"], ["3", "4"]]


def test_a_table_larger_than_the_limit_is_too_large() -> None:
    with pytest.raises(DocumentRejected) as rejected:
        extract(b"a,b\n" + b"1,2\n" * 1_000, ReadOptions(limits=Limits(characters=1_000)))
    assert rejected.value.code == "too_large"


CELLS = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=8)


@given(st.integers(3, 5).flatmap(lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=3)))
def test_no_cell_is_lost(table: list[list[str]]) -> None:
    assert rows("".join(";".join(["head", *row]) + "\n" for row in table)) == [["head", *row] for row in table]
