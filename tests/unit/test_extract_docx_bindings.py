"""Content controls of Word documents that show a value kept elsewhere in the file."""

from __future__ import annotations

import pytest

from citewell.extract import extract
from tests.documents.archives import unzipped, zipped
from tests.documents.office import OFFICE, docx, paragraph, relationships, run, table

STORE = "{11111111-AAAA-4444-8888-222222222222}"
CORE = "{6C3C8BC8-F283-45AE-878A-BAB7291924A1}"
ORDER = '<o:order xmlns:o="urn:order"><o:to>Ann</o:to><o:item n="7">Tea</o:item><o:item>Rum</o:item></o:order>'


def control(path: str, *, store: str = STORE, kind: str = "<w:text/>", content: str = run("[Name]")) -> str:
    binding = (
        f'<w:dataBinding w:prefixMappings="xmlns:a=\'urn:order\'" w:xpath="{path}" w:storeItemID="{store.lower()}"/>'
    )
    return f"<w:sdt><w:sdtPr>{binding}{kind}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def with_store(body: str, xml: str = ORDER) -> bytes:
    parts = unzipped(docx(body, title="Offer"))
    related = parts["word/_rels/document.xml.rels"].decode()
    entry = f'<Relationship Id="s" Type="{OFFICE}/relationships/customXml" Target="../customXml/item1.xml"/>'
    return zipped(
        parts
        | {
            "word/_rels/document.xml.rels": related.replace("</Relationships>", f"{entry}</Relationships>"),
            "customXml/item1.xml": xml,
            "customXml/_rels/item1.xml.rels": relationships({"p": ("customXmlProps", "itemProps1.xml")}),
            "customXml/itemProps1.xml": (
                f'<ds:datastoreItem ds:itemID="{STORE}" '
                'xmlns:ds="http://schemas.openxmlformats.org/officeDocument/2006/customXml"/>'
            ),
        }
    )


def text_of(body: str, xml: str = ORDER) -> str:
    return extract(with_store(body, xml)).text


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/a:order[1]/a:to[1]", "Ann"),
        ("/a:order/a:item[2]", "Rum"),
        ("/a:order/a:item[1]/@n", "7"),
        ("/a:order[1]/a:item[3]", "[Name]"),
        ("/a:order[1]/a:item[0]", "[Name]"),
        ("/order[1]/to[1]", "[Name]"),
        ("//a:to", "[Name]"),
        ("/a:order/a:item[@n='7']", "[Name]"),
        ("", "[Name]"),
    ],
)
def test_a_control_shows_the_value_that_its_path_leads_to(path: str, shown: str) -> None:
    assert text_of(paragraph(run("Dear "), control(path), run("!"))) == f"Dear {shown}!"


def test_a_value_may_be_the_documents_own_property_and_stand_in_a_block_or_a_cell() -> None:
    title = "/cp:coreProperties/dc:title"
    bound = control(title, store=CORE, content=paragraph("[Title]")).replace(
        "xmlns:a='urn:order'",
        "xmlns:cp='http://schemas.openxmlformats.org/package/2006/metadata/core-properties' "
        "xmlns:dc='http://purl.org/dc/elements/1.1/'",
    )
    assert text_of(bound) == "Offer"
    assert text_of(table(["For", f"<w:tc>{control('/a:order/a:to', content=paragraph('x'))}</w:tc>"])).startswith(
        "| For | Ann |"
    )


def test_a_choice_shows_what_its_list_calls_the_value() -> None:
    kind = '<w:dropDownList><w:listItem w:displayText="Ms Ann Day" w:value="Ann"/></w:dropDownList>'
    assert text_of(paragraph(control("/a:order/a:to", kind=kind))) == "Ms Ann Day"


@pytest.mark.parametrize(
    ("bound", "xml"),
    [
        pytest.param(control("/a:order/a:to", kind="<w:date/>"), ORDER, id="date, which is written in another form"),
        pytest.param(control("/a:order/a:to", kind="<w:richText/>"), ORDER, id="formatted text"),
        pytest.param(control("/a:order/a:to", store="{9}"), ORDER, id="no such store"),
        pytest.param(control("/a:order/a:to"), ORDER.replace("Ann", " "), id="blank"),
        pytest.param(control("/a:order/a:to"), "", id="damaged"),
        pytest.param(control("/a:order/a:to"), f'<!DOCTYPE o [<!ENTITY e "x">]>{ORDER}', id="with entities"),
    ],
)
def test_other_controls_stay_as_they_are(bound: str, xml: str) -> None:
    assert text_of(paragraph(bound), xml) == "[Name]"


def test_text_in_several_runs_is_written_once() -> None:
    assert text_of(paragraph(control("/a:order/a:to", content=run("[Na") + run("me]")))) == "Ann"


def test_a_control_around_others_stays_as_it_is() -> None:
    inner = control("/a:order/a:item", content=run("x"))
    assert text_of(paragraph(control("/a:order/a:to", content=inner))) == "Tea"
