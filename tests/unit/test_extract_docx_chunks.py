"""Documents in a Word document (``altChunk`` and OLE objects), each read by the reader of its own format."""

from __future__ import annotations

import pytest

from citewell.errors import DocumentRejected
from citewell.extract import extract
from citewell.extract.options import Limits, ReadOptions
from tests.documents.archives import unzipped, zipped
from tests.documents.office import docx, paragraph, sheet_data, table, xlsx

PART = "word/chunk"
CHUNK = f'<w:altChunk r:id="{PART}"/>'


def with_chunk(chunk: bytes | str, body: str = paragraph("Before") + CHUNK + paragraph("After")) -> bytes:
    return zipped({**unzipped(docx(body, parts={PART: "<x/>"})), PART: chunk})


@pytest.mark.parametrize(
    ("chunk", "text"),
    [
        ("<html><body><h1>Leave</h1><p>27 days.</p></body></html>", "Leave\n\n27 days."),
        (docx(paragraph("27 days.") + CHUNK), "27 days."),
        ("27 days of leave.", "27 days of leave."),
        (b"{\\rtf1 27 days.}", "27 days."),
        (b"\x89PNG\r\n\x1a\n", ""),
        (b"PK\x03\x04", ""),
        ("", ""),
    ],
    ids=["HTML", "Word", "text", "RTF", "picture", "damaged", "nothing"],
)
def test_a_document_in_the_document_stands_where_it_is_put(chunk: bytes | str, text: str) -> None:
    assert extract(with_chunk(chunk)).text == "\n\n".join(filter(None, ("Before", text, "After")))


def test_its_headings_and_tables_are_the_documents_own() -> None:
    page = (
        "<html><body><h1>Leave</h1><p>Paid.</p><h2>Days</h2><table><tr><th>a<th>b<tr><td>1<td>2</table></body></html>"
    )
    read = extract(with_chunk(page, CHUNK))
    assert [(read.text[block.start : block.end], block.headings) for block in read.blocks] == [
        ("Leave", ("Leave",)),
        ("Paid.", ("Leave",)),
        ("Days", ("Leave", "Days")),
        ("| a | b |\n| --- | --- |\n| 1 | 2 |", ("Leave", "Days")),
    ]


def test_documents_in_a_document_in_the_document_are_not_opened() -> None:
    inner = with_chunk("never", paragraph("inner") + CHUNK)
    assert extract(with_chunk(inner)).text == "Before\n\ninner\n\nAfter"


def test_a_document_that_is_named_twice_is_read_once() -> None:
    assert extract(with_chunk("Once", CHUNK + CHUNK)).text == "Once"


def test_one_in_a_cell_follows_its_table() -> None:
    body = table(["a", "b"]).replace("</w:tc>", f"{CHUNK}</w:tc>", 1)
    assert extract(with_chunk("Then this.", body)).text == "| a | b |\n| --- | --- |\n\nThen this."


def ole(part: str = PART) -> str:
    shown = f'<o:OLEObject xmlns:o="urn:schemas-microsoft-com:office:office" Type="Embed" r:id="{part}"/>'
    return paragraph(f"<w:r><w:object><v:shape/>{shown}</w:object></w:r>")


def test_a_document_that_is_shown_as_an_object_belongs_to_the_section_where_it_stands() -> None:
    inner = docx(paragraph("Annex", properties='<w:outlineLvl w:val="0"/>') + paragraph("27 days."))
    body = paragraph("Leave", properties='<w:outlineLvl w:val="0"/>') + ole() + paragraph("After")
    read = extract(with_chunk(inner, body))
    assert read.text == "Leave\n\nAnnex\n\n27 days.\n\nAfter"
    assert {block.headings for block in read.blocks} == {("Leave",)}


def test_a_workbook_that_is_shown_shows_one_sheet() -> None:
    view = '<bookViews><workbookView activeTab="1"/></bookViews>'
    book = xlsx({"One": sheet_data(["never"]), "Two": sheet_data(["a", "b"], [1, 2])}, workbook=view)
    assert extract(with_chunk(book, ole())).text == "Two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"


@pytest.mark.parametrize(
    "shown", [b"", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"PK\x03\x04"], ids=["empty", "OLE", "damaged"]
)
def test_an_object_that_can_not_be_read_is_left_out(shown: bytes) -> None:
    assert extract(with_chunk(shown, paragraph("Text") + ole() + ole("gone"))).text == "Text"


def test_documents_in_an_object_are_not_opened() -> None:
    inner = with_chunk(docx(paragraph("never")), paragraph("inner") + ole())
    assert extract(with_chunk(inner, ole())).text == "inner"


def test_an_object_that_outgrows_its_limits_is_left_out() -> None:
    data = with_chunk(docx(paragraph("y" * 90)), paragraph("Text") + ole())
    assert extract(data, ReadOptions(limits=Limits(characters=80))).text == "Text"


def test_it_counts_towards_the_documents_limits() -> None:
    with pytest.raises(DocumentRejected) as rejected:
        extract(with_chunk("x" * 90, paragraph("y" * 90) + CHUNK), ReadOptions(limits=Limits(characters=100)))
    assert rejected.value.code == "too_large"
