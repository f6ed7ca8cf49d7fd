"""Numbers of lists and headings in OpenDocument texts."""

from __future__ import annotations

import pytest

from citewell.core.values import BlockKind
from citewell.extract import extract
from tests.documents.office import odt

OUTLINE = (
    '<text:outline-style style:name="Outline">'
    '<text:outline-level-style text:level="1" style:num-format="1"/>'
    '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style>'
)
LETTERS = (
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="A"/>'
    '<text:list-level-style-number text:level="2" style:num-format="1" text:display-levels="2"/></text:list-style>'
    '<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/></text:list-style>'
)


def heading(text: str, level: int = 1, style: str = "Heading") -> str:
    return f'<text:h text:style-name="{style}" text:outline-level="{level}">{text}</text:h>'


def in_list(content: str, style: str = "L1", *, kind: str = "item") -> str:
    return f'<text:list text:style-name="{style}"><text:list-{kind}>{content}</text:list-{kind}></text:list>'


def lines_of(body: str, *, lists: str = LETTERS) -> list[str]:
    return extract(odt(body, styles=OUTLINE, automatic=lists)).text.split("\n\n")


@pytest.mark.parametrize(
    ("listed", "shown"),
    [
        (in_list(heading("Steps")), "A Steps"),
        (in_list(in_list(heading("Steps", 2))), "A.1 Steps"),
        (in_list(heading("Steps"), "L2"), "Steps"),
        (in_list(heading("Steps"), kind="header"), "Steps"),
        (in_list(heading("Steps"), "Outline"), "2 Steps"),
    ],
)
def test_a_heading_in_a_list_has_the_number_of_the_list(listed: str, shown: str) -> None:
    read = extract(odt(heading("Scope") + listed + heading("Pay"), styles=OUTLINE, automatic=LETTERS))
    assert read.text.split("\n\n")[:2] == ["1 Scope", shown]
    assert {block.kind for block in read.blocks} == {BlockKind.HEADING}


def test_a_heading_whose_style_leaves_the_lists_has_no_number() -> None:
    left = '<style:style style:name="P1" style:parent-style-name="Heading" style:list-style-name=""/>'
    body = heading("Scope") + heading("Annex", style="P1") + heading("Pay")
    assert lines_of(body, lists=left) == ["1 Scope", "Annex", "2 Pay"]


def test_a_level_that_was_skipped_counts() -> None:
    assert lines_of(heading("People", 2) + heading("Time", 2) + heading("Pay")) == ["1.1 People", "1.2 Time", "2 Pay"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [("style:num-list-format", "Art. A (1)"), ("loext:num-list-format", "Art. A (1)"), ("style:other", "1")],
)
def test_a_level_may_say_how_its_numbers_are_set(name: str, shown: str) -> None:
    lists = LETTERS.replace(
        'text:level="2" style:num-format="1" text:display-levels="2"',
        f'text:level="2" style:num-format="1" {name}="Art. %1% (%2%)" '
        'xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"',
    )
    assert lines_of(in_list(in_list(heading("Steps", 2))), lists=lists) == [f"{shown} Steps"]


@pytest.mark.parametrize(
    ("form", "shown"), [("α, β, ... (gr)", "β"), ("أ, ب, ت, ...", "ب"), ("А, Б, .., Аа, Бб, ... (ru)", "Б")]
)
def test_numbers_are_written_as_their_form_has_them(form: str, shown: str) -> None:
    lists = LETTERS.replace('style:num-format="A"', f'style:num-format="{form}" text:start-value="2"')
    assert lines_of(in_list(heading("Steps")), lists=lists) == [f"{shown} Steps"]
