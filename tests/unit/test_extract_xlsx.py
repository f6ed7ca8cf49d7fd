"""Workbooks: cells as they are shown, sheets as pages, tables told apart."""

from __future__ import annotations

import pytest

from citewell.core.values import BlockKind
from citewell.errors import DocumentRejected
from citewell.extract import extract
from citewell.extract.options import Limits, ReadOptions
from tests.documents.archives import unzipped, zipped
from tests.documents.office import number_cell, pptx, shape, sheet_data, sheet_row, strict, with_namespaces, xlsx

HEAD = "| a | b |\n| --- | --- |\n"
RICH = "<r><t>Rest </t></r><r><rPr><b/></rPr><t>days</t></r><rPh><t>reading</t></rPh>"


def text_of(data: bytes) -> str:
    return extract(data).text


def table_of(*rows: list[object], **more: str) -> str:
    """What is read of one sheet with these rows, its name aside."""
    return text_of(xlsx({"S": sheet_data(*rows) + more.get("after", "")})).removeprefix("S\n\n")


def code_of(data: bytes, options: ReadOptions | None = None) -> str:
    with pytest.raises(DocumentRejected) as rejected:
        extract(data, options)
    return rejected.value.code


# --- sheets ---


def test_a_sheet_is_a_page_with_its_name_as_heading_and_its_first_row_as_head() -> None:
    read = extract(xlsx({"Prices": sheet_data(["Plan", "Price"], ["Basic", 5]), "Notes": sheet_data(["Net."])}))
    assert read.text == "Prices\n\n| Plan | Price |\n| --- | --- |\n| Basic | 5 |\n\nNotes\n\nNet."
    assert [(block.kind, block.page, block.headings) for block in read.blocks] == [
        (BlockKind.HEADING, 1, ("Prices",)),
        (BlockKind.TABLE, 1, ("Prices",)),
        (BlockKind.HEADING, 2, ("Notes",)),
        (BlockKind.PARAGRAPH, 2, ("Notes",)),
    ]
    assert read.pages == 2


def test_hidden_and_empty_sheets_are_left_out_and_the_others_keep_their_numbers() -> None:
    data = xlsx({"A": sheet_data(["x"]), "B": sheet_data(["secret"]), "C": "", "D": sheet_data(["y"])}, hidden=["B"])
    read = extract(data)
    assert read.text == "A\n\nx\n\nD\n\ny"
    assert [block.page for block in read.blocks] == [1, 1, 4, 4]


def test_the_title_is_that_of_the_properties() -> None:
    assert extract(xlsx({"A": sheet_data(["x"])}, title="Price list")).title == "Price list"


# --- cells ---


def test_cells_of_every_type_are_read_as_they_are_shown() -> None:
    row = [
        "<c r='A2' t='s'><v>1</v></c>",
        "<c r='B2' t='str'><f>A1&amp;\"!\"</f><v>made</v></c>",
        "<c r='C2'><f>1+1</f><v>2</v></c>",
        True,
        "<c r='E2' t='e'><f>1/0</f><v>#DIV/0!</v></c>",
        "<c r='F2' t='d'><v>2024-01-01T00:00:00</v></c>",
        "<c r='G2' t='d'><v>2024-01-01T08:30:00Z</v></c>",
        0.1 + 0.2,
        "<c r='I2'><v>12345678901234567890</v></c>",
    ]
    head = [f"h{each}" for each in range(9)]
    data = xlsx({"S": sheet_data(head, row)}, strings=["<t>unused</t>", RICH])
    assert text_of(data).split("\n")[-1] == (
        "| Rest days | made | 2 | TRUE | #DIV/0! | 2024-01-01 | 2024-01-01 08:30 | 0.3 | 12345678901234567890 |"
    )


def test_numbers_dates_and_amounts_follow_their_format() -> None:
    row = [
        number_cell("A2", 45292.0, 1),
        number_cell("B2", 0.125, 2),
        number_cell("C2", 1234.5, 3),
        number_cell("D2", 7, 4),
    ]
    data = xlsx(
        {"S": sheet_data(["day", "rate", "sum", "id"], row)},
        formats=["d/m/yyyy", "0.0%", '"$"#,##0.00', "@"],
    )
    assert text_of(data).split("\n")[-1] == "| 2024-01-01 | 12.5% | $1,234.50 | 7 |"


def test_a_zero_is_shown_where_its_format_shows_one() -> None:
    accounting = '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)'
    row = [number_cell("A2", 0, 1), number_cell("B2", -3, 1), number_cell("C2", 0, 2), number_cell("D2", 0, 3)]
    data = xlsx({"S": sheet_data(["a", "b", "c", "d"], row)}, formats=[accounting, "#,##0", "#,###"])
    assert text_of(data).split("\n")[-1] == "| $- | $(3.00) | 0 |  |"


def test_words_around_a_number_without_a_format_are_shown() -> None:
    row = [number_cell("A2", 12.5, 1), number_cell("B2", -3, 2)]
    data = xlsx({"S": sheet_data(["a", "b"], row)}, formats=['General" kg"', '"about "General'])
    assert text_of(data).split("\n")[-1] == "| 12.5 kg | -about 3 |"


def test_days_may_be_counted_from_1904() -> None:
    data = xlsx(
        {"S": sheet_data([number_cell("A1", 43830.0, 1)])},
        formats=["yyyy-mm-dd"],
        workbook='<workbookPr date1904="1"/>',
    )
    assert text_of(data) == "S\n\n2024-01-01"


def test_an_exponent_is_no_digit_of_its_number() -> None:
    runs = "<r><t>{}</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>{}</t></r>"
    strings = [runs.format("10", "-6"), runs.format("Total", "2")]
    cells = [f"<c r='{column}1' t='s'><v>{index}</v></c>" for index, column in enumerate("AB")]
    assert text_of(xlsx({"S": sheet_data(cells)}, strings=strings)) == "S\n\n| 10⁻⁶ | Total2 |\n| --- | --- |"


def test_line_ends_and_escaped_characters_of_a_text_become_spaces() -> None:
    assert table_of(["a", "b"], ["one\ntwo", "c_x000D_d_x"]) == HEAD + "| one two | c d_x |"


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("<c r='B2'><f>SUM(A1)</f></c>", "=SUM(A1)"),
        ('<c r=\'B2\'><f>IF(A1="","",A1)</f><v></v></c>', '=IF(A1="","",A1)'),
        ("<c r='B2'><f>_xlfn._xlws.SORT(A1)</f><v/></c>", "=SORT(A1)"),
        ("<c r='B2'><f t='shared' si='0'/></c>", "=…"),
        ("<c r='B2' t='n'><f>A1*2</f><v>0.0</v></c>", "=A1*2"),
        ("<c r='B2' t='n'><v>0.0</v></c>", "0"),
        ("<c r='B2'><f>A1-A1</f><v>0</v></c>", "0"),
        ("<c r='B2' t='str'><f>\"\"</f><v></v></c>", ""),
    ],
)
def test_a_formula_without_a_result_is_shown_itself(cell: str, shown: str) -> None:
    assert table_of(["a", "b"], ["x", cell]) == HEAD + f"| x | {shown} |"


def test_the_zeros_of_a_workbook_that_was_never_calculated_are_no_results() -> None:
    cells = ["<c r='A2'><v>0</v></c>", "<c r='B2'><f>SUM(A1)</f><v>0</v></c>", "<c r='C2'><f>1+1</f><v>2</v></c>"]
    data = xlsx({"S": sheet_data(["a", "b", "c"], cells)}, workbook='<calcPr fullCalcOnLoad="1"/>')
    assert text_of(data).endswith("| 0 | =SUM(A1) | 2 |")


@pytest.mark.parametrize(
    "cell",
    [
        "<c r='B2' t='s'><v>99</v></c>",
        "<c r='B2' t='s'><v>-1</v></c>",
        "<c r='B2' t='s'><v>x</v></c>",
        "<c r='B2' t='s'/>",
    ],
)
def test_a_text_that_is_not_there_shows_nothing(cell: str) -> None:
    assert table_of(["a", "b"], ["x", cell]) == HEAD + "| x |  |"


def test_a_number_that_is_none_is_shown_as_it_stands() -> None:
    assert table_of(["a", "b"], ["x", "<c r='B2' s='77'><v>n/a</v></c>"]) == HEAD + "| x | n/a |"


def test_cells_and_rows_without_a_reference_follow_one_another() -> None:
    rows = "<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c><c><v>4</v></c></row>"
    assert text_of(xlsx({"S": f"<sheetData>{rows}</sheetData>"})) == "S\n\n| 1 | 2 |\n| --- | --- |\n| 3 | 4 |"


# --- documents on a sheet ---


def test_a_document_on_a_sheet_is_read_once_after_it() -> None:
    shown = '<oleObject r:id="o"/>'
    sheet = sheet_data(["x"]) + f"<oleObjects>{shown}{shown}</oleObjects>"
    data = unzipped(xlsx({"S": sheet}, of_sheets={"o": ("package", "../embeddings/deck.pptx")}))
    deck = pptx([shape("Plan", kind="title") + shape("Now.")])
    read = extract(zipped({**data, "xl/embeddings/deck.pptx": deck}))
    assert read.text == "S\n\nx\n\nPlan\n\nNow."
    assert {(block.page, block.headings) for block in read.blocks} == {(1, ("S",))}
    assert text_of(zipped(data)) == "S\n\nx"
    book = extract(zipped({**data, "xl/embeddings/deck.pptx": zipped({**data, "xl/embeddings/deck.pptx": deck})}))
    assert book.text == "S\n\nx\n\nS\n\nx"


# --- what isn't shown ---


def test_hidden_rows_and_columns_are_left_out() -> None:
    hidden_row = sheet_row(2, ["secret", "secret", "secret"], 'hidden="1"')
    rows = sheet_row(1, ["a", "x", "b"]) + hidden_row + sheet_row(3, ["c", "x", "d"])
    columns = '<cols><col min="2" max="2" hidden="1"/><col min="4" max="999999999" hidden="1"/></cols>'
    assert text_of(xlsx({"S": f"{columns}<sheetData>{rows}</sheetData>"})) == f"S\n\n{HEAD}| c | d |"


@pytest.mark.parametrize(
    ("attributes", "after"),
    [
        pytest.param('hidden="1"', '<autoFilter ref="A1:B2"><filterColumn colId="0"/></autoFilter>', id="filtered"),
        pytest.param('hidden="1" outlineLevel="1"', "", id="folded"),
    ],
)
def test_rows_that_are_hidden_for_the_moment_are_read(attributes: str, after: str) -> None:
    rows = sheet_row(1, ["a", "b"]) + sheet_row(2, ["c", "d"], attributes)
    assert text_of(xlsx({"S": f"<sheetData>{rows}</sheetData>{after}"})) == f"S\n\n{HEAD}| c | d |"


def test_rows_that_a_tables_filter_hides_are_read() -> None:
    rows = sheet_row(1, ["a", "b"]) + sheet_row(2, ["c", "d"], 'hidden="1"')
    data = xlsx(
        {"S": f"<sheetData>{rows}</sheetData>"},
        parts={"xl/tables/table1.xml": "<table xmlns=''><autoFilter><filterColumn colId='0'/></autoFilter></table>"},
        of_sheets={"t": ("table", "../tables/table1.xml")},
    )
    assert text_of(data) == f"S\n\n{HEAD}| c | d |"


def test_what_a_merged_cell_covers_is_not_shown() -> None:
    merged = (
        '<mergeCells><mergeCell ref="A2:A3"/><mergeCell ref="nonsense"/><mergeCell ref="A1:XFD1048576x"/></mergeCells>'
    )
    assert table_of(["a", "b"], ["c", "d"], ["stale", "e"], after=merged) == HEAD + "| c | d |\n|  | e |"


def test_a_merged_cell_that_begins_in_a_hidden_row_or_column_is_seen_in_the_first_visible_one() -> None:
    merged = '<mergeCells><mergeCell ref="A1:C1"/><mergeCell ref="B3:B4"/></mergeCells>'
    rows = [
        sheet_row(1, ["Prices"]),
        sheet_row(2, ["id", "Plan", "Price"]),
        sheet_row(3, [1, "Basic", 5], 'hidden="1"'),
    ]
    sheet = f'<cols><col min="1" max="1" hidden="1"/></cols><sheetData>{"".join(rows)}{sheet_row(4, [2, None, 6])}'
    text = text_of(xlsx({"S": f"{sheet}</sheetData>{merged}"}))
    assert text == "S\n\nPrices\n\n| Plan | Price |\n| --- | --- |\n| Basic | 6 |"


# --- tables ---


def test_rows_of_one_cell_above_a_table_are_its_title() -> None:
    assert table_of(["Price list"], ["All net."], ["a", "b"], [1, 2]) == f"Price list\n\nAll net.\n\n{HEAD}| 1 | 2 |"


def test_a_blank_row_parts_tables() -> None:
    text = table_of(["a", "b"], [1, 2], [], ["c", "d", "e"], [3, 4, 5])
    assert text == HEAD + "| 1 | 2 |\n\n| c | d | e |\n| --- | --- | --- |\n| 3 | 4 | 5 |"


def test_a_table_goes_on_after_a_blank_row_where_more_numbers_follow() -> None:
    assert table_of(["a", "b"], ["x", 2], [], ["y", 4]) == HEAD + "| x | 2 |\n| y | 4 |"
    assert table_of(["a", "b"], ["x", 2], [], ["2nd y", 4]) == HEAD + "| x | 2 |\n| 2nd y | 4 |"


def test_a_head_and_its_table_belong_together_over_a_blank_row() -> None:
    text = table_of(["Country", "Code", "Rate"], [], ["Gambia", 220, 0.29], ["Ghana", 233, 0.31])
    assert text == "| Country | Code | Rate |\n| --- | --- | --- |\n| Gambia | 220 | 0.29 |\n| Ghana | 233 | 0.31 |"
    apart = table_of(["Country", "Code", "Rate"], [], ["Gambia", 220, 0.29, 7])
    assert apart.count("---") == 3 + 4


def test_groups_of_rows_under_titles_of_their_own_are_one_table() -> None:
    rows: list[list[object]] = [
        ["Fund", "2022", "2023"],
        ["A", 1, 2],
        [None, 1, 2],
        [],
        ["Bonds"],
        ["B", 3, 4],
        [],
        ["Cash"],
        ["C", 5, 6],
    ]
    assert table_of(*rows).split("\n") == [
        "| Fund | 2022 | 2023 |",
        "| --- | --- | --- |",
        "| A | 1 | 2 |",
        "|  | 1 | 2 |",
        "| Bonds |  |  |",
        "| B | 3 | 4 |",
        "| Cash |  |  |",
        "| C | 5 | 6 |",
    ]


def test_a_title_over_a_table_with_a_head_begins_another_table() -> None:
    text = table_of(["a", "b", "c"], [1, 2, 3], [], ["Second"], ["a", "b", "d"], [1, 2, 3])
    assert text.count("---") == 3 + 3
    assert "\n\nSecond\n\n" in text
    assert table_of(["a", "b"], [1, 2], [], ["Second"], [1, 2]).count("---") == 2 + 2


@pytest.mark.parametrize("head", [["Costs", "Q1", "Q2"], ["Costs", 2023, 2024], ["Costs", "Jan 2024", "Feb 2024"]])
def test_years_and_quarters_after_a_blank_row_head_another_table(head: list[object]) -> None:
    text = table_of(["Item", "Kind", "Price"], ["Ink", 7, 30], [], head, ["Rent", 5, 6])
    assert text.count("\n| --- |") == 2


def test_a_number_under_words_begins_another_table() -> None:
    text = table_of(["Item", "Kind", "Price"], ["Ink", "box", 30], [], ["Rent", 500, 600], ["Heat", 50, 60])
    assert text.count("\n| --- |") == 2


def test_a_head_of_two_rows_is_told_by_its_merged_cells() -> None:
    merged = '<mergeCells><mergeCell ref="B1:C1"/></mergeCells>'
    rows: list[list[object]] = [[None, "2023"], ["Region", "Plan", "Actual"], ["North", 1, 2], ["South", 3, 4]]
    assert table_of(*rows, after=merged) == (
        "| Region | 2023 Plan | 2023 Actual |\n| --- | --- | --- |\n| North | 1 | 2 |\n| South | 3 | 4 |"
    )


def test_a_title_that_is_merged_over_the_middle_of_a_table_is_a_line_above_it() -> None:
    merged = '<mergeCells><mergeCell ref="B1:C1"/></mergeCells>'
    head: list[object] = ["Plan", "Month", "Year", "Note"]
    rows: list[list[object]] = [[None, "Prices"], head, ["Basic", 1, 2, "x"], ["Pro", 3, 4, "y"]]
    assert table_of(*rows, after=merged).startswith("Prices\n\n| Plan | Month | Year | Note |\n")


def test_rows_stay_whole_beside_a_blank_column_unless_both_sides_have_a_head() -> None:
    years: list[list[object]] = [
        [None, None, None, 2023, 2024],
        ["R1", "Sales", None, 100, 120],
        ["R2", "Rent", None, 6, 7],
    ]
    assert "| R1 | Sales | 100 | 120 |" in table_of(*years)
    remarks: list[list[object]] = [
        ["Nr", "Item"],
        [1, "Ink"],
        [2, "Pen", None, "new", "May"],
        [3, "Pad", None, "old", "June"],
    ]
    assert "| 2 | Pen | new | May |" in table_of(*remarks)


def test_tables_side_by_side_that_share_few_rows_are_two() -> None:
    left: list[list[object]] = [["a", "b"], ["c", "d"], ["e", "f"]]
    below: list[object] = [None, None, None, "m", "n"]
    right: list[list[object]] = [["g", "h", None, "k", "l"], below, below]
    assert table_of(*left, *right).count("\n| --- |") == 2


def test_tables_side_by_side_are_told_apart_by_where_they_begin() -> None:
    rows: list[list[object]] = [
        ["a", "b"],
        ["1", "2", None, "c", "d"],
        ["3", "4", None, "5", "6"],
    ]
    assert table_of(*rows) == HEAD + "| 1 | 2 |\n| 3 | 4 |\n\n| c | d |\n| --- | --- |\n| 5 | 6 |"


def test_a_blank_column_alone_does_not_tear_a_row_apart() -> None:
    assert table_of(["a", None, "b"], ["x", None, "y"]) == HEAD + "| x | y |"


def test_a_column_of_words_is_read_as_paragraphs() -> None:
    assert table_of(["Read me."], ["Then ask."]) == "Read me.\n\nThen ask."


# --- what floats over a sheet ---


def test_comments_follow_their_sheet_with_author_and_cell() -> None:
    comments = (
        "<comments xmlns=''><authors><author>Ann</author></authors><commentList>"
        '<comment ref="B2" authorId="0"><text><r><t>Ann:</t></r><r><t>\nGross?</t></r></text></comment>'
        '<comment ref="A1" authorId="7"><text><t>Hm.</t></text></comment></commentList></comments>'
    )
    data = xlsx(
        {"S": sheet_data(["x"])},
        parts={"xl/comments1.xml": comments},
        of_sheets={"c": ("comments", "../comments1.xml")},
    )
    assert text_of(data) == "S\n\nx\n\nComment (Ann) on B2: Gross?\n\nComment on A1: Hm."


def test_comments_on_hidden_cells_are_left_out() -> None:
    listed = "".join(
        f'<comment ref="{cell}"><text><t>on {cell}</t></text></comment>' for cell in ("A1", "B1", "A2", "?")
    )
    sheet = f'<cols><col min="2" max="2" hidden="1"/></cols><sheetData>{sheet_row(1, ["x", "y"])}'
    data = xlsx(
        {"S": sheet + sheet_row(2, ["z"], 'hidden="1"') + "</sheetData>"},
        parts={"xl/comments1.xml": f"<comments xmlns=''><commentList>{listed}</commentList></comments>"},
        of_sheets={"c": ("comments", "../comments1.xml")},
    )
    assert text_of(data) == "S\n\nx\n\nComment on A1: on A1\n\nComment on ?: on ?"


def test_threads_of_comments_stand_for_the_plain_ones() -> None:
    namespace = 'xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"'
    data = xlsx(
        {"S": sheet_data(["x"])},
        parts={
            "xl/threadedComments/t1.xml": (
                f'<ThreadedComments {namespace}><threadedComment ref="B2" personId="p"><text>Gross?</text>'
                "</threadedComment></ThreadedComments>"
            ),
            "xl/comments1.xml": (
                "<comments xmlns=''><commentList><comment ref='B2'><text><t>[Threaded comment]</t></text></comment>"
                "</commentList></comments>"
            ),
        },
        of_sheets={
            "t": ("threadedComment", "../threadedComments/t1.xml"),
            "c": ("comments", "../comments1.xml"),
        },
    )
    assert text_of(data) == "S\n\nx\n\nComment on B2: Gross?"


def test_text_boxes_follow_their_sheet_without_excuses_for_what_old_versions_lack() -> None:
    def box(text: str) -> str:
        return f"<xdr:sp><xdr:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></xdr:txBody></xdr:sp>"

    slicer = (
        "<mc:AlternateContent><mc:Choice Requires='a14'><xdr:graphicFrame/></mc:Choice>"
        f"<mc:Fallback>{box('This shape represents a slicer.')}</mc:Fallback></mc:AlternateContent>"
    )
    data = xlsx(
        {"S": sheet_data(["x"])},
        parts={"xl/drawings/drawing1.xml": with_namespaces(f"<xdr:wsDr>{box('Draft only')}{slicer}</xdr:wsDr>")},
        of_sheets={"d": ("drawing", "../drawings/drawing1.xml")},
    )
    assert text_of(data) == "S\n\nx\n\nDraft only"


def test_what_a_picture_or_chart_shows_follows_its_sheet() -> None:
    pictures = "".join(
        f"<xdr:pic><xdr:nvPicPr><xdr:cNvPr id='1' name='P' descr='{text}'/></xdr:nvPicPr></xdr:pic>"
        for text in ("Plan of the office", "Picture 2")
    )
    data = xlsx(
        {"S": sheet_data(["x"])},
        parts={"xl/drawings/drawing1.xml": with_namespaces(f"<xdr:wsDr>{pictures}</xdr:wsDr>")},
        of_sheets={"d": ("drawing", "../drawings/drawing1.xml")},
    )
    assert text_of(data) == "S\n\nx\n\n[Picture: Plan of the office]"


# --- large, broken, hostile ---


def test_only_cells_that_are_there_are_looked_at() -> None:
    far = "<row r='1048576'><c r='XFD1048576'><v>2</v></c></row>"
    sheet = f'<dimension ref="A1:XFD1048576"/><sheetData>{sheet_row(1, ["x"])}{far}</sheetData>'
    assert text_of(xlsx({"S": sheet})) == "S\n\nx\n\n2"


def test_a_long_sheet_is_one_table() -> None:
    text = text_of(xlsx({"S": sheet_data(["n", "square"], *([each, each * each] for each in range(5_000)))}))
    assert text.count("\n") == 5_000 + 3
    assert text.endswith("| 4999 | 24990001 |")


def test_a_wide_sheet_keeps_its_rows_whole() -> None:
    cells = "".join(f"<c><v>{each}</v></c>" for each in range(2_000))
    text = text_of(xlsx({"S": f"<sheetData><row>{cells}</row><row>{cells}</row></sheetData>"}))
    assert text.split("\n")[-1] == "| " + " | ".join(map(str, range(2_000))) + " |"


def test_more_text_than_allowed_is_too_large() -> None:
    data = xlsx({"A": sheet_data(["x" * 60]), "B": sheet_data(["x" * 60])})
    assert code_of(data, ReadOptions(limits=Limits(characters=100))) == "too_large"


def test_one_text_that_is_used_again_and_again_is_too_large_before_it_is_written() -> None:
    cells = "<c t='s'><v>0</v></c>" * 1_000
    data = xlsx({"S": f"<sheetData><row>{cells}</row></sheetData>"}, strings=[f"<t>{'x' * 10_000}</t>"])
    assert code_of(data, ReadOptions(limits=Limits(characters=1_000_000))) == "too_large"


def test_a_table_of_blanks_is_too_large_before_it_is_written() -> None:
    first = "".join(f"<c r='{letter}1'><v>1</v></c>" for letter in map(chr, range(ord("A"), ord("Z") + 1)))
    rows = "".join(f"<row><c r='{chr(ord('A') + each % 26)}{each + 2}'><v>1</v></c></row>" for each in range(3_000))
    data = xlsx({"S": f"<sheetData><row>{first}</row>{rows}</sheetData>"})
    assert code_of(data, ReadOptions(limits=Limits(characters=100_000))) == "too_large"


def test_more_sheets_than_allowed_are_too_large() -> None:
    data = xlsx({each: sheet_data(["x"]) for each in "ABC"})
    assert code_of(data, ReadOptions(limits=Limits(pages=2))) == "too_large"


def test_a_workbook_of_nothing_is_empty() -> None:
    assert code_of(xlsx({"S": sheet_data([None], [" "])})) == "empty"
    assert code_of(xlsx({"S": sheet_data(["secret"])}, hidden=["S"])) == "empty"


def test_a_sheet_that_is_missing_is_named_as_unread() -> None:
    data = xlsx({"A": sheet_data(["x"]), "B": ""}).replace(b"worksheets/sheet2.xml", b"worksheets/sheet9.xmX")
    read = extract(data)
    assert (read.text, read.unread_pages) == ("A\n\nx", (2,))


@pytest.mark.parametrize("sheet", ["<sheetData><row>", "<sheetData></row>", "\x00"])
def test_a_sheet_that_is_no_xml_is_corrupt(sheet: str) -> None:
    assert code_of(xlsx({"S": sheet})) == "corrupt"


def test_a_sheet_that_is_damaged_is_named_as_unread() -> None:
    read = extract(xlsx({"A": sheet_data(["x"]), "B": "<sheetData></row>"}))
    assert (read.text, read.unread_pages) == ("A\n\nx", (2,))


def test_a_workbook_of_pictures_has_no_text_layer() -> None:
    drawing = '<xdr:wsDr><xdr:pic><xdr:blipFill><a:blip r:embed="p"/></xdr:blipFill></xdr:pic></xdr:wsDr>'
    data = xlsx(
        {"S": "<sheetData/>"},
        parts={"xl/drawings/d.xml": with_namespaces(drawing)},
        of_sheets={"d": ("drawing", "../drawings/d.xml")},
    )
    assert code_of(data) == "no_text_layer"


def test_a_part_that_declares_entities_is_an_archive_bomb() -> None:
    sheet = (
        '<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet><sheetData><row><c><v>&a;</v></c></row></sheetData></worksheet>'
    )
    assert code_of(xlsx({"S": ""}, parts={"xl/worksheets/sheet1.xml": sheet})) == "archive_bomb"


def test_a_part_that_grows_beyond_measure_is_an_archive_bomb() -> None:
    assert code_of(xlsx({"S": " " * 5_000_000})) == "archive_bomb"


def test_strict_workbooks_are_read_as_others() -> None:
    assert text_of(strict(xlsx({"S": sheet_data(["a", "b"], [1, 2])}))) == f"S\n\n{HEAD}| 1 | 2 |"
