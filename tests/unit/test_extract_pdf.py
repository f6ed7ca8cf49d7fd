"""PDF: order, structure, what can't be read. Each document is written for its test."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise

import pypdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.values import BlockKind
from citewell.errors import DocumentRejected
from citewell.extract import pdf_pages
from citewell.extract.options import Limits
from tests.documents.pdf_reading import MORE_PROSE, PRICES, PROSE, blocks, in_order, read, with_running_lines
from tests.documents.pdfs import (
    ANY_SCRIPT,
    BOLD,
    COURIER,
    LAM_ALEF,
    LOOK,
    SYMBOL,
    WINGDINGS,
    Page,
    box,
    grid,
    lines,
    pdf,
    picture,
    rule,
    text,
)


def rejection(data: bytes, *, limits: Limits | None = None) -> DocumentRejected:
    with pytest.raises(DocumentRejected) as rejected:
        read(data, limits=limits)
    return rejected.value


# --- reading order ---


def test_columns_drawn_one_after_the_other_are_read_so() -> None:
    extracted = read(pdf(lines(72, 600, PROSE, size=9) + lines(330, 600, MORE_PROSE, size=9)))
    assert blocks(extracted, BlockKind.PARAGRAPH) == [" ".join(PROSE), " ".join(MORE_PROSE)]


def test_columns_drawn_line_by_line_across_both_are_read_one_after_the_other() -> None:
    drawn = "\n".join(
        text(72, 600 - 11 * n, left, size=9) + text(330, 600 - 11 * n, right, size=9)
        for n, (left, right) in enumerate(zip(PROSE, MORE_PROSE, strict=True))
    )
    assert blocks(read(pdf(drawn)), BlockKind.PARAGRAPH) == [" ".join(PROSE), " ".join(MORE_PROSE)]


def test_what_runs_across_both_columns_parts_what_is_above_from_what_is_below() -> None:
    upper = lines(72, 700, PROSE, size=9) + lines(330, 700, MORE_PROSE, size=9)
    across = text(
        72, 600, "The second part is about what has changed since the last edition, and why it had to.", size=11
    )
    lower = lines(72, 560, [line.upper() for line in PROSE], size=8) + lines(
        330, 560, [line.upper() for line in MORE_PROSE], size=8
    )
    extracted = read(pdf(upper + across + lower))
    assert in_order(extracted, PROSE[0], MORE_PROSE[0], "The second part", PROSE[0].upper(), MORE_PROSE[0].upper())


def test_three_columns_are_read_from_left_to_right() -> None:
    rows = [["one red fox ran", "two blue jays sat", "three old owls sang"]] * 6
    drawn = "\n".join(
        lines(x, 700, [f"{row[n]} {k}" for k, row in enumerate(rows)]) for n, x in enumerate((60, 230, 400))
    )
    assert in_order(
        read(pdf(drawn)), "one red fox ran 5", "two blue jays sat 0", "two blue jays sat 5", "three old owls"
    )


def test_order_on_the_page_wins_over_the_order_in_which_it_is_drawn() -> None:
    extracted = read(pdf(text(72, 500, "Second") + text(72, 700, "First") + text(72, 300, "Third")))
    assert in_order(extracted, "First", "Second", "Third")


def test_a_paragraph_that_goes_on_in_the_next_column_is_one() -> None:
    cut = [*PROSE[:-1], "days more in each year, and every one of"]
    rest = ["them counts. " + MORE_PROSE[0][:30], *MORE_PROSE[1:]]
    extracted = read(pdf(lines(72, 600, cut, size=9) + lines(330, 600, rest, size=9)))
    assert blocks(extracted, BlockKind.PARAGRAPH) == [" ".join([*cut, *rest])]


def test_a_word_that_is_cut_at_the_end_of_a_column_is_whole() -> None:
    cut = [*PROSE[:-1], "days more in each year, and that notwith-"]
    rest = ["standing ten in all, once six years have", *MORE_PROSE[1:]]
    extracted = read(pdf(lines(72, 600, cut, size=9) + lines(330, 600, rest, size=9)))
    assert "and that notwithstanding ten in all" in extracted.text


def test_an_item_that_ends_on_purpose_does_not_go_on_in_the_next_column() -> None:
    left = lines(72, 600, PROSE, size=9) + lines(72, 540, ["1. First this", "2. Then that"], size=9)
    rest = ["without being asked at all, which is why", *MORE_PROSE]
    extracted = read(pdf(left + lines(330, 600, rest, size=9)))
    assert blocks(extracted, BlockKind.LIST) == ["1. First this\n2. Then that"]


def test_what_stands_below_columns_of_one_length_follows_both() -> None:
    columns = lines(72, 700, PROSE, size=9) + lines(330, 700, MORE_PROSE, size=9)
    below = text(72, 610, "How to ask", size=14) + lines(
        72, 590, ["Write to the office.", "Wait for an answer."], size=9
    )
    assert in_order(read(pdf(columns + below)), PROSE[0], MORE_PROSE[-1], "How to ask", "Write to the office")


# --- tables ---


def test_a_table_is_kept_as_rows() -> None:
    extracted = read(pdf(grid((72, 200, 300), 700, PRICES)))
    assert blocks(extracted, BlockKind.TABLE) == [
        "| Plan | Price | Term |\n| --- | --- | --- |\n"
        "| Basic | 10 | a month |\n| Plus | 25 | a year |\n| Team | 90 | a year |"
    ]


def test_a_cell_without_text_keeps_its_place() -> None:
    rows = [*PRICES, ["", "15", "a week"], ["Solo", "", "never"]]
    table = blocks(read(pdf(grid((72, 200, 300), 700, rows))), BlockKind.TABLE)[0]
    assert table.splitlines()[-2:] == ["|  | 15 | a week |", "| Solo |  | never |"]


def test_a_table_drawn_column_by_column_is_still_one() -> None:
    drawn = "\n".join(
        text(x, 700 - 20 * n, row[column]) for column, x in enumerate((72, 200, 300)) for n, row in enumerate(PRICES)
    )
    assert "| Plus | 25 | a year |" in blocks(read(pdf(drawn)), BlockKind.TABLE)[0]


def test_a_cell_of_several_lines_is_one() -> None:
    drawn = grid((72, 200), 700, [["Plan", "What it covers"], ["Basic", "Doctors, hospitals and"]], pitch=30)
    drawn += text(200, 657, "medicine") + text(72, 627, "Plus") + text(200, 627, "Everything else")
    drawn += text(72, 597, "Team") + text(200, 597, "Both of them")
    table = blocks(read(pdf(drawn)), BlockKind.TABLE)[0]
    assert "| Basic | Doctors, hospitals and medicine |" in table


def test_a_table_drawn_with_characters_is_one_too() -> None:
    rows = ["------------------", "| Plan  | Price |", "|-------+-------|", "| Basic |    10 |", "------------------"]
    extracted = read(pdf(lines(72, 700, rows, font=COURIER)))
    assert extracted.text == "| Plan | Price |\n| --- | --- |\n| Basic | 10 |"


WRAPPED = [
    (700, "Plan", ["What it covers"], "Price"),
    (676, "Basic", ["Doctors, hospitals and", "medicine that a doctor", "prescribed"], "10"),
    (620, "Plus", ["Everything else"], "25"),
    (596, "Team", ["Both of them, and glasses", "once a year"], "90"),
]


def wrapped_rows() -> str:
    """Cells of one to three lines at an even distance, so that only ruled lines tell where a row ends."""
    return "\n".join(
        text(75, y, name) + lines(180, y, covered) + text(400, y, price) for y, name, covered, price in WRAPPED
    )


RULED = [
    "| Plan | What it covers | Price |",
    "| --- | --- | --- |",
    "| Basic | Doctors, hospitals and medicine that a doctor prescribed | 10 |",
    "| Plus | Everything else | 25 |",
    "| Team | Both of them, and glasses once a year | 90 |",
]


def test_ruled_lines_tell_the_rows_of_a_table() -> None:
    drawn = wrapped_rows() + "\n" + "\n".join(rule(72, y, 450) for y in (714, 692, 634, 612, 574))
    assert blocks(read(pdf(drawn)), BlockKind.TABLE) == ["\n".join(RULED)]


def test_boxes_around_cells_do_so_too() -> None:
    edges = (714, 692, 634, 612, 574)
    boxes = [
        box(left, bottom, right, top)
        for top, bottom in pairwise(edges)
        for left, right in pairwise((72, 170, 390, 450))
    ]
    assert blocks(read(pdf("\n".join([*boxes, wrapped_rows()]))), BlockKind.TABLE) == ["\n".join(RULED)]


def test_a_cell_that_stands_in_the_middle_of_a_taller_row_belongs_to_it() -> None:
    drawn = text(75, 700, "Plan") + text(180, 700, "Covers") + text(400, 700, "Price")
    drawn += lines(180, 676, ["Doctors, hospitals", "and medicine", "from a doctor"]) + text(75, 662.8, "Basic")
    drawn += text(400, 662.8, "10") + text(75, 620, "Plus") + text(180, 620, "All else") + text(400, 620, "25")
    drawn += "".join(f"\n{rule(72, y, 450)}" for y in (714, 692, 636, 612))
    assert "| Basic | Doctors, hospitals and medicine from a doctor | 10 |" in read(pdf(drawn)).text


def test_a_few_lines_around_a_table_part_no_rows() -> None:
    drawn = grid((72, 200, 300), 700, PRICES) + "".join(f"\n{rule(72, y, 400)}" for y in (714, 694, 634))
    assert len(blocks(read(pdf(drawn)), BlockKind.TABLE)[0].splitlines()) == len(PRICES) + 1


def test_a_line_of_which_one_piece_draws_several_cells_is_a_row() -> None:
    """As TeX draws them: one array of strings with the white between the cells as its numbers."""
    row = "BT /F1 11 Tf 1 0 0 1 72 {} Tm [({}) -4000 ({}) -4000 ({})] TJ ET"
    drawn = "\n".join(
        row.format(700 - 20 * n, *cells) for n, cells in enumerate(zip("ABCD", "EFGH", "IJKL", strict=True))
    )
    assert "| C | G | K |" in read(pdf(drawn)).text


def test_text_around_a_table_stays_out_of_it() -> None:
    drawn = text(72, 740, "These are the prices of our plans as of today.") + grid((72, 200, 300), 700, PRICES)
    drawn += text(72, 600, "Prices may change at the beginning of each year, and with a month's notice.")
    kinds = [block.kind for block in read(pdf(drawn)).blocks]
    assert kinds == [BlockKind.PARAGRAPH, BlockKind.TABLE, BlockKind.PARAGRAPH]


def test_numbers_that_look_like_those_of_sections_are_cells_in_a_row() -> None:
    rows = [["Service", "Price", "Notes"], ["Bus", "4.50", "Ask us"], ["Lunch", "12.00", "Each day"]]
    assert "| Lunch | 12.00 | Each day |" in read(pdf(grid((72, 130, 175), 700, rows))).text


def test_cells_that_stand_on_the_foot_of_a_taller_row_belong_to_it() -> None:
    drawn = grid((72, 150, 200), 700, [["Service", "Price", "Notes"]])
    drawn += (
        lines(200, 678, ["Each day, paid", "by the month"], size=10) + text(72, 666, "Lunch") + text(150, 666, "4.50")
    )
    drawn += grid((72, 150, 200), 646, [["Bus", "9.00", "Ask us"], ["Pool", "2.00", "In summer"]], pitch=20)
    assert "| Lunch | 4.50 | Each day, paid by the month |" in read(pdf(drawn)).text


def test_lines_at_the_foot_of_each_cell_part_cells_however_near_their_words_are() -> None:
    rows = [["Name", "Office", "Room"], *([f"Person {n}", "Human Resources", f"{100 + n}"] for n in range(5))]
    edges = (72, 124, 234, 272)
    feet = [rule(left, 696 - 18 * n, right) for n in range(len(rows)) for left, right in pairwise(edges)]
    table = blocks(read(pdf("\n".join([*feet, grid((74, 126, 236), 700, rows, pitch=18)]))), BlockKind.TABLE)[0]
    assert table.startswith("| Name | Office | Room |\n")
    assert table.endswith("| Person 4 | Human Resources | 104 |")


# --- headings, paragraphs, lists, code ---


@pytest.mark.parametrize(
    ("lines_", "items"),
    [
        (
            ["1、申请表须经部门经理签字。", "2、病假须提供医生证明。"],
            "1、 申请表须经部门经理签字。\n2、 病假须提供医生证明。",
        ),
        (["・年次有給休暇", "・特別休暇"], "- 年次有給休暇\n- 特別休暇"),
    ],
)
def test_items_of_chinese_and_japanese_lists_need_no_white_space(lines_: Sequence[str], items: str) -> None:
    assert blocks(read(pdf(lines(72, 700, lines_, font=ANY_SCRIPT))), BlockKind.LIST) == [items]


def test_the_two_letters_of_an_arabic_ligature_stand_in_their_order() -> None:
    drawn = text(72, 700, f"\u0646\u0648\u062b{LAM_ALEF}\u062b", font=ANY_SCRIPT)
    assert read(pdf(drawn)).text == "\u062b\u0644\u0627\u062b\u0648\u0646"


def test_a_page_that_says_which_of_how_many_it_is_says_nothing_else_there() -> None:
    drawn = lines(72, 700, PROSE)
    assert read(pdf(drawn + text(290, 30, "Page 1 of 1"))).text == " ".join(PROSE)
    assert "Page 1 of 7" in read(pdf(drawn + text(290, 30, "Page 1 of 7"))).text


def test_a_marker_drawn_by_itself_right_beside_its_item_is_one() -> None:
    items = lines(84, 700, ["Alpha", "Beta"]) + text(79.9, 700, "\u2022") + text(79.9, 686.8, "\u2022")
    assert read(pdf(items)).text == "- Alpha\n- Beta"


@pytest.mark.parametrize("words", ["Total: 1,785.00 EUR", "Total 99.50 EUR", "Phone: +49 30 123456"])
def test_a_bold_line_with_an_amount_is_no_heading(words: str) -> None:
    drawn = lines(72, 700, PROSE) + text(72, 600, words, font=BOLD) + lines(72, 560, MORE_PROSE)
    assert blocks(read(pdf(drawn)), BlockKind.HEADING) == []


def test_larger_type_is_a_heading_and_the_larger_the_higher() -> None:
    drawn = text(72, 740, "Handbook", size=24) + text(72, 700, "Leave", size=16) + lines(72, 670, PROSE)
    extracted = read(pdf(drawn))
    assert extracted.blocks[-1].headings == ("Handbook", "Leave")
    assert extracted.title == "Handbook"


def test_bold_lines_are_headings_below_those_of_larger_type() -> None:
    drawn = text(72, 740, "Handbook", size=24) + text(72, 700, "Carry-over", font=BOLD) + lines(72, 680, PROSE)
    assert read(pdf(drawn)).blocks[-1].headings == ("Handbook", "Carry-over")


def test_a_bold_sentence_is_none() -> None:
    drawn = text(72, 700, "Leave must be asked for in writing.", font=BOLD) + lines(72, 670, PROSE)
    assert blocks(read(pdf(drawn)), BlockKind.HEADING) == []


def test_a_heading_of_two_lines_is_one() -> None:
    drawn = lines(72, 740, ["Leave, and how", "it is asked for"], size=20) + lines(72, 680, PROSE)
    assert blocks(read(pdf(drawn)), BlockKind.HEADING) == ["Leave, and how it is asked for"]


def test_what_the_outline_names_is_a_heading_on_its_page() -> None:
    drawn = text(72, 740, "2.1 Carry-over") + lines(72, 710, PROSE)
    plain = pdf(drawn, text(72, 740, "Carry-over") + lines(72, 710, MORE_PROSE))
    first_page = re.findall(rb"(\d+) 0 obj\n<< /Type /Page ", plain)[0].decode()
    entry = f"<< /Title (Carry-over) /Dest [{first_page} 0 R /Fit] >>"
    extracted = read(pdf(drawn, text(72, 740, "Carry-over") + lines(72, 710, MORE_PROSE), outline=entry))
    assert blocks(extracted, BlockKind.HEADING) == ["2.1 Carry-over"]


def test_the_documents_own_title_is_taken_unless_it_is_a_file_name() -> None:
    drawn = text(72, 740, "Leave policy", size=24) + lines(72, 680, PROSE)
    assert read(pdf(drawn, info="/Title (Leave at Contoso)")).title == "Leave at Contoso"
    assert read(pdf(drawn, info="/Title (Microsoft Word - leave_v3.doc)")).title == "Leave policy"
    assert read(pdf(drawn, info="/Title (leave_v3.indd)")).title == "Leave policy"


def test_the_language_is_what_it_says_of_itself() -> None:
    assert read(pdf(text(72, 700, "Urlaub"), catalog="/Lang (de-DE)")).language == "de-DE"
    assert read(pdf(text(72, 700, "Urlaub"))).language is None


def test_lines_of_a_paragraph_are_joined_and_paragraphs_are_not() -> None:
    extracted = read(pdf(lines(72, 700, PROSE) + lines(72, 600, MORE_PROSE)))
    assert blocks(extracted, BlockKind.PARAGRAPH) == [" ".join(PROSE), " ".join(MORE_PROSE)]


def test_a_line_that_ends_on_purpose_stays_one() -> None:
    extracted = read(pdf(lines(72, 700, ["Contoso Ltd", "1 Main Street", "Springfield"]) + lines(72, 600, PROSE)))
    assert blocks(extracted, BlockKind.PARAGRAPH)[0] == "Contoso Ltd\n1 Main Street\nSpringfield"


def test_lists_keep_numbers_and_turn_bullets_to_dashes() -> None:
    drawn = "".join(text(72, y, "•") + text(90, y, words) for y, words in ((700, "paid leave"), (680, "unpaid leave")))
    drawn += lines(72, 640, ["1. Ask", "2. Wait", "3. Go"])
    assert blocks(read(pdf(drawn)), BlockKind.LIST) == ["- paid leave\n- unpaid leave", "1. Ask\n2. Wait\n3. Go"]


def test_the_bullets_of_symbol_fonts_are_bullets_and_their_items_look_like_their_words() -> None:
    items = ["Leave is asked for a month", "ahead, by mail", "It is granted in writing"]
    drawn = lines(90, 700, items, size=20) + "".join(text(72, y, "l", size=12, font=WINGDINGS) for y in (700, 652))
    extracted = read(pdf(text(72, 750, "Leave", size=30) + drawn))
    assert extracted.text == "Leave\n\n- Leave is asked for a month ahead, by mail\n- It is granted in writing"


def test_what_only_a_symbol_font_says_is_read_as_it_looks() -> None:
    drawn = text(72, 700, "\u00fe", font=WINGDINGS) + text(90, 700, "Yes") + text(72, 680, "\u00fd", font=WINGDINGS)
    assert read(pdf(drawn + text(90, 680, "No"))).text == "- \u2611 Yes\n- \u2612 No"


def test_a_bullet_larger_than_its_item_and_right_beside_it_is_one() -> None:
    items = "".join(text(72, y, "\u2022", size=26) + text(81.1, y, each, size=20)
                    for y, each in ((640, "Ask for leave in writing,"), (592, "Take it within the year")))  # fmt: skip
    drawn = text(72, 700, "Leave", size=36) + items + text(90, 616, "a month ahead", size=20)
    assert read(pdf(drawn)).text == "Leave\n\n- Ask for leave in writing, a month ahead\n- Take it within the year"


def test_each_slide_has_a_title_of_its_own_whatever_its_size() -> None:
    slides = [
        Page(
            text(72, 540, title, size=size) + lines(72, 460, ["Ask for it a month ahead", "in writing"], size=20),
            wide=True,
        )
        for title, size in (("Annual leave", 44), ("Leave of parents", 26), ("Unpaid leave", 32))
    ]
    slides.append(Page(lines(72, 460, ["Questions are answered", "by the office"], size=20), wide=True))
    extracted = read(pdf(*slides))
    paragraphs = [each.headings for each in extracted.blocks if each.kind is BlockKind.PARAGRAPH]
    assert paragraphs == [("Annual leave",), ("Leave of parents",), ("Unpaid leave",), ()]


def test_wide_pages_of_small_type_are_no_slides() -> None:
    pages = [
        Page(text(72, 540, "Leave", size=18) + lines(72, 460, PROSE), wide=True),
        Page(lines(72, 460, PROSE), wide=True),
    ]
    assert [each.headings for each in read(pdf(*pages)).blocks if each.page == 2] == [("Leave",)]


def test_a_report_on_wide_pages_in_large_type_goes_on_with_its_section() -> None:
    pages = [
        Page(heading + lines(72, 500, [f"{each} {each}" for each in prose * 2], size=14), wide=True)
        for heading, prose in ((text(72, 540, "Leave", size=22), PROSE), ("", MORE_PROSE))
    ]
    assert [each.headings for each in read(pdf(*pages)).blocks if each.page == 2] == [("Leave",)]


def test_a_heading_in_bold_type_may_have_a_sign_before_it() -> None:
    heading = text(72, 750, "n", size=18, font=WINGDINGS) + text(90, 750, "Leave", size=18, font=BOLD)
    assert blocks(read(pdf(heading + lines(72, 700, PROSE))), BlockKind.HEADING) == ["\u25a0 Leave"]


def test_one_of_several_boxes_on_a_line_is_no_bullet() -> None:
    choice = text(72, 700, "\u25a1 Yes \u25a1 No", font=ANY_SCRIPT) + text(72, 660, "\u25a1 Signed", font=ANY_SCRIPT)
    assert read(pdf(choice)).text == "- \u25a1 Yes \u25a1 No\n- Signed"


def test_letters_of_a_symbol_font_that_have_a_meaning_keep_it() -> None:
    drawn = text(72, 700, "m", font=SYMBOL) + text(79, 700, "m is a millionth") + text(72, 680, "\u00b4", font=SYMBOL)
    assert read(pdf(drawn + text(82, 680, "is by"))).text.split() == [
        "\u00b5m",
        *["is", "a", "millionth", "×", "is", "by"],
    ]


def test_items_in_large_type_are_no_headings() -> None:
    slide = text(72, 700, "Leave", size=36) + lines(72, 640, ["\u2022 Ask for it", "\u2022 Take it"], size=28)
    extracted = read(pdf(slide, lines(72, 700, PROSE)))
    assert blocks(extracted, BlockKind.HEADING) == ["Leave"]
    assert blocks(extracted, BlockKind.LIST) == ["- Ask for it\n- Take it"]


def test_a_heading_that_names_a_section_by_its_sign_is_one() -> None:
    extracted = read(pdf(text(72, 750, "\u00a7 12 Leave", size=18) + lines(72, 700, PROSE)))
    assert blocks(extracted, BlockKind.HEADING) == ["\u00a7 12 Leave"]


def test_an_item_of_several_lines_is_one() -> None:
    drawn = text(72, 700, "•") + lines(90, 700, [PROSE[0], "and so on"]) + text(72, 660, "•") + text(90, 660, "no more")
    assert blocks(read(pdf(drawn)), BlockKind.LIST) == [f"- {PROSE[0]} and so on\n- no more"]


@pytest.mark.parametrize("line", ["o livro que compramos", "a casa", "Nr. 5 of them", "3 of them"])
def test_a_line_that_begins_with_a_short_word_or_a_figure_is_no_item(line: str) -> None:
    assert [block.kind for block in read(pdf(text(72, 700, line))).blocks] == [BlockKind.PARAGRAPH]


def test_a_line_with_code_at_both_ends_is_no_code() -> None:
    mixed = [
        text(72, 620, "make up", font=COURIER, size=10),
        text(118, 620, "starts it, asks a question, and goes on to run"),
        text(338, 620, "make", font=COURIER, size=10),
        text(72, 607, "down when it is told to."),
    ]
    extracted = read(pdf("\n".join([lines(72, 700, PROSE), *mixed])))

    assert not blocks(extracted, BlockKind.CODE)
    assert "make up starts it, asks a question, and goes on to run make down when it is told to." in extracted.text


def test_code_is_kept_verbatim_with_its_indentation() -> None:
    code = lines(72, 600, ["def leave():"], font=COURIER, size=10) + text(96, 588, "return 30", font=COURIER, size=10)
    assert blocks(read(pdf(lines(72, 700, PROSE) + code)), BlockKind.CODE) == ["def leave():\n    return 30"]


def test_a_heading_in_type_of_one_width_is_no_code() -> None:
    heading = text(72, 740, "Application for leave", font=COURIER, size=18)
    extracted = read(pdf(heading + lines(72, 700, PROSE) + text(72, 500, "leave()", font=COURIER, size=11)))
    assert [each.kind for each in extracted.blocks] == [BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.CODE]


# --- forms and comments ---


def field(kind: str, name: str, rectangle: tuple[int, int, int, int], more: str = "") -> str:
    box = " ".join(map(str, rectangle))
    return f"/FT /{kind} /T ({name}) /Rect [{box}] /F 4 {more}"


def test_form_values_stand_beside_their_labels() -> None:
    drawn = text(72, 700, "First name") + text(72, 660, "Department")
    fields = [
        field("Tx", "a", (140, 695, 260, 712), "/V (Alice)"),
        field("Ch", "b", (140, 655, 260, 672), "/V (Sales)"),
    ]
    assert read(pdf(drawn, fields=fields)).text == "First name Alice\n\nDepartment Sales"


def test_boxes_show_whether_they_are_ticked() -> None:
    states = f"/MK << /CA (4) >> /AP << /N << /Yes {LOOK} /Off {LOOK} >> >>"
    fields = [
        field("Btn", "a", (72, 696, 84, 708), f"/V /Yes /AS /Yes {states}"),
        field("Btn", "b", (72, 656, 84, 668), f"/V /Off /AS /Off {states}"),
    ]
    extracted = read(pdf(text(90, 699, "I agree") + text(90, 659, "Send me news"), fields=fields))
    assert extracted.text == "[x] I agree\n\n[ ] Send me news"


def test_passwords_and_hidden_fields_are_not_read() -> None:
    fields = [
        field("Tx", "a", (140, 695, 260, 712), "/V (s3cret) /Ff 8192"),
        field("Tx", "b", (140, 655, 260, 672), "/V (unseen)").replace("/F 4", "/F 2"),
    ]
    assert read(pdf(text(72, 700, "Password"), fields=fields)).text == "Password"


def signed(look: str, drawn: str) -> bytes:
    signature = field("Sig", "s", (72, 600, 272, 660), f"/AP << /N {LOOK} >>")
    return pdf(drawn, text(72, 700, "Annex"), fields=[signature], look=look)


def test_what_a_signature_shows_follows_its_page() -> None:
    look = lines(4, 40, ["Signed by Ann Miller", "on 2 May 2026"])
    extracted = read(signed(look, text(72, 700, "The contract") + text(72, 605, "Signature of the tenant")))
    assert extracted.text == (
        "The contract\n\nSignature of the tenant\n\nSignature: Signed by Ann Miller on 2 May 2026\n\nAnnex"
    )
    assert [block.page for block in extracted.blocks] == [1, 1, 1, 2]


def test_a_signature_that_shows_no_words_says_nothing() -> None:
    assert read(signed("0 0 m 60 40 l S", text(72, 700, "The contract"))).text == "The contract\n\nAnnex"


def test_a_scan_that_is_signed_is_still_one() -> None:
    extracted = read(signed(text(4, 20, "Signed by Ann Miller"), picture()))
    assert extracted.text == "Signature: Signed by Ann Miller\n\nAnnex"
    assert extracted.unread_pages == (1,)


def test_what_a_signature_shows_is_not_read_from_the_picture_of_its_page_too() -> None:
    with_words, without = (
        read(signed(look, picture()), recognise=lambda png: sha256(png).hexdigest()).text.split("\n")[0]
        for look in (text(4, 20, "Signed by Ann Miller"), "")
    )
    assert with_words == without


def test_text_written_onto_the_page_stands_where_it_was_written() -> None:
    note = "/Subtype /FreeText /Rect [72 640 300 660] /Contents (Approved by Ann) /DA (/Helv 11 Tf)"
    extracted = read(pdf(Page(text(72, 700, "First") + text(72, 600, "Last"), (note,))))
    assert extracted.text == "First\n\nApproved by Ann\n\nLast"


def test_comments_follow_their_page_with_their_author() -> None:
    note = "/Subtype /Text /Rect [72 600 90 620] /T (Ann) /Contents (Is this still so?)"
    mark = "/Subtype /Highlight /Rect [72 690 200 710] /Contents (See the annex)"
    hidden = "/Subtype /Text /Rect [72 600 90 620] /F 2 /Contents (Not for you)"
    extracted = read(pdf(Page(text(72, 700, "Leave"), (note, mark, hidden)), text(72, 700, "Travel")))
    assert extracted.text == "Leave\n\nComment (Ann): Is this still so?\n\nComment: See the annex\n\nTravel"
    assert [block.page for block in extracted.blocks] == [1, 1, 1, 2]


def test_attachments_are_named() -> None:
    catalog = "/Names << /EmbeddedFiles << /Names [(a) << /Type /Filespec /F (prices.xlsx) /UF (prices.xlsx) >>] >> >>"
    extracted = read(pdf(text(72, 700, "See the attached prices."), catalog=catalog))
    assert blocks(extracted, BlockKind.METADATA) == ["Attachments: prices.xlsx"]


# --- pages ---


def test_each_block_says_its_page() -> None:
    extracted = read(pdf(text(72, 700, "One"), text(72, 700, "Two"), text(72, 700, "Three")))
    assert [(extracted.text[each.start : each.end], each.page) for each in extracted.blocks] == [
        ("One", 1),
        ("Two", 2),
        ("Three", 3),
    ]
    assert extracted.pages == 3


def test_a_scan_is_rejected_with_the_pages_that_hold_no_text() -> None:
    error = rejection(pdf(picture(), picture(), "", picture()))
    assert error.code == "no_text_layer"
    assert str(error) == "no text, only pictures, on pages 1-2, 4"


def test_pages_that_show_a_picture_and_hold_no_text_are_unread_and_blank_ones_are_not() -> None:
    extracted = read(pdf(text(72, 700, "Cover"), picture(), "", text(72, 700, "End") + picture()))
    assert extracted.text == "Cover\n\nEnd"
    assert extracted.unread_pages == (2,)
    assert extracted.pages == 4


def test_letters_drawn_as_line_art_are_no_text() -> None:
    drawn = " ".join(f"{n} 100 m {n + 3} 110 l {n + 5} 100 l s" for n in range(0, 600, 6))
    assert rejection(pdf(drawn)).code == "no_text_layer"


def test_a_rule_on_a_page_is_no_text_that_is_missing() -> None:
    extracted = read(pdf(text(72, 700, "Leave"), "72 100 m 500 100 l S"))
    assert extracted.unread_pages == ()


def test_characters_without_meaning_are_no_text() -> None:
    extracted = read(pdf(text(72, 700, "Leave"), text(72, 700, "\ue001\ue002\ue003\ue004", font=ANY_SCRIPT)))
    assert extracted.text == "Leave"
    assert extracted.unread_pages == (2,)


def test_blank_pages_alone_are_empty() -> None:
    assert rejection(pdf("", "")).code == "empty"


def test_only_pages_without_text_are_recognised() -> None:
    pictures: list[bytes] = []

    def recognise(png: bytes) -> str:
        pictures.append(png)
        return "Scanned leave form\nof 1998\n\nSigned"

    extracted = read(pdf(text(72, 700, "Cover"), picture(), ""), recognise=recognise)
    assert extracted.text == "Cover\n\nScanned leave form\nof 1998\n\nSigned"
    assert [block.page for block in extracted.blocks] == [1, 2, 2]
    assert extracted.unread_pages == ()
    assert [png[:8] for png in pictures] == [b"\x89PNG\r\n\x1a\n"]


def test_a_page_on_which_nothing_is_recognised_is_unread() -> None:
    extracted = read(pdf(text(72, 700, "Cover"), picture()), recognise=lambda _: " \n")
    assert extracted.unread_pages == (2,)
    with pytest.raises(DocumentRejected, match="on page 1") as rejected:
        read(pdf(picture()), recognise=lambda _: "")
    assert rejected.value.code == "no_text_layer"


# --- nothing is lost ---


@given(
    st.lists(
        st.tuples(st.integers(20, 560), st.integers(20, 770), st.sampled_from([6, 9, 11, 16, 30]), st.booleans()),
        min_size=1,
        max_size=40,
    ),
    st.lists(st.tuples(st.integers(20, 300), st.integers(20, 770), st.integers(310, 590)), max_size=12),
)
def test_wherever_words_and_lines_stand_each_word_is_read_once(
    places: list[tuple[int, int, int, bool]], ruled: list[tuple[int, int, int]]
) -> None:
    apart: list[tuple[int, int, int, bool]] = []
    for place in places:
        if not any(_touch(place, other) for other in apart):
            apart.append(place)
    drawn = [
        text(x, y, f"w{n}e", size=size, font=BOLD if bold else COURIER) for n, (x, y, size, bold) in enumerate(apart)
    ]
    drawn += [rule(left, y, right) for left, y, right in ruled]
    written = re.sub(r"\s", "", read(pdf("\n".join(drawn))).text)
    assert [written.count(f"w{n}e") for n in range(len(apart))] == [1] * len(apart)


def _touch(one: tuple[int, int, int, bool], other: tuple[int, int, int, bool]) -> bool:
    """Whether two words of four characters at most may: such run together, as they do for the eye."""
    size = max(one[2], other[2])
    return abs(one[1] - other[1]) < size and abs(one[0] - other[0]) < 3 * size


# --- locked, broken and too large ---


def locked(user_password: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf(text(72, 700, "Secret leave"))))
    writer.encrypt(user_password=user_password, owner_password="owner", algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def test_what_opens_without_a_password_is_read_and_what_takes_one_is_encrypted() -> None:
    assert read(locked("")).text == "Secret leave"
    assert rejection(locked("user")).code == "encrypted"


def test_what_stands_before_the_header_does_no_harm() -> None:
    assert read(b"\x1b%-12345X@PJL\r\n" + pdf(text(72, 700, "Leave"))).text == "Leave"
    assert "%PDF-1.7" in read(b"A file begins with\n%PDF-1.7\nand so on.").text


def test_a_wrong_cross_reference_table_is_repaired() -> None:
    whole = pdf(text(72, 700, "Leave"))
    start = whole.index(b"startxref")
    assert read(whole[:start] + b"startxref\n7\n%%EOF\n").text == "Leave"


def test_a_file_whose_end_is_missing_is_read_as_far_as_it_goes() -> None:
    whole = pdf(text(72, 700, "Leave"))
    assert read(whole[: whole.index(b"xref\n0 ")]).text == "Leave"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"%PDF-1.7\n", id="nothing but a header"),
        pytest.param(b"%PDF-1.7\n" + bytes(range(256)) * 20, id="garbage"),
        pytest.param(pdf(text(72, 700, "Leave"))[:60], id="cut off early"),
        pytest.param(
            b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer << /Root 1 0 R >>\n%%EOF", id="no pages"
        ),
    ],
)
def test_what_is_beyond_repair_is_corrupt(data: bytes) -> None:
    assert rejection(data).code == "corrupt"


def test_a_page_that_cannot_be_loaded_is_unread() -> None:
    whole = pdf(text(72, 700, "One"), text(72, 700, "Two"), text(72, 700, "Three"))
    second = whole.index(b"/Type /Page ", whole.index(b"/Type /Page ") + 1)
    extracted = read(whole[:second] + b"/Type /Gone " + whole[second + 12 :])
    assert "One" in extracted.text
    assert "Three" in extracted.text


def test_more_pages_or_characters_than_allowed_are_too_large() -> None:
    pages = [text(72, 700, f"Page {n}") for n in range(4)]
    assert rejection(pdf(*pages), limits=Limits(pages=3)).code == "too_large"
    assert rejection(pdf(*pages), limits=Limits(characters=10)).code == "too_large"
    assert read(pdf(*pages), limits=Limits(pages=4)).pages == 4


def test_a_large_file_that_is_opened_anew_between_pages_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = [field("Tx", "a", (300, 695, 420, 712), "/V (Alice)")]
    data = pdf(*with_running_lines(8), picture(), fields=fields)
    whole = read(data)
    monkeypatch.setattr(pdf_pages, "_BYTES_KEPT", 0)
    assert read(data) == whole
    assert "Alice" in whole.text


def test_a_page_tree_that_holds_itself_comes_to_an_end() -> None:
    whole = pdf(text(72, 700, "Leave"))
    looped = whole.replace(b"/Kids [", b"/Kids [2 0 R ").replace(b"/Count 1", b"/Count 9")
    assert "Leave" in read(looped).text


def test_the_same_bytes_give_the_same_text() -> None:
    data = pdf(*with_running_lines(6))
    assert read(data) == read(data)


@pytest.mark.parametrize("pages", [65, 200])
def test_running_lines_of_long_documents_are_dropped_on_every_page(pages: int) -> None:
    """Only some pages of them are looked at for what all have in common."""
    extracted = read(pdf(*with_running_lines(pages, foot="{}")))
    assert "Contoso" not in extracted.text
    assert numbers_alone(extracted.text.splitlines()) == []


def numbers_alone(rows: Sequence[str]) -> list[str]:
    return [row for row in rows if row.isdigit()]


# --- over pages, and files that are cut off ---------------------------------------------------------------------


def test_two_headings_of_one_size_with_room_between_them_stay_two() -> None:
    body = lines(72, 600, ["One paragraph in one line."]) + "\n" + text(72, 560, "And another one in a line.")
    content = "\n".join([text(200, 700, "Boat Club Rules", size=18), text(72, 666, "Membership", size=18), body])
    assert [each.headings[-1] for each in read(pdf(content)).blocks if each.kind is BlockKind.HEADING] == [
        "Boat Club Rules",
        "Membership",
    ]


def test_a_table_that_goes_on_over_a_page_has_its_head_there_too() -> None:
    left = (72, 200, 300)
    rows = [[f"Gizmo {number}", f"GZ-{number:04}", f"{number * 3}.50"] for number in range(60)]
    pages = [grid(left, 700, [["Item", "Code", "Price"], *rows[:30]]), grid(left, 700, rows[30:])]
    extracted = read(pdf(*pages))
    tables = [extracted.text[each.start : each.end] for each in extracted.blocks if each.kind is BlockKind.TABLE]
    assert [table.splitlines()[0] for table in tables] == ["| Item | Code | Price |"] * 2
    assert tables[1].splitlines()[2] == "| Gizmo 30 | GZ-0030 | 90.50 |"


def test_another_table_on_the_next_page_keeps_its_own_head() -> None:
    left = (72, 200, 300)
    one = grid(left, 700, [["Item", "Code", "Price"], *([f"Gizmo {n}", f"GZ-{n}", f"{n}.50"] for n in range(30))])
    other = grid(left, 700, [["Name", "Room", "Phone"], *([f"Ann {n}", f"R{n}", f"55{n}"] for n in range(5))])
    extracted = read(pdf(one, other))
    tables = [extracted.text[each.start : each.end] for each in extracted.blocks if each.kind is BlockKind.TABLE]
    assert [table.splitlines()[0] for table in tables] == ["| Item | Code | Price |", "| Name | Room | Phone |"]


def test_of_a_file_that_is_cut_off_pages_that_show_nothing_count_as_unread() -> None:
    whole = pdf(text(72, 700, "The first page."), "", text(72, 700, "The third."))
    assert read(whole).unread_pages == ()
    cut = whole[: whole.rindex(b"%%EOF")]
    assert read(cut).unread_pages == (2,)


def test_a_file_that_is_cut_off_before_its_text_is_corrupt() -> None:
    whole = pdf("")
    assert rejection(whole).code == "empty"
    assert rejection(whole[: whole.rindex(b"%%EOF")]).code == "corrupt"
