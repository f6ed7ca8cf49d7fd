"""Presentations: slides, and on each what a reader sees in the order in which it is seen."""

from __future__ import annotations

import pytest

from citewell.core.values import BlockKind
from citewell.errors import DocumentRejected
from citewell.extract import extract
from citewell.extract.options import Limits, ReadOptions
from tests.documents.archives import unzipped, zipped
from tests.documents.office import frame, group, pptx, shape, sheet_data, slide_paragraph, strict, xlsx

NUMBERS = '<a:buAutoNum type="{}"/>'
BULLET = '<a:buChar char="•"/>'
PICTURE = '<p:pic><p:nvPicPr><p:cNvPr id="4" name="scan"/></p:nvPicPr></p:pic>'


def text_of(data: bytes) -> str:
    return extract(data).text


def code_of(data: bytes, options: ReadOptions | None = None) -> str:
    with pytest.raises(DocumentRejected) as rejected:
        extract(data, options)
    return rejected.value.code


def placed(text: str, *at: int) -> str:
    left, top, width, height = at
    return shape(text, at=(left, top, width, height))


# --- slides ---


def test_a_slide_is_a_page_and_its_title_a_heading() -> None:
    read = extract(
        pptx([shape("Leave", kind="title") + shape("28 days."), shape("Pay", kind="ctrTitle") + shape("Late.")])
    )
    assert read.text == "Leave\n\n28 days.\n\nPay\n\nLate."
    assert [(block.kind, block.page, block.headings) for block in read.blocks] == [
        (BlockKind.HEADING, 1, ("Leave",)),
        (BlockKind.PARAGRAPH, 1, ("Leave",)),
        (BlockKind.HEADING, 2, ("Pay",)),
        (BlockKind.PARAGRAPH, 2, ("Pay",)),
    ]
    assert (read.title, read.pages) == ("Leave", 2)


def test_slides_stand_in_the_order_of_the_show_whatever_their_files_are_called() -> None:
    read = extract(pptx([shape("one"), shape("two"), shape("three")], order=[3, 1, 2]))
    assert read.text == "three\n\none\n\ntwo"
    assert [block.page for block in read.blocks] == [1, 2, 3]


def test_a_hidden_slide_is_left_out_and_the_others_keep_their_numbers() -> None:
    hidden = f'<p:sld show="0"><p:cSld><p:spTree>{shape("secret")}</p:spTree></p:cSld></p:sld>'
    read = extract(pptx([shape("one"), hidden, shape("three")]))
    assert [(block.page, read.text[block.start : block.end]) for block in read.blocks] == [(1, "one"), (3, "three")]
    assert read.pages == 3


def test_a_slide_without_a_title_stands_under_no_other_slides() -> None:
    read = extract(pptx([shape("Fees", kind="title"), shape("Parking")]))
    assert [(block.page, block.headings) for block in read.blocks] == [(1, ("Fees",)), (2, ())]


def sized(text: str, size: int, *at: int) -> str:
    """A text box with letters of ``size`` points."""
    run = f'<a:r><a:rPr sz="{100 * size}"/><a:t>{text}</a:t></a:r>'
    left, top, width, height = at
    return shape(f"<a:p>{run}</a:p>", at=(left, top, width, height))


def heading_of(*shapes: str) -> tuple[str, ...]:
    return extract(pptx(["".join(shapes)])).blocks[-1].headings


BODY = sized("Adults pay 12 EUR.", 20, 0, 20, 90, 30)


def test_a_text_box_above_all_else_and_in_larger_letters_is_a_slides_title() -> None:
    title = sized("Fees", 28, 0, 5, 90, 10)
    read = extract(pptx([BODY + title]))
    assert [(block.kind, block.headings) for block in read.blocks] == [
        (BlockKind.HEADING, ("Fees",)),
        (BlockKind.PARAGRAPH, ("Fees",)),
    ]
    assert read.title == "Fees"
    assert heading_of(shape("of its own", kind="title"), title, BODY) == ("of its own",)


@pytest.mark.parametrize(
    "above",
    [
        sized("as large as the rest", 20, 0, 5, 90, 10),
        sized("beside it", 28, 0, 18, 40, 10),
        sized("a sentence of many words " * 6, 28, 0, 5, 90, 10),
        sized("small print", 19, 0, 5, 90, 10) + sized("smaller print", 10, 0, 60, 90, 10),
        shape("", at=(0, 5, 90, 10)),
    ],
    ids=["size", "place", "length", "small", "blank"],
)
def test_another_text_box_is_no_title(above: str) -> None:
    assert heading_of(above, BODY) == ()


def test_letters_are_as_large_as_a_layout_says() -> None:
    large = '<a:lvl1pPr><a:defRPr sz="3200"/></a:lvl1pPr>'
    layout = shape("", kind="body", index=7, at=(0, 30, 90, 30), styles=large)
    body = shape("28 days.", kind="body", index=7)
    assert extract(pptx([sized("Leave", 28, 0, 5, 90, 10) + body], layout=layout)).blocks[-1].headings == ()
    assert extract(pptx([sized("Leave", 40, 0, 5, 90, 10) + body], layout=layout)).blocks[-1].headings == ("Leave",)


def test_a_text_box_with_the_slides_number_runs_on() -> None:
    number = shape("<a:p><a:fld type='slidenum'><a:t>‹#›</a:t></a:fld></a:p>")
    assert text_of(pptx([number + shape("shown")], layout=number)) == "shown"


def test_text_of_layout_and_master_stands_once_where_it_is_first_seen() -> None:
    shapes = shape("Internal") + shape("Edit", kind="body")
    master = f"<p:sldMaster><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sldMaster>"
    data = pptx([shape("one"), shape("two")], layout=shape("Layout's"), master=master)
    assert text_of(data) == "one\n\nLayout's\n\nInternal\n\ntwo"
    hiding = f"<p:sld showMasterSp='0'><p:cSld><p:spTree>{shape('one')}</p:spTree></p:cSld></p:sld>"
    assert text_of(pptx([hiding], layout=shape("Layout's"), master=master)) == "one"


def test_a_later_slides_title_is_not_the_documents() -> None:
    slides = [shape("Welcome"), shape("Fees", kind="title")]
    assert extract(pptx(slides)).title is None
    assert extract(pptx(slides, title="Handbook")).title == "Handbook"


def test_hidden_shapes_and_running_footers_are_left_out() -> None:
    running = "".join(shape("x", kind=kind) for kind in ("dt", "ftr", "sldNum"))
    assert text_of(pptx([shape("secret", hidden=True) + running + shape("shown")])) == "shown"


def test_the_properties_name_the_title_where_no_slide_has_one() -> None:
    assert extract(pptx([shape("text")], title="Leave policy")).title == "Leave policy"


@pytest.mark.parametrize(
    "title", ["Slide 1", "Folie 1", "スライド 1", "Présentation PowerPoint", "PowerPoint-bemutató"]
)
def test_what_a_program_calls_every_presentation_is_no_title(title: str) -> None:
    assert extract(pptx([shape("text")], title=title)).title is None
    assert extract(pptx([shape("text")], title=f"{title}: fees")).title == f"{title}: fees"


# --- reading order ---


def test_shapes_are_read_by_their_place_not_in_the_order_of_drawing() -> None:
    slide = placed("below", 0, 60, 50, 10) + placed("above", 0, 20, 50, 10) + shape("Title", kind="title")
    assert text_of(pptx([slide])) == "Title\n\nabove\n\nbelow"


def test_columns_are_read_one_after_the_other() -> None:
    slide = (
        placed("left head", 0, 10, 40, 6)
        + placed("right head", 50, 10, 40, 6)
        + placed("left body", 0, 17, 40, 40)
        + placed("right body", 50, 17, 40, 40)
    )
    assert text_of(pptx([slide])) == "left head\n\nleft body\n\nright head\n\nright body"


def test_rows_are_read_one_after_the_other() -> None:
    slide = (
        placed("built", 22, 10, 40, 6)
        + placed("2019", 0, 10, 20, 6)
        + placed("sold", 22, 40, 40, 6)
        + placed("2024", 0, 40, 20, 6)
    )
    assert text_of(pptx([slide])) == "2019\n\nbuilt\n\n2024\n\nsold"


def test_labels_are_read_with_their_values_however_far_apart_they_stand() -> None:
    rows = [("Adult", "12 EUR"), ("Child", "6 EUR"), ("Senior", "9 EUR"), ("Group", "90 EUR")]
    labels = "".join(placed(label, 10, 20 + 9 * row, 20, 5) for row, (label, _) in enumerate(rows))
    values = "".join(placed(value, 60, 20 + 9 * row, 20, 5) for row, (_, value) in enumerate(rows))
    assert text_of(pptx([labels + values])).split("\n\n") == [text for row in rows for text in row]


def test_boxes_that_overlap_are_read_from_above() -> None:
    slide = placed("two", 5, 12, 40, 40) + placed("one", 0, 0, 40, 40)
    assert text_of(pptx([slide])) == "one\n\ntwo"


def test_boxes_that_are_not_quite_in_line_are_read_from_the_left_whatever_lies_behind_them() -> None:
    behind = placed("The process", 0, 0, 99, 60)
    steps = placed("Build", 60, 20, 20, 10) + placed("Plan", 10, 22, 26, 10) + placed("Design", 34, 23, 26, 10)
    assert text_of(pptx([steps + behind])) == "The process\n\nPlan\n\nDesign\n\nBuild"
    assert text_of(pptx([placed("diagram", 0, 11, 90, 40) + placed("text", 5, 10, 80, 40)])) == "text\n\ndiagram"


def test_a_panel_without_a_text_keeps_nothing_together() -> None:
    columns = (
        placed("left head", 0, 10, 40, 6)
        + placed("right head", 50, 10, 40, 6)
        + placed("left body", 0, 17, 40, 40)
        + placed("right body", 50, 17, 40, 40)
    )
    panel = placed("", 0, 0, 99, 70)
    assert text_of(pptx([panel + columns])) == "left head\n\nleft body\n\nright head\n\nright body"
    assert text_of(pptx([group(panel, columns, at=(0, 0, 99, 70))])) == text_of(pptx([columns]))


def test_a_group_stays_together_and_is_read_by_its_place() -> None:
    together = group(placed("g2", 0, 60, 5, 5), placed("g1", 0, 50, 5, 5), at=(0, 10, 40, 20))
    assert text_of(pptx([placed("after", 0, 70, 50, 10) + together])) == "g1\n\ng2\n\nafter"


def test_a_placeholder_stands_where_its_layout_puts_it() -> None:
    layout = shape("", kind="body", index=7, at=(0, 50, 40, 10)) + shape("", kind="body", index=8, at=(0, 10, 40, 10))
    slide = shape("below", kind="body", index=7) + shape("above", kind="body", index=8)
    assert text_of(pptx([slide], layout=layout)) == "above\n\nbelow"


def test_shapes_without_a_place_come_last() -> None:
    assert text_of(pptx([shape("nowhere") + placed("somewhere", 0, 0, 5, 5)])) == "somewhere\n\nnowhere"


# --- text ---


def test_lists_are_told_by_their_bullets_and_numbered_as_seen() -> None:
    slide = shape(
        slide_paragraph("Steps:"),
        slide_paragraph("open", NUMBERS.format("arabicPeriod")),
        slide_paragraph("a key", NUMBERS.format("alphaLcParenR"), level=1),
        slide_paragraph("a door", NUMBERS.format("alphaLcParenR"), level=1),
        slide_paragraph("close", NUMBERS.format("arabicPeriod")),
        slide_paragraph("lock", BULLET),
        slide_paragraph("fifth", '<a:buAutoNum type="romanUcParenBoth" startAt="5"/>'),
    )
    assert text_of(pptx([slide])) == ("Steps:\n\n1. open\n  a) a key\n  b) a door\n2. close\n- lock\n(V) fifth")


def test_body_placeholders_are_lists_where_their_master_says_so() -> None:
    master = (
        "<p:txStyles><p:bodyStyle><a:lvl1pPr><a:buChar char='•'/></a:lvl1pPr></p:bodyStyle>"
        "<p:otherStyle><a:lvl1pPr/></p:otherStyle></p:txStyles>"
    )
    plain = slide_paragraph("plain", "<a:buNone/>")
    slide = shape("point", plain, index=1) + shape("box")
    read = text_of(pptx([slide], master=f"<p:sldMaster>{master}</p:sldMaster>"))
    assert read == "- point\n\nplain\n\nbox"


def test_a_layout_can_take_the_bullets_away() -> None:
    bullets = "<p:bodyStyle><a:lvl1pPr><a:buChar char='•'/></a:lvl1pPr></p:bodyStyle>"
    master = f"<p:sldMaster><p:txStyles>{bullets}</p:txStyles></p:sldMaster>"
    layout = shape("", kind="subTitle", index=1, styles="<a:lvl1pPr><a:buNone/></a:lvl1pPr>")
    assert text_of(pptx([shape("Our year", kind="subTitle", index=1)], master=master, layout=layout)) == "Our year"


def test_lists_of_two_shapes_are_two_lists() -> None:
    item = slide_paragraph("x", NUMBERS.format("arabicPlain"))
    assert text_of(pptx([shape(item, item) + shape(item)])) == "1 x\n2 x\n\n1 x"


def test_line_breaks_fields_and_formulas_are_read() -> None:
    words = (
        "<a:p><a:r><a:t>one</a:t></a:r><a:br/><a:fld type='slidenum'><a:t>2</a:t></a:fld>"
        "<mc:AlternateContent><mc:Choice Requires='a14'><m:oMath><m:r><m:t>E=m</m:t></m:r></m:oMath></mc:Choice>"
        "<mc:Fallback><a:r><a:t>picture</a:t></a:r></mc:Fallback></mc:AlternateContent></a:p>"
    )
    assert text_of(pptx([shape(words)])) == "one\n2E=m"


# --- tables, charts, diagrams ---


def table_cell(text: str, attributes: str = "") -> str:
    return f"<a:tc {attributes}><a:txBody>{slide_paragraph(text)}</a:txBody></a:tc>"


def test_an_exponent_of_a_number_does_not_become_its_last_digits() -> None:
    written = (("10", 0), ("6", 30_000), ("2", -25_000))
    runs = "".join(f'<a:r><a:rPr baseline="{above}"/><a:t>{text}</a:t></a:r>' for text, above in written)
    assert text_of(pptx([shape(f"<a:p>{runs}</a:p>")])) == "10⁶2"


def test_merged_cells_of_a_table_say_their_text_once() -> None:
    first = table_cell("Plan", 'rowSpan="2"') + table_cell("Price", 'gridSpan="2"') + table_cell("x", 'hMerge="1"')
    second = table_cell("x", 'vMerge="1"') + table_cell("month") + table_cell("year")
    assert text_of(pptx([frame(f"<a:tbl><a:tr>{first}</a:tr><a:tr>{second}</a:tr></a:tbl>")])) == (
        "| Plan | Price |  |\n| --- | --- | --- |\n|  | month | year |"
    )


def test_a_tables_title_is_a_line_above_it() -> None:
    title = table_cell("Prices", 'gridSpan="2"') + table_cell("", 'hMerge="1"')
    rows = (title, table_cell("Plan") + table_cell("Price"), table_cell("Basic") + table_cell("5"))
    table = "".join(f"<a:tr>{row}</a:tr>" for row in rows)
    text = text_of(pptx([frame(f"<a:tbl>{table}</a:tbl>")]))
    assert text == "Prices\n\n| Plan | Price |\n| --- | --- |\n| Basic | 5 |"


def test_a_chart_is_the_table_of_its_numbers() -> None:
    def points(*values: str) -> str:
        return "".join(f'<c:pt idx="{index}"><c:v>{value}</c:v></c:pt>' for index, value in enumerate(values))

    series = (
        f"<c:ser><c:tx><c:strRef><c:strCache>{points('Sales')}</c:strCache></c:strRef></c:tx>"
        f"<c:cat><c:strRef><c:strCache>{points('2023', '2024')}</c:strCache></c:strRef></c:cat>"
        f"<c:val><c:numRef><c:numCache>{points('1.5', '0.30000000000000004')}</c:numCache></c:numRef></c:val></c:ser>"
    )
    title = "<c:title><c:tx><c:rich><a:p><a:r><a:t>By year</a:t></a:r></a:p></c:rich></c:tx></c:title>"
    plot = f"<c:plotArea><c:barChart>{series}</c:barChart></c:plotArea>"
    chart = f"<c:chartSpace><c:chart>{title}{plot}</c:chart></c:chartSpace>"
    data = pptx(
        [frame('<c:chart r:id="ch"/>')],
        parts={"ppt/charts/chart1.xml": chart},
        of_slides={"ch": ("chart", "../charts/chart1.xml")},
    )
    assert text_of(data) == "By year\n\n|  | Sales |\n| --- | --- |\n| 2023 | 1.5 |\n| 2024 | 0.3 |"


def test_a_diagram_is_the_list_of_its_words() -> None:
    def point(text: str, kind: str = "node") -> str:
        return f'<dgm:pt type="{kind}"><dgm:t><a:bodyPr/>{slide_paragraph(text)}</dgm:t></dgm:pt>'

    diagram = f"<dgm:dataModel><dgm:ptLst>{point('Ask')}{point('x', 'pres')}{point('Wait')}</dgm:ptLst></dgm:dataModel>"
    data = pptx(
        [frame('<dgm:relIds r:dm="d"/>')],
        parts={"ppt/diagrams/data1.xml": diagram},
        of_slides={"d": ("diagramData", "../diagrams/data1.xml")},
    )
    assert text_of(data) == "- Ask\n- Wait"


def test_a_graphic_of_a_newer_kind_does_not_bring_its_excuse() -> None:
    slide = (
        "<mc:AlternateContent><mc:Choice Requires='cx1'>" + frame("<cx:chart xmlns:cx='x'/>") + "</mc:Choice>"
        f"<mc:Fallback>{shape('This chart is not available.')}</mc:Fallback></mc:AlternateContent>"
    )
    assert text_of(pptx([slide + shape("shown")])) == "shown"


# --- notes and comments ---


def test_notes_follow_their_slide_without_what_else_stands_on_their_page() -> None:
    notes = (
        shape("Say hello.", "Then wait.", kind="body", index=1) + shape("7", kind="sldNum") + shape("x", kind="sldImg")
    )
    read = extract(pptx([shape("one"), shape("two")], notes={1: notes}))
    assert read.text == "one\n\nSpeaker notes: Say hello.\nThen wait.\n\ntwo"
    assert [block.page for block in read.blocks] == [1, 1, 2]


def test_comments_follow_their_slide_with_their_author() -> None:
    data = pptx(
        [shape("one")],
        parts={
            "ppt/commentAuthors.xml": '<p:cmAuthorLst><p:cmAuthor id="0" name="Ann Lee"/></p:cmAuthorLst>',
            "ppt/comments/comment1.xml": (
                '<p:cmLst><p:cm authorId="0"><p:text>Really?</p:text></p:cm>'
                '<p:cm authorId="9"><p:txBody><a:p><a:r><a:t>Hm.</a:t></a:r></a:p></p:txBody></p:cm></p:cmLst>'
            ),
        },
        of_slides={"cm": ("comments", "../comments/comment1.xml")},
    )
    assert text_of(data) == "one\n\nComment (Ann Lee): Really?\n\nComment: Hm."


# --- documents in the presentation ---


def test_a_workbook_on_a_slide_is_read_once_as_far_as_it_is_shown() -> None:
    shown = '<mc:Choice Requires="v"><p:oleObj r:id="o"/></mc:Choice><mc:Fallback><p:oleObj r:id="o"/></mc:Fallback>'
    slides = shape("Plan", kind="title") + frame(f"<mc:AlternateContent>{shown}</mc:AlternateContent>")
    data = unzipped(pptx([slides], of_slides={"o": ("package", "../embeddings/book.xlsx")}))
    book = xlsx({"S": sheet_data(["a", "b"], [1, 2]), "T": sheet_data(["never"])})
    read = extract(zipped({**data, "ppt/embeddings/book.xlsx": book}))
    assert read.text == "Plan\n\nS\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert {(block.page, block.headings) for block in read.blocks} == {(1, ("Plan",))}


# --- pictures ---


def test_what_a_picture_shows_stands_at_its_place_and_is_told_once() -> None:
    logo = PICTURE.replace('name="scan"', 'name="l" descr="The seal of Acme"')
    chart = frame("").replace('name="f"', 'name="f" descr="Sales rise."')
    data = pptx([logo + placed("one", 0, 0, 9, 9), shape("two") + logo + chart])
    assert text_of(data) == "one\n\n[Picture: The seal of Acme]\n\n[Picture: Sales rise.]\n\ntwo"


def test_a_described_shape_is_its_text() -> None:
    assert text_of(pptx([shape("one").replace('name="x"', 'name="x" descr="A yellow box"')])) == "one"


# --- broken and hostile ---


def test_a_slide_of_pictures_alone_is_named_as_unread() -> None:
    assert extract(pptx([shape("one"), PICTURE])).unread_pages == (2,)


def test_a_presentation_of_pictures_has_no_text_layer() -> None:
    assert code_of(pptx(["<p:pic/>"])) == "no_text_layer"


def test_a_slide_that_is_damaged_is_named_as_unread() -> None:
    read = extract(pptx([shape("one"), "<p:sld <", shape("three")]))
    assert (read.text, read.unread_pages) == ("one\n\nthree", (2,))


def test_a_slide_is_read_without_notes_and_layout_that_are_damaged() -> None:
    parts = unzipped(pptx([shape("one")], notes={1: shape("said", kind="body")}))
    for name in ("ppt/notesSlides/notesSlide1.xml", "ppt/slideLayouts/slideLayout1.xml"):
        parts[name] = b"garbage"
    assert text_of(zipped(parts)) == "one"


def test_a_slide_that_is_missing_is_named_as_unread() -> None:
    data = pptx([shape("one"), shape("two")], order=[1, 7, 2])
    read = extract(data)
    assert (read.text, read.pages, read.unread_pages) == ("one\n\ntwo", 3, (2,))


def test_a_presentation_none_of_whose_slides_is_there_is_corrupt() -> None:
    assert code_of(pptx([shape("one")], order=[7, 8])) == "corrupt"


def test_a_presentation_of_nothing_is_empty() -> None:
    assert code_of(pptx([shape("")])) == "empty"
    assert code_of(pptx([])) == "empty"


def test_more_slides_than_allowed_are_too_large() -> None:
    assert code_of(pptx([shape("x")] * 3), ReadOptions(limits=Limits(pages=2))) == "too_large"


@pytest.mark.parametrize(
    "slide",
    [
        pytest.param("<p:sld show='1'/>", id="nothing in it"),
        pytest.param("<p:sld show='1'><p:cSld/></p:sld>", id="no shapes"),
        pytest.param(
            "<p:sld show='1'><p:cSld><p:spTree><p:sp/><p:grpSp/><p:graphicFrame/></p:spTree></p:cSld></p:sld>",
            id="bare shapes",
        ),
    ],
)
def test_slides_without_what_they_should_have_are_passed_over(slide: str) -> None:
    assert text_of(pptx([slide, shape("shown")])) == "shown"


def test_a_chart_without_its_part_is_passed_over() -> None:
    assert text_of(pptx([frame('<c:chart r:id="gone"/>') + shape("shown")])) == "shown"


def test_places_that_are_no_numbers_are_no_places() -> None:
    odd = shape("odd", at=(1, 1, 1, 1)).replace('x="91440"', 'x="left"')
    assert text_of(pptx([odd + placed("placed", 0, 0, 5, 5)])) == "placed\n\nodd"


def test_a_thousand_shapes_are_read_in_time() -> None:
    slide = "".join(placed(str(each), each * 7 % 900, each % 500, 1, 1) for each in range(1_000))
    assert len(text_of(pptx([slide])).split()) == 1_000


def test_a_cut_off_slide_is_corrupt() -> None:
    assert code_of(pptx(["<p:sld show='1'><p:cSld>"])) == "corrupt"


def test_strict_presentations_are_read_as_others() -> None:
    assert text_of(strict(pptx([shape("Leave", kind="title") + shape("28 days.")]))) == "Leave\n\n28 days."
