"""Numbers in Word documents that styles bring along."""

from __future__ import annotations

from citewell.core.values import BlockKind
from citewell.extract import extract
from tests.documents.office import docx, level, numbered, paragraph, style

LEGAL = (
    f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}{level(1, "decimal", "%1.%2.")}'
    f"{level(2, 'lowerLetter', '%3)')}</w:abstractNum>"
    '<w:num w:numId="7"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="8"><w:abstractNumId w:val="0"/></w:num>'
)


def in_list(number: int | None = None, depth: int | None = None) -> str:
    """Paragraph properties of a style; what isn't given is left to the one that it is based on."""
    depth_said = "" if depth is None else f'<w:ilvl w:val="{depth}"/>'
    number_said = "" if number is None else f'<w:numId w:val="{number}"/>'
    return f"<w:pPr><w:numPr>{depth_said}{number_said}</w:numPr></w:pPr>"


CLAUSES = (
    style("Clause", "Clause", more=in_list(7))
    + style("Subclause", "Subclause", based_on="Clause", more=in_list(depth=1))
    + style("Point", "Point", based_on="Subclause", more=in_list(depth=2))
)


def test_a_style_may_say_the_level_and_leave_the_list_to_the_one_it_is_based_on() -> None:
    body = "".join(paragraph(each, style=each) for each in ("Clause", "Subclause", "Point", "Subclause", "Clause"))
    assert extract(docx(body, styles=CLAUSES, numbering=LEGAL)).text.split("\n") == [
        "1. Clause",
        "  1.1. Subclause",
        "    a) Point",
        "  1.2. Subclause",
        "2. Clause",
    ]


def test_a_paragraph_in_another_list_stays_on_the_level_of_its_style() -> None:
    elsewhere = paragraph("b", style="Subclause", properties='<w:numPr><w:numId w:val="8"/></w:numPr>')
    read = extract(docx(paragraph("a", style="Clause") + elsewhere, styles=CLAUSES, numbering=LEGAL))
    assert read.text == "1. a\n  1.1. b"


def test_an_item_in_a_style_for_code_keeps_its_number() -> None:
    styles = style("HTML", "HTML Preformatted")
    item = numbered("get method", 7).replace("<w:pPr>", '<w:pPr><w:pStyle w:val="HTML"/>')
    read = extract(docx(paragraph("x = 1", style="HTML") + item, styles=styles, numbering=LEGAL))
    assert read.text == "x = 1\n\n1. get method"
    assert [block.kind for block in read.blocks] == [BlockKind.CODE, BlockKind.LIST]


def test_a_level_that_was_skipped_counts() -> None:
    body = numbered("a", 7, 2) + numbered("b", 7, 1) + numbered("c", 7)
    assert extract(docx(body, numbering=LEGAL)).text.split("\n") == ["    a) a", "  1.2. b", "2. c"]


def test_an_item_in_a_style_for_deeper_ones_is_one_though_its_list_has_one_level() -> None:
    styles = style("LB", "List Bullet", more=in_list(1)) + style("LB2", "List Bullet 2", more=in_list(2))
    numbering = "".join(
        f'<w:abstractNum w:abstractNumId="{each}">{level(0, "bullet", "x")}</w:abstractNum>' for each in (0, 1)
    ) + "".join(f'<w:num w:numId="{each + 1}"><w:abstractNumId w:val="{each}"/></w:num>' for each in (0, 1))
    body = paragraph("Leave", style="LB") + paragraph("in summer", style="LB2") + paragraph("Pay", style="LB")
    assert extract(docx(body, styles=styles, numbering=numbering)).text == "- Leave\n  - in summer\n- Pay"
