"""RTF documents: characters of every charset, blocks, and what is left out."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.values import BlockKind
from citewell.errors import DocumentRejected
from citewell.extract import extract
from citewell.extract.options import Limits, ReadOptions

FONTS = (
    rb"{\fonttbl{\f0\fcharset0 Calibri;}{\f1\fcharset128 MS Mincho;}{\f2\fcharset204 Arial;}{\f3\fcharset2 Wingdings;}"
    rb"{\f4\fcharset2 Symbol;}{\f5\fnil\cpg1253 Greek;}{\f6\fcharset134 SimSun;}}"
)
STYLES = rb"{\stylesheet{\ql Normal;}{\s1\outlinelevel0 Kop 1;}{\s2 heading 2;}{\s3 Title;}{\*\cs10 \additive Strong;}}"


CELL = "| {} |\n| --- |"


def rtf(body: bytes, *, head: bytes = b"") -> bytes:
    return rb"{\rtf1\ansi\ansicpg1252\deff0" + FONTS + STYLES + head + b"\n" + body + b"}"


def text_of(body: bytes) -> str:
    return extract(rtf(body)).text


def code_of(data: bytes, options: ReadOptions | None = None) -> str:
    with pytest.raises(DocumentRejected) as rejected:
        extract(data, options)
    return rejected.value.code


def test_groups_without_the_one_around_them_are_rtf_too() -> None:
    data = (
        rb"{\pard \ql \f0 \sa180 \outlinelevel0 \b \fs36 My First Heading\par}"
        b"\n"
        rb"{\pard \ql \f0 \sa180 My first paragraph.\par}"
        b"\n"
    )
    extracted = extract(data)
    assert extracted.text == "My First Heading\n\nMy first paragraph."
    assert extracted.blocks[1].headings == ("My First Heading",)
    assert extract(data + rb"{\pard cut").text.endswith("\n\ncut")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(r"{\par One \par} two", id="TeX"),
        pytest.param(r"{\plain words\par} of somebody's macros", id="macros"),
        pytest.param(r"{\pard \par {{{{ x", id="braces that don't match"),
        pytest.param(r"{\pardon \par}", id="another word"),
    ],
)
def test_other_texts_in_braces_are_no_rtf(text: str) -> None:
    assert extract(text.encode()).text == text


# --- characters ---


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param(rb"caf\'e9 \'80\'85", "café €…", id="ansi"),
        pytest.param(rb"{\f1\'93\'fa\'96\'7b} ok", "日本 ok", id="shift_jis"),
        pytest.param(rb"{\f1\'83A}", "ア", id="a trail byte that is a letter"),
        pytest.param(rb"{\f2\'cf\'f0\'e8\'e2\'e5\'f2}", "Привет", id="cyrillic"),
        pytest.param(rb"{\f5\'e3\'e5\'e9\'dc}", "γειά", id="code page of its own"),
        pytest.param(rb"{\f6\'c4\'e3\'ba\'c3}", "你好", id="gbk"),
        pytest.param(rb"{\f3\'fc} {\f4\'b3}", "✓ ≥", id="symbol fonts"),
        pytest.param(rb"{\f3\u-3844?}", "✓", id="private character of a symbol font"),
        pytest.param(rb"\u8364?5 \uc2\u8364\'80x5 \uc0\u8364 5", "€5 €5 €5", id="unicode with what stands in for it"),
        pytest.param(rb"\u8364{x}", "€x", id="a group ends what stands in"),
        pytest.param(rb"\u-10179?\u-8704?", "😀", id="beyond the first plane"),
        pytest.param(rb"\u-10179?x", "\ufffdx", id="half a character"),
        pytest.param(rb"a\~b\_c\-d\{e\}\\f", "a b-cd{e}\\f", id="signs"),
        pytest.param(rb"a\emdash b\lquote c\rquote\tab d\bullet", "a—b‘c’ d•", id="named characters"),
        pytest.param(b"one\r\n two\\line three", "one two\nthree", id="line ends"),
    ],
)
def test_characters_are_read_by_font_and_code(body: bytes, text: str) -> None:
    assert text_of(body) == text


def test_the_documents_code_page_is_that_of_fonts_without_a_charset() -> None:
    assert extract(rb"{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8}").text == "При"
    assert extract(rb"{\rtf1\mac caf\'8e}").text == "café"


def test_a_font_that_says_no_charset_may_be_named_for_its_script() -> None:
    fonts = rb"{\fonttbl{\f0 Arial;}{\f1 Arial Cyr;}{\f2 Times New Roman CE;}{\f3\fcharset161 Arial Cyr;}}"
    body = rb"{\f0\'cf}{\f1\'cf\'f0\'e8}{\f2\'e8}{\f3\'e1}"
    assert extract(rb"{\rtf1\ansi" + fonts + body + b"}").text == "ÏПриčα"


def test_an_unknown_code_page_leaves_the_usual_one() -> None:
    assert extract(rb"{\rtf1\ansi\ansicpg99999 caf\'e9}").text == "café"


# --- blocks ---


def test_headings_are_told_by_outline_level_or_the_name_of_their_style() -> None:
    read = extract(rtf(rb"\pard\s3 Leave\par\pard\s1 Scope\par\pard\s2 People\par\pard All.\par"))
    assert read.text == "Leave\n\nScope\n\nPeople\n\nAll."
    assert read.blocks[-1].headings == ("Scope", "People")
    assert read.title == "Leave"


def test_an_outline_level_of_the_paragraph_goes_before_its_styles() -> None:
    read = extract(rtf(rb"\pard\s1\outlinelevel9 Body\par\pard\outlinelevel2 Head\par"))
    assert [block.kind for block in read.blocks] == [BlockKind.PARAGRAPH, BlockKind.HEADING]


def test_the_properties_name_the_title() -> None:
    assert extract(rtf(b"Text.", head=rb"{\info{\title Leave {\b policy}}{\author Ann}}")).title == "Leave policy"


def test_lists_keep_the_numbers_that_are_written_with_them() -> None:
    body = (
        rb"{\listtext\f4\'b7\tab}\pard one\par{\listtext\f0 o\tab}two\par"
        rb"{\listtext 3.\tab}\pard\ilvl1 three\par{\pntext 4)\tab}four\par\pard five\par"
    )
    read = extract(rtf(body))
    assert read.text == "- one\n- two\n  3. three\n  4) four\n\nfive"
    assert [block.kind for block in read.blocks] == [BlockKind.LIST, BlockKind.PARAGRAPH]


def test_rows_and_cells_make_a_table() -> None:
    body = (
        rb"\pard Hours:\par\trowd\cellx100\cellx200\pard\intbl Day\cell Open\cell\row"
        rb"\trowd\pard\intbl Mon\par to Fri\cell 9\endash 17\cell\row\pard After.\par"
    )
    assert text_of(body) == "Hours:\n\n| Day | Open |\n| --- | --- |\n| Mon to Fri | 9–17 |\n\nAfter."


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param(
            rb"\pard\ls1{\listtext 1.\tab}one\par two\par{\listtext 7.\tab}seven\par eight\par\pard x",
            "1. one\n2. two\n7. seven\n8. eight\n\nx",
            id="numbers",
        ),
        pytest.param(
            rb"\pard{\pntext\f4\'b7\tab}{\*\pn\pnlvlblt}\ls5\ilvl0 one\par\par{\b two}\par\pard x",
            "- one\n- two\n\nx",
            id="bullets and an empty paragraph",
        ),
        pytest.param(rb"\pard\ls1{\listtext a)\tab}one\par two\par", "a) one\n- two", id="letters aren't counted"),
        pytest.param(rb"\pard\ls1{\listtext 1.\tab}one\par\ls0 x\par\pard\ls1 y", "1. one\n\nx\n\ny", id="its end"),
        pytest.param(rb"\pard\ls1 x\par y\par", "x\n\ny", id="no sign"),
        pytest.param(
            rb"\pard\intbl\ls1{\listtext 1.\tab}a\par b\cell\pard\intbl c\cell\row"
            rb"\pard\intbl d\cell{\listtext 1.\tab}e\cell\row\pard x",
            "| 1. a 2. b | c |\n| --- | --- |\n| d | 1. e |\n\nx",
            id="cells",
        ),
    ],
)
def test_a_paragraph_is_in_the_list_of_the_one_before_until_its_properties_end(body: bytes, text: str) -> None:
    assert text_of(body) == text


def test_a_nested_table_follows_the_one_that_it_stands_in() -> None:
    body = (
        rb"\pard\intbl a\cell b\cell\row\pard\intbl c\cell\pard\intbl\itap2 e\nestcell f\nestcell"
        rb"{\*\nesttableprops\trowd\nestrow}{\nonesttables\par}\pard\intbl d\cell\row\pard"
    )
    assert text_of(body) == "| a | b |\n| --- | --- |\n| c | d |\n\n| e | f |\n| --- | --- |"


def row(*cells: bytes, plan: bytes = rb"\cellx2000\cellx4000\cellx6000") -> bytes:
    return rb"\trowd" + plan + rb"\pard\intbl " + rb"\cell ".join((*cells, b"")) + rb"\row "


def test_text_in_a_frame_stands_before_and_after_the_table_in_it() -> None:
    nested = (
        rb"\pard\intbl\itap2 e\nestcell f\nestcell{\*\nesttableprops\trowd\cellx1000\cellx2000\nestrow}\pard\intbl "
    )
    plan = rb"\cellx6000"
    body = row(rb"before\par " + nested + rb"between\par " + nested + rb"after", plan=plan) + row(b"x", plan=plan)
    inner = "| e | f |\n| --- | --- |"
    assert text_of(body + rb"\pard") == f"before\n\n{inner}\n\nbetween\n\n{inner}\n\nafter\n\nx"


def test_text_around_a_nested_table_stays_in_the_cell_around_it() -> None:
    nested = rb"{\*\nesttableprops\trowd\cellx1000\cellx2000\nestrow}{\nonesttables\par}"
    inner = rb"before\par\pard\intbl\itap2 e\nestcell f\nestcell" + nested + rb"\pard\intbl after"
    body = row(b"a", inner, plan=rb"\cellx2000\cellx6000") + row(b"c", b"d", b"e") + rb"\pard"
    assert text_of(body) == "| a | before after |  |\n| --- | --- | --- |\n| c | d | e |\n\n| e | f |\n| --- | --- |"


def test_merged_cells_keep_the_others_in_their_columns() -> None:
    body = (
        row(b"Region", b"Sales", b"", plan=rb"\clvmgf\cellx2000\clmgf\cellx4000\clmrg\cellx6000")
        + row(b"", b"Plan", b"Done", plan=rb"\clvmrg\cellx2000\cellx4000\cellx6000")
        + row(b"North", b"1", b"2", plan=rb"\trleft-30\cellx1970\cellx3970\cellx5970")
        + row(b"Total", b"3", plan=rb"\cellx4000\cellx6000")
        + row(b"4", plan=rb"\trleft4000\cellx6000")
    )
    assert text_of(body).split("\n") == [
        "| Region | Sales Plan | Sales Done |",
        "| --- | --- | --- |",
        "| North | 1 | 2 |",
        "| Total |  | 3 |",
        "|  |  | 4 |",
    ]


def test_a_row_that_is_one_cell_is_a_line_above_the_table() -> None:
    body = row(b"Sales", plan=rb"\cellx6000") + row(b"a", b"b", b"c") + row(b"d", b"e", b"f")
    assert text_of(body) == "Sales\n\n| a | b | c |\n| --- | --- | --- |\n| d | e | f |"


def test_rows_that_a_table_repeats_on_each_page_are_its_head() -> None:
    head = rb"\trhdr\cellx2000\cellx4000\cellx6000"
    body = row(b"a", b"b", b"c", plan=head) + row(b"1", b"2", b"3", plan=head) + row(b"d", b"e", b"f")
    assert text_of(body).startswith("| a 1 | b 2 | c 3 |\n| --- |")


def test_a_table_of_one_column_is_but_a_frame() -> None:
    assert text_of(row(rb"Note\par Ask first.", plan=rb"\cellx6000") + rb"\pard After") == "Note\n\nAsk first.\n\nAfter"


def test_rows_whose_plan_makes_no_sense_keep_their_cells_in_order() -> None:
    body = row(b"a", b"b", plan=rb"\cellx4000") + row(
        b"c", b"d", b"e", plan=b"".join(rb"\cellx%d00" % n for n in range(99))
    )
    assert text_of(body) == "| a | b |  |\n| --- | --- | --- |\n| c | d | e |"


def test_a_table_at_the_end_is_written() -> None:
    assert text_of(rb"\pard\intbl a\cell b\cell\row\pard\intbl c\cell d\cell") == "| a | b |\n| --- | --- |\n| c | d |"


# --- what is left out, and what hangs on a paragraph ---


@pytest.mark.parametrize(
    "hidden",
    [
        pytest.param(rb"{\v secret}", id="hidden"),
        pytest.param(rb"{\deleted secret\par }", id="tracked deletion"),
        pytest.param(rb"{\mvf secret}", id="where a text was moved from"),
        pytest.param(rb"{\header secret\par}{\footerr secret}", id="running header and footer"),
        pytest.param(rb"{\pict\wmetafile8 736563726574}", id="picture"),
        pytest.param(rb"{\pict\bin6 secret}", id="picture in bytes"),
        pytest.param(rb"{\*\generator secret;}{\*\unknown{\b secret}}", id="what old readers skip"),
        pytest.param(rb"{\colortbl;\red255 secret;}", id="table of colours"),
        pytest.param(rb"{\field{\*\fldinst secret}}", id="code of a field"),
        pytest.param(rb"{\shp{\*\shpinst{\sp{\sn n}{\sv secret}}}{\shprslt secret}}", id="shape for old readers"),
    ],
)
def test_what_no_reader_sees_is_left_out(hidden: bytes) -> None:
    assert text_of(b"shown" + hidden + b" too") == "shown too"


def test_insertions_and_the_results_of_fields_are_in() -> None:
    assert text_of(rb"{\revised new} {\field{\*\fldinst HYPERLINK x}{\fldrslt {\ul link}}}") == "new link"
    assert text_of(rb"{\field{\*\fldinst HYPERLINK x}{\fldrslt \*\cs10\ul{\i link}}}{ \*\unknown gone}") == "link"


def test_text_is_shown_again_after_hidden_text_ends() -> None:
    assert text_of(rb"a\v b\v0 c \v d\plain e") == "ac e"


def test_notes_comments_and_text_boxes_follow_their_paragraph() -> None:
    body = (
        rb"Rest{\footnote\pard\plain Since {\b 2024}.} is due{\footnote\ftnalt By law.}"
        rb"{\*\atnid AL}{\*\atnauthor Ann}\chatn{\*\annotation{\*\atnref 1}\pard Really?\par Yes.}"
        rb"{\shp{\*\shpinst{\shptxt\pard In the box\par}}}.\par Next.\par"
    )
    assert text_of(body) == (
        "Rest is due.\n\nFootnote: Since 2024.\n\nEndnote: By law.\n\nComment (Ann): Really?\nYes.\n\n"
        "In the box\n\nNext."
    )


def test_text_boxes_of_old_versions_are_read_where_there_is_no_new_one() -> None:
    old = rb"{\*\do\dptxbx{\dptxbxtext\pard In the box\par}\dpx1}"
    assert text_of(b"Text" + old + rb"\par") == "Text\n\nIn the box"
    assert text_of(rb"{\shp{\*\shpinst{\shptxt New\par}}{\shprslt" + old + rb"}}\par") == "New"


def test_tables_and_lists_in_a_text_box_are_such_and_its_headings_hold_in_it_only() -> None:
    table = rb"\trowd\cellx1000\cellx2000\pard\intbl a\cell b\cell\row\pard\intbl 1\cell 2\cell\row\pard "
    item = rb"{\listtext\f4\'b7\tab}Ask.\par\pard "
    box = rb"{\shp{\*\shpinst{\shptxt\pard\s2 Aside\par\pard " + table + item + rb"Last}}}"
    read = extract(rtf(rb"\s1 Fees\par\pard Before" + box + rb".\par After.\par"))
    assert read.text == ("Fees\n\nBefore.\n\nAside\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n- Ask.\n\nLast\n\nAfter.")
    assert read.blocks[3].headings == ("Aside",)
    assert read.blocks[-1].headings == ("Fees",)
    assert text_of(rb"{\footnote\pard Prices:\par " + table + b"} x") == (
        "x\n\nFootnote: Prices:\n| a | b |\n| --- | --- |\n| 1 | 2 |"
    )


def test_a_symbol_that_is_no_character_is_a_bullet_before_an_item() -> None:
    fonts = rb"{\fonttbl{\f0\fcharset0 Arial;}{\f9\fcharset2 Unheard of;}}"
    item = rb"{\listtext\f9 \u-4045?\tab}Ask.\par\pard "
    assert extract(rb"{\rtf1\ansi" + fonts + item + b"Text {\\f9 \\u-4045?}}").text == "- Ask.\n\nText"


def test_a_document_of_headers_alone_is_read_and_one_of_pictures_has_no_text_layer() -> None:
    header = rb"{\header\pard Acme Ltd.\par}{\footer\pard All rights reserved.\par}"
    assert text_of(header) == "Acme Ltd.\n\nAll rights reserved."
    assert text_of(header + b"Text") == "Text"
    assert code_of(rtf(header + rb"{\pict\pngblip 89504e47}")) == "no_text_layer"


def test_the_only_row_of_a_table_may_set_out_a_page() -> None:
    column = rb"\par ".join([b"A sentence of the left column that goes on for a while, as they do."] * 4)
    page = rb"\trowd\cellx1000\cellx5000\pard\intbl Left\cell " + column + rb"\cell\row\pard "
    assert {block.kind for block in extract(rtf(page)).blocks} == {BlockKind.PARAGRAPH}
    assert {block.kind for block in extract(rtf(page + page)).blocks} == {BlockKind.TABLE}


def test_rows_that_are_lines_of_one_are_rows() -> None:
    head = rb"\trowd\cellx1000\cellx5000\pard\intbl Plan\cell EUR\cell\row "
    lines = rb"\pard\intbl Basic\par Plus\par\par Pro\cell 5\par 7\par\par 9\cell\row\pard "
    assert text_of(head + lines) == "| Plan | EUR |\n| --- | --- |\n| Basic | 5 |\n| Plus | 7 |\n| Pro | 9 |"


def test_a_shape_says_its_letters_and_what_its_picture_shows() -> None:
    def shape(name: bytes, value: bytes) -> bytes:
        properties = rb"{\sp{\sn shapeType}{\sv 136}}{\sp{\sn " + name + rb"}{\sv " + value + b"}}"
        return rb"{\shp{\*\shpinst\shpleft0" + properties + rb"}{\shprslt{\*\do secret}}}"

    assert text_of(b"Text" + shape(b"gtextUNICODE", b"Summer sale")) == "Text\n\nSummer sale"
    assert text_of(b"Text" + shape(b"wzDescription", b"A seal")) == "Text\n\n[Picture: A seal]"
    assert text_of(rb"Text{\v " + shape(b"gtextUNICODE", b"Summer sale") + b"}") == "Text"
    assert code_of(rtf(shape(b"pib", rb"{\pict\pngblip 89504e47}"))) == "no_text_layer"


def test_the_parts_of_a_formula_are_kept_apart() -> None:
    fraction = rb"{\mf{\mfPr{\mctrlPr\f34}}{\mnum{\mr\mscr0 a+1}}{\mden{\mr 2}}}"
    power = rb"{\msSup{\msSupPr}{\me{\mr x}}{\msup{\mr 3}}}"
    formula = rb"{\mmath{\*\moMath" + fraction + power + rb"}{\mmathPict{\*\shppict{\pict 00}}}}"
    assert text_of(b"is " + formula) == "is (a+1)/2x^3"


@pytest.mark.parametrize(
    ("parts", "written"),
    [
        (
            rb"{\mnary{\mnaryPr{\mchr \u8721?}{\mctrlPr\f4}}{\msub{\mr i}}{\msup{\mr\mscr0\msty2 n}}{\me{\mr i}}}",
            "∑_i^n i",
        ),
        (rb"{\mrad{\mradPr{\mdegHide 1}}{\mdeg}{\me{\mr x+1}}}", "√(x+1)"),
        (rb"{\md{\mdPr}{\me{\mr a}}}{\md{\mdPr{\mbegChr [}{\mendChr }}{\me{\mr b}}}", "(a)[b"),
        (rb"{\mm{\mmr{\me{\mr 1}}{\me{\mr 2}}}{\mmr{\me{\mr 3}}{\me{\mr 4}}}}", "1, 2; 3, 4"),
        (rb"{\mr {\f4\'61} \u-10179?}", "α \ufffd"),
    ],
    ids=["sum", "root", "brackets", "matrix", "runs"],
)
def test_signs_that_a_formula_has_as_properties_are_written(parts: bytes, written: str) -> None:
    paragraph = rb"{\*\moMathPara{\moMathParaPr{\mjc left}}{\*\moMath" + parts + rb"}}"
    assert text_of(b"is {\\mmath" + paragraph + b"}.") == f"is {written}."
    assert text_of(b"{\\v is {\\mmath" + paragraph + b"}}.") == "."


def test_a_formula_of_many_parts_in_one_another_is_read() -> None:
    deep = rb"{\mrad{\me" * 450 + rb"{\mr x}" + b"}}" * 450
    assert "(√x)" in text_of(rb"{\*\moMath" + deep + b"}")


def form(properties: bytes) -> bytes:
    code = rb"{\*\fldinst {\i  FORM {\*\datafield 65}{\*\formfield{" + properties + rb"}}}}"
    return rb"{\field\fldpriv" + code + rb"{\fldrslt }}"


def test_check_boxes_and_drop_down_lists_show_their_values() -> None:
    name = rb"{\*\ffname Box1}"
    assert text_of(form(rb"\fftype1\ffres1" + name) + b" yes") == "☒ yes"
    assert text_of(form(rb"\fftype1\ffres25" + name + rb"\ffdefres1") + b" yes") == "☒ yes"
    assert text_of(form(rb"\fftype1\ffres25\ffdefres0") + b" no") == "☐ no"
    choices = rb"{\*\ffl Ann}{\*\ffl {\f2\'c1\'ee\'e1}}"
    assert text_of(b"Name: " + form(rb"\fftype2\ffres1" + name + choices)) == "Name: Боб"
    assert text_of(b"Name: " + form(rb"\fftype2\ffres5" + choices)) == "Name:"
    assert text_of(form(rb"\fftype0{\*\ffdeftext gone}") + b"text") == "text"
    assert text_of(rb"{\v " + form(rb"\fftype1\ffres1") + b"}shown") == "shown"


def picture(name: bytes, value: bytes) -> bytes:
    described = rb"{\*\picprop\shplid1{\sp{\sn " + name + rb"}{\sv " + value + rb"}}{\sp{\sn fLine}{\sv 0}}}"
    return rb"{\*\shppict{\pict" + described + rb"\pngblip 89504e47}}{\nonshppict{\pict\wmetafile8 0100}}"


def test_what_a_picture_shows_follows_its_paragraph() -> None:
    body = b"Sales:" + picture(b"wzDescription", rb"Sales rise from 2 to \'80 9.") + rb"\par Next.\par"
    assert text_of(body) == "Sales:\n\n[Picture: Sales rise from 2 to € 9.]\n\nNext."
    assert text_of(b"Text" + picture(b"wzDescription", b"Picture 1") + picture(b"wzName", b"A seal")) == "Text"
    assert text_of(rb"Text{\v " + picture(b"wzDescription", b"A seal") + b"}") == "Text"


def test_notes_of_a_table_follow_the_table() -> None:
    body = rb"\pard\intbl a{\footnote Net.}\cell b\cell\row\pard\intbl c\cell d\cell\row\pard After.\par"
    assert text_of(body) == "| a | b |\n| --- | --- |\n| c | d |\n\nFootnote: Net.\n\nAfter."


# --- broken and hostile ---


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(rb"{\rtf1 cut {\b off", "cut off", id="cut off"),
        pytest.param(rb"{\rtf1 }}}} after}", "after", id="closed too often"),
        pytest.param(rb"{\rtf1 a\bin99999999999 b", "a", id="bytes beyond the end"),
        pytest.param(rb"{\rtf1 a\bin-5 b}", "ab", id="a negative number of bytes"),
        pytest.param(rb"{\rtf1\f999999999\s-4\outlinelevel-9\uc-7 \u65 b}", "Ab", id="numbers out of range"),
        pytest.param(rb"{\rtf1 a\cell b\row\par c\nestcell}", "a\n\nb\n\nc", id="cells without a table"),
    ],
)
def test_what_is_broken_is_read_as_far_as_it_goes(data: bytes, text: str) -> None:
    assert extract(data).text == text


def test_a_document_of_nothing_is_empty_and_one_cut_off_before_its_text_corrupt() -> None:
    assert code_of(rtf(rb"\par\par")) == "empty"
    assert code_of(rtf(b"")[:60]) == "corrupt"


def test_groups_in_groups_without_end_are_corrupt() -> None:
    assert code_of(rb"{\rtf1" + b"{" * 100_000) == "corrupt"


def test_more_text_than_allowed_is_too_large() -> None:
    assert code_of(rtf(b"word " * 100), ReadOptions(limits=Limits(characters=100))) == "too_large"


PIECES = (
    rb"{ } \par \'e9 \u8364? \cell \row \intbl \nestcell \nestrow {\footnote {\*\annotation {\shptxt {\listtext \v \*"
    rb" \f3 \uc9 word \ \pard \plain \trowd \cellx-9 \cellx2000 \clmrg \clvmrg \trhdr \trleft9000 \itap2"
    rb" \nesttableprops"
).split(b" ")


@given(st.lists(st.sampled_from(PIECES)))
def test_any_order_of_control_words_gives_text_or_a_documented_code(pieces: list[bytes]) -> None:
    with suppress(DocumentRejected):
        assert extract(b"{\\rtf1 " + b" ".join(pieces)).text


@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"\r\n", b" \x00"])
def test_a_mark_or_space_before_the_document_is_none_of_it(before: bytes) -> None:
    assert extract(before + rb"{\rtf1\ansi Leave}").text == "Leave"


def test_raised_digits_are_an_exponent_after_a_number_only() -> None:
    assert extract(rb"{\rtf1\ansi 10{\super 6} m; see{\super 2}, 5\super 3\nosupersub 0}").text == "10⁶ m; see2, 5³0"
