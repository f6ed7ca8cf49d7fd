"""Office documents whose XML is well-formed but wrong: elements gone, moved or renamed, values that make no sense."""

from __future__ import annotations

from contextlib import suppress
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.errors import DocumentRejected
from citewell.extract import extract
from tests.documents.archives import unzipped, zipped
from tests.documents.office import (
    cell,
    docx,
    frame,
    group,
    level,
    number_cell,
    numbered,
    odt,
    paragraph,
    pptx,
    shape,
    sheet_data,
    slide_paragraph,
    style,
    table,
    xlsx,
)

DOCUMENTS = {
    "docx": docx(
        paragraph("Leave", style="H", properties='<w:outlineLvl w:val="0"/>')
        + numbered("one", 1)
        + numbered("two", 1, 1)
        + paragraph('<w:r><w:fldChar w:fldCharType="begin"/><w:sym w:font="Symbol" w:char="F0B3"/></w:r>')
        + table(["a", "b"], [cell(paragraph("c"), '<w:gridSpan w:val="2"/>'), cell(table(["d", "e"]), "<w:vMerge/>")])
        + paragraph('<w:r><w:footnoteReference w:id="2"/><w:commentReference w:id="0"/></w:r>'),
        styles=style("H", "heading 1") + style("I", "Title", based_on="H"),
        numbering=(
            f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}{level(1, "lowerRoman", "%1.%2")}'
            '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">'
            '<w:startOverride w:val="3"/></w:lvlOverride></w:num>'
        ),
        footnotes=f'<w:footnote w:id="2">{paragraph("Net.")}</w:footnote>',
        comments=f'<w:comment w:id="0" w:author="Ann">{paragraph("Hm.")}</w:comment>',
    ),
    "pptx": pptx(
        [
            shape("Leave", kind="title")
            + shape(slide_paragraph("x", '<a:buAutoNum type="arabicPeriod" startAt="3"/>'), at=(0, 0, 9, 9))
            + group(shape("y", at=(1, 1, 2, 2)), at=(5, 5, 5, 5))
            + frame("<a:tbl><a:tr><a:tc><a:txBody><a:p/></a:txBody></a:tc></a:tr></a:tbl>"),
            shape("z", kind="body", index=1),
        ],
        layout=shape("", kind="body", index=1, at=(1, 1, 5, 5)),
    ),
    "xlsx": xlsx(
        {
            "A": '<cols><col min="2" max="2" hidden="1"/></cols>'
            + sheet_data(["a", "b", 3], ["<c r='A2' t='s'><v>0</v></c>", True, number_cell("C2", 45292.5, 1)])
            + '<mergeCells><mergeCell ref="A1:B2"/></mergeCells>',
            "B": sheet_data([1]),
        },
        strings=["<t>text</t>"],
        formats=["yyyy-mm-dd h:mm"],
    ),
    "odt": odt(
        '<text:h text:outline-level="2">Leave</text:h>'
        '<text:list text:style-name="L"><text:list-item text:start-value="3">'
        '<text:p>one<text:s text:c="2"/></text:p></text:list-item></text:list><table:table><table:table-row>'
        '<table:table-cell table:number-columns-repeated="2"><text:p>x</text:p></table:table-cell></table:table-row>'
        '</table:table><text:p text:style-name="P">y<text:note><text:note-body><text:p>z</text:p></text:note-body>'
        "</text:note></text:p>",
        automatic=(
            '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="I"/>'
            '</text:list-style><style:style style:name="P" style:parent-style-name="Q"/>'
        ),
    ),
}
VALUES = ("", "-1", "0", "99999999999999999999", "9" * 5_000, "x", "NaN", "1e9", "٣", "../../x", "A1:XFD1048576")

Change = tuple[str, int, int, str]
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["drop", "rename", "value", "text", "copy"]),
        st.integers(0, 500),
        st.integers(0, 500),
        st.sampled_from(VALUES),
    ),
    min_size=1,
    max_size=6,
)


def changed(root: ElementTree.Element, change: Change) -> None:
    kind, first, second, value = change
    elements = list(root.iter())
    element, other = elements[first % len(elements)], elements[second % len(elements)]
    if kind == "drop" and len(element):
        element.remove(element[second % len(element)])
    elif kind == "rename":
        element.tag = other.tag
    elif kind == "value" and element.attrib:
        element.set(list(element.attrib)[second % len(element.attrib)], value)
    elif kind == "text":
        element.text = value
    elif kind == "copy" and other not in element.iter():
        other.append(element)


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
@settings(max_examples=60, deadline=None)
@given(changes=CHANGES, part=st.integers(0, 50))
def test_wrong_xml_gives_text_or_a_documented_code(document: bytes, changes: list[Change], part: int) -> None:
    parts = unzipped(document)
    names = [name for name in parts if name.endswith((".xml", ".rels")) and name != "[Content_Types].xml"]
    name = names[part % len(names)]
    root = ElementTree.fromstring(parts[name])  # noqa: S314 - a document of our own making
    for change in changes:
        changed(root, change)
    with suppress(DocumentRejected):
        assert extract(zipped({**parts, name: ElementTree.tostring(root)})).text
