"""Markdown's blocks, headings and title."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.values import BlockKind
from citewell.extract import extract
from citewell.extract.markdown import read_markdown

HEADING, PARAGRAPH, LIST, TABLE, CODE, METADATA = (
    BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.TABLE, BlockKind.CODE, BlockKind.METADATA
)  # fmt: skip


def outline(text: str) -> list[tuple[str, ...]]:
    return [block.headings for block in read_markdown(text).blocks if block.kind is HEADING]


def blocks(text: str) -> list[tuple[BlockKind, str]]:
    extracted = read_markdown(text)
    return [(block.kind, extracted.text[block.start : block.end]) for block in extracted.blocks]


def test_headings_of_both_kinds_make_a_path() -> None:
    text = "Handbook\n========\n\n## Leave ##\n\n### Sick\n\nx\n\nTravel\n---\n\n#### Deep\n"
    assert outline(text) == [
        ("Handbook",),
        ("Handbook", "Leave"),
        ("Handbook", "Leave", "Sick"),
        ("Handbook", "Travel"),
        ("Handbook", "Travel", "Deep"),
    ]


def test_blocks_carry_the_path_they_stand_under() -> None:
    extracted = read_markdown("before\n\n# A\n\none\n\n## B\n\ntwo\n")
    assert [(block.kind, block.headings) for block in extracted.blocks] == [
        (PARAGRAPH, ()),
        (HEADING, ("A",)),
        (PARAGRAPH, ("A",)),
        (HEADING, ("A", "B")),
        (PARAGRAPH, ("A", "B")),
    ]


def test_kinds_and_spans_of_blocks() -> None:
    text = (
        "para\nline\n\n- a\n- b\n\n  more\n\n1. x\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "```sh\n# no heading\n```\n\n    code\n"
    )
    assert blocks(text) == [
        (PARAGRAPH, "para\nline"),
        (LIST, "- a\n- b\n\n  more"),
        (LIST, "1. x"),
        (TABLE, "| a | b |\n|---|---|\n| 1 | 2 |"),
        (CODE, "```sh\n# no heading\n```"),
        (CODE, "    code"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```\n# comment\n```\n", id="fence"),
        pytest.param("~~~py\n# comment\n", id="fence never closed"),
        pytest.param("text\n\n    # comment\n", id="indented code"),
        pytest.param("- item\n\n      # comment\n", id="code in a list"),
        pytest.param("> # quoted\n", id="quotation"),
        pytest.param("#hashtag\n", id="no space"),
        pytest.param("#\n", id="no words"),
        pytest.param("####### seven\n", id="too deep"),
        pytest.param("<!--\n# hidden\n-->\n", id="comment"),
        pytest.param("a\nb\nc\nd\ne\n---\n", id="a long paragraph over a dashed line"),
    ],
)
def test_what_is_no_heading(text: str) -> None:
    assert outline(text) == []


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# **Leave** and *sick* `pay`", "Leave and sick pay"),
        ("# [Leave](https://example.com/a_b_c) policy", "Leave policy"),
        ("# ![logo](x.png) Leave", "logo Leave"),
        ("# Leave {#leave}", "Leave"),
        ("# snake_case_name and __bold__", "snake_case_name and bold"),
        ("# R&amp;D \\*starred\\*", "R&D *starred*"),
        ("# <a name='x'></a>Leave", "Leave"),
        ("# C#", "C#"),
        ("# 2 < 3 > 1", "2 < 3 > 1"),
    ],
)
def test_a_heading_is_stripped_of_markup(line: str, heading: str) -> None:
    assert outline(line + "\n") == [(heading,)]


def test_a_heading_is_shortened_at_a_word() -> None:
    [(heading,)] = outline("# " + "word " * 100_000)
    assert len(heading) <= 120
    assert heading.endswith("word…")


def test_html_headings_on_a_line_of_their_own_count() -> None:
    text = (
        "<h2 id='x'>Leave <em>policy</em></h2>\n    <p>25 days.</p>\n\n    <h3>Sick</h3>\n    <p>Call.</p>\n<h2></h2>\n"
    )
    assert outline(text) == [("Leave policy",), ("Leave policy", "Sick")]
    assert blocks(text)[1] == (PARAGRAPH, "    <p>25 days.</p>")


@pytest.mark.parametrize(
    ("fields", "language", "date"),
    [
        ("language: de\ndate: 2026-03-01", "de", "2026-03-01"),
        ("lang: pt_BR # Brazil\neffective_date: '2026-03-01'\ndate: 2026-02-01", "pt-BR", "2026-03-01"),
        ('Lang: "en"\nEffective-Date: 2026-03-01T09:00:00Z', "en", "2026-03-01"),
        ("language: spoken plainly\ndate: 2026-02-30", None, None),
        ("slang: de\nupdate: 2026-03-01", None, None),
        ("language:\ndate: yesterday", None, None),
    ],
)
def test_front_matter_names_the_language_and_the_date(fields: str, language: str | None, date: str | None) -> None:
    text = f"---\n{fields}\n---\n\nLeave.\n"
    extracted = read_markdown(text)
    assert (extracted.language, extracted.effective_date, extracted.text) == (language, date, text)


def test_front_matter_is_a_block_and_names_the_title() -> None:
    text = '---\ntitle: "Leave: a policy"  # draft\ntags:\n  - hr\n---\n# Other\n\ntext\n'
    extracted = read_markdown(text)
    assert extracted.title == "Leave: a policy"
    assert blocks(text)[0] == (METADATA, '---\ntitle: "Leave: a policy"  # draft\ntags:\n  - hr\n---')
    assert outline(text) == [("Other",)]


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ("title: Leave # draft", "Leave"),
        ("title: 'It''s leave'", "It's leave"),
        ("layout: x\nTitle: C# guide", "C# guide"),
        ("title: >-\n  Leave\n  policy", "Leave policy"),
        ("title:\n  Leave", "Leave"),
        ("title: ''", None),
        ("subtitle: Leave", None),
    ],
)
def test_the_title_field(fields: str, title: str | None) -> None:
    assert read_markdown(f"---\n{fields}\n---\n\ntext\n").title == title


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("---\n\ntext with a: colon\n\n---\n", id="a rule"),
        pytest.param("---\ntitle: never closed\n", id="never closed"),
        pytest.param("text\n\n---\ntitle: x\n---\n", id="not at the start"),
    ],
)
def test_dashes_that_are_no_front_matter(text: str) -> None:
    assert METADATA not in {kind for kind, _ in blocks(text)}
    assert read_markdown(text).title is None


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Leave\n\ntext\n", "Leave"),
        ("Leave\n===\n", "Leave"),
        ("<h1>Leave</h1>\n<p>x</p>\n", "Leave"),
        ("---\nlayout: x\n---\n\n# Leave\n", "Leave"),
        ("[![build](b.svg)](https://ci) ![cover][1]\n\n# Leave\n", "Leave"),
        ("<p align=center>\n  <img src='logo.png' alt='Acme'>\n</p>\n\n# Leave\n", "Leave"),
        (".. _leave:\n\n.. meta::\n   :keywords: leave\n\nLeave\n=====\n", "Leave"),
        ("[[leave]]\n= Leave\n\n== Sick\n\n== Paid\n", "Leave"),
        ("[Read this](a.md)\n\n# Leave\n", None),
        ("#\n# Copyright Acme\n", None),
        ("text\n\n# Leave\n", None),
        ("## Part\n\n# Leave\n", None),
        ("just text\n", None),
    ],
)
def test_the_title_is_the_level_1_heading_that_comes_first(text: str, title: str | None) -> None:
    assert read_markdown(text).title == title


HOSTILE = {
    "one line of words": "word " * 200_000,
    "one line without a space": "a" * 1_000_000,
    "one line of stars in a heading": "# " + "*" * 300_000,
    "one line of brackets in a heading": "# " + "[" * 100_000 + "](" * 100_000,
    "one line of tags in a heading": "# " + "<a " * 100_000,
    "headings": "# h\n\n" * 20_000,
    "deep quotation": ">" * 100_000,
    "deep list on a line": "- " * 20_000 + "x",
    "deep list": "".join("  " * level + "- x\n" for level in range(500)),
    "fence never closed": "```\n" + "x\n" * 100_000,
    "many fences never closed": "~~~a\n```b\n" * 20_000,
    "long table": "|a|b|\n|-|-|\n" + "|1|2|\n" * 20_000,
    "wide table": "|" + "a|" * 20_000 + "\n|" + "-|" * 20_000 + "\n",
    "front matter never closed": "---\na: b\n" + "c: d\n" * 50_000,
    "comments never closed": "<!--\n\n" * 20_000,
    "underlines": "a\n---\n" * 20_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_markdown_is_read_whole(text: str) -> None:
    assert_covers(text)


MARKUP = st.text(alphabet=st.sampled_from("ab#*-_=`~|<>!:.[]()\\&\"' \t\n\n1+é。"), max_size=200)


@given(MARKUP)
def test_blocks_are_in_order_and_all_else_is_white_space(text: str) -> None:
    assert_covers(text)


def assert_covers(text: str) -> None:
    extracted = read_markdown(text)
    assert extracted.text == text
    position = 0
    for block in extracted.blocks:
        assert position <= block.start < block.end <= len(text)
        assert not text[position : block.start].strip()
        assert text[block.start : block.end].strip()
        position = block.end
    assert not text[position:].strip()


def test_a_byte_order_mark_does_not_hide_a_heading() -> None:
    assert extract(b"\xef\xbb\xbf# Leave\r\n\r\ntext").title == "Leave"


def test_comments_are_no_text_but_in_code() -> None:
    text = "# T\n\n<!-- draft\n# not yet -->\n\ntext\n\n```\n<!-- shown -->\n```\n"
    extracted = extract(text.encode())
    assert "draft" not in extracted.text
    assert [extracted.text[block.start : block.end] for block in extracted.blocks] == [
        "# T", "text", "```\n<!-- shown -->\n```"
    ]  # fmt: skip


def test_front_matter_may_stand_below_a_blank_line() -> None:
    assert extract(b"\n---\ntitle: Leave\n---\n# H\n").title == "Leave"


# --- titles of reStructuredText and plain texts ---


def test_underlines_that_markdown_doesnt_know_make_headings_in_the_order_of_their_levels() -> None:
    text = (
        "=====\nGuide\n=====\n\nIntro.\n\nInstall\n~~~~~~~\nRun it.\n\n1. Options\n^^^^^^^^^^\n\nMore.\n\n"
        'Usage\n~~~~~~~\n\nUse it.\n\nNotes\n"""""\n\n'
    )
    assert outline(text) == [
        ("Guide",),
        ("Guide", "Install"),
        ("Guide", "Install", "1. Options"),
        ("Guide", "Usage"),
        ("Guide", "Usage", "Notes"),
    ]
    assert read_markdown(text).title == "Guide"
    assert [text for kind, text in blocks(text) if kind is PARAGRAPH] == ["Intro.", "Run it.", "More.", "Use it."]


def test_framed_titles_may_be_indented_and_are_a_level_of_their_own() -> None:
    text = "########\n Part 1\n########\n\nOne\n===\n\nx\n\n########\n Part 2\n########\n\ny\n"
    assert outline(text) == [("Part 1",), ("Part 1", "One"), ("Part 2",)]


def test_numbered_titles_over_markdowns_own_lines_are_no_lists() -> None:
    assert outline("1. Scope\n--------\n\nx\n\nSummary\n=======\n\ny\n") == [("1. Scope",), ("Summary",)]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        pytest.param("Example\n~~~~~~~\ncode\n~~~~~~~\n\nx", [PARAGRAPH, CODE, PARAGRAPH], id="a fence"),
        pytest.param("~~~~~~~\na\n\nx = 1\n~~~~~~~\n\ny", [CODE, PARAGRAPH], id="the end of a fence"),
        pytest.param("x\n\n~~~~\ncode\n~~~~\n\ny", [PARAGRAPH, CODE, PARAGRAPH], id="a fence of one line"),
        pytest.param("Example\n~~~ python\ncode\n", [PARAGRAPH, CODE], id="a fence without an end"),
        pytest.param("A long line of text\n~~~~~\ncode", [PARAGRAPH, CODE], id="too short"),
        pytest.param("one\ntwo\n^^^^\n\nx", [PARAGRAPH, PARAGRAPH], id="the end of a paragraph"),
        pytest.param("x = y\n^^^^^\nNameError", [PARAGRAPH], id="a mark under code"),
        pytest.param("# A\n\nb\n++++\n\nx", [HEADING, PARAGRAPH, PARAGRAPH], id="Markdown"),
        pytest.param('"""\nDoes it\n"""\n\nx', [PARAGRAPH, PARAGRAPH], id="quotes"),
        pytest.param("End\n***\n\nx", [PARAGRAPH, PARAGRAPH, PARAGRAPH], id="a rule"),
    ],
)
def test_other_lines_of_signs_stay_what_they_are(text: str, kinds: list[BlockKind]) -> None:
    assert [kind for kind, _ in blocks(text)] == kinds


# --- tables of reports ---


@pytest.mark.parametrize(
    ("before", "table"),
    [
        (
            "-----------\n",
            "|Item |Stock|\n-----------\n|Bolt |   25|\n|Nut  |   10|\n-----------\n|*    |   35|\n-----------",
        ),
        ("+----+------+\n", "| id | name |\n+----+------+\n|  1 | Ann  |\n|  2 | Bob  |\n+----+------+"),
        ("+----+------+\n", "| id | name |\n+====+======+\n|  1 | Ann  |\n+----+------+\n|  2 | Bob  |\n+----+------+"),
        ("", "| id | name |\n|----+------|\n|  1 | Ann  |"),
    ],
    ids=["SAP", "MySQL", "a grid", "Org"],
)
def test_a_table_of_a_report_is_one_and_its_rows_are_no_titles(before: str, table: str) -> None:
    above = [(PARAGRAPH, before.strip())] if before else []
    assert blocks(f"Stock\n\n{before}{table}\n\nDone.\n") == [
        (PARAGRAPH, "Stock"), *above, (TABLE, table), (PARAGRAPH, "Done."),
    ]  # fmt: skip


def test_a_report_whose_head_is_two_lines_stays_in_one_piece() -> None:
    table = "------\n|a|b|\n|c|d|\n------\n|1|2|\n------"
    assert blocks(table) == [(PARAGRAPH, table)]


@pytest.mark.parametrize(
    "text", ["| a | b |\n|---|---|\n| 1 | 2 |\n---\n", "|||||||||||\n---\n|x|\n", "|a|\n---\n\n|b|\n"]
)
def test_other_tables_and_rules_stay_what_they_are(text: str) -> None:
    assert "".join(text for _, text in blocks(text)).replace("\n", "") == text.replace("\n", "")


# --- AsciiDoc and wikis ---


def test_titles_of_asciidoc_are_headings_and_what_stands_in_its_blocks_is_none() -> None:
    text = (
        "= Guide\n:toc:\n\n== Install\n\nRun:\n\n[source,bash]\n----\n# as root\nmake\n----\n\n=== Check\n\n"
        "....\nOK\n....\n\n[NOTE]\n====\nAsk Ann.\n====\n\nUsage\n-----\n\nUse it.\n"
    )
    assert outline(text) == [
        ("Guide",), ("Guide", "Install"), ("Guide", "Install", "Check"), ("Guide", "Usage"),
    ]  # fmt: skip
    assert [text for kind, text in blocks(text) if kind is CODE] == ["----\n# as root\nmake\n----", "....\nOK\n...."]
    assert (PARAGRAPH, "[NOTE]\n====\nAsk Ann.\n====") in blocks(text)


def test_titles_of_a_wiki_are_headings() -> None:
    assert outline("Leave is paid.\n\n== Sick leave ==\n\nx\n\n=== Notice ===\n\ny\n") == [
        ("Sick leave",),
        ("Sick leave", "Notice"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("# Leave\n\n== a\n\n== b\n", id="Markdown"),
        pytest.param("===  ===\na    b\n===  ===\n\n=== ====\n", id="a table"),
        pytest.param("x\n\n== y\n", id="one line"),
    ],
)
def test_lines_that_begin_with_equals_signs_are_not_all_titles(text: str) -> None:
    assert all("=" not in heading for path in outline(text) for heading in path)


# --- indented lines ---


def test_one_indented_line_of_a_plain_text_is_no_code() -> None:
    table = "     city      | temp\n---------------+------\n San Francisco |   46\n Hayward       |   37"
    assert blocks(table) == [(PARAGRAPH, table)]
    assert blocks("      REPORT\n\nThe board met.\n\n     a   1\n     b   2\n") == [
        (PARAGRAPH, "      REPORT"),
        (PARAGRAPH, "The board met."),
        (CODE, "     a   1\n     b   2"),
    ]


@pytest.mark.parametrize("before", ["Run:", "# Install", "Use `pip`.", "See [it](a.md)."])
def test_one_indented_line_is_code_where_it_is_announced_or_the_text_is_markdown(before: str) -> None:
    assert blocks(f"{before}\n\n    pip install x\n\nDone.")[1] == (CODE, "    pip install x")
