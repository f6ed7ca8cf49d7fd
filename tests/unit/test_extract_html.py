"""Pages: what of them is content, and what its blocks are."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.values import BlockKind
from citewell.errors import DocumentRejected
from citewell.extract import extract
from citewell.extract.options import Limits, ReadOptions

HEADING, PARAGRAPH, LIST, TABLE, CODE = (
    BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.TABLE, BlockKind.CODE
)  # fmt: skip
FILLER = "<p>" + "The policy holds for everybody who works here. " * 8 + "</p>"


def page(body: str, *, head: str = "") -> bytes:
    return f"<!DOCTYPE html><html><head><meta charset=utf-8>{head}</head><body>{body}</body></html>".encode()


def text_of(body: str) -> str:
    return extract(page(body)).text


def blocks(body: str) -> list[tuple[BlockKind, str]]:
    extracted = extract(page(body))
    return [(block.kind, extracted.text[block.start : block.end]) for block in extracted.blocks]


# --- encodings ---


@pytest.mark.parametrize(
    ("head", "encoding", "content_type"),
    [
        ("<meta charset='windows-1251'>", "cp1251", None),
        ('<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">', "koi8_r", None),
        ("", "cp1251", "text/html; charset=windows-1251"),
        ("<meta charset=koi8-r>", "cp1251", "text/html; charset=windows-1251"),
        ("<meta charset=windows-1252>", "utf-8", "text/html; charset=windows-1252"),
        ("<meta charset=x-mac-cyrillic>", "mac_cyrillic", None),
        ("<meta charset=koi8-r>", "utf-16", None),
        ("<meta charset=koi8-r>", "utf-8-sig", None),
    ],
)
def test_the_charset_is_told_by_mark_bytes_content_type_and_meta(
    head: str, encoding: str, content_type: str | None
) -> None:
    data = f"<!doctype html><html><head>{head}</head><p>Отпуск</p>".encode(encoding)
    assert extract(data, ReadOptions(content_type=content_type)).text == "Отпуск"


def test_a_page_without_a_charset_is_told_as_any_text() -> None:
    data = "<html><body><p>Die tägliche Obergrenze für Mahlzeiten beträgt 60 €.</p></body></html>".encode("cp1252")
    assert extract(data).text == "Die tägliche Obergrenze für Mahlzeiten beträgt 60 €."


def test_a_byte_that_is_wrong_in_the_pages_charset_is_marked_and_the_rest_is_read() -> None:
    assert extract(b"<!doctype html><meta charset=utf-8><p>caf\xc3\xa9 \x80 \x8e").text == "café � �"
    assert extract(b"<!doctype html><meta charset=utf-16><p>caf\xc3\xa9").text == "café"


def test_an_encoding_that_nobody_knows_is_undecodable() -> None:
    with pytest.raises(DocumentRejected) as rejected:
        extract(b"<!doctype html><p>caf\xe9 \x80 \x8e")
    assert rejected.value.code == "undecodable"


def test_declarations_in_a_doctype_are_no_text() -> None:
    data = b"<?xml version='1.0'?><!DOCTYPE html [<!ENTITY x SYSTEM 'file:///x'>]><html><p>a &x; b</p></html>"
    assert extract(data).text == "a &x; b"


def test_entities_are_decoded_once() -> None:
    assert text_of("<p>R&amp;D &amp;amp; &lt;b&gt; caf&eacute; &#8364;&nbsp;5 &unknown;</p>") == (
        "R&D &amp; <b> café € 5 &unknown;"
    )


# --- blocks ---


def test_headings_and_paragraphs_make_sections() -> None:
    extracted = extract(
        page("<h1>Leave</h1><p>25\n  days.<p>More.<h2>Sick <i>leave</i></h2>loose<br>text<div>own</div>")
    )
    assert [(extracted.text[block.start : block.end], block.headings) for block in extracted.blocks] == [
        ("Leave", ("Leave",)),
        ("25 days.", ("Leave",)),
        ("More.", ("Leave",)),
        ("Sick leave", ("Leave", "Sick leave")),
        ("loose\ntext", ("Leave", "Sick leave")),
        ("own", ("Leave", "Sick leave")),
    ]


def test_a_heading_that_is_never_closed_ends_where_a_block_begins() -> None:
    for block, shown in (
        ("<p>25 days.", "25 days."),
        ("<ul><li>25 days.</ul>", "- 25 days."),
        ("<table><tr><td>25<td>days</table>", "| 25 | days |\n| --- | --- |"),
        ("<pre>25  days</pre>", "25  days"),
        (f"<div>25 days.{' Ask Ann.' * 30}</div>", f"25 days.{' Ask Ann.' * 30}"),
    ):
        extracted = extract(page(f"<h1>Leave <i>now</i>{block}<h2>Sick</h2>10 days"))
        assert extracted.title == "Leave now"
        assert extracted.text == f"Leave now\n\n{shown}\n\nSick\n\n10 days"
        assert [each.headings for each in extracted.blocks] == [("Leave now",)] * 2 + [("Leave now", "Sick")] * 2


@pytest.mark.parametrize(
    "heading", ["<p>1.</p><p>Leave</p>", "<div>1.</div><div>Leave</div>", "1.<div>Leave</div>", "1.<br>Leave"]
)
def test_a_heading_may_be_of_several_blocks(heading: str) -> None:
    assert blocks(f"<h1>{heading}</h1>25 days.") == [(HEADING, "1. Leave"), (PARAGRAPH, "25 days.")]
    assert extract(page(f"<h1>{heading}</h1>25 days.")).title == "1. Leave"


def test_headings_that_are_never_closed_take_linear_time() -> None:
    text = text_of("<h1>a<div>" * 400 + "<p>b" * 50_000)
    assert text == "a\n\n" * 400 + "\n\n".join("b" * 50_000)


def test_lists_keep_their_numbers_and_depth() -> None:
    assert blocks(
        "<ol start=3><li>three<li value=7><p>seven</p><p>more</p>"
        "<ul><li>inner</li></ul>after</li><li>eight</ol><ol type=a><li>x<li>y</ol><ol reversed type=I><li>p<li>q</ol>"
    ) == [
        (LIST, "3. three\n7. seven more\n  - inner\n after\n8. eight"),
        (LIST, "a. x\nb. y"),
        (LIST, "II. p\nI. q"),
    ]


def test_a_list_right_inside_a_list_is_deeper() -> None:
    assert text_of("<ul><li>a<ul><li>b</ul></li><ul><li>c</ul><li>d</ul>") == "- a\n  - b\n  - c\n- d"


def test_a_list_within_a_definition_is_deeper_and_does_not_part_it() -> None:
    assert blocks("<dl><dt>FTE<dd>Full-time<ul><li>40 hours</ul><dt>KPI<dd>Key figure</dl>") == [
        (LIST, "- FTE: Full-time\n  - 40 hours\n- KPI: Key figure")
    ]


def test_paragraphs_that_word_writes_as_items_are_a_list() -> None:
    markers = "\u00b7", "o", "a)", "2.1"
    items = "".join(
        f"<p class=MsoListParagraph style='margin:0;mso-list:l0 level{level} lfo1'><![if !supportLists]>"
        f"<span style='mso-list:Ignore'>{marker}<span>&nbsp;&nbsp; </span></span><![endif]>Item {level}<o:p></o:p></p>"
        for level, marker in enumerate(markers, start=1)
    )
    plain = "<p style='mso-list:l0 level1 lfo1'>A word</p><p style='mso-list:none'>No item</p>"
    assert blocks(items + plain) == [
        (LIST, "- Item 1\n  - Item 2\n    a) Item 3\n      2.1 Item 4\n- A word"),
        (PARAGRAPH, "No item"),
    ]


def test_the_runs_of_a_list_that_google_docs_writes_are_one_list() -> None:
    runs = (("ul", "a-0", "One"), ("ul", "a-1", "Inner"), ("ul", "a-0", "Two"), ("ol", "b-0", "Other"))
    markup = "".join(f"<{tag} class='c1 lst-kix_{name} start'><li>{text}</li></{tag}>" for tag, name, text in runs)
    assert blocks(markup) == [(LIST, "- One\n  - Inner\n- Two"), (LIST, "1. Other")]


@pytest.mark.parametrize("mark", ["¶", "#", "\u21a9\ufe0e"])
def test_a_link_that_is_only_a_mark_is_left_out(mark: str) -> None:
    extracted = extract(page(f"<h1 id=a>Leave<a href='#a'>{mark}</a></h1><p>25 days. <a href='#b'>§ 5</a>"))
    assert (extracted.title, extracted.text) == ("Leave", "Leave\n\n25 days. § 5")


def test_a_definition_stands_with_its_term() -> None:
    assert text_of("<dl><dt>Term:<dd>Text</dl>") == "- Term: Text"
    assert text_of("<dl><dt>FTE<dt>Full-time<dd>40 hours<dd>a week<dt>Alone</dl>") == (
        "- FTE, Full-time: 40 hours\n- a week\n\nAlone"
    )


def test_a_definition_in_a_list_does_not_end_it() -> None:
    assert blocks("<ol><li>one <dl><dd>note</dl></li><li>two</ol>") == [(LIST, "1. one\n  - note\n2. two")]


def test_code_is_verbatim() -> None:
    assert blocks("<p>Run <code>make  up</code>:</p><pre><code>if x:\n    y(&lt;z&gt;)\n\n\tw</code></pre>") == [
        (PARAGRAPH, "Run make up:"),
        (CODE, "if x:\n    y(<z>)\n\n\tw"),
    ]


def test_lines_of_code_that_are_blocks_are_parted_once() -> None:
    assert blocks("<pre><div>if x:</div><div>    y</div></pre>") == [(CODE, "if x:\n    y")]
    assert blocks("<pre><div>if x:\n</div><div>    y</div>z</pre>") == [(CODE, "if x:\n    y\nz")]


def test_an_element_may_stand_for_a_heading() -> None:
    extracted = extract(page("<div role=heading aria-level=1>IT</div><p role=heading>VPN<p>Ask Ann."))
    assert extracted.title == "IT"
    assert [(each.kind, each.headings) for each in extracted.blocks] == [
        (HEADING, ("IT",)),
        (HEADING, ("IT", "VPN")),
        (PARAGRAPH, ("IT", "VPN")),
    ]
    assert blocks("<table><tr><td><div role=heading>A</div>x<td>B<tr><td>1<td>2</table>") == [
        (TABLE, "| A x | B |\n| --- | --- |\n| 1 | 2 |")
    ]


def test_captions_summaries_and_pictures_that_say_something_are_read() -> None:
    assert (
        text_of(
            "<figure><img src=a.png alt='Org chart of the sales team'><figcaption>Sales in 2026</figcaption></figure>"
            "<img alt='logo'><img alt='IMG_001.jpg'><img alt=''>"
            "<details><summary>Who pays?</summary><p>We do.</p></details>"
        )
        == "Org chart of the sales team\n\nSales in 2026\n\nWho pays?\n\nWe do."
    )


def test_exponents_and_marks_of_notes_do_not_change_numbers_and_words() -> None:
    assert text_of("<p>10<sup>6</sup> m<sup>2</sup>, see above<sup><a href='#n1'>1</a></sup>, 2<sup>nd</sup></p>") == (
        "10⁶ m2, see above[1], 2nd"
    )
    assert text_of("<p>25 days<a href='#n1'><sup>1</sup></a>.</p>") == "25 days[1]."


def test_the_parts_of_a_formula_stay_apart() -> None:
    power = "<math><mi>A</mi><mo>=</mo><msup><mn>10</mn><mn>2</mn></msup><annotation>10^2</annotation></math>"
    half = "<math xmlns='http://www.w3.org/1998/Math/MathML'><mfrac><mn>1</mn><mn>2</mn></mfrac></math>"
    assert text_of(f"<p>Area {power}, {half} of it.</p>") == "Area A = 10^2, 1/2 of it."
    damaged = f"<math>{'<mrow>' * 200}<mi>x</mi></math><math><math><mi>y</mi></math></math><math><a:b>z</a:b></math>"
    assert text_of(damaged) == "xyz"


def test_quotations_are_marked_and_deletions_are_left_out() -> None:
    assert text_of("<p>He said <q>no</q>. <del>60</del> <ins>80</ins> EUR</p>") == 'He said "no". 80 EUR'


# --- tables ---


def test_a_table_with_a_caption_and_merged_cells() -> None:
    assert blocks(
        "<table><caption>Rates</caption><thead><tr><th rowspan=2>Region<th colspan=2>2026</tr><tr><th>Q1<th>Q2</tr>"
        "</thead><tbody><tr><td rowspan=2>EU<td>1<td>2<tr><td>3<td>4<tr><td>US<td>5<td>6</tbody></table>"
    ) == [
        (PARAGRAPH, "Rates"),
        (
            TABLE,
            "| Region | 2026 Q1 | 2026 Q2 |\n| --- | --- | --- |\n| EU | 1 | 2 |\n|  | 3 | 4 |\n| US | 5 | 6 |",
        ),
    ]


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ("<thead><tr><th>A<th>B<tr><th>EUR<th>%<tbody><tr><td>1<td>2", "| A EUR | B % |\n| --- | --- |\n| 1 | 2 |"),
        (
            "<tr><th rowspan=2>A<th colspan=2>B<tr><th>x<th>y<tr><td>1<td>2<td>3",
            "| A | B x | B y |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
        ),
        (
            "<tr><td rowspan=2>A<td colspan=2>B<tr><td>x<td>y<tr><td>1<td>2<td>3",
            "| A | B x | B y |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
        ),
        ("<thead><tr><th colspan=2>T<tr><th>A<th>B<tbody><tr><td>1<td>2", "T\n\n| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("<tr><th colspan=2>T<tr><td>1<td>2<tr><td>3<td>4", "| T |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"),
        ("<tr><td colspan=2>T<tr><td>A<td>B<tr><td>1<td>2", "T\n\n| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("<tr><th>A<th>B<tr><th>1<th>2<tr><th>3<th>4", "| A | B |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"),
        ("<thead><tr><th>A<th>B<tr><td>1<td>2</thead>", "| A | B |\n| --- | --- |\n| 1 | 2 |"),
    ],
)
def test_the_rows_of_a_head_are_one_and_a_title_stands_above_it(rows: str, shown: str) -> None:
    assert text_of(f"<table>{rows}</table>") == shown


def test_cells_of_several_lines_are_one_line() -> None:
    assert (
        text_of(
            "<table><tr><th>Who<th>What<tr><td><p>Ann</p><p>Bob</p><td>to do:<ul><li>a<li>b</ul>then<br>rest</table>"
        )
        == "| Who | What |\n| --- | --- |\n| Ann Bob | to do: - a - b then rest |"
    )


def test_a_table_within_a_cell_of_a_layout_stands_after_the_rows_above_it() -> None:
    assert blocks("<table><tr><td>A<td>B<tr><td><table><tr><td>A1<td>B1<tr><td>C1<td>D1</table></table>after") == [
        (TABLE, "| A | B |\n| --- | --- |"),
        (TABLE, "| A1 | B1 |\n| --- | --- |\n| C1 | D1 |"),
        (PARAGRAPH, "after"),
    ]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("<table><tr><td>A1<td>B1<tr><td>C1<td>D1</table>", "A1 B1 C1 D1"),
        ("clause " * 300, ("clause " * 300).strip()),
        ("<h3>Why</h3>" + "reason " * 100, ("Why " + "reason " * 100).strip()),
    ],
)
def test_a_row_of_data_stays_whole_whatever_stands_in_its_cells(cell: str, shown: str) -> None:
    assert blocks(f"<table><tr><th>Term<th>Text<tr><td>Notice<td>{cell}<tr><td>Fee<td>5</table>") == [
        (TABLE, f"| Term | Text |\n| --- | --- |\n| Notice | {shown} |\n| Fee | 5 |")
    ]


def test_the_head_stands_again_over_rows_below_what_parts_a_table() -> None:
    nested = "<tr><td colspan=2><table><tr><td>x<td>y</table>"
    assert blocks(f"<table><tr><th>A<th>B<tr><td>1<td>2{nested}<tr><td>3<td>4</table>") == [
        (TABLE, "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        (TABLE, "| x | y |\n| --- | --- |"),
        (TABLE, "| A | B |\n| --- | --- |\n| 3 | 4 |"),
    ]


def test_a_table_of_one_column_within_a_cell_stays_in_its_row() -> None:
    assert blocks(
        "<table><tr><td>Grade<td>A<tr><td>Standard<td><table><caption>c</caption><tr><td>JIS<tr><td>4108</table></table>x"
    ) == [(TABLE, "| Grade | A |\n| --- | --- |\n| Standard | c JIS 4108 |"), (PARAGRAPH, "x")]


def test_a_heading_or_code_beside_other_cells_stays_in_its_row() -> None:
    assert blocks("<table><tr><td><h1>A</h1><p>text</p><td>B<tr><td>1<td>2</table>") == [
        (TABLE, "| A text | B |\n| --- | --- |\n| 1 | 2 |")
    ]
    assert blocks("<table><tr><th>Do<th>Run<tr><td>Build<td><pre>make\nall</pre></table>") == [
        (TABLE, "| Do | Run |\n| --- | --- |\n| Build | make all |")
    ]


def test_code_beside_its_line_numbers_is_verbatim() -> None:
    assert blocks("<table><tr><td><pre>1\n2</pre><td><pre>if x:\n    y</pre></table>") == [
        (CODE, "1\n2"),
        (CODE, "if x:\n    y"),
    ]


@pytest.mark.parametrize(
    "code",
    [
        "<div class=fragment><div class=line><a id=l1></a><span class=lineno>    1</span>if x:</div>\n"
        "<div class=line><span class=lineno>    2</span>    y</div>\n</div>",
        "<div style=\"color:#000;font-family: Consolas, 'Courier New', monospace;white-space: pre;\">"
        "<div><span>if</span> x:</div><div>    y</div></div>",
    ],
    ids=["Doxygen", "copied from an editor"],
)
def test_code_may_stand_in_other_elements_than_pre(code: str) -> None:
    assert blocks(f"<p>So:</p>{code}<p>after</p>") == [(PARAGRAPH, "So:"), (CODE, "if x:\n    y"), (PARAGRAPH, "after")]


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (
            "<a><span style='display:block'>Leave</span><span style='color:red; display: block;'>25 days</span></a>",
            "Leave\n\n25 days",
        ),
        ("<style>.line { display: flex }</style><b class=line>Leave</b><b class=line>25 days</b>", "Leave\n\n25 days"),
        (
            "<h2><span style='display:block'>Part 1</span><span style='display:block'>Leave</span></h2>x",
            "Part 1 Leave\n\nx",
        ),
        ("<p><span style='display:inline-block'>Le</span><span style='display:inline'>ave</span>", "Leave"),
    ],
)
def test_what_a_style_shows_as_blocks_is_not_one_word(body: str, shown: str) -> None:
    assert text_of(body) == shown


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("<div style='white-space: pre-wrap'>Call  Ann\nor Bob</div>", "Call Ann\nor Bob"),
        (
            "<style>.note { white-space:pre-line }</style><p class=note>Call Ann\nor Bob</p>then\nEve",
            "Call Ann\nor Bob\n\nthen Eve",
        ),
        ("<p style='white-space: nowrap'>Call Ann\nor Bob</p>", "Call Ann or Bob"),
        ("<ul><li style='white-space:pre'>Call Ann\nor Bob</ul>", "- Call Ann or Bob"),
    ],
)
def test_lines_stay_apart_where_a_style_keeps_them(body: str, shown: str) -> None:
    assert text_of(body) == shown


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("<figure><img alt='Ann Lee'><figcaption>Ann  LEE</figcaption></figure>", "Ann LEE"),
        ("<a><img alt='New rates'></a><h3><a>New rates for 2026</a></h3><p>x", "New rates for 2026\n\nx"),
        ("<h3>New rates</h3><p><img alt='New rates'></p><p>x", "New rates\n\nx"),
        ("<p><span><img alt=Austria></span> <a>Austria</a> and <img alt=Italy> Spain", "Austria and Italy Spain"),
        ("<ul><li><a><img alt='New rates'></a><p>New rates</ul>", "- New rates"),
        ("<p><img alt='Ann'><table><tr><td>Annex<td>B</table>", "Ann\n\n| Annex | B |\n| --- | --- |"),
        (
            "<p><img alt='Ann'><p>Annex<p><img alt='Annex B'><pre>x</pre><p><img alt=End>",
            "Ann\n\nAnnex\n\nAnnex B\n\nx\n\nEnd",
        ),
        ("<p><img alt=Ann> <img alt=Bob> <img alt=Bob>", "Ann Bob"),
    ],
)
def test_a_picture_is_not_said_again_where_the_text_beside_it_does(body: str, shown: str) -> None:
    assert text_of(body) == shown


@pytest.mark.parametrize(
    "button",
    [
        "<div class=card><button class=btn data-toggle=collapse data-target='#one'>How many days?</button></div>",
        "<div><button data-bs-toggle=collapse data-bs-target='#one'><span>How many days?</span></button></div>",
        "<div><button aria-expanded=false aria-controls=one>How many days?</button></div>",
    ],
)
def test_a_button_that_opens_an_answer_is_its_question(button: str) -> None:
    answer = "<div id=one class=collapse style='display:none'><p>25 days.</p></div>"
    assert text_of(f"<h1>FAQ</h1>{button}{answer}{FILLER}").startswith("FAQ\n\nHow many days?\n\n25 days.")


@pytest.mark.parametrize(
    "opened",
    [
        "<div id=one><a href=/>Home</a></div>",
        "<div id=one class=nav>Home</div>",
        "<div id=one><form>Words: <input></form></div>",
        "",
    ],
)
def test_a_button_that_opens_a_menu_is_left_out(opened: str) -> None:
    assert "OUT" not in text_of(f"<div><button aria-controls=one>OUT</button></div>{opened}<h1>Leave</h1>{FILLER}")


LINKS = "<a href=/a>Home</a> | <a href=/b>Libraries</a> | <a href=/c>People</a>"


@pytest.mark.parametrize(
    "menu",
    [
        f"<p>{LINKS}",
        f"<table><tr><td><img alt='The company'><td>{LINKS.replace('|', '<td>')}</table>",
        f"<div><ul><li>{LINKS.replace('|', '<li>')}</ul></div>",
        "<div class=doc-nav><a href=/a><img alt=Prev></a><a href=/b><img alt=Next></a></div>",
    ],
)
def test_a_menu_is_known_by_its_place_above_the_heading_or_by_its_pictures(menu: str) -> None:
    assert text_of(f"{menu}<h1>Leave</h1>{FILLER}").startswith("Leave\n\nThe policy")
    assert text_of(f"{menu}<h2>Other</h2><h1>Leave</h1>{FILLER}").startswith("Other\n\nLeave")


def test_links_above_the_heading_are_read_where_they_are_what_the_page_is_for() -> None:
    assert text_of(f"<p>{LINKS}<h1>Leave</h1><p>25 days.") == "Home | Libraries | People\n\nLeave\n\n25 days."
    said = f"<p>{LINKS} | Our people work at three places."
    assert text_of(f"{said}<h1>Leave</h1>{FILLER}").startswith("Home | Libraries | People | Our people")
    assert text_of(f"<h1>Leave</h1><p>{LINKS}{FILLER}").startswith("Leave\n\nHome | Libraries | People")


@pytest.mark.parametrize("words", ["top", "Back to top", "↑ Top of page", "Nach oben", "<img alt=top src=up.gif>"])
def test_links_to_the_top_of_the_page_are_left_out(words: str) -> None:
    link = f"<div class=back><a href=#start>{words}</a></div>"
    assert text_of(f"<h1>Leave</h1><p>25 days.</p>{link}<h2>Sick</h2><p>See the <a href=#s>top</a> of it.") == (
        "Leave\n\n25 days.\n\nSick\n\nSee the top of it."
    )


MADE_TABLES = [
    "<div role=table><div role=rowgroup><div role=row><span role=columnheader>A</span><span role=columnheader>B</span>"
    "</div></div><div role=row><span role=cell>1</span><span role=cell><p>2</p></span></div></div>",
    "<ul role=grid><li role=row><div role=gridcell>A</div><div role=gridcell>B</div></li>"
    "<li role=row><div role=gridcell>1</div><div role=gridcell>2</div></li></ul>",
    "<style>.t{display:table}.r{display:table-row} .c, .h {padding:2px; display: table-cell}</style>"
    "<div class=t><div class=r><div class=h>A</div><div class=h>B</div></div>"
    "<div class=r><div class=c>1</div><div class=c>2</div></div></div>",
    "<div style='display: table;'><div style='display:table-row'><b style='display:table-cell'>A</b>"
    "<b style='display:table-cell'>B</b></div><div style='display:table-row'><i style='display:table-cell'>1</i>"
    "<i style='display:table-cell'>2</i></div></div>",
]


@pytest.mark.parametrize("table", MADE_TABLES, ids=["ARIA", "ARIA's grid", "style sheet", "styles"])
def test_a_table_may_be_made_of_any_elements(table: str) -> None:
    assert blocks(f"<p>Rates</p>{table}<p>after</p>") == [
        (PARAGRAPH, "Rates"),
        (TABLE, "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        (PARAGRAPH, "after"),
    ]


@pytest.mark.parametrize(
    "inner",
    [
        "<i class=c>A</i><i class=c>B</i>",
        "<div class=r><i class=c>A</i><i class=c>B</i></div>",
        "<div class=r><i class=c>A</i><i class=c>B</i></div><div class=r><i class=c>C</i></div>",
        "<div class=r><i class=c>A</i><i class=c>B</i></div><div class=r><i class=c>C</i><i class=c><h2>D</h2>",
    ],
)
def test_what_a_style_only_sets_out_as_a_table_is_none(inner: str) -> None:
    style = "<style>.t{display:table}.r{display:table-row}.c{display:table-cell}</style>"
    assert TABLE not in {kind for kind, _ in blocks(f"{style}<div class=t>{inner}</div>")}


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ("<tr><td rowspan=2><img alt=[Note]><th>Note<tr><td><p>Ask Ann.<p>Or Bob.", ["Note\nAsk Ann.\nOr Bob."]),
        (f"<tr><td>Note<td><p>Ask{' Ann' * 40}.<ul><li>Or Bob</ul>", ["Note", f"Ask{' Ann' * 40}.", "- Or Bob"]),
        (f"<tr><th>Note<td>Ask{' Ann' * 40}.", ["Note", f"Ask{' Ann' * 40}."]),
    ],
)
def test_a_notice_beside_its_picture_or_kind_is_no_table(rows: str, shown: list[str]) -> None:
    assert [text for _, text in blocks(f"<table>{rows}</table>")] == shown


def test_a_table_that_is_only_layout_makes_no_rows() -> None:
    assert blocks("<table><tr><td><h2>Leave</h2><p>25 days.</p></td></tr><tr><td>Ask Ann.</td></tr></table>") == [
        (HEADING, "Leave"),
        (PARAGRAPH, "25 days."),
        (PARAGRAPH, "Ask Ann."),
    ]


@pytest.mark.parametrize("span", ["0", "-1", "x", "", "9999999999", "²"])
def test_a_span_that_is_none_costs_nothing(span: str) -> None:
    text = text_of(f"<table><tr><td colspan='{span}' rowspan='{span}'>a<td>b<tr><td>c<td>d</table>")
    assert [cell in text for cell in "abcd"] == [True] * 4


# --- what is left out ---


@pytest.mark.parametrize(
    "element",
    [
        "<nav>OUT</nav>",
        "<aside>OUT</aside>",
        "<footer>OUT</footer>",
        "<header><a href=/>OUT</a></header>",
        "<div role=navigation>OUT</div>",
        "<script>OUT</script>",
        "<style>.OUT{}</style>",
        "<noscript>OUT</noscript>",
        "<template><p>OUT</p></template>",
        "<p hidden>OUT</p>",
        "<p aria-hidden='true'>OUT</p>",
        "<p style='color:red; display : none'>OUT</p>",
        "<div class='breadcrumbs'>OUT</div>",
        "<div class='sidebar'>OUT</div>",
        "<div class='cookie-consent'>OUT</div>",
        "<div id=onetrust-consent-sdk><div role=dialog>OUT</div></div>",
        "<div class='navbar-collapse' aria-hidden='true'>OUT</div>",
        "<div class=toc-macro><ul><li>OUT</ul></div>",
        "<div id=menu><a href=/>OUT</a></div>",
        "<button>OUT</button>",
        "<select><option>OUT</select>",
        "<svg><title>OUT</title></svg>",
        "<dialog>OUT</dialog>",
        "<!-- OUT -->",
        "<pre><span class=ln>OUT</span></pre>",
        "<table><tr><td class=gutter><pre>OUT</pre></table>",
    ],
)
def test_what_is_no_content_is_left_out(element: str) -> None:
    assert text_of(f"{element}<p>before</p>{element}{FILLER}<p>after</p>{element}").startswith("before")
    assert "OUT" not in text_of(f"{element}<p>before</p>{element}{FILLER}<p>after</p>{element}")


def test_what_the_pages_style_hides_and_nothing_shows_is_left_out() -> None:
    body = f"{FILLER}<p class=preview>preview</p><p class=panel>panel</p><p class=wide>wide</p>"
    style = (
        ".preview { display:none } .panel{display:none} .panel:target{display:block} @media print {.wide{display:none}}"
    )
    assert extract(page(body, head=f"<style>{style}</style>")).text.split()[-2:] == ["panel", "wide"]
    scripted = f"<style>{style}</style><script>open()</script>"
    assert extract(page(body, head=scripted)).text.split()[-3:] == ["preview", "panel", "wide"]


@pytest.mark.parametrize(
    "tag", ["nav", "aside", "footer", "header", "div aria-hidden=true", "div style='display:none'"]
)
def test_the_page_itself_is_never_left_out(tag: str) -> None:
    assert "holds for everybody" in text_of(f"<{tag}>{FILLER}</{tag.split()[0]}><p>more</p>")


def test_a_header_with_the_pages_title_is_its_own() -> None:
    body = f"<header><h1>Policy</h1><p>Ann</p></header><h1>1 Leave</h1>{FILLER}"
    assert extract(page(body, head="<title>Policy</title>")).text.startswith("Policy\n\nAnn\n\n1 Leave")
    assert extract(page(body, head="<title>1 Leave</title>")).text.startswith("1 Leave")


def test_the_headers_notes_and_footers_of_an_article_are_its_own() -> None:
    text = text_of(
        f"<header>Site</header><article><header><h1>Leave</h1></header>{FILLER}"
        "<aside>Note: ask Ann.</aside><aside><a href=a>Other article</a></aside>"
        "<footer>Valid from May.</footer></article>"
    )
    assert text.startswith("Leave\n\n")
    assert text.endswith("Note: ask Ann.\n\nValid from May.")
    assert "Site" not in text


def test_the_main_part_is_read_alone_and_keeps_the_pages_heading() -> None:
    text = text_of(
        f"<header><h1>Leave</h1><p>slogan</p></header><div>banner</div><main>{FILLER}</main><div>links</div>"
    )
    assert text.startswith("Leave\n\nThe policy holds")
    assert not any(word in text for word in ("slogan", "banner", "links"))


def test_a_heading_may_be_a_button() -> None:
    assert blocks("<h3><button>Who pays?</button></h3><p>We do.</p>") == [(HEADING, "Who pays?"), (PARAGRAPH, "We do.")]


def test_a_button_that_opens_the_panel_after_it_is_its_question() -> None:
    assert blocks("<button class=accordion>Who pays?</button><div><p>We do.</p></div>") == [
        (PARAGRAPH, "Who pays?"),
        (PARAGRAPH, "We do."),
    ]


@pytest.mark.parametrize(
    "panel",
    [
        "<div role=tabpanel hidden>brew install</div>",
        "<div class='tab-pane fade' style='display:none'>brew install</div>",
        "<div class='accordion-collapse collapse' aria-hidden=true>brew install</div>",
    ],
)
def test_what_a_reader_opens_is_read_though_it_is_hidden_at_first(panel: str) -> None:
    tabs = "<div role=tablist><button role=tab>Linux</button><button role=tab>Mac</button></div>"
    assert text_of(f"{tabs}<div role=tabpanel>apt install</div>{panel}{FILLER}").split("\n\n")[:3] == [
        "Linux Mac",
        "apt install",
        "brew install",
    ]


def test_the_labels_of_a_form_are_parted() -> None:
    assert text_of("<form><label>Name</label><input><label>Team<select><option>x</select></label>") == "Name Team"


def test_an_element_may_end_with_its_tag_where_the_page_is_xml() -> None:
    body = "<p>a<a id='b'/> b</p><p/>c"
    markup = f"<?xml version='1.0'?>\n<html><head><title/><script src='x'/></head><body>{body}</body></html>"
    assert extract(markup.encode()).text == "a b\n\nc"


@pytest.mark.parametrize(
    "element",
    [
        "<header><h1>Leave</h1><p>Valid from May.</p></header>",
        "<div id=menu><h2>This week</h2><p>Monday: lasagne</p></div>",
        "<aside class='box note'>Never open the valve.</aside>",
        "<aside id=footnotes class='footnotes footnotes-end-of-document'><p>The note.</p></aside>",
    ],
)
def test_what_is_marked_as_around_the_content_may_be_content(element: str) -> None:
    words = re.sub("<[^>]+>", " ", element).split()
    assert text_of(f"{element}{FILLER}").split()[: len(words)] == words


@pytest.mark.parametrize("indent", ["", " " * 200])
def test_how_a_page_is_indented_says_nothing_of_what_is_most_of_it(indent: str) -> None:
    menu = "".join(f"<li>\n{indent}<a href=/>\n{indent}OUT</a>\n{indent}</li>" for _ in range(20))
    assert text_of(f"<nav>{menu}</nav><div>{FILLER}</div>").startswith("The policy")
    assert text_of(f"<div>{menu}</div><main>{FILLER}</main>").startswith("The policy")
    assert text_of(f"<div id=menu>{menu}<p>and {indent}</div>{FILLER}").startswith("The policy")


MANY_LINKS = "<ul>" + "<li><a href=/>Directorate of regional affairs</a>" * 60 + "</ul>"


@pytest.mark.parametrize(
    "menu",
    [
        f"<header><nav>{MANY_LINKS}</nav></header>",
        f"<div role=navigation><h2>Menu</h2>{MANY_LINKS}</div>",
        f"<div class=main-menu>{MANY_LINKS}</div>",
        f"<div class=mobile-menu style='display:none'>{MANY_LINKS}</div>",
        f"<nav hidden>{MANY_LINKS}</nav>",
        f"<footer><p>Imprint</p>{MANY_LINKS}</footer>",
    ],
)
@pytest.mark.parametrize("tag", ["main", "div"])
def test_a_menu_of_any_size_is_left_out_where_a_text_remains(menu: str, tag: str) -> None:
    assert (
        text_of(f"{menu}<{tag}><h1>Ferry</h1><p>It leaves every hour.</p></{tag}>") == "Ferry\n\nIt leaves every hour."
    )


@pytest.mark.parametrize(
    "page_of_links",
    [
        f"<nav>{MANY_LINKS}</nav>",
        f"<div>Please wait for the page.</div><div id=app style='display:none'>{MANY_LINKS}</div>",
        f"<h1>Site map of the ministry</h1><nav>{MANY_LINKS}</nav><footer><p>Imprint of the ministry</p></footer>",
        f"<h1>The handbook</h1><p>By Ann Other, 2020</p><div class=toc>{MANY_LINKS}</div>",
        f"<div class=wrap-nav><h1>Forms</h1><h1>All</h1><p>All of our forms</p>{MANY_LINKS}</div>",
    ],
)
def test_a_page_that_is_all_links_is_read(page_of_links: str) -> None:
    assert text_of(page_of_links).count("Directorate") == 60


@pytest.mark.parametrize(
    "element",
    [
        "<ul class=menu><li><a href=/>OUT</a></ul>",
        "<div id=navPrimary><h2>OUT</h2><a href=/>OUT</a></div>",
        "<div class='post_navigation'><a href=/>OUT</a></div>",
        "<ol class=breadcrumb-list><li><a href=/>OUT</a></ol>",
        "<div><a rel=prev href=/>OUT</a> | <a rel=next href=/>OUT</a></div>",
        "<p>Next: <a rel=next href=/>Sick leave, OUT</a></p>",
        "<div class=related><h3>OUT</h3><ul><li><a href=/>OUT</a></ul></div>",
        "<div class=sphinxsidebar><p>OUT</p></div>",
        "<div id=titlearea>OUT</div>",
        "<div class=tabs><ul><li><a href=main.html>OUT</a></ul></div>",
        "<div class=topNav>OUT</div>",
        "<table class=navigation><tr><td><a href=/>OUT</a><th>OUT<td><a href=/>OUT</a></table>",
        "<table><tr><td class=menu><a href=/>OUT</a><br><a href=/>OUT</a><td></table>",
        "<div class=navheader><table><tr><td>OUT<td>OUT</table></div>",
        "<ins class=adsbygoogle>OUT</ins>",
        "<div class='box advertisement'>OUT</div>",
        "<div class=social-share>OUT</div>",
        "<div id=gdpr-cookie-message>OUT</div>",
        "<div class=cookieConsent>OUT</div>",
        "<div id=header><p>OUT</p></div>",
        "<div class=ia-fixed-sidebar>OUT</div>",
        "<div id=likes-and-labels-container>OUT</div>",
        "<section id=comments-section>OUT</section>",
        "<img src=t.gif width=1 height=1 alt=OUT>",
    ],
)
def test_what_stands_around_the_content_is_left_out_by_its_name(element: str) -> None:
    assert text_of(f"{element}<div id=main-content><h1>Leave</h1>{FILLER}</div>{element}").startswith(
        "Leave\n\nThe policy"
    )
    assert "OUT" not in text_of(f"{element}<div id=main-content><h1>Leave</h1>{FILLER}</div>{element}")


@pytest.mark.parametrize(
    ("element", "text"),
    [
        ("<div class=menu><p>Monday: lasagne</p></div>", "Monday: lasagne"),
        ("<div class=menu-item><a href=/>Lasagne</a> 4 €</div>", "Lasagne 4 €"),
        (
            "<table class=menu><tr><th>Day<th>Dish<tr><td>Monday<td class=menu><a href=/>Lasagne</a></table>",
            "| Day | Dish |\n| --- | --- |\n| Monday | Lasagne |",
        ),
        ("<div><h1>Leave</h1><a rel=next href=b>Next page</a></div>", "Leave"),
        ("<div><a href='#a'>Skip to content</a><p>Closed.</p></div>", "Closed."),
        ("<p>Press <span class=menu>File</span>.</p>", "Press File."),
        ("<div class=unavailable><a href=/>Old form</a></div>", "Old form"),
        ("<div class=navigation-not-searchable>See <a href=/>Ducks</a></div>", "See Ducks"),
        ("<h2 id=navigation>Navigation</h2>", "Navigation"),
        ("<section id=site-header><h2>Site header</h2><p>It is blue.</p></section>", "Site header\n\nIt is blue."),
        ("<section id=footer><h2>Footer</h2><p>It is grey.</p></section>", "Footer\n\nIt is grey."),
        ("<div id=cookie-policy><p>We set one.</p></div>", "We set one."),
        ("<form class=consent-form><p>I agree.</p></form>", "I agree."),
        ("<ul class='menu tabs'><li><a href='#linux'>Linux</a></ul>", "- Linux"),
        ("<img width=100 height=1 alt=Ruler>", "Ruler"),
    ],
)
def test_a_name_alone_says_little(element: str, text: str) -> None:
    assert text_of(f"{element}{FILLER}").startswith(f"{text}\n\nThe policy")


@pytest.mark.parametrize("name", ["menu", "navigation", "sidebar", "cookie-notice", "header"])
@pytest.mark.parametrize("attribute", ["class", "id"])
def test_what_holds_most_of_the_prose_is_read_whatever_it_is_called(attribute: str, name: str) -> None:
    links = "<p><a href=/>Directorate of regional affairs</a></p>" * 20
    assert "holds for everybody" in text_of(f"<div {attribute}={name}>{FILLER}</div>{links}")


def test_a_header_by_its_name_keeps_the_pages_heading() -> None:
    assert text_of(f"<div id=header><h1>Leave</h1></div>{FILLER}").startswith("Leave\n\n")
    several = f"<div id=header><h1>Acme</h1></div><h1>Leave</h1>{FILLER}"
    assert text_of(several).startswith("Leave\n\n")
    assert extract(page(several, head="<title>Acme</title>")).text.startswith("Acme\n\nLeave")


@pytest.mark.parametrize(
    "link",
    [
        "<a href='#main'>Skip to main content</a>",
        "<p><a href='http://a.test/b.html#content'>Jump to main\ncontent.</a></p>",
        "<ul><li><a href='#inhalt'>Zum Inhalt springen</a><li><a href='#nav'>Navigation überspringen</a></ul>",
        "<div><a href='#contenu'>Aller au contenu</a></div>",
        "<a href='#contenido'>Saltar al contenido</a>",
        "<a class=screen-reader-text href='#content'>Content</a>",
        "<p><a href='http://a.test/b#main'><img src=a.gif width=9 alt='Skip Navigation'></a></p>",
        f"<div>{' ' * 400}<a href='#main'>{' ' * 400}Skip to content</a></div>",
    ],
)
def test_a_link_that_skips_to_the_content_is_left_out(link: str) -> None:
    assert text_of(f"{link}<h1>Leave</h1>{FILLER}").startswith("Leave")


def test_a_link_to_a_later_part_of_the_text_is_read() -> None:
    sentence = "<p>If you know this, <a href='#b'>skip to part b</a>, which is on leave.</p>"
    assert text_of(sentence) == "If you know this, skip to part b, which is on leave."
    assert text_of("<h1>Leave</h1><p><a href='#b'>Skip to part b</a></p>") == "Leave\n\nSkip to part b"


def test_words_for_screen_readers_are_read_once() -> None:
    assert text_of("<p>4.20 <span class=sr-only>euros</span></p>") == "4.20 euros"
    assert text_of("<p><b>PDF</b> <span class=sr-only>PDF</span></p>") == "PDF"
    assert text_of("<p><b aria-hidden=true>PDF</b><span class=sr-only>PDF</span> form</p>") == "PDF form"


@pytest.mark.parametrize("start", ["<div class=menu>", "<div id=footer>", "<nav>", "<div class='menu tabs'>"])
def test_what_is_called_the_same_deep_within_itself_takes_linear_time(start: str) -> None:
    body = f"{FILLER}{start * 900}x{'<i></i>' * 20_000}{FILLER}<p>after</p>"
    assert text_of(body).endswith("after")


def test_a_wiki_page_is_read_without_its_tools() -> None:
    text = text_of(
        "<div id=toc>Contents</div><h2>Ducks<span class=mw-editsection>[edit]</span></h2>"
        f"{FILLER}<p>Ducks swim<sup class=reference><a href='#cite_1'>[1]</a></sup>.</p>"
        "<table class=navbox><tr><td>Birds<td>Geese</table><div class=catlinks>Categories</div>"
    )
    assert text.startswith("Ducks\n\nThe policy")
    assert text.endswith("Ducks swim.")


def test_a_page_that_is_all_for_readers_without_scripts_is_read() -> None:
    assert text_of("<noscript><h1>Leave</h1><p>28 days.</p></noscript><script>x()</script>") == "Leave\n\n28 days."


# --- pages without a frame ---


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<span style='x'>Hello <b>team</b>,</span><br>bye", "Hello team,\nbye"),
        ("<a name=top></a><p>How &mdash; why?</p>", "How — why?"),
        ("<font><p>Hello &amp; bye</p></font>", "Hello & bye"),
        ("Hello,<br><br>the <b>new</b> hours.<br>Regards", "Hello,\n\nthe new hours.\nRegards"),
        ("<div><p>a &amp; b</p></div>\n<!-- made by x -->", "a & b"),
        ("<div>\n<p>Run:</p><pre>\n# x\n\n- y\n</pre></div>", "Run:\n\n# x\n\n- y"),
        ("<div>\n<p>\n1. first of all</p></div>", "1. first of all"),
        ("<?php include 'x'; ?>\n<!DOCTYPE html><p>Hi", "Hi"),
        ("<![if !IE]><html><p>Hi</html><![endif]>", "Hi"),
        ("Saved page\n<html><body><h1>Hi</h1></body></html>", "Saved page\n\nHi"),
    ],
)
def test_a_part_of_a_page_is_a_page(markup: str, text: str) -> None:
    assert extract(markup.encode()).text == text


@pytest.mark.parametrize(
    "text",
    [
        "<p align=center>Logo</p>\n\n# Title\n\nText.",
        "<b>Note</b>: use **bold** here.",
        "A `<br>` parts lines, `<p>` and `<b>` don't.",
        "One <b>word</b>, and <i>another</i>.\n\nAnd more.",
    ],
)
def test_markdown_with_elements_is_markdown(text: str) -> None:
    assert extract(text.encode()).text == text


# --- what it says of itself ---


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Leave &amp; more</title>", "<p>x", "Leave & more"),
        ("<title>Leave | Acme</title>", "<h1>Leave</h1>", "Leave"),
        ("<title>Acme</title>", "<h1>Leave</h1>", "Acme"),
        ("", "<h1>Leave</h1>", "Leave"),
        ("", "<h1>Leave</h1><h1>Travel</h1>", None),
        ("", "<h1>Leave<div>and <b>Tra</b>vel</div></h1>", "Leave and Tra vel"),
        ("", "<h1><b>Tra</b>vel</h1>", "Travel"),
        ("<title> </title>", "<p>x", None),
    ],
)
def test_the_title(head: str, body: str, title: str | None) -> None:
    assert extract(page(body, head=head)).title == title


def test_the_language_and_date() -> None:
    extracted = extract(b"<!doctype html><html lang='pt-br'><meta name='DC.Date' content='2026-03-01'><p>Oi")
    assert (extracted.language, extracted.effective_date) == ("pt-br", "2026-03-01")
    assert extract(b"<!doctype html><html lang='?'><meta name=date content=May><p>Hi").language is None


# --- hostile and broken ---


def test_an_odd_closing_tag_loses_nothing() -> None:
    data = b"<html><head><script>cool()</script language></head><body></p></span><p>This is</b> a <i>test</p></body>"
    assert extract(data + b"<p>after the end").text == "This is a test\n\nafter the end"


@pytest.mark.parametrize("tag", ["div", "b", "ul><li", "table><tr><td", "blockquote", "dl><dd", "pre", "q", "sup"])
def test_deep_nesting_is_read(tag: str) -> None:
    assert "deep" in text_of(f"<{tag}>" * 1_000 + "deep")


def test_nesting_without_an_end_is_read_all_the_same() -> None:
    body = "<div class=a>" * 100_000 + "<p>deep</p>" + "</div>" * 100_000 + "<p>after</p>"
    assert text_of(body) == "deep\n\nafter"


def test_formatting_that_is_never_closed_is_read_in_linear_time() -> None:
    assert text_of("".join(f"<p><font color={n}>x" for n in range(4_000))).split() == ["x"] * 4_000


@pytest.mark.parametrize("value", ["", "=x", "='x'", '="x"'])
@pytest.mark.parametrize("between", [" ", "/", "\n"])
def test_an_element_of_many_attributes_is_read_in_linear_time(value: str, between: str) -> None:
    attributes = between.join(f"a{number}{value}" for number in range(200_000))
    picture = "iVBO/ \n" * 20_000
    markup = f"<p {attributes}>25 days</p><img alt=Plan src='data:;base64,{picture}'>"
    assert text_of(markup) == "25 days\n\nPlan"


def test_many_elements_that_are_never_closed_are_not_deep() -> None:
    assert text_of("<p>x" * 20_000).count("x") == 20_000
    assert text_of("<ul>" + "<li>x" * 20_000).count("x") == 20_000


def test_more_text_than_the_limit_is_too_large() -> None:
    with pytest.raises(DocumentRejected) as rejected:
        extract(page(FILLER * 10), ReadOptions(limits=Limits(characters=1_000)))
    assert rejected.value.code == "too_large"


@pytest.mark.parametrize("body", ["", "<script>x</script>", "<p> &nbsp; </p>", "<img alt=''>"])
def test_a_page_without_text_is_empty(body: str) -> None:
    with pytest.raises(DocumentRejected) as rejected:
        extract(page(body))
    assert rejected.value.code == "empty"


TAGS = (
    "<p> </p> <div> </div> <table> </table> <tr> <td> </td> <th> <ul> </ul> <ol> <li> </li> <dl> <dt> <dd> </dl> <h1>"
    " </h1> <h2> <pre> </pre> <br> <sup> </sup> <q> </q> <nav> </nav> <main> </main> <caption> <b> </b> <summary>"
    " <template> </template> <body> </html> <title> </title> word & &lt; <!-- -->"
)


@given(st.lists(st.sampled_from(TAGS.split()), max_size=40))
def test_any_order_of_tags_is_read(tags: list[str]) -> None:
    data = page(f"<p>word</p>{''.join(tags)}--></title></template></nav>word")
    extracted = extract(data)
    ends = [0, *(block.end for block in extracted.blocks)]
    assert all(end <= block.start < block.end for end, block in zip(ends, extracted.blocks, strict=False))
    assert extract(data) == extracted
