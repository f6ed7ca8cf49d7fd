"""Tables that are drawn with lines: the lines tell the cells, whatever stands in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.core.values import BlockKind
from citewell.extract import extract
from citewell.extract.pdf_fragments import Fragment
from citewell.extract.pdf_layout import columns_of
from citewell.extract.pdf_places import Edges
from citewell.extract.pdf_rulings import Rulings
from citewell.extract.pdf_tables import Table
from tests.documents.pdfs import Page, lines, pdf, text

XS, YS = (72, 172, 242, 312), (700, 676, 640, 616)
ROWS = (("Country", "Lunch", "Dinner"), ("Great Britain\nand Ireland", "15", "30"), ("France", "", "25"))


def tables(content: str, *, form: str = "") -> list[str]:
    extracted = extract(pdf(Page(content, form=form)))
    return [extracted.text[each.start : each.end] for each in extracted.blocks if each.kind is BlockKind.TABLE]


def words(rows: Sequence[Sequence[str]] = ROWS, xs: Sequence[float] = XS, ys: Sequence[float] = YS) -> str:
    return "\n".join(
        lines(x + 3, y - 12, cell.split("\n"))
        for y, row in zip(ys, rows, strict=False)
        for x, cell in zip(xs, row, strict=False)
        if cell
    )


def line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f"{x} {y} m {to_x} {to_y} l S"


LEVEL = [line(XS[0], y, XS[-1], y) for y in YS]
UPRIGHT = [line(x, YS[0], x, YS[-1]) for x in XS]
ONE_PATH = " ".join(
    [*(f"{XS[0]} {y} m {XS[-1]} {y} l" for y in YS), *(f"{x} {YS[0]} m {x} {YS[-1]} l" for x in XS), "S"]
)
BOXES = [f"{x} {bottom} {right - x} {top - bottom} re S" for x, right in pairwise(XS) for top, bottom in pairwise(YS)]
THIN_BOXES = [
    *(f"{XS[0]} {y} {XS[-1] - XS[0]} 0.7 re f" for y in YS),
    *(f"{x} {YS[-1]} 0.7 {YS[0] - YS[-1]} re f" for x in XS),
]


@pytest.mark.parametrize(
    "drawn",
    [[*LEVEL, *UPRIGHT], [ONE_PATH], [f"q 0.5 0 0 0.5 0 0 cm 2 0 0 2 0 0 cm {ONE_PATH} Q"], BOXES, THIN_BOXES,
     [*LEVEL, *UPRIGHT[1:-1]]],
    ids=["lines", "one path", "scaled", "a box for each cell", "thin boxes", "open at its sides"],
)  # fmt: skip
def test_lines_make_cells_however_they_are_drawn(drawn: Sequence[str]) -> None:
    assert tables("\n".join([*drawn, words()])) == [
        "| Country | Lunch | Dinner |\n| --- | --- | --- |\n| Great Britain and Ireland | 15 | 30 |\n| France |  | 25 |"
    ]


@pytest.mark.parametrize(
    ("placed", "scaled"),
    [("1 0 0 1 0 0 cm", ""), ("0.5 0 0 0.5 40 60 cm", ""), ("0 0.5 -0.5 0 500 40 cm", ""), ("", "2 0 0 2 -72 -700 cm")],
    ids=["as large", "smaller", "turned", "with a matrix of its own"],
)
def test_a_page_on_the_page_has_its_lines_too(placed: str, scaled: str) -> None:
    """As programs leave it that put several pages on a sheet."""
    form = "\n".join([scaled, *LEVEL, *UPRIGHT, words()])

    assert tables(f"q {placed} /X1 Do Q", form=form) == tables("\n".join([*LEVEL, *UPRIGHT, words()]))


def test_cells_may_stand_at_the_middle_of_their_row_so_that_no_two_lines_are_level() -> None:
    ys = (700, 652, 604, 556, 508)
    drawn = [line(72, y, 400, y) for y in ys] + [line(172, ys[0], 172, ys[-1])]
    cells = [
        text(75, y - 28, f"topic {number}") + lines(175, y - 14, [f"what {number} is", "about, in", "a few words"])
        for number, y in enumerate(ys[:-1])
    ]

    [table] = tables("\n".join([*drawn, *cells]))
    assert table.splitlines()[2:] == [f"| topic {n} | what {n} is about, in a few words |" for n in (1, 2, 3)]


def test_words_that_stand_close_are_parted_by_the_line_between_them() -> None:
    xs, rows = (72, 172, 198, 222, 248), (("Berlin", "8.00 9.00 7.50"), ("Paris", "1.00 2.00 3.00"), ("Rome", "4.00"))
    drawn = [*(line(72, y, 248, y) for y in YS), *(line(x, YS[0], x, YS[-1]) for x in xs)]
    assert tables("\n".join([*drawn, words(rows, xs=(72, 172))])) == [
        "| Berlin | 8.00 | 9.00 | 7.50 |\n| --- | --- | --- | --- |\n| Paris | 1.00 | 2.00 | 3.00 |\n"
        "| Rome | 4.00 |  |  |"
    ]


def test_a_merged_cell_stands_once_where_it_begins() -> None:
    parted = [line(XS[1], YS[0], XS[1], YS[-1]), line(XS[2], YS[1], XS[2], YS[-1])]
    drawn = [*LEVEL, UPRIGHT[0], *parted, UPRIGHT[-1]]
    rows = (("Country", "A meal in euros"), *ROWS[1:])
    assert tables("\n".join([*drawn, words(rows)])) == [
        "| Country | A meal in euros |  |\n| --- | --- | --- |\n"
        "| Great Britain and Ireland | 15 | 30 |\n| France |  | 25 |"
    ]


def test_a_table_stands_where_it_stood_in_the_text() -> None:
    content = "\n".join([text(72, 730, "Before the table."), *LEVEL, *UPRIGHT, words(), text(72, 590, "After it.")])
    extracted = extract(pdf(content))
    assert [each.kind for each in extracted.blocks] == [BlockKind.PARAGRAPH, BlockKind.TABLE, BlockKind.PARAGRAPH]
    assert extracted.text.startswith("Before the table.")
    assert extracted.text.endswith("After it.")


@pytest.mark.parametrize(
    "drawn",
    [
        [f"{XS[0]} {YS[-1]} {XS[-1] - XS[0]} {YS[0] - YS[-1]} re S"],
        ["0 0 612 792 re f"],
        LEVEL,
        [line(XS[0], YS[0], XS[-1], YS[0]), line(XS[0], YS[0], XS[0], YS[-1])],
    ],
    ids=["a frame", "a background", "rules", "a corner"],
)
def test_lines_that_make_no_cells_change_nothing(drawn: Sequence[str]) -> None:
    paragraph = lines(
        80, 690, ["Every employee who travels must ask beforehand,", "and keeps the receipts of all meals."]
    )
    assert extract(pdf("\n".join([*drawn, paragraph]))).text == extract(pdf(paragraph)).text


def test_a_row_right_above_the_lines_is_the_tables_head() -> None:
    drawn = [*LEVEL[1:], *(line(x, YS[1], x, YS[-1]) for x in XS)]
    assert tables("\n".join([*drawn, words()])) == [
        "| Country | Lunch | Dinner |\n| --- | --- | --- |\n| Great Britain and Ireland | 15 | 30 |\n| France |  | 25 |"
    ]


def test_a_frame_around_parts_of_a_page_is_no_table() -> None:
    long = lines(80, 690, ["Every employee who travels must ask beforehand and keeps receipts."] * 40, size=8)
    drawn = [line(72, y, 540, y) for y in (710, 300, 100)] + [line(x, 710, x, 100) for x in (72, 400, 540)]
    beside = lines(410, 685, ["A note."]) + lines(80, 280, ["Below."])
    assert tables("\n".join([*drawn, long, beside])) == []


COLUMNS = "\n".join([line(72, 700, 412, 700), line(72, 676, 412, 676), line(72, 560, 412, 560),
                     *(line(x, 700, x, 560) for x in (72, 242, 322, 412))])  # fmt: skip


def listed(rows: Sequence[tuple[float, Sequence[str]]]) -> str:
    head = "".join(text(x, 684, each) for x, each in zip((75, 245, 325), ("What", "Number", "Price"), strict=True))
    return head + "".join(
        text(x, y, each) for y, row in rows for x, each in zip((75, 245, 325), row, strict=True) if each
    )


def test_where_lines_stand_between_columns_only_each_line_of_figures_is_a_record() -> None:
    rows = [(660, ("Chair", "4", "200.00")), (646, ("for the office", "", "")), (632, ("Desk", "2", "398.00"))]
    rows += [(618, ("Lamp that may be", "", "")), (604, ("turned off", "6", "150.50")), (576, ("", "Sum", "748.50"))]

    assert tables(COLUMNS + listed(rows)) == [
        "| What | Number | Price |\n| --- | --- | --- |\n| Chair for the office | 4 | 200.00 |\n| Desk | 2 | 398.00 |\n"
        "| Lamp that may be turned off | 6 | 150.50 |\n|  | Sum | 748.50 |"
    ]


def test_several_figures_in_one_cell_are_one_record() -> None:
    rows = [(660, ("Monday", "8:00-12:00", "12")), (646, ("", "13:00-17:00", "")), (632, ("", "18:00-20:00", ""))]
    assert tables(COLUMNS + listed(rows)) == [
        "| What | Number | Price |\n| --- | --- | --- |\n| Monday | 8:00-12:00 13:00-17:00 18:00-20:00 | 12 |"
    ]


def test_cells_of_several_lines_that_count_nothing_are_one_record() -> None:
    rows = [
        (660, ("Annual leave", "is asked for", "the head of")),
        (646, ("and the leave", "a month or 2", "the team or")),
    ]
    rows += [(632, ("of parents", "before it.", "the office."))]

    assert tables(COLUMNS + listed(rows)) == [
        "| What | Number | Price |\n| --- | --- | --- |\n| Annual leave and the leave of parents "
        "| is asked for a month or 2 before it. | the head of the team or the office. |"
    ]


def test_a_small_table_within_a_record_of_another_is_what_its_cell_says() -> None:
    ys = (700, 676, 600, 576)
    outer = [*(line(72, y, 472, y) for y in ys), *(line(x, 700, x, 576) for x in (72, 172, 272, 472))]
    inner = [*(line(290, y, 390, y) for y in (670, 650, 630)), *(line(x, 670, x, 630) for x in (290, 340, 390))]
    held = words([("Step", "Week"), ("Build", "12")], xs=(290, 340), ys=(668, 648))
    around = words([("Project", "Lead", "Plan"), ("Alpha", "Ann", ""), ("Beta", "Bo", "May")], xs=(72, 172, 272), ys=ys)
    assert tables("\n".join([*outer, *inner, around, held])) == [
        "| Project | Lead | Plan |\n| --- | --- | --- |\n| Alpha | Ann | Step Week Build 12 |\n| Beta | Bo | May |"
    ]


def test_a_table_within_a_cell_of_another_is_read_and_so_is_what_stands_around_it() -> None:
    inner = "\n".join([*LEVEL, *UPRIGHT, words()])
    frame = [*(line(60, y, 560, y) for y in (720, 600, 560)), *(line(x, 720, x, 560) for x in (60, 330, 560))]
    around = text(340, 660, "beside the fees") + text(66, 580, "below the fees") + text(340, 580, "in the corner")

    content = "\n".join([inner, *frame, around])

    assert tables(content) == tables(inner)
    assert all(each in extract(pdf(Page(content))).text for each in ("beside the", "below the", "in the corner"))


def test_a_table_beside_lines_of_text_is_read_and_so_are_they() -> None:
    totals = (("Paid", "0.00"), ("To pay", "148.83"), ("In all", "148.83"))
    beside = "\n".join(text(x, y, each) for y, row in zip((688, 664, 628), totals, strict=True)
                       for x, each in zip((380, 500), row, strict=True))  # fmt: skip

    drawn, spaced = tables("\n".join([*LEVEL, *UPRIGHT, words(), beside]))

    assert [drawn] == tables("\n".join([*LEVEL, *UPRIGHT, words()]))
    assert spaced == "| Paid | 0.00 |\n| --- | --- |\n| To pay | 148.83 |\n| In all | 148.83 |"


class Drawn(Rulings):
    """Lines that are given, upright."""

    def __init__(self, lines: list[Edges]) -> None:
        self._lines = lines

    def upright(self, _turn: int) -> list[Edges]:
        return self._lines


def grid(x: float, y: float, columns: int, rows: int, width: float, height: float) -> list[Edges]:
    right, bottom = x + columns * width, y + rows * height
    level = [(x, y + row * height, right, y + row * height) for row in range(rows + 1)]
    return level + [(x + column * width, y, x + column * width, bottom) for column in range(columns + 1)]


PLACES = st.integers(5, 20).map(lambda step: 10.0 * step)
LENGTHS = st.integers(2, 6).map(lambda step: 10.0 * step)
GRIDS = st.builds(grid, PLACES, PLACES, st.integers(1, 4), st.integers(1, 4), LENGTHS, LENGTHS)
FRAGMENTS = st.builds(lambda left, top, length: Fragment("", left, left + length, top + 5, 10), PLACES, PLACES, LENGTHS)


@settings(max_examples=400)
@given(placed=st.lists(FRAGMENTS, min_size=1, max_size=40), drawn=st.lists(GRIDS, max_size=4))
def test_wherever_they_stand_and_whatever_is_drawn_no_words_are_lost_or_read_twice(
    placed: list[Fragment], drawn: list[list[Edges]]
) -> None:
    fragments = [replace(each, text=f"{order};", order=order) for order, each in enumerate(placed)]

    items = [item for column in columns_of(fragments, Drawn(list(chain(*drawn))), code=False) for item in column.items]

    read = "".join("".join(map("".join, item.rows)) if isinstance(item, Table) else item.text for item in items)
    assert sorted(read.replace(";", " ").split()) == sorted(map(str, range(len(fragments))))


def test_thousands_of_lines_cost_little_and_change_nothing() -> None:
    hatched = "\n".join(line(100 + n % 400, 100, 100 + n % 400, 400) for n in range(6_000))
    assert extract(pdf("\n".join([hatched, text(72, 700, "A drawing.")]))).text == "A drawing."


def test_the_words_of_a_head_above_the_lines_stand_over_their_columns_however_near_they_are() -> None:
    boxes = [f"{x} {bottom} {right - x} 20 re f" for x, right in pairwise((72, 96, 400, 450)) for bottom in (660, 680)]
    cells = "".join(
        text(x + 3, y, cell)
        for y, row in ((686, ("1", "Consulting", "10")), (666, ("2", "Licence", "1")))
        for x, cell in zip((72, 96, 400), row, strict=True)
    )
    head = text(74, 706, "Pos Description") + text(403, 706, "Qty")
    assert tables("\n".join([*boxes, cells, head]))[0].startswith("| Pos | Description | Qty |\n| --- ")
