"""OpenDocument texts: what is read, in which order, and what is left out."""

from __future__ import annotations

import pytest

from citewell.core.values import BlockKind
from citewell.errors import DocumentRejected
from citewell.extract import extract
from tests.documents.archives import unzipped, zipped
from tests.documents.office import odt

NUMBERED = (
    '<text:list-style style:name="L1">'
    '<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>'
    '<text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/>'
    '<text:list-level-style-number text:level="3" style:num-format="I" style:num-prefix="(" style:num-suffix=")" '
    'text:display-levels="2"/></text:list-style>'
)
BULLETS = '<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/></text:list-style>'
GHOST = (
    '<style:style style:name="Ghost" style:family="text"><style:text-properties text:display="none"/></style:style>'
    '<style:style style:name="Derived" style:family="text" style:parent-style-name="Ghost"/>'
)


def text_of(data: bytes) -> str:
    return extract(data).text


def code_of(data: bytes) -> str:
    with pytest.raises(DocumentRejected) as rejected:
        extract(data)
    return rejected.value.code


def p(content: str, style: str = "Standard") -> str:
    return f'<text:p text:style-name="{style}">{content}</text:p>'


def items(*contents: str, attributes: str = 'text:style-name="L1"') -> str:
    """A list; each item is words or the XML of what stands in it."""
    entries = (each if each.startswith("<") else p(each) for each in contents)
    return (
        f"<text:list {attributes}>"
        + "".join(f"<text:list-item>{each}</text:list-item>" for each in entries)
        + "</text:list>"
    )


def table(*rows: list[str]) -> str:
    def cell(content: str) -> str:
        return content if content.startswith("<table:") else f"<table:table-cell>{p(content)}</table:table-cell>"

    return (
        "<table:table>"
        + "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
        + "</table:table>"
    )


# --- headings, titles, characters ---


def test_headings_have_the_level_that_they_say_and_their_style_names_the_title() -> None:
    title = '<style:style style:name="P1" style:parent-style-name="Title"/><style:style style:name="Title"/>'
    body = p("Leave policy", "P1") + '<text:h text:outline-level="1">Scope</text:h>'
    body += '<text:h text:outline-level="2">People</text:h>' + p("All.")
    read = extract(odt(body, automatic=title, title="Untitled"))
    assert read.text == "Leave policy\n\nScope\n\nPeople\n\nAll."
    assert read.blocks[-1].headings == ("Scope", "People")
    assert read.title == "Leave policy"


def test_without_a_title_paragraph_the_properties_name_the_title() -> None:
    assert extract(odt(p("Text."), title="Leave policy")).title == "Leave policy"


def test_headings_are_numbered_as_the_outline_says() -> None:
    outline = (
        '<text:outline-style style:name="Outline">'
        '<text:outline-level-style text:level="1" style:num-format="1"/>'
        '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>'
        '<text:outline-level-style text:level="3" style:num-format=""/></text:outline-style>'
    )
    headings = [(1, "Scope"), (2, "People"), (2, "Time"), (3, "Days"), (1, "Pay")]
    body = "".join(f'<text:h text:outline-level="{level}">{text}</text:h>' for level, text in headings)
    body += '<text:h text:outline-level="1" text:is-list-header="true">Annex</text:h>'
    assert text_of(odt(body, styles=outline)).split("\n\n") == [
        "1 Scope", "1.1 People", "1.2 Time", "Days", "2 Pay", "Annex",
    ]  # fmt: skip


def test_spaces_tabs_breaks_links_and_fields_become_characters() -> None:
    body = p(
        'one<text:s text:c="3"/>two<text:tab/>three<text:line-break/>four\nfive '
        "<text:a>link</text:a><text:soft-page-break/> <text:page-number>7</text:page-number>"
    )
    assert text_of(odt(body)) == "one two three\nfour five link 7"


def test_of_ruby_text_the_words_stand_without_their_reading() -> None:
    ruby = "<text:ruby><text:ruby-base>日本</text:ruby-base><text:ruby-text>にほん</text:ruby-text></text:ruby>"
    assert text_of(odt(p(f"{ruby}語"))) == "日本語"


def test_lines_of_code_are_one_block_and_keep_their_spaces() -> None:
    body = p("if x:", "Preformatted_20_Text") + p('<text:s text:c="4"/>stop()', "Preformatted_20_Text") + p("After.")
    read = extract(odt(body))
    assert read.text == "if x:\n    stop()\n\nAfter."
    assert [block.kind for block in read.blocks] == [BlockKind.CODE, BlockKind.PARAGRAPH]


# --- what isn't there for a reader ---


def test_tracked_deletions_are_out_and_insertions_in() -> None:
    changes = (
        f"<text:tracked-changes><text:changed-region><text:deletion>{p('gone')}</text:deletion></text:changed-region>"
        "</text:tracked-changes>"
    )
    body = changes + p('Leave is <text:change text:change-id="c"/><text:change-start/>28<text:change-end/> days')
    assert text_of(odt(body)) == "Leave is 28 days"


@pytest.mark.parametrize(
    "hidden",
    [
        pytest.param(p('<text:span text:style-name="Derived">secret</text:span>'), id="style"),
        pytest.param(p("secret", "Derived"), id="paragraph style"),
        pytest.param(p('<text:hidden-text text:string-value="secret">secret</text:hidden-text>'), id="field"),
        pytest.param(p('secret<text:hidden-paragraph text:is-hidden="true"/>'), id="paragraph"),
        pytest.param(f'<text:section text:display="none">{p("secret")}</text:section>', id="section"),
        pytest.param(
            f'<text:section text:display="condition" text:is-hidden="true">{p("secret")}</text:section>', id="condition"
        ),
        pytest.param(p('<text:variable-set text:display="none">secret</text:variable-set>'), id="variable"),
        pytest.param("<office:forms>secret</office:forms>", id="form"),
    ],
)
def test_hidden_text_is_out(hidden: str) -> None:
    assert text_of(odt(hidden + p("shown"), automatic=GHOST)) == "shown"


def test_raised_digits_are_an_exponent_after_a_number() -> None:
    style = (
        '<style:style style:name="Up" style:family="text"><style:text-properties style:text-position="super 58%"/>'
        "</style:style>"
    )
    body = p('10<text:span text:style-name="Up">6</text:span> m, see<text:span text:style-name="Up">2</text:span>')
    assert text_of(odt(body, automatic=style)) == "10⁶ m, see2"


# --- lists ---


def test_lists_are_numbered_as_seen() -> None:
    inner = items("deeper", attributes="")
    body = items("one", p("two") + items("two a", p("two b") + inner, attributes=""), "three")
    assert text_of(odt(body, automatic=NUMBERED)).split("\n") == [
        "1. one",
        "2. two",
        "  a) two a",
        "  b) two b",
        "    (b.I) deeper",
        "3. three",
    ]


def test_a_list_begins_anew_or_goes_on_as_it_says() -> None:
    body = (
        items("one", attributes='text:style-name="L1" xml:id="x"')
        + items("one again")
        + items("two", attributes='text:style-name="L1" text:continue-list="x"')
        + items("three", attributes='text:style-name="L1" text:continue-numbering="true"')
    )
    jump = (
        '<text:list text:style-name="L1"><text:list-item text:start-value="9">'
        + p("nine")
        + "</text:list-item></text:list>"
    )
    assert text_of(odt(body + jump, automatic=NUMBERED)) == ("1. one\n\n1. one again\n\n2. two\n\n3. three\n\n9. nine")


def test_bullets_are_dashes_and_only_the_first_paragraph_of_an_item_has_one() -> None:
    read = extract(odt(items("one", p("two") + p("more"), attributes='text:style-name="L2"'), automatic=BULLETS))
    assert read.text == "- one\n- two\n\nmore"
    assert [block.kind for block in read.blocks] == [BlockKind.LIST, BlockKind.PARAGRAPH]


def test_a_heading_in_a_list_is_a_heading() -> None:
    body = items('<text:h text:outline-level="1">Scope</text:h>')
    assert extract(odt(body, automatic=NUMBERED)).blocks[0].kind is BlockKind.HEADING


# --- tables ---


def test_merged_cells_say_their_text_once() -> None:
    covered = "<table:covered-table-cell><text:p>stale</text:p></table:covered-table-cell>"
    wide = f'<table:table-cell table:number-columns-spanned="2">{p("Price")}</table:table-cell>'
    body = table(["Plan", wide, covered], [covered, "month", "year"])
    assert text_of(odt(body)) == "| Plan | Price |  |\n| --- | --- | --- |\n|  | month | year |"


def test_header_rows_and_groups_are_opened_and_collapsed_rows_left_out() -> None:
    def row(*cells: str, attributes: str = "") -> str:
        filled = "".join(f"<table:table-cell>{p(each)}</table:table-cell>" for each in cells)
        return f"<table:table-row {attributes}>{filled}</table:table-row>"

    hidden = row("x", "y", attributes='table:visibility="collapse"')
    body = f"<table:table><table:table-header-rows>{row('a', 'b')}</table:table-header-rows>{hidden}"
    body += f"<table:table-row-group>{row('c', 'd')}</table:table-row-group></table:table>"
    assert text_of(odt(body)) == "| a | b |\n| --- | --- |\n| c | d |"


def test_repeated_cells_and_rows_are_written_out_within_reason() -> None:
    def many(name: str) -> str:
        return f'table:number-{name}-repeated="1000000000"'

    body = (
        f"<table:table><table:table-row><table:table-cell>{p('a')}</table:table-cell>"
        f'<table:table-cell table:number-columns-repeated="2">{p("b")}</table:table-cell>'
        f"<table:table-cell {many('columns')}/></table:table-row>"
        f"<table:table-row {many('rows')}><table:table-cell {many('columns')}/></table:table-row></table:table>"
    )
    assert text_of(odt(body)) == "| a | b | b |\n| --- | --- | --- |"


def test_a_table_that_repeats_itself_beyond_measure_is_too_large() -> None:
    row = (
        f'<table:table-row table:number-rows-repeated="100"><table:table-cell table:number-columns-repeated="1000">'
        f"{p('x')}</table:table-cell></table:table-row>"
    )
    assert code_of(odt(f"<table:table>{row * 300}</table:table>")) == "too_large"


def test_a_nested_table_follows_the_one_that_it_stands_in() -> None:
    inner = f"<table:table-cell>{p('see')}{table(['e', 'f'])}</table:table-cell>"
    assert text_of(odt(table(["a", "b"], ["c", inner]))) == (
        "| a | b |\n| --- | --- |\n| c | see |\n\n| e | f |\n| --- | --- |"
    )


def test_lists_in_a_cell_stay_in_its_row() -> None:
    cell = f"<table:table-cell>{items('open', 'close')}</table:table-cell>"
    assert text_of(odt(table(["a", "b"], ["c", cell]), automatic=NUMBERED)).endswith("| c | 1. open 2. close |")


def test_a_table_of_one_cell_is_a_frame_around_text() -> None:
    cell = f'<table:table-cell><text:h text:outline-level="1">Note</text:h>{p("Read this.")}</table:table-cell>'
    assert extract(odt(table([cell]))).blocks[1].headings == ("Note",)


# --- what hangs on a paragraph ---


def test_notes_annotations_and_text_boxes_follow_their_paragraph() -> None:
    note = (
        '<text:note text:note-class="{}"><text:note-citation>1</text:note-citation>'
        "<text:note-body><text:p>{}</text:p></text:note-body></text:note>"
    )
    annotation = (
        "<office:annotation><dc:creator>Ann</dc:creator><dc:date>2024</dc:date><text:p>Really?</text:p>"
        "</office:annotation>"
    )
    box = f"<draw:frame><draw:text-box>{p('In the box')}</draw:text-box></draw:frame>"
    body = p(
        f"Rest{note.format('footnote', 'Since 2024.')} is{annotation} due{note.format('endnote', 'By law.')}.{box}"
    )
    assert text_of(odt(body)) == (
        "Rest is due.\n\nIn the box\n\nFootnote: Since 2024.\n\nEndnote: By law.\n\nComment (Ann): Really?"
    )


def test_shapes_that_stand_by_themselves_are_read() -> None:
    shapes = f"<draw:g><draw:custom-shape>{p('In a shape')}</draw:custom-shape></draw:g>"
    assert text_of(odt(shapes + p("Text."))) == "In a shape\n\nText."


def test_the_head_of_a_table_may_be_merged_and_a_row_of_one_cell_is_a_line_above() -> None:
    wide = f'<table:table-cell table:number-columns-spanned="2">{p("Sales")}</table:table-cell>'
    covered = "<table:covered-table-cell/>"
    title = wide.replace('"2"', '"3"')
    body = table([title, covered, covered], ["Region", wide, covered], [covered, "Plan", "Done"], ["North", "1", "2"])
    assert text_of(odt(body)) == (
        "Sales\n\n| Region | Sales Plan | Sales Done |\n| --- | --- | --- |\n| North | 1 | 2 |"
    )


def test_rows_that_a_table_repeats_on_each_page_are_its_head() -> None:
    body = table(["a", "b"], ["1", "2"], ["c", "d"]).replace("<table:table>", "<table:table><table:table-header-rows>")
    ends = body.split("</table:table-row>")
    body = (
        "</table:table-row>".join(ends[:2])
        + "</table:table-row></table:table-header-rows>"
        + "</table:table-row>".join(ends[2:])
    )
    assert text_of(odt(body)) == "| a 1 | b 2 |\n| --- | --- |\n| c | d |"


def test_a_number_that_stands_in_its_heading_is_kept_apart() -> None:
    assert text_of(odt("<text:h><text:number>1.1</text:number>Days</text:h>" + p("Text"))) == "1.1 Days\n\nText"


def test_a_script_in_a_paragraph_is_not_read() -> None:
    assert text_of(odt(p("Text<text:script>run()</text:script>."))) == "Text."


def test_what_a_picture_shows_follows_its_paragraph_or_stands_in_its_cell() -> None:
    frame = "<draw:frame><draw:image/><svg:title>{}</svg:title><svg:desc>{}</svg:desc></draw:frame>"
    body = p("Sales" + frame.format("Chart", "Sales rise.")) + table(["a"] * 2, [frame.format("Yes", ""), "b"])
    assert text_of(odt(body + frame.format("Image1", "photo.png"))) == (
        "Sales\n\n[Picture: Sales rise.]\n\n| a | a |\n| --- | --- |\n| [Picture: Yes] | b |"
    )


MATH_ML = (
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow>{}</mrow>'
    '<annotation encoding="StarMath 5.0">source</annotation></semantics></math>'
)


OBJECT = (
    '<draw:frame><draw:object xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="./Object 1"/><draw:image/>'
    "</draw:frame>"
)


def with_object(content: str, body: str = p(f"See{OBJECT}here.")) -> bytes:
    """A paragraph around an object, which is a part of its own."""
    return zipped({**unzipped(odt(body)), "Object 1/content.xml": content})


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>", "E = mc^2"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", "(a + b)/2"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><msub><mi>x</mi><mi>i</mi></msub>", "∑_i^n x_i"),
        ("<msup><mi>r</mi><mn>2</mn></msup><mo>&#x2062;</mo><mi>h</mi>", "r^2 h"),
        ("<mn>7</mn><mtext>kg</mtext><mi>x</mi><mi>mod</mi><mi>p</mi>", "7 kg x mod p"),
        ("<msqrt><mi>x</mi></msqrt><mroot><mi>y</mi><mn>3</mn></mroot>", "√x³√y"),
        ("<mfenced><mi>x</mi><mi>y</mi></mfenced><mover accent='true'><mi>z</mi><mo>~</mo></mover>", "(x,y)z~"),
        (
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable>",
            "1, 2; 3",
        ),
    ],
)
def test_a_formula_stands_in_its_line(formula: str, text: str) -> None:
    assert text_of(with_object(MATH_ML.format(formula))) == f"See {text} here."


def test_an_object_that_stands_by_itself_is_read_once() -> None:
    assert text_of(with_object(MATH_ML.format("<mi>x</mi>"), OBJECT + p(f"and{OBJECT}"))) == "x\n\nand"


def test_a_charts_numbers_follow_its_paragraph() -> None:
    chart = (
        '<office:document-content xmlns:chart="urn:oasis:names:tc:opendocument:xmlns:chart:1.0" '
        'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:chart><chart:chart>'
        f"<chart:title>{p('Sales')}</chart:title>"
        f"<chart:plot-area><chart:axis><chart:title>{p('Year')}</chart:title></chart:axis></chart:plot-area>"
        f"{table(['', 'North'], ['2023', '7'])}"
        "</chart:chart></office:chart></office:body></office:document-content>"
    )
    assert text_of(with_object(chart)) == "Seehere.\n\nSales\n\n|  | North |\n| --- | --- |\n| 2023 | 7 |"


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (
            f"<office:spreadsheet>{table(['a', 'b'], ['1', '2'])}{table(['x'])}</office:spreadsheet>",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        (
            f"<office:drawing><draw:page><draw:g><draw:rect>{p('Plan')}</draw:rect></draw:g><draw:line>{p('Do')}"
            "</draw:line></draw:page></office:drawing>",
            "Plan\nDo",
        ),
        (
            '<office:text><text:h text:outline-level="1">Scope</text:h><text:p>All.</text:p></office:text>',
            "Scope\nAll.",
        ),
        ("<office:image/>", ""),
    ],
)
def test_a_sheet_a_drawing_and_a_document_that_are_shown_follow_their_paragraph(inner: str, text: str) -> None:
    content = unzipped(odt(""))["content.xml"].decode()
    shown = content.replace("<office:text></office:text>", inner)
    assert text_of(with_object(shown)) == f"Seehere.\n\n{text}".strip()


@pytest.mark.parametrize("content", ["", "<math", "<other/>"])
def test_an_object_that_is_damaged_or_of_another_kind_is_left_out(content: str) -> None:
    assert text_of(with_object(content)) == "Seehere."


def test_notes_of_a_table_follow_the_table() -> None:
    note = '<text:note text:note-class="footnote"><text:note-body><text:p>Net.</text:p></text:note-body></text:note>'
    assert text_of(odt(table(["a", f"b{note}"], ["c", "d"]))).endswith("| c | d |\n\nFootnote: Net.")


def test_sections_and_indexes_are_opened() -> None:
    index = f"<text:table-of-content><text:index-body>{p('Scope 3')}</text:index-body></text:table-of-content>"
    assert text_of(odt(index + f"<text:section>{p('Text.')}</text:section>")) == "Scope 3\n\nText."


# --- broken and hostile ---


def test_a_document_of_nothing_is_empty() -> None:
    assert code_of(odt(p(""))) == "empty"


def test_a_document_of_pictures_has_no_text_layer() -> None:
    assert code_of(odt(p('<draw:frame><draw:image svg:title=""/></draw:frame>'))) == "no_text_layer"


def test_of_a_document_without_text_its_headers_are_read() -> None:
    page = f"<style:master-page><style:footer>{p('Page 1')}</style:footer><style:header>{p('Acme')}</style:header>"
    assert text_of(odt(p(""), styles=f"{page}</style:master-page>")) == "Page 1\n\nAcme"
    assert text_of(odt(p("Dear all,"), styles=f"{page}</style:master-page>")) == "Dear all,"


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param({}, id="no content"),
        pytest.param({"content.xml": "<a/>"}, id="another root"),
        pytest.param({"content.xml": "<a"}, id="cut off"),
    ],
)
def test_a_document_without_its_body_is_corrupt(parts: dict[str, str]) -> None:
    assert code_of(zipped({"mimetype": "application/vnd.oasis.opendocument.text", **parts})) == "corrupt"


def test_an_encrypted_document_is_encrypted() -> None:
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    parts = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "\x00\x01"}
    assert code_of(zipped(parts | {"META-INF/manifest.xml": manifest})) == "encrypted"


def test_declared_entities_are_an_archive_bomb() -> None:
    parts = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": '<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>',
    }
    assert code_of(zipped(parts)) == "archive_bomb"


def test_styles_that_are_their_own_parents_end_nowhere() -> None:
    automatic = '<style:style style:name="A" style:parent-style-name="A"/>'
    assert text_of(odt(p("Text.", "A"), automatic=automatic)) == "Text."
