"""Documents in a Word document (``altChunk``), each read by the reader of its own format."""

from __future__ import annotations

import pytest

from citewell.errors import DocumentRejected
from citewell.extract import extract
from citewell.extract.options import Limits, ReadOptions
from tests.documents.archives import unzipped, zipped
from tests.documents.office import docx, paragraph, table

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


def test_it_counts_towards_the_documents_limits() -> None:
    with pytest.raises(DocumentRejected) as rejected:
        extract(with_chunk("x" * 90, paragraph("y" * 90) + CHUNK), ReadOptions(limits=Limits(characters=100)))
    assert rejected.value.code == "too_large"
