"""Headings of OpenDocument texts that have none by style."""

from __future__ import annotations

import pytest

from citewell.core.values import BlockKind
from citewell.extract import extract
from tests.documents.office import odt

FO = 'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'
TEXT = "<text:p>Members of staff have thirty days of leave a year, and ten of them can be moved.</text:p>"


def styled(name: str, properties: str, family: str = "paragraph", parent: str = "") -> str:
    return (
        f'<style:style style:name="{name}" style:family="{family}" style:parent-style-name="{parent}">'
        f"<style:text-properties {FO} {properties}/></style:style>"
    )


STYLES = (
    f'<style:default-style style:family="paragraph"><style:text-properties {FO} fo:font-size="10pt"/>'
    "</style:default-style>"
    + styled("Large", 'fo:font-size="20pt"')
    + styled("Half", 'fo:font-size="70%"', parent="Large")
    + styled("Same", 'fo:font-size="50%"', parent="Large")
    + styled("Bold", 'fo:font-weight="bold"')
    + styled("Heavy", 'fo:font-weight="700"')
    + styled("Light", 'fo:font-weight="normal"', parent="Bold")
    + styled("B", 'fo:font-weight="bold"', "text")
    + styled("H", 'text:display="none"', "text")
    + '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"/>'
    '<text:list-level-style-number text:level="2" style:num-format="1" text:display-levels="2"/></text:list-style>'
    '<text:list-style style:name="U"><text:list-level-style-bullet text:level="1"/></text:list-style>'
)


def p(content: str, style: str = "Standard") -> str:
    return f'<text:p text:style-name="{style}">{content}</text:p>'


def span(content: str, style: str = "B") -> str:
    return f'<text:span text:style-name="{style}">{content}</text:span>'


def items(content: str, style: str = "L") -> str:
    return f'<text:list text:style-name="{style}"><text:list-item>{content}</text:list-item></text:list>'


def headings_of(body: str) -> list[tuple[int, str]]:
    read = extract(odt(body, styles=STYLES))
    return [
        (len(block.headings), read.text[block.start : block.end])
        for block in read.blocks
        if block.kind is BlockKind.HEADING
    ]


def test_lines_that_are_larger_or_bolder_than_the_text_are_headings() -> None:
    body = p("Leave", "Large") + p("Who may go", "Half") + TEXT + p("Notice", "Bold") + TEXT
    assert headings_of(body) == [(1, "Leave"), (2, "Who may go"), (3, "Notice")]


@pytest.mark.parametrize(
    "line",
    [
        p("Leave", "Heavy"),
        p(span("Leave")),
        p(span("Le") + span("ave")),
        p(f"<text:a>{span('Leave')}</text:a>{span(' of staff', 'H')}"),
        p(span("Leave"), "Light"),
    ],
)
def test_a_look_may_come_from_a_style_of_the_paragraph_or_its_characters(line: str) -> None:
    assert headings_of(line + TEXT) == [(1, "Leave")]


@pytest.mark.parametrize(
    "line",
    [
        p("Leave", "Light"),
        p("Leave", "Same"),
        p(f"{span('Leave')} of staff"),
        p(span("Leave must be asked for.")),
        p(span("Acme<text:line-break/>Road 1<text:line-break/>Bern")),
        items(p("Leave", "Bold"), "U"),
        items(p("Leave", "Bold")) + items(p("Pay", "Bold")) + items(p("Home", "Bold")),
        p(span("Leave")) + TEXT + "<text:h>Pay</text:h>",
    ],
)
def test_other_lines_are_text(line: str) -> None:
    assert "Leave" not in [text for _, text in headings_of(line + TEXT)]


def test_numbers_say_how_deep_a_heading_stands() -> None:
    deeper = items(f"<text:list><text:list-item>{p('Notice', 'Bold')}</text:list-item></text:list>")
    body = items(p("Leave", "Bold")) + deeper + TEXT + items(p("Pay", "Bold")) + TEXT
    assert [level for level, _ in headings_of(body)] == [1, 2, 1]
