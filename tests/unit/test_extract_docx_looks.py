"""Headings of Word documents that have none by style."""

from __future__ import annotations

import pytest

from citewell.core.values import BlockKind
from citewell.extract import extract
from tests.documents.office import cell, docx, level, numbered, paragraph, run, style, table

BOLD = "<w:b/>"
TEXT = "Members of staff have thirty days of leave a year, and the last ten of them can be moved. "


def line(text: str, properties: str = BOLD) -> str:
    return paragraph(run(text, properties))


def sized(text: str, points: int) -> str:
    return line(text, f'<w:sz w:val="{2 * points}"/>')


def headings_of(body: str, *, styles: str = "", numbering: str = "") -> list[tuple[int, str]]:
    read = extract(docx(body, styles=styles, numbering=numbering))
    return [
        (len(block.headings), read.text[block.start : block.end])
        for block in read.blocks
        if block.kind is BlockKind.HEADING
    ]


def test_lines_that_are_larger_or_bolder_than_the_text_are_headings() -> None:
    body = sized("Leave", 20) + sized("Who may go", 14) + paragraph(TEXT) + line("Notice") + paragraph(TEXT)
    assert headings_of(body) == [(1, "Leave"), (2, "Who may go"), (3, "Notice")]


@pytest.mark.parametrize(
    ("body", "styles"),
    [
        pytest.param(paragraph("Leave", style="S"), style("S", "S", more=f"<w:rPr>{BOLD}</w:rPr>"), id="style"),
        pytest.param(
            paragraph(run("Leave", '<w:rStyle w:val="C"/>')),
            style("B", "B", more=f"<w:rPr>{BOLD}</w:rPr>") + style("C", "C", based_on="B"),
            id="style of characters",
        ),
        pytest.param(
            paragraph("Leave", style="S"), style("S", "S", more='<w:rPr><w:sz w:val="32"/></w:rPr>'), id="size of style"
        ),
        pytest.param(paragraph(run("Le", BOLD), run(" "), run("ave", BOLD)), "", id="several runs"),
    ],
)
def test_a_look_may_come_from_a_style(body: str, styles: str) -> None:
    assert [text for _, text in headings_of(body + paragraph(TEXT), styles=styles)] in (["Leave"], ["Le ave"])


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(line("Leave must be asked for in writing.") + paragraph(TEXT), id="sentence"),
        pytest.param(line("Total: 1,200.00 EUR") + paragraph(TEXT), id="amount"),
        pytest.param(line("Name").replace("Name", "Name</w:t><w:tab/><w:t>Date") + paragraph(TEXT), id="columns"),
        pytest.param(line("10115 Berlin") + paragraph(TEXT), id="town"),
        pytest.param(line("12/2024") + paragraph(TEXT), id="no letter"),
        pytest.param(line("Leave " * 30) + paragraph(TEXT), id="long"),
        pytest.param(paragraph(run("Leave", BOLD), run(" of staff")) + paragraph(TEXT), id="partly bold"),
        pytest.param(paragraph(TEXT) + line("Leave"), id="nothing follows"),
        pytest.param(line(TEXT * 3) + line("Leave") + line(TEXT * 3), id="all is bold"),
        pytest.param(paragraph(TEXT) + line("Leave", f"{BOLD}<w:vanish/>") + paragraph(TEXT), id="hidden"),
        pytest.param(table(["x", cell(line("Leave") + paragraph(TEXT))], ["y", "z"]), id="in a table"),
        pytest.param(
            paragraph("<w:r><w:rPr><w:b/></w:rPr><w:t>Acme</w:t><w:br/><w:t>Road 1</w:t><w:br/><w:t>Bern</w:t></w:r>")
            + paragraph(TEXT),
            id="lines of an address",
        ),
    ],
)
def test_other_lines_are_text(body: str) -> None:
    assert headings_of(body) == []


def test_of_two_lines_that_look_alike_the_second_one_heads_what_follows() -> None:
    assert headings_of(line("Acme Ltd") + line("Leave") + paragraph(TEXT)) == [(1, "Leave")]
    assert headings_of(line("Acme Ltd") + line("Road 1") + line("4051 Basel") + paragraph(TEXT)) == []
    assert headings_of(line("Leave") + table(["a", "b"], ["1", "2"]) + paragraph(TEXT)) == [(1, "Leave")]


def test_a_document_that_has_headings_by_style_has_no_others() -> None:
    titled = paragraph("Rules", style="T") + line("Leave") + paragraph(TEXT)
    styles = style("T", "Title") + style("H", "heading 1")
    assert headings_of(titled, styles=styles) == [(1, "Rules"), (1, "Leave")]
    assert headings_of(titled + paragraph("Pay", style="H"), styles=styles) == [(1, "Rules"), (1, "Pay")]


def test_numbers_say_how_deep_a_heading_stands() -> None:
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}{level(1, "decimal", "%1.%2")}'
        f'</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )

    def bold(text: str, depth: int) -> str:
        return numbered(text, 1, depth).replace("<w:rPr>", f"<w:rPr>{BOLD}")

    body = bold("Leave", 0) + bold("Notice", 1) + paragraph(TEXT) + bold("Days", 1) + bold("Moves", 1) + paragraph(TEXT)
    body += line("Good to know:") + paragraph(TEXT) + bold("Pay", 0) + paragraph(TEXT)
    assert headings_of(body, numbering=numbering) == [
        (1, "1. Leave"), (2, "1.1 Notice"), (2, "1.2 Days"), (2, "1.3 Moves"), (3, "Good to know:"), (1, "2. Pay"),
    ]  # fmt: skip
    typed = (
        line("1 Leave").replace("1 Leave", "1</w:t><w:tab/><w:t>Leave")
        + line("1.1 Notice")
        + paragraph(TEXT)
        + line("2 Pay")
        + paragraph(TEXT)
    )
    assert headings_of(typed) == [(1, "1 Leave"), (2, "1.1 Notice"), (1, "2 Pay")]


def test_items_of_a_list_in_bold_are_no_headings() -> None:
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}</w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="1">{level(0, "bullet", "x")}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    )
    items = "".join(numbered(each, 1).replace("<w:rPr>", f"<w:rPr>{BOLD}") for each in ("Leave", "Pay", "Home"))
    point = numbered("Travel", 2).replace("<w:rPr>", f"<w:rPr>{BOLD}")
    assert headings_of(items + paragraph(TEXT) + point + paragraph(TEXT), numbering=numbering) == []


def test_a_lead_in_stands_below_headings_of_its_size() -> None:
    body = line("Leave") + paragraph(TEXT) + line("Exceptions:") + paragraph(TEXT) + line("Pay") + paragraph(TEXT)
    assert headings_of(body) == [(1, "Leave"), (2, "Exceptions:"), (1, "Pay")]
