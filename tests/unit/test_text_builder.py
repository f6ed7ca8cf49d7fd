"""The one form in which every reader writes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.values import BlockKind, ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract import building
from citewell.extract.building import TextBuilder, clean, shortened
from citewell.extract.normalising import normalise
from citewell.extract.options import Limits


@pytest.fixture
def builder() -> TextBuilder:
    return TextBuilder(Limits(characters=1000))


def shown(extracted: ExtractedText) -> list[tuple[str, str, tuple[str, ...], int | None]]:
    return [
        (block.kind, extracted.text[block.start : block.end], block.headings, block.page) for block in extracted.blocks
    ]


@pytest.mark.parametrize(
    ("given", "cleaned"),
    [
        ("  two\t \u00a0words ", "two words"),
        ("a\r\nb\rc\n\n\nd", "a\nb\nc\nd"),
        ("soft\u00adhyphen\ufeff and\u200b zero\u2060width", "softhyphen and zerowidth"),
        ("\ufb01ne \ufb03 \ufb4f", "fine ffi אל"),
        ("e\u0301 e\u200b\u0301", "é é"),
        ("\ufefb", "لا"),
        ("half \ud83d\ude00 and \ud83d alone", "half 😀 and \ufffd alone"),
        ("a\x00b\x07c", "a b c"),
        ("full ＡＢＣ ① ²", "full ＡＢＣ ① ²"),
        ("\u200b \u00ad", ""),
    ],
)
def test_text_is_cleaned_and_means_what_it_meant(given: str, cleaned: str) -> None:
    assert clean(given) == cleaned


@given(st.text())
def test_clean_text_is_normal_and_stays_as_it_is(text: str) -> None:
    cleaned = clean(text)
    assert unicodedata.is_normalized("NFC", cleaned)
    assert clean(cleaned) == cleaned
    assert "\n\n" not in cleaned
    assert cleaned == cleaned.strip()


@given(st.text(st.characters(codec="ascii")))
def test_plain_text_takes_the_short_way_to_the_same_result(text: str) -> None:
    assert clean(text + "é").removesuffix("é").rstrip() == clean(text)


def test_blocks_stand_under_their_headings_on_their_pages(builder: TextBuilder) -> None:
    builder.metadata([("From", "Ann"), ("To", " "), ("Subject", "Leave")])
    builder.page(1)
    builder.heading(1, "Leave")
    builder.heading(3, "Days")
    builder.paragraph("30 days\na year")
    builder.page(2)
    builder.heading(2, "Money")
    builder.code("  if x:\n\ty  =  1\n")
    assert shown(builder.finish()) == [
        ("metadata", "From: Ann\nSubject: Leave", (), None),
        ("heading", "Leave", ("Leave",), 1),
        ("heading", "Days", ("Leave", "Days"), 1),
        ("paragraph", "30 days\na year", ("Leave", "Days"), 1),
        ("heading", "Money", ("Leave", "Money"), 2),
        ("code", "  if x:\n\ty  =  1", ("Leave", "Money"), 2),
    ]


def test_items_of_one_list_are_one_block_with_the_numbers_that_a_reader_sees(builder: TextBuilder) -> None:
    builder.item("one", marker="1.")
    builder.item("one\na", depth=1, marker="a)")
    builder.item(" ")
    builder.item("two", marker="2.")
    builder.end_list()
    builder.item("another")
    builder.paragraph("between")
    builder.item("a third")
    builder.page(2)
    builder.item("on the next page")
    assert shown(builder.finish()) == [
        ("list", "1. one\n  a) one a\n2. two", (), None),
        ("list", "- another", (), None),
        ("paragraph", "between", (), None),
        ("list", "- a third", (), None),
        ("list", "- on the next page", (), 2),
    ]


def test_a_table_has_pipes_and_a_line_under_its_head_and_nothing_that_is_blank(builder: TextBuilder) -> None:
    builder.table([["Year", "", "Days"], ["", " ", ""], ["2025", "", "a|b\nc"], ["2026"]])
    builder.table([["", ""], []])
    assert builder.finish().text == "| Year | Days |\n| --- | --- |\n| 2025 | a\\|b c |\n| 2026 |  |"


def test_what_is_blank_is_no_block_and_a_document_of_nothing_else_is_empty(builder: TextBuilder) -> None:
    builder.heading(1, "\u200b")
    builder.paragraph(" \n\t")
    builder.code("\n\n")
    builder.metadata([("To", "")])
    with pytest.raises(DocumentRejected) as rejected:
        builder.finish()
    assert rejected.value.code == "empty"


def test_text_that_outgrows_its_limit_is_too_large_before_it_is_whole(builder: TextBuilder) -> None:
    builder.paragraph("x" * 600)
    with pytest.raises(DocumentRejected, match="more than 1000 characters") as rejected:
        builder.paragraph("x" * 600)
    assert rejected.value.code == "too_large"
    with pytest.raises(DocumentRejected, match="more than 1000 characters"):
        builder.table([["" for _ in range(2000)]])


def test_what_a_document_says_of_itself_comes_with_its_text(builder: TextBuilder) -> None:
    builder.paragraph("text")
    extracted = builder.finish(
        title=" The\n title ", pages=3, unread_pages=[2], language="de", effective_date="2026-01-31"
    )
    assert (extracted.title, extracted.pages, extracted.unread_pages) == ("The title", 3, (2,))
    assert (extracted.language, extracted.effective_date) == ("de", "2026-01-31")
    assert builder.finish(title="\u00ad").title is None


def test_a_line_to_write_on_heads_nothing(builder: TextBuilder) -> None:
    builder.heading(1, "Members")
    builder.heading(2, "1. ______________________")
    builder.paragraph("Ask the office.")
    assert shown(builder.finish()) == [
        ("heading", "Members", ("Members",), None),
        ("paragraph", "1. ______________________", ("Members",), None),
        ("paragraph", "Ask the office.", ("Members",), None),
    ]


def test_long_headings_are_cut_at_a_word_in_paths_and_whole_in_the_text(builder: TextBuilder) -> None:
    heading = "word " * 40
    builder.heading(1, heading)
    [block] = builder.finish().blocks
    assert block.kind is BlockKind.HEADING
    assert builder.finish().text == heading.strip()
    assert block.headings == (shortened(heading.strip()),)
    assert len(block.headings[0]) <= 120
    assert block.headings[0].endswith("word…")
    assert shortened("x" * 200) == "x" * 119 + "…"


def test_text_that_is_not_looked_at_closely_needs_no_cleaning() -> None:
    plain = [char for char in map(chr, range(0x10000)) if building._PLAIN.fullmatch(char)]
    assert [char for char in plain if normalise(char) != char or building._INVISIBLE.search(char)] == []
    assert not any(building._PRESENTATION_FORMS.search(char) or unicodedata.combining(char) for char in plain)
