"""Word documents: what is read, in which order, and what is left out."""

from __future__ import annotations

import pytest

from citewell.core.values import Block, BlockKind
from citewell.errors import DocumentRejected
from citewell.extract import extract
from tests.documents.archives import unzipped, zipped
from tests.documents.office import (
    cell,
    docx,
    level,
    numbered,
    package,
    paragraph,
    run,
    strict,
    style,
    table,
    with_namespaces,
)

HEADINGS = style("berschrift1", "heading 1", more='<w:pPr><w:outlineLvl w:val="0"/></w:pPr>') + style(
    "berschrift2", "heading 2", more='<w:pPr><w:outlineLvl w:val="1"/></w:pPr>'
)
VANISH = "<w:vanish/>"
CHECK_BOX = '<w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox>{}</w:checkBox></w:ffData></w:fldChar>'


def text_of(data: bytes) -> str:
    return extract(data).text


def code_of(data: bytes) -> str:
    with pytest.raises(DocumentRejected) as rejected:
        extract(data)
    return rejected.value.code


def field_code(code: str, *result: str) -> str:
    """A field: its code, then what it shows."""
    return (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f'<w:r><w:instrText xml:space="preserve">{code}</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        + "".join(map(run, result))
        + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def box(text: str) -> str:
    """A text box as Word writes it: twice, for itself and for versions before 2010."""
    content = f"<w:txbxContent>{paragraph(text)}</w:txbxContent>"
    return (
        f'<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx>{content}</wps:txbx></w:drawing>'
        f"</mc:Choice><mc:Fallback><w:pict><v:textbox>{content}</v:textbox></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )


# --- headings and titles ---


def test_headings_are_told_by_their_outline_level_whatever_the_language_of_the_style() -> None:
    read = extract(
        docx(
            paragraph("Urlaub", style="berschrift1")
            + paragraph("Anspruch", style="berschrift2")
            + paragraph("28 Tage."),
            styles=HEADINGS,
        )
    )
    assert read.text == "Urlaub\n\nAnspruch\n\n28 Tage."
    assert [block.kind for block in read.blocks] == [BlockKind.HEADING, BlockKind.HEADING, BlockKind.PARAGRAPH]
    assert read.blocks[-1] == Block(BlockKind.PARAGRAPH, 18, 26, ("Urlaub", "Anspruch"))


@pytest.mark.parametrize(
    ("styles", "used"),
    [
        pytest.param(HEADINGS + style("Mine", "Mine", based_on="berschrift2"), "Mine", id="derived style"),
        pytest.param(style("H", "Heading 2"), "H", id="name alone"),
        pytest.param("", "Heading2", id="id alone, without a styles part worth the name"),
    ],
)
def test_a_style_is_a_headings_by_what_it_is_based_on_or_called(styles: str, used: str) -> None:
    read = extract(
        docx(paragraph("Above", style="berschrift1") + paragraph("Scope", style=used), styles=styles + HEADINGS)
    )
    assert read.blocks[-1].headings == ("Above", "Scope")


def test_body_text_under_a_heading_style_is_no_heading() -> None:
    styles = HEADINGS + style("B", "B", based_on="berschrift1", more='<w:pPr><w:outlineLvl w:val="9"/></w:pPr>')
    read = extract(docx(paragraph("Plain", style="B"), styles=styles))
    assert [block.kind for block in read.blocks] == [BlockKind.PARAGRAPH]


def test_a_paragraphs_own_outline_level_goes_before_its_styles() -> None:
    body = paragraph("Scope", properties='<w:outlineLvl w:val="2"/>')
    assert [block.kind for block in extract(docx(body)).blocks] == [BlockKind.HEADING]


def test_the_title_style_is_a_heading_and_the_documents_title() -> None:
    read = extract(docx(paragraph("Leave policy", style="T"), styles=style("T", "Title"), title="Microsoft Word - x"))
    assert read.title == "Leave policy"
    assert read.blocks[0].kind is BlockKind.HEADING


def test_without_a_title_paragraph_the_properties_name_the_title() -> None:
    assert extract(docx(paragraph("Text."), title="Leave policy")).title == "Leave policy"


def test_a_title_that_the_program_gave_is_none() -> None:
    assert extract(docx(paragraph("Text."), title="Microsoft Word - draft.doc")).title is None


def test_the_only_chapter_names_the_title_where_it_opens_the_document() -> None:
    policy = paragraph("Leave", style="berschrift1") + paragraph("Scope", style="berschrift2") + paragraph("All.")
    assert extract(docx(policy, styles=HEADINGS)).title == "Leave"
    assert extract(docx(policy + paragraph("Pay", style="berschrift1"), styles=HEADINGS)).title is None
    assert extract(docx(paragraph("Draft") + policy, styles=HEADINGS)).title is None


def test_styles_based_on_each_other_end_nowhere() -> None:
    styles = style("A", "A", based_on="B") + style("B", "B", based_on="A")
    assert text_of(docx(paragraph("Text.", style="A"), styles=styles)) == "Text."


# --- characters ---


def test_lines_tabs_hyphens_and_symbols_become_characters() -> None:
    body = paragraph(
        run("one"),
        "<w:r><w:br/><w:t>two</w:t><w:tab/><w:t>three</w:t><w:noBreakHyphen/><w:t>four soft</w:t><w:softHyphen/>"
        '<w:t>ly </w:t><w:sym w:font="Wingdings" w:char="F0FC"/><w:sym w:font="Symbol" w:char="F0B3"/></w:r>',
    )
    assert text_of(docx(body)) == "one\ntwo three-four softly ✓≥"


def test_private_characters_of_a_symbol_font_are_spelled() -> None:
    body = paragraph(run("\uf0fc", '<w:rFonts w:ascii="Wingdings"/>') + run(" done"))
    assert text_of(docx(body)) == "✓ done"


def test_a_line_end_in_the_file_is_a_space() -> None:
    assert text_of(docx(paragraph("one\ntwo"))) == "one two"


def test_links_fields_and_smart_tags_show_their_text_without_their_code() -> None:
    body = paragraph(
        '<w:hyperlink r:id="x"><w:r><w:t>the form</w:t></w:r></w:hyperlink>',
        run(" on page "),
        field_code(" PAGEREF x ", "12"),
        '<w:smartTag><w:r><w:t>, in Berlin</w:t></w:r></w:smartTag><w:fldSimple w:instr="DATE"><w:r><w:t>!</w:t></w:r>'
        "</w:fldSimple>",
    )
    assert text_of(docx(body)) == "the form on page 12, in Berlin!"


def test_a_field_without_an_end_swallows_nothing_after_its_paragraph() -> None:
    begun = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
    assert text_of(docx(paragraph("One ", begun, run("code")) + paragraph("Two"))) == "One\n\nTwo"


@pytest.mark.parametrize(
    ("state", "shown"), [("<w:checked/>", "☒"), ('<w:default w:val="1"/>', "☒"), ('<w:checked w:val="0"/>', "☐")]
)
def test_a_forms_check_box_shows_its_state(state: str, shown: str) -> None:
    body = paragraph(f"<w:r>{CHECK_BOX.format(state)}</w:r>" + '<w:r><w:fldChar w:fldCharType="end"/></w:r>', " paid")
    assert text_of(docx(body)) == f"{shown} paid"


def test_a_forms_list_shows_the_chosen_entry() -> None:
    entries = "".join(f'<w:listEntry w:val="{each}"/>' for each in ("red", "green"))
    form = f'<w:ffData><w:ddList><w:result w:val="1"/>{entries}</w:ddList></w:ffData>'
    mark = f'<w:r><w:fldChar w:fldCharType="begin">{form}</w:fldChar></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
    assert text_of(docx(paragraph("Colour: ", mark))) == "Colour: green"
    separate = '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
    begin, end = mark.replace("</w:r><w:r>", "</w:r>|<w:r>").split("|")
    assert text_of(docx(paragraph("Colour: ", begin, separate, run("green"), end, "."))) == "Colour: green."


def test_formulas_stand_on_one_line() -> None:
    def words(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    fraction = f"<m:f><m:num>{words('a+b')}</m:num><m:den>{words('2')}</m:den></m:f>"
    power = f"<m:sSup><m:e>{words('c')}</m:e><m:sup>{words('2')}</m:sup></m:sSup>"
    assert text_of(docx(paragraph("x = ", f"<m:oMath>{fraction}{words('+')}{power}</m:oMath>"))) == "x = (a+b)/2+c^2"


def test_of_ruby_text_the_words_stand_without_their_reading() -> None:
    ruby = f"<w:r><w:ruby><w:rt>{run('にほん')}</w:rt><w:rubyBase>{run('日本')}</w:rubyBase></w:ruby></w:r>"
    assert text_of(docx(paragraph(ruby, "語"))) == "日本語"


def test_lines_of_code_are_one_block_and_keep_their_spaces() -> None:
    styles = style("Mine", "HTML Preformatted") + style("Derived", "My code", based_on="Mine")
    body = paragraph("if x:", style="Mine") + paragraph("    stop( 1 )", style="Derived") + paragraph("After.")
    read = extract(docx(body, styles=styles))
    assert read.text == "if x:\n    stop( 1 )\n\nAfter."
    assert [block.kind for block in read.blocks] == [BlockKind.CODE, BlockKind.PARAGRAPH]


def test_an_exponent_of_a_number_does_not_become_its_last_digits() -> None:
    raised = '<w:vertAlign w:val="superscript"/>'
    body = paragraph("10", run("−", raised), run("6", raised), " m", run("2", raised), " on the 1", run("st", raised))
    assert text_of(docx(body)) == "10⁻⁶ m2 on the 1st"


# --- what isn't there for a reader ---


def test_insertions_are_in_and_deletions_out() -> None:
    body = paragraph(
        "Leave is ",
        f"<w:ins>{run('28')}</w:ins><w:del><w:r><w:delText>25</w:delText></w:r></w:del>",
        f"<w:moveFrom>{run(' gone')}</w:moveFrom><w:moveTo>{run(' days')}</w:moveTo>",
    )
    assert text_of(docx(body)) == "Leave is 28 days"


def test_a_paragraph_whose_end_was_deleted_goes_on_in_the_next_one() -> None:
    body = paragraph("One ", properties="<w:rPr><w:del/></w:rPr>") + paragraph("sentence.")
    assert text_of(docx(body)) == "One sentence."


def test_text_without_a_next_paragraph_goes_nowhere_else() -> None:
    ends = "<w:rPr><w:del/></w:rPr>"
    body = table(["a", cell(paragraph("b", properties=ends))], ["c", "d"]) + paragraph("e", box("f"), properties=ends)
    assert text_of(docx(body)) == "| a | b |\n| --- | --- |\n| c | d |\n\nf\n\ne"


def test_a_large_initial_belongs_to_its_word() -> None:
    body = paragraph("R", properties='<w:framePr w:dropCap="drop" w:lines="3"/>') + paragraph("est is due.")
    assert text_of(docx(body)) == "Rest is due."


def test_a_deleted_row_and_a_deleted_cell_are_out() -> None:
    deleted = f"<w:tr><w:trPr><w:del/></w:trPr>{cell(paragraph('gone'))}{cell(paragraph('gone'))}</w:tr>"
    rows = table(["Day", "Open"], ["Mon", cell(paragraph("never"), "<w:cellDel/>")])
    body = rows.replace("</w:tbl>", f"{deleted}</w:tbl>")
    assert text_of(docx(body)) == "| Day | Open |\n| --- | --- |\n| Mon |  |"


@pytest.mark.parametrize(
    "hidden",
    [
        pytest.param(run("secret", VANISH), id="run"),
        pytest.param(run("secret", '<w:rStyle w:val="Ghost"/>'), id="character style"),
        pytest.param(f"<w:hyperlink>{run('secret', VANISH)}</w:hyperlink>", id="in a link"),
    ],
)
def test_hidden_text_is_out(hidden: str) -> None:
    styles = style("Ghost", "Ghost", more=f"<w:rPr>{VANISH}</w:rPr>")
    assert text_of(docx(paragraph("Shown", hidden), styles=styles)) == "Shown"


def test_a_style_hides_its_paragraph_but_not_a_run_that_says_otherwise() -> None:
    styles = style("Ghost", "Ghost", more=f"<w:rPr>{VANISH}</w:rPr>")
    body = paragraph(run("secret"), run("shown", '<w:vanish w:val="0"/>'), style="Ghost")
    assert text_of(docx(body, styles=styles)) == "shown"


def test_a_field_that_is_hidden_in_part_ends_all_the_same() -> None:
    begin = f'<w:r><w:rPr>{VANISH}</w:rPr><w:fldChar w:fldCharType="begin"/></w:r>'
    end = f'<w:r><w:rPr>{VANISH}</w:rPr><w:fldChar w:fldCharType="end"/></w:r>'
    assert text_of(docx(paragraph(begin, run("code"), end, run("shown")))) == "shown"


# --- lists ---


def test_lists_are_numbered_as_word_numbers_them() -> None:
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}{level(1, "lowerLetter", "%2)")}'
        f"{level(2, 'upperRoman', '%1.%2.%3')}</w:abstractNum>"
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="10"/></w:lvlOverride></w:num>'
    )
    body = "".join(
        numbered(f"item {each}", number, depth)
        for each, (number, depth) in enumerate([(1, 0), (1, 1), (1, 1), (1, 2), (1, 0), (1, 1), (2, 0), (1, 0)])
    )
    assert text_of(docx(body, numbering=numbering)).split("\n") == [
        "1. item 0",
        "  a) item 1",
        "  b) item 2",
        "    1.b.I item 3",
        "2. item 4",
        "  a) item 5",
        "10. item 6",
        "11. item 7",
    ]


def test_bullets_are_dashes_and_lists_without_a_sign_paragraphs() -> None:
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level(0, "bullet", chr(0xF0B7))}</w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="1">{level(0, "none", "")}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    )
    read = extract(docx(numbered("one", 1) + numbered("two", 1) + numbered("three", 2), numbering=numbering))
    assert read.text == "- one\n- two\n\nthree"
    assert [block.kind for block in read.blocks] == [BlockKind.LIST, BlockKind.PARAGRAPH]


def test_an_empty_item_has_a_number_unless_it_is_hidden() -> None:
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    hidden = numbered("", 1).replace("</w:numPr>", f"</w:numPr><w:rPr>{VANISH}</w:rPr>")
    body = numbered("one", 1) + numbered("", 1) + hidden + numbered("three", 1)
    assert text_of(docx(body, numbering=numbering)).replace("\n", "") == "1. one3. three"


def test_headings_keep_the_number_that_their_style_gives_them() -> None:
    numbering = (
        '<w:abstractNum w:abstractNumId="0">'
        + level(0, "decimal", "%1", '<w:pStyle w:val="H1"/>')
        + level(1, "decimal", "%1.%2", '<w:pStyle w:val="H2"/>')
        + '</w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="0"/></w:num>'
    )
    styles = "".join(
        style(f"H{each}", f"heading {each}", more='<w:pPr><w:numPr><w:numId w:val="7"/></w:numPr></w:pPr>')
        for each in (1, 2)
    )
    body = paragraph("Scope", style="H1") + paragraph("Terms", style="H2") + paragraph("People", style="H2")
    read = extract(docx(body, styles=styles, numbering=numbering))
    assert read.text == "1 Scope\n\n1.1 Terms\n\n1.2 People"
    assert read.blocks[-1].headings == ("1 Scope", "1.2 People")


def test_a_paragraph_can_leave_the_list_of_its_style() -> None:
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}</w:abstractNum>'
        '<w:num w:numId="7"><w:abstractNumId w:val="0"/></w:num>'
    )
    styles = style("L", "List Number", more='<w:pPr><w:numPr><w:numId w:val="7"/></w:numPr></w:pPr>')
    left = paragraph("aside", style="L", properties='<w:numPr><w:numId w:val="0"/></w:numPr>')
    body = paragraph("one", style="L") + left + paragraph("two", style="L")
    assert text_of(docx(body, styles=styles, numbering=numbering)) == "1. one\n\naside\n\n2. two"


def test_a_list_may_be_defined_by_a_numbering_style() -> None:
    numbering = (
        '<w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="Legal"/></w:abstractNum>'
        '<w:abstractNum w:abstractNumId="1"><w:styleLink w:val="Legal"/>'
        f"{level(0, 'upperLetter', '§ %1')}</w:abstractNum>"
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    )
    styles = style("Legal", "Legal", more='<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>')
    assert text_of(docx(numbered("one", 1), styles=styles, numbering=numbering)) == "§ A one"


def test_a_list_that_the_document_does_not_define_is_read_as_paragraphs() -> None:
    assert text_of(docx(numbered("one", 9) + numbered("two", 9, 99))) == "one\n\ntwo"


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("russianLower", ["а.", "б."]),
        ("hebrew1", ["א.", "ב."]),
        ("ganada", ["가.", "나."]),
        ("iroha", ["イ.", "ロ."]),
        ("chicago", ["*.", "†."]),
        ("cardinalText", ["One.", "Two."]),
        ("ordinalText", ["First.", "Second."]),
        ("numberInDash", ["- 1 -.", "- 2 -."]),
    ],
)
def test_numbers_are_written_as_their_form_has_them(form: str, shown: list[str]) -> None:
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level(0, form, "%1.")}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    text = text_of(docx(numbered("x", 1) + numbered("x", 1), numbering=numbering))
    assert [line.removesuffix(" x") for line in text.split("\n")] == shown


# --- tables ---


def test_a_table_that_sets_out_a_page_is_read_cell_by_cell() -> None:
    left = paragraph("Experience", style="berschrift1") + paragraph("Ten years.")
    right = paragraph("Skills", style="berschrift1") + paragraph("Python")
    read = extract(docx(table([cell(left), cell(right)]), styles=HEADINGS))
    assert [block.headings for block in read.blocks] == [("Experience",)] * 2 + [("Skills",)] * 2


def test_a_table_whose_head_is_written_as_headings_is_one() -> None:
    head = [cell(paragraph(name, style="berschrift1")) for name in ("Name", "Days")]
    text = text_of(docx(table(head, ["Ann", "27"]), styles=HEADINGS))
    assert text == "| Name | Days |\n| --- | --- |\n| Ann | 27 |"


def test_rows_marked_as_head_are_one_and_a_title_over_all_columns_is_a_line() -> None:
    def head(*cells: str) -> str:
        return f"<w:tr><w:trPr><w:tblHeader/></w:trPr>{''.join(cells)}</w:tr>"

    wide = cell(paragraph("Staff"), '<w:gridSpan w:val="2"/>')
    group = [cell(paragraph("")), cell(paragraph("2024"))]
    names = [cell(paragraph("Name")), cell(paragraph("Days"))]
    row = f"<w:tr>{cell(paragraph('Ann'))}{cell(paragraph('27'))}</w:tr>"
    text = text_of(docx(f"<w:tbl>{head(wide)}{head(*group)}{head(*names)}{row}</w:tbl>"))
    assert text == "Staff\n\n| Name | 2024 Days |\n| --- | --- |\n| Ann | 27 |"


def test_merged_cells_say_their_text_once() -> None:
    restart, two_columns = '<w:vMerge w:val="restart"/>', '<w:gridSpan w:val="2"/>'
    body = (
        "<w:tbl>"
        f"<w:tr>{cell(paragraph('Plan'), restart)}{cell(paragraph('Price'), two_columns)}</w:tr>"
        f"<w:tr>{cell(paragraph('stale'), '<w:vMerge/>')}{cell(paragraph('month'))}{cell(paragraph('year'))}</w:tr>"
        "</w:tbl>"
    )
    assert text_of(docx(body)) == "| Plan | Price |  |\n| --- | --- | --- |\n|  | month | year |"


def test_a_nested_table_follows_the_one_that_it_stands_in() -> None:
    inner = table(["e", "f"], ["g", "h"])
    body = table(["a", "b"], ["c", cell(paragraph("see") + inner + paragraph(""))]) + paragraph("after")
    assert text_of(docx(body)) == (
        "| a | b |\n| --- | --- |\n| c | see |\n\n| e | f |\n| --- | --- |\n| g | h |\n\nafter"
    )


def test_a_table_of_one_column_is_a_frame_around_text() -> None:
    body = table([cell(paragraph("Note", style="berschrift1"))], [cell(paragraph("Read this."))])
    read = extract(docx(body, styles=HEADINGS))
    assert read.text == "Note\n\nRead this."
    assert read.blocks[1].headings == ("Note",)


def test_lists_and_several_paragraphs_in_a_cell_stay_in_its_row() -> None:
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    body = table(["Step", "What"], ["x", cell(numbered("open", 1) + numbered("close", 1) + paragraph("a|b"))])
    assert text_of(docx(body, numbering=numbering)).split("\n")[-1] == "| x | 1. open 2. close a\\|b |"


def test_cells_that_hold_a_number_alone_show_it() -> None:
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}</w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="1">{level(0, "bullet", "o")}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    )
    body = table(["No.", "What"], [cell(numbered("", 1)), "open"], [cell(numbered("", 1)), cell(numbered("", 2))])
    assert text_of(docx(body, numbering=numbering)).split("\n")[2:] == ["| 1. | open |", "| 2. |  |"]


def test_rows_and_cells_in_content_controls_are_read() -> None:
    row = f"<w:tr>{cell(paragraph('a'))}<w:sdt><w:sdtContent>{cell(paragraph('b'))}</w:sdtContent></w:sdt></w:tr>"
    body = f"<w:tbl><w:sdt><w:sdtContent>{row}</w:sdtContent></w:sdt></w:tbl>"
    assert text_of(docx(body)) == "| a | b |\n| --- | --- |"


# --- what hangs on a paragraph ---


def test_notes_follow_their_paragraph() -> None:
    body = paragraph("Rest", '<w:r><w:footnoteReference w:id="2"/></w:r>', " is due.") + paragraph(
        "Next.", '<w:r><w:endnoteReference w:id="1"/></w:r>'
    )
    footnotes = (
        f'<w:footnote w:id="0" w:type="separator">{paragraph("----")}</w:footnote>'
        f'<w:footnote w:id="2">{paragraph("Since 2024.")}</w:footnote>'
    )
    endnotes = f'<w:endnote w:id="1">{paragraph("See the law.")}</w:endnote>'
    assert text_of(docx(body, footnotes=footnotes, endnotes=endnotes)) == (
        "Rest is due.\n\nFootnote: Since 2024.\n\nNext.\n\nEndnote: See the law."
    )


def test_notes_of_a_table_follow_the_table() -> None:
    body = table(["a", cell(paragraph("b", '<w:r><w:footnoteReference w:id="2"/></w:r>'))], ["c", "d"])
    footnotes = f'<w:footnote w:id="2">{paragraph("Net.")}</w:footnote>'
    assert text_of(docx(body, footnotes=footnotes)).endswith("| c | d |\n\nFootnote: Net.")


def test_comments_follow_their_paragraph_with_their_author() -> None:
    body = paragraph("Rest is due.", '<w:r><w:commentReference w:id="0"/></w:r>') + paragraph(
        "Next.", '<w:r><w:commentReference w:id="1"/></w:r>'
    )
    comments = (
        f'<w:comment w:id="0" w:author="Ann Lee">{paragraph("Really?")}{paragraph("Yes.")}</w:comment>'
        f'<w:comment w:id="1" w:author="">{paragraph("Hm.")}</w:comment>'
    )
    assert text_of(docx(body, comments=comments)) == (
        "Rest is due.\n\nComment (Ann Lee): Really?\nYes.\n\nNext.\n\nComment: Hm."
    )


def test_a_note_that_refers_to_itself_is_read_once() -> None:
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    footnotes = f'<w:footnote w:id="2">{paragraph("Again", reference)}</w:footnote>'
    assert text_of(docx(paragraph("Rest", reference, reference), footnotes=footnotes)) == "Rest\n\nFootnote: Again"


def test_a_reference_to_a_note_that_is_missing_is_nothing() -> None:
    assert text_of(docx(paragraph("Rest", '<w:r><w:footnoteReference w:id="9"/></w:r>'))) == "Rest"


def test_a_text_box_is_read_once_after_its_paragraph() -> None:
    assert text_of(docx(paragraph("Before", box("In the box")) + paragraph("After"))) == "Before\n\nIn the box\n\nAfter"


def test_a_box_in_a_box_and_a_box_in_a_cell_are_read() -> None:
    inner = box("inner")
    outer = (
        f"<w:r><w:pict><v:textbox><w:txbxContent>{paragraph('outer', inner)}</w:txbxContent></v:textbox></w:pict></w:r>"
    )
    body = table(["a", cell(paragraph("b", outer))], ["c", "d"])
    assert text_of(docx(body)).endswith("| c | d |\n\nouter\n\ninner")


def picture(descr: str, more: str = "") -> str:
    return f'<w:r><w:drawing><wp:inline><wp:docPr id="1" name="P" descr="{descr}"/>{more}</wp:inline></w:drawing></w:r>'


def test_what_a_picture_shows_follows_its_paragraph() -> None:
    body = paragraph("Sales:", picture("Sales rise&#10;from 2 to 9.")) + paragraph("As planned.")
    assert text_of(docx(body)) == "Sales:\n\n[Picture: Sales rise from 2 to 9.]\n\nAs planned."


def test_what_a_picture_in_a_cell_shows_stands_in_it() -> None:
    body = table(["paid", "sick"], [cell(paragraph(picture("Yes"))), "no"])
    assert text_of(docx(body)).endswith("| [Picture: Yes] | no |")


def test_a_picture_of_an_older_version_is_described_by_its_shape() -> None:
    drawn = '<w:r><w:pict><v:shape alt="A seal"><v:imagedata/></v:shape></w:pict></w:r>'
    assert text_of(docx(paragraph("Signed", drawn))) == "Signed\n\n[Picture: A seal]"


def test_a_line_for_a_signature_names_who_is_to_sign() -> None:
    line = '<o:signatureline xmlns:o="urn:schemas-microsoft-com:office:office" o:suggestedsigner="Ann Day"{}/>'
    shape = '<w:r><w:pict><v:shape alt="Microsoft Office Signature Line...">{}</v:shape></w:pict></w:r>'
    titled = shape.format(line.format(' o:suggestedsigner2="Director"'))
    assert text_of(docx(paragraph("For Acme:", titled))) == "For Acme:\n\n[Signature line: Ann Day, Director]"
    assert text_of(docx(paragraph(shape.format(line.format(""))))) == "[Signature line: Ann Day]"


@pytest.mark.parametrize(
    "description",
    [
        *("7", "Picture 1", "Grafik 3", "image", "Chart 12", "C:\\Users\\me\\my logo.PNG", " "),
        *("https://x.example/a/b.jpg", "https://x.example/a?b=1", "acme_logo_en", "fig3", "MPj03090780000[1"),
        *("OLE-Objekt", "decorative element"),
        "A logo&#10;&#10;Description automatically generated",
        "Badge Tick with solid fill",
        "A graph. AI-generated content may be incorrect.",
    ],
)
def test_a_description_that_says_nothing_is_left_out(description: str) -> None:
    assert text_of(docx(paragraph("Text", picture(description)))) == "Text"


def test_a_hidden_row_is_left_out() -> None:
    body = table(["a", "b"], ["secret", "c"], ["d", "e"]).split("<w:tr>")
    body[2] = f"<w:trPr><w:hidden/></w:trPr>{body[2]}"
    assert text_of(docx("<w:tr>".join(body))) == "| a | b |\n| --- | --- |\n| d | e |"


def test_a_described_text_box_is_its_text() -> None:
    described = box("In the box").replace("<wps:txbx>", '<wp:docPr descr="A yellow box"/><wps:txbx>')
    assert text_of(docx(paragraph("Text", described))) == "Text\n\nIn the box"


def test_charts_and_diagrams_follow_their_paragraph() -> None:
    point = '<c:pt idx="0"><c:v>{}</c:v></c:pt>'
    series = f"<c:ser><c:cat>{point.format('2024')}</c:cat><c:val>{point.format('7')}</c:val></c:ser>"
    plot = f"<c:plotArea><c:barChart>{series}</c:barChart></c:plotArea>"
    words = "<dgm:pt><dgm:t><a:p><a:r><a:t>Ask</a:t></a:r></a:p></dgm:t></dgm:pt>"
    body = paragraph(
        "Sales:",
        '<w:r><w:drawing><c:chart r:id="word/chart.xml"/></w:drawing></w:r>',
        '<w:r><w:drawing><dgm:relIds r:dm="word/data.xml"/></w:drawing></w:r>',
        '<w:r><w:drawing><c:chart r:id="gone"/></w:drawing></w:r>',
    )
    parts = {
        "word/chart.xml": f"<c:chartSpace><c:chart>{plot}</c:chart></c:chartSpace>",
        "word/data.xml": f"<dgm:dataModel><dgm:ptLst>{words}</dgm:ptLst></dgm:dataModel>",
    }
    assert text_of(docx(body, parts=parts)) == "Sales:\n\n|  | Series 1 |\n| --- | --- |\n| 2024 | 7 |\n\n- Ask"


def test_the_fallback_is_read_where_the_choice_has_no_text() -> None:
    body = paragraph(
        '<mc:AlternateContent><mc:Choice Requires="new"><w:drawing/></mc:Choice>'
        f"<mc:Fallback>{run('old')}</mc:Fallback></mc:AlternateContent>"
    )
    assert text_of(docx(body)) == "old"


def test_content_controls_are_read_in_place() -> None:
    body = f"<w:sdt><w:sdtPr/><w:sdtContent>{paragraph('Block')}</w:sdtContent></w:sdt>" + paragraph(
        "Name: ", f"<w:sdt><w:sdtContent>{run('Ann')}</w:sdtContent></w:sdt>"
    )
    assert text_of(docx(body)) == "Block\n\nName: Ann"


# --- strict, broken, hostile ---


def test_strict_documents_are_read_as_others() -> None:
    body = paragraph("Rest", '<w:r><w:footnoteReference w:id="2"/></w:r>')
    data = strict(docx(body, footnotes=f'<w:footnote w:id="2">{paragraph("Since 2024.")}</w:footnote>'))
    assert text_of(data) == "Rest\n\nFootnote: Since 2024."


def test_a_document_of_nothing_is_empty() -> None:
    assert code_of(docx(paragraph(""))) == "empty"


def test_a_document_without_its_main_part_is_corrupt() -> None:
    assert code_of(package("word/document.xml", "wordprocessingml.document", {"word/styles.xml": "<x/>"})) == "corrupt"


@pytest.mark.parametrize(
    "xml",
    [
        pytest.param("<w:document", id="cut off"),
        pytest.param("no xml", id="no xml"),
        pytest.param("<a>" * 2_000 + "</a>" * 2_000, id="nested too deep"),
    ],
)
def test_a_main_part_that_is_no_document_is_corrupt(xml: str) -> None:
    parts = {"word/document.xml": xml}
    assert code_of(package("word/document.xml", "wordprocessingml.document", parts)) == "corrupt"


def test_a_root_that_is_no_document_is_empty() -> None:
    assert code_of(package("word/document.xml", "wordprocessingml.document", {"word/document.xml": "<a/>"})) == "empty"


def test_a_heading_in_a_text_box_holds_within_it_alone() -> None:
    box = paragraph("Notice", style="berschrift1") + paragraph("Closed on Friday.")
    floating = f"<w:r><w:pict><w:txbxContent>{box}</w:txbxContent></w:pict></w:r>"
    body = paragraph("Leave", style="berschrift1") + paragraph("27 days.", floating) + paragraph("Paid.")
    read = extract(docx(body, styles=HEADINGS))
    assert [(read.text[block.start : block.end], block.headings) for block in read.blocks] == [
        ("Leave", ("Leave",)),
        ("27 days.", ("Leave",)),
        ("Notice", ("Notice",)),
        ("Closed on Friday.", ("Notice",)),
        ("Paid.", ("Leave",)),
    ]


def test_of_a_document_without_text_its_headers_are_read() -> None:
    parts = unzipped(docx("<w:p/>", parts={"word/h.xml": f"<w:hdr>{paragraph('Memo 17')}</w:hdr>"}))
    relations = "word/_rels/document.xml.rels"
    parts[relations] = parts[relations].replace(b"relationships/more", b"relationships/header")
    assert text_of(zipped(parts)) == "Memo 17"


def test_words_that_are_drawn_as_art_are_read() -> None:
    assert text_of(docx(paragraph('<w:r><w:pict><v:textpath string="Summer Fair"/></w:pict></w:r>'))) == "Summer Fair"


@pytest.mark.parametrize("damaged", ["", "garbage", "<w:styles>"])
@pytest.mark.parametrize("part", ["word/styles.xml", "word/numbering.xml", "word/footnotes.xml", "docProps/core.xml"])
def test_a_document_is_read_without_a_part_that_is_damaged(part: str, damaged: str) -> None:
    parts = unzipped(docx(paragraph("Leave is 27 days."), title="Leave")) | {part: damaged.encode()}
    assert text_of(zipped(parts)) == "Leave is 27 days."


def test_of_a_part_that_is_cut_off_what_is_left_is_read() -> None:
    note = '<w:footnote w:id="2">' + paragraph("Pro rata.") + "</w:footnote>"
    parts = unzipped(docx(paragraph("Leave", '<w:r><w:footnoteReference w:id="2"/></w:r>'), footnotes=note))
    parts["word/footnotes.xml"] = parts["word/footnotes.xml"].removesuffix(b"</w:footnotes>")
    assert text_of(zipped(parts)) == "Leave\n\nFootnote: Pro rata."


@pytest.mark.parametrize("picture", ['<w:drawing><a:blip r:embed="p"/></w:drawing>', "<w:pict><v:imagedata/></w:pict>"])
def test_a_document_of_pictures_has_no_text_layer(picture: str) -> None:
    assert code_of(docx(paragraph(f"<w:r>{picture}</w:r>"))) == "no_text_layer"


def test_declared_entities_are_an_archive_bomb() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'
    parts = {"word/document.xml": bomb}
    assert code_of(package("word/document.xml", "wordprocessingml.document", parts)) == "archive_bomb"


def test_relationships_that_lead_nowhere_or_outside_are_passed_over() -> None:
    links = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="a" Type="x/styles" Target="missing.xml"/>'
        '<Relationship Id="b" Type="x/numbering" Target="../../../etc/passwd"/>'
        '<Relationship Id="c" Type="x/footnotes" Target="http://example.com/f.xml" TargetMode="External"/>'
        '<Relationship Id="d" Type="x/comments"/></Relationships>'
    )
    body = with_namespaces(f"<w:document><w:body>{paragraph('Text.')}</w:body></w:document>")
    data = package(
        "word/document.xml",
        "wordprocessingml.document",
        {"word/document.xml": body, "word/_rels/document.xml.rels": links},
    )
    assert text_of(data) == "Text."


def test_boxes_nested_as_deep_as_xml_allows_are_read_or_refused() -> None:
    body = paragraph("core")
    for _ in range(40):
        body = paragraph(f"<w:r><w:pict><w:txbxContent>{body}</w:txbxContent></w:pict></w:r>")
    assert text_of(docx(body)) == "core"


def test_a_span_of_a_billion_columns_takes_no_room() -> None:
    wide = cell(paragraph("c"), '<w:gridSpan w:val="1000000000"/>')
    body = table(["a", "b"], [wide, "d"], [wide] * 1_000)
    assert text_of(docx(body)).split("\n")[2].replace("|  ", "") == "| c | d |"


def test_the_same_document_gives_the_same_text() -> None:
    data = docx(paragraph("One", box("Two")) + table(["a", "b"], ["c", "d"]))
    assert extract(data) == extract(data)


def test_a_word_document_is_told_by_its_parts_where_it_does_not_say() -> None:
    xml = with_namespaces(f"<w:document><w:body>{paragraph('Text.')}</w:body></w:document>")
    assert text_of(zipped({"word/document.xml": xml})) == "Text."
