"""The format of a text, told by its content alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.errors import DocumentRejected
from citewell.extract.formats import Format
from citewell.extract.text_sniffing import text_format_of

HEADER = "From: ann@example.com\nTo: bob@example.com\nDate: Sun, 1 Mar 2026 23:30:00 -0500\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("<!DOCTYPE html>\n<p>Leave", Format.HTML, id="page"),
        pytest.param("\n<!-- saved -->\n<HTML lang='en'>", Format.HTML, id="page after a comment"),
        pytest.param("<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC ''>\n<html>", Format.HTML, id="page in XML"),
        pytest.param("<!-- saved -->\n" * 1_000 + "<html>", Format.HTML, id="page after many comments"),
        pytest.param("<title>Leave</title><p>25 days.", Format.HTML, id="page without its outer tags"),
        pytest.param("<h2>Leave</h2><p>25 days.</p>\n", Format.HTML, id="part of a page"),
        pytest.param("<p align=center>Leave</p>\n\n# Leave\n\n<p>x</p>", Format.MARKDOWN, id="README with a tag"),
        pytest.param("<div>Leave</div>\n\n25 days.", Format.MARKDOWN, id="text after a tag"),
        pytest.param("Hi,<br>new <b>hours</b>.<br>Bye", Format.HTML, id="text with tags"),
        pytest.param("Intro <p> one <p> two <p> three", Format.HTML, id="text with tags that need no end"),
        pytest.param("<ul><li>one<li>two", Format.HTML, id="list that is cut off"),
        pytest.param("See <a href='x'>leave</a>, <a href='y'>pay</a>.", Format.HTML, id="text with links"),
        pytest.param("Rules<h3>Scope</h3>All staff.<h3>Pay</h3>", Format.HTML, id="text with headings"),
        pytest.param("Use <b> for bold, <i> for italics, <br> for a break.", Format.MARKDOWN, id="prose about tags"),
        pytest.param("<b> is bold, <i> italic, <u> underlined.", Format.MARKDOWN, id="prose that begins with a tag"),
        pytest.param("The <p>, <br> and <li> tags need no end.", Format.MARKDOWN, id="prose about tags without an end"),
        pytest.param("First <table>, then <tr> and <td>.", Format.MARKDOWN, id="prose about tables"),
        pytest.param("val x: List<A>\nval y: Set<B>\nval z: Box<I>", Format.MARKDOWN, id="types of a program"),
        pytest.param("a = '<b>x</b>';\nb = '<i>y</i>';", Format.MARKDOWN, id="tags in a program"),
        pytest.param("usage: cp <a> <b> [<i>]", Format.MARKDOWN, id="placeholders"),
        pytest.param("<Note>\nAsk **Ann**.\n</Note>", Format.MARKDOWN, id="MDX of one element"),
        pytest.param("<Tabs items={['a']}>\n<Tab>\nx\n</Tab>\n</Tabs>", Format.MARKDOWN, id="MDX of elements"),
        pytest.param("<my-note>\nAsk Ann.\n</my-note>", Format.MARKDOWN, id="custom element"),
        pytest.param("<5 days need no form.</p>", Format.MARKDOWN, id="less than"),
        pytest.param(HEADER + "\nHello", Format.EML, id="mail"),
        pytest.param("Return-Path: <a@example.com>\n" + HEADER, Format.EML, id="mail that has a header only"),
        pytest.param("Received: from a\n" + "    by b\n" * 50 + HEADER, Format.EML, id="mail with folded fields"),
        pytest.param("Content-Type: multipart/mixed; boundary=b\n\n--b\n\nHello", Format.EML, id="mail of one field"),
        pytest.param("From: Ann\nTo: Bob\nSubject: Leave\n\nI am off.", Format.MARKDOWN, id="note like a mail"),
        pytest.param("Services:\n    - one\nPorts: 80\nName: web\n", Format.MARKDOWN, id="settings"),
        pytest.param('{"leave": 25}', Format.JSON, id="JSON"),
        pytest.param('\n [\n{"leave": 25}]', Format.JSON, id="JSON array"),
        pytest.param("{% include x %}", Format.MARKDOWN, id="template"),
        pytest.param("[link](x)", Format.MARKDOWN, id="link"),
        pytest.param("name,days\nAnn,25\n", Format.CSV, id="table"),
        pytest.param("Leave is 25 days, sick leave is 10.\n", Format.MARKDOWN, id="prose"),
        pytest.param("# Leave\n\n| a | b |\n| - | - |\n| 1 | 2 |\n", Format.MARKDOWN, id="Markdown"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_the_content_tells_the_format_in_any_encoding(text: str, expected: Format, encoding: str) -> None:
    assert text_format_of(text.encode(encoding)) is expected
    assert text_format_of(text.replace("\n", "\r\n").encode(encoding)) is expected


@pytest.mark.parametrize(
    "text",
    [
        '<?xml version="1.0"?>\n<note/>',
        "<svg xmlns='x'></svg>",
        "<!DOCTYPE note>\n<note/>",
        "<Order>\n<Item>a</Item></Order>",
        "<Project>\n<Remove>**/*.cs</Remove>\n</Project>",
    ],
)
def test_other_xml_is_an_unsupported_type(text: str) -> None:
    with pytest.raises(DocumentRejected) as rejected:
        text_format_of(text.encode())
    assert rejected.value.code == "unsupported_type"


@given(st.binary(min_size=1, max_size=200) | st.text('<>!-{}[]":,;|\t\n ab1', min_size=1).map(str.encode))
def test_any_bytes_have_a_format_or_none_that_is_read(data: bytes) -> None:
    try:
        found = text_format_of(data)
    except DocumentRejected as rejected:
        code = rejected.code
        assert code == "unsupported_type"
    else:
        assert found in Format
