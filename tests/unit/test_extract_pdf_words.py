"""PDF: words, as they are cut, joined and left out, in all scripts. Each document is written for its test."""

from __future__ import annotations

import re

import pytest

from citewell.core.values import BlockKind
from citewell.extract.pdf_fragments import Fragment
from citewell.extract.pdf_rows import text_of
from tests.documents.pdf_reading import MORE_PROSE, PRICES, PROSE, blocks, read, with_running_lines
from tests.documents.pdfs import (
    ANY_SCRIPT,
    COURIER,
    HALF_OF_SCOLD,
    SCOLD,
    VERTICAL,
    Page,
    grid,
    lines,
    pdf,
    text,
    turned_text,
)

# --- what is dropped ---


def test_running_heads_and_page_numbers_are_dropped() -> None:
    extracted = read(pdf(*with_running_lines(5)))
    assert "Contoso" not in extracted.text
    assert "Page" not in extracted.text
    assert all(f"Chapter text {n}" in extracted.text for n in range(5))


def test_an_original_and_its_copy_keep_what_stands_at_their_edges() -> None:
    invoice = text(72, 760, "Invoice 17 of 2026") + lines(72, 700, PROSE) + text(72, 30, "To pay by 1 May")
    extracted = read(pdf(invoice, invoice))
    assert extracted.text.count("Invoice 17 of 2026") == 2
    assert extracted.text.count("To pay by 1 May") == 2


def test_a_title_with_the_words_of_the_running_head_stays() -> None:
    cover = text(72, 750, "Contoso handbook", size=24) + lines(72, 700, PROSE)
    extracted = read(pdf(cover, *with_running_lines(5)))
    assert blocks(extracted, BlockKind.HEADING) == ["Contoso handbook"]
    assert extracted.text.count("Contoso") == 1


def test_heads_that_differ_on_left_and_right_pages_are_dropped() -> None:
    pages = [
        text(72, 760, "Contoso handbook" if n % 2 else "Rules of leave") + lines(72, 700, [f"Text {n}", *PROSE])
        for n in range(8)
    ]
    extracted = read(pdf(*pages))
    assert "Contoso" not in extracted.text
    assert "Rules of leave" not in extracted.text


def test_a_head_that_names_a_part_of_the_document_stays() -> None:
    pages = with_running_lines(3, head="Part one") + with_running_lines(3, head="Part two")
    extracted = read(pdf(*pages))
    assert extracted.text.count("Part one") == 3
    assert extracted.text.count("Part two") == 3


def test_the_chapter_that_stands_beside_a_page_number_is_dropped_with_it() -> None:
    """Each stands on a page or two; where a chapter begins, the number stands alone."""
    feet = ["ii", "iii", "1", "2 Chapter 1. Leave", "1.3. Days off 3", "4", "Chapter 2. Travel 5", "6", "2.2. Meals 7"]
    pages = [lines(72, 700, PROSE) + text(250, 30, foot) for foot in feet]
    assert read(pdf(*pages)).text == "\n\n".join([" ".join(PROSE)] * len(feet))


def test_a_slides_number_goes_though_it_stands_beside_the_text() -> None:
    slides = [text(72, 540, f"Slide of rule {'abcde'[n]}", size=30) + lines(72, 118, PROSE) + text(700, 105, str(n + 1))
              for n in range(5)]  # fmt: skip
    slides.append(lines(72, 118, PROSE) + text(700, 105, "30"))
    extracted = read(pdf(*(Page(slide, wide=True) for slide in slides)))
    assert re.findall(r"\d+", extracted.text) == ["30"]


@pytest.mark.parametrize(("height", "wide"), [(400, True), (105, True), (105, False)])
def test_a_number_in_a_form_stays_though_there_is_one_for_each_page(height: int, wide: bool) -> None:
    drawn = text(72, 540, "Leave") + lines(72, 90, PROSE) + text(200, height, "Number")
    forms = [Page(drawn + text(72, height, f"Name {'abcd'[n]}") + text(300, height, str(n + 1)), wide=wide)
             for n in range(4)]  # fmt: skip
    assert re.findall(r"\d+", read(pdf(*forms)).text) == ["1", "2", "3", "4"]


def test_the_title_of_a_slide_stays_though_another_one_has_it_too() -> None:
    titles = ["Leave", "Travel", "Rules", "Pay", "Rules", "Thanks"]
    slides = [Page(text(72, 540, each, size=30) + lines(72, 460, [f"Part {n}", *PROSE], size=20), wide=True)
              for n, each in enumerate(titles)]  # fmt: skip
    assert blocks(read(pdf(*slides)), BlockKind.HEADING) == titles


def test_numbers_elsewhere_on_the_page_are_no_page_numbers() -> None:
    rooms = ["Apples 1", "Pears 2", "Plums 3", "Figs 4"]
    pages = [
        lines(72, 700, PROSE) + text(250, 44, room) + text(250, 30, str(n)) for n, room in enumerate(rooms, start=1)
    ]
    assert read(pdf(*pages)).text == "\n\n".join(f"{' '.join(PROSE)}\n\n{room}" for room in rooms)


def test_page_numbers_in_roman_numerals_are_dropped() -> None:
    pages = [lines(72, 700, PROSE) + text(300, 30, numeral) for numeral in ("i", "ii", "iii", "iv", "v")]
    assert read(pdf(*pages)).text == "\n\n".join([" ".join(PROSE)] * 5)


def test_a_line_that_is_all_a_page_says_stays() -> None:
    extracted = read(pdf(*(text(72, 760, f"Invoice {n}") for n in range(1, 5))))
    assert extracted.text == "Invoice 1\n\nInvoice 2\n\nInvoice 3\n\nInvoice 4"


def test_titles_that_count_as_the_pages_do_stay() -> None:
    pages = [text(72, 740, f"Step {n}", size=24) + lines(72, 680, PROSE) for n in range(1, 5)]
    assert blocks(read(pdf(*pages)), BlockKind.HEADING) == ["Step 1", "Step 2", "Step 3", "Step 4"]


def test_a_tables_head_that_stands_on_each_of_its_pages_stays() -> None:
    pages = [grid((72, 200, 300), 690, [PRICES[0], [f"Plan {n}", "10", "a year"], *PRICES[2:]]) for n in range(4)]
    assert read(pdf(*pages)).text.count("| Plan | Price | Term |") == 4


def test_what_is_drawn_outside_of_the_page_is_not_read() -> None:
    extracted = read(pdf(text(72, 700, "Seen") + text(-400, 700, "Hidden") + text(72, -60, "Buried")))
    assert extracted.text == "Seen"


# --- words ---


def test_a_word_cut_at_the_end_of_a_line_is_joined() -> None:
    assert read(pdf(lines(72, 700, ["Leave is impor-", "tant to everybody"]))).text == "Leave is important to everybody"


def test_a_compound_keeps_its_hyphen_where_the_document_writes_it_so_elsewhere() -> None:
    rows = [
        "There is an out-of-pocket maximum, and co-insurance. The out-",
        "of-pocket costs are yours, so is co-",
        "insurance.",
    ]
    assert read(pdf(lines(72, 700, rows))).text.endswith("The out-of-pocket costs are yours, so is co-insurance.")


def test_the_hyphen_of_an_address_stays() -> None:
    rows = ["Parents/guar-", "dians: it is told at contoso.example/leave-", "rules how leave is asked for."]
    assert read(pdf(lines(72, 700, rows))).text == (
        "Parents/guardians: it is told at contoso.example/leave-rules how leave is asked for."
    )


def test_a_hyphen_before_a_capital_or_a_figure_stays() -> None:
    assert read(pdf(lines(72, 700, ["Ask the Sales-", "Team for Form A-", "12 of this year"]))).text == (
        "Ask the Sales-Team for Form A-12 of this year"
    )


def test_a_word_cut_between_two_columns_is_not_joined_with_what_stands_beside_it() -> None:
    left = [*PROSE[:3], "and this goes on below it for the impor-", "tant part of all that there is to say."]
    extracted = read(pdf(lines(72, 600, left, size=9) + lines(330, 600, MORE_PROSE, size=9)))
    assert "the important part" in extracted.text


def test_ligatures_are_spelled_and_odd_spaces_are_spaces() -> None:
    assert read(pdf(text(72, 700, "o\ufb03ce\u00a0\ufb02oor", font=ANY_SCRIPT))).text == "office floor"


def test_leaders_in_a_table_of_contents_are_shortened() -> None:
    rows = ["Leave ......................................... 3", "Travel ........................................ 17"]
    assert read(pdf(lines(72, 700, rows))).text == "Leave ... 3\nTravel ... 17"


# --- directions and scripts ---


@pytest.mark.parametrize("rotate", [90, 180, 270])
def test_a_page_shown_turned_is_read_as_its_text_runs(rotate: int) -> None:
    extracted = read(pdf(Page(lines(72, 700, PROSE), rotate=rotate)))
    assert extracted.text == " ".join(PROSE)


@pytest.mark.parametrize(
    ("matrix", "step"),
    [("0 1 -1 0", (13, 0)), ("-1 0 0 -1", (0, 13)), ("0 -1 1 0", (-13, 0))],
    ids=["up", "over", "down"],
)
def test_turned_text_is_read_line_by_line(matrix: str, step: tuple[int, int]) -> None:
    drawn = "\n".join(turned_text(300 + step[0] * n, 400 + step[1] * n, row, matrix) for n, row in enumerate(PROSE))
    assert read(pdf(drawn)).text == " ".join(PROSE)


def test_turned_text_of_a_drawing_in_its_own_scale_is_read_line_by_line() -> None:
    """As CAD programs and printer drivers write it: PDFium takes all of it for one line."""
    notes = [(254, 780, "The torques for the nuts are maximum values for the"), (240, 780, "largest cable.")]
    labels = [(507, 650, "Screen"), (440, 579, "Inner ring")]
    drawn = "\n".join(turned_text(x / 0.12, y / 0.12, each, "0 -1 1 0", size=92) for x, y, each in [*notes, *labels])
    extracted = read(pdf(Page(f"0.12 0 0 0.12 0 0 cm {drawn}", rotate=270)))
    assert extracted.text.split("\n\n") == [
        "Screen",
        "Inner ring",
        "The torques for the nuts are maximum values for the largest cable.",
    ]


def test_words_that_are_drawn_twice_for_their_shadow_are_read_once() -> None:
    drawn = [text(72, 720, "Winter sale"), lines(72, 690, PROSE), text(73, 719, "Winter sale")]
    assert read(pdf("\n".join(drawn))).text == "\n\n".join(["Winter sale", " ".join(PROSE)])


def filled(x: float, y: float, words: str, width: float) -> str:
    """``words`` with as much white between them as fills ``width``."""
    white = (width - 6 * len(words)) / words.count(" ")
    return f"BT /{COURIER} 10 Tf {white} Tw 1 0 0 1 {x} {y} Tm ({words}) Tj ET"


def test_a_line_that_fills_its_column_with_wide_spaces_is_no_row_of_cells() -> None:
    rows = ["The responsibilities", "of a head of department", "end with the appointment of", "another one."]
    drawn = [filled(72, 700 - 12 * n, row, 190) for n, row in enumerate(rows[:-1])]
    drawn.append(text(72, 664, rows[-1], font=COURIER, size=10))
    assert read(pdf("\n".join(drawn))).text == " ".join(rows)


def test_a_row_with_as_much_white_between_its_cells_is_one_though_others_end_where_it_does() -> None:
    rows = [("Rome", "shut", "yes"), ("Hamburg", "open", "yes"), ("Oslo", "open", "yes")]
    drawn = [text(x, 700 - 16 * n, cell, font=COURIER, size=10)
             for n, row in enumerate(rows) for x, cell in zip((72, 132, 174), row, strict=True)]  # fmt: skip
    [table] = blocks(read(pdf("\n".join(drawn))), BlockKind.TABLE)
    assert table.splitlines()[2:] == ["| Hamburg | open | yes |", "| Oslo | open | yes |"]


def test_the_head_of_a_table_with_as_much_white_between_all_cells_is_one() -> None:
    head = filled(72, 700, "Grade Days Months Probation", 210)
    cells = grid((72, 124, 170, 228), 686, [("one", "20", "3", "yes"), ("seven", "22", "6", "no")], pitch=14)
    [table] = blocks(read(pdf(head + cells)), BlockKind.TABLE)
    assert table.splitlines()[0] == "| Grade | Days | Months | Probation |"


def spaced_out(x: float, y: float, words: str) -> str:
    """Letters two points apart, and the last one of each word drawn by itself."""
    shown = []
    for word in words.split():
        last = x + 8 * (len(word) - 1)
        shown.append(f"1 0 0 1 {x} {y} Tm ({word[:-1]}) Tj 1 0 0 1 {last} {y} Tm ({word[-1]}) Tj")
        x = last + 13
    return f"BT /{COURIER} 10 Tf 2 Tc {' '.join(shown)} ET"


def test_single_letters_near_each_other_are_cells_and_no_word() -> None:
    rows = ["XOAX", "OOXA", "AXOO"]
    drawn = grid((72, 104, 114, 124, 134), 700, [["Row", *row] for row in rows], pitch=14).replace("11 Tf", "10 Tf")
    [table] = blocks(read(pdf(drawn)), BlockKind.TABLE)
    assert re.findall(r"[XOA]+", table) == [*"".join(rows)]


def test_words_that_are_spaced_out_are_whole() -> None:
    """As programs write them that recognise text: PDFium takes the white before the last letter for a space."""
    rows = ["The North Tower stands", "beside Marina Drive since", "two years and one month"]
    extracted = read(pdf("\n".join(spaced_out(72, 700 - 14 * n, row) for n, row in enumerate(rows))))
    assert extracted.text == " ".join(rows)


def test_words_that_stand_on_each_other_are_not_joined() -> None:
    drawn = [text(72, 600, "Name and address"), lines(72, 720, PROSE), text(74, 601, "Miller, 3 Elm Road")]
    assert "Name and address Miller, 3 Elm Road" in read(pdf("\n".join(drawn))).text


def test_a_mark_that_stands_on_its_letter_is_no_word_of_its_own() -> None:
    letters, mark = Fragment("\u0939\u0948", 72, 94, 600, 11), Fragment("\u0902", 78, 89, 600, 11)
    assert text_of([letters, mark]) == "\u0939\u0948\u0902"


def test_a_turned_note_in_the_margin_comes_after_the_text() -> None:
    extracted = read(pdf(turned_text(40, 300, "Draft of May", "0 1 -1 0") + lines(72, 700, PROSE)))
    assert extracted.text == " ".join(PROSE) + "\n\nDraft of May"


def test_chinese_lines_are_joined_without_a_space() -> None:
    rows = ["员工在试用期结束后可以申请休假", "每年最多可以休三十天的带薪假期"]
    assert read(pdf(lines(72, 700, rows, font=ANY_SCRIPT))).text == "".join(rows)


def test_characters_of_more_than_16_bits_are_read_and_half_of_one_is_a_character_nobody_knows() -> None:
    assert read(pdf(text(72, 700, f"{SCOLD}\u308b, {SCOLD}\u3089", font=ANY_SCRIPT))).text == (
        "\U00020b9f\u308b, \U00020b9f\u3089"
    )
    assert read(pdf(text(72, 700, f"\u3089{HALF_OF_SCOLD}\u308b", font=ANY_SCRIPT))).text == "\u3089\ufffd\u308b"


def test_text_from_right_to_left_is_in_the_order_of_reading() -> None:
    assert read(pdf(text(300, 700, "שלום עולם"[::-1], font=ANY_SCRIPT))).text == "שלום עולם"


def test_cells_of_a_table_from_right_to_left_begin_at_the_right() -> None:
    rows = [["מחיר", "תוכנית"], ["עשר", "בסיס"], ["מאה", "צוות"]]
    drawn = "\n".join(
        text(x, 700 - 20 * n, cell[::-1], font=ANY_SCRIPT)
        for n, row in enumerate(rows)
        for x, cell in zip((100, 400), row, strict=True)
    )
    assert "| תוכנית | מחיר |" in read(pdf(drawn)).text


def test_vertical_lines_are_read_from_the_right() -> None:
    drawn = text(470, 700, "かきくけこ", font=VERTICAL) + text(500, 700, "あいうえお", font=VERTICAL)
    assert read(pdf(drawn)).text == "あいうえおかきくけこ"
