"""Forms in OpenDocument texts: what their controls show."""

from __future__ import annotations

import pytest

from citewell.extract import extract
from tests.documents.office import odt

FORM = (
    '<office:forms><form:form xmlns:form="urn:oasis:names:tc:opendocument:xmlns:form:1.0">{}</form:form></office:forms>'
)
CONTROL = '<draw:control draw:control="c"/>'


def shown(control: str, place: str = "<text:p>Here: {}.</text:p>") -> str:
    return extract(odt(FORM.format(control) + place.format(CONTROL))).text


@pytest.mark.parametrize(
    ("control", "text"),
    [
        ('<form:checkbox form:id="c" form:label="By post"/>', "☐ By post"),
        ('<form:checkbox form:id="c" form:label="By post" form:state="checked"/>', "☒ By post"),
        ('<form:checkbox form:id="c" form:current-state="unchecked" form:state="checked"/>', "☐"),
        ('<form:radio form:id="c" form:label="Yes" form:current-selected="true"/>', "☒ Yes"),
        ('<form:radio form:id="c" form:label="Yes"/>', "☐ Yes"),
        ('<form:text form:id="c" form:value="first" form:current-value="now"/>', "now"),
        ('<form:date form:id="c" form:value="2024-02-29"/>', "2024-02-29"),
        ('<form:textarea form:id="c"><text:p>two</text:p><text:p>lines</text:p></form:textarea>', "two\nlines"),
        (
            '<form:listbox form:id="c"><form:option form:label="Draft" form:selected="true"/>'
            '<form:option form:label="Valid" form:current-selected="true"/></form:listbox>',
            "Valid",
        ),
        (
            '<form:listbox form:id="c"><form:option form:label="Draft" form:selected="true"/>'
            '<form:option form:label="Valid"/></form:listbox>',
            "Draft",
        ),
        ('<form:fixed-text xml:id="c" form:id="other" form:label="Name"/>', "Name"),
        ('<form:button form:id="c" form:label="Send"/>', ""),
        ('<form:text form:id="other" form:value="elsewhere"/>', ""),
    ],
)
def test_a_control_shows_its_state_where_it_stands(control: str, text: str) -> None:
    lines = [" ".join(line.split()) for line in f"Here: {text} .".split("\n")]
    assert shown(control) == "\n".join(lines)


@pytest.mark.parametrize(
    "place",
    [
        pytest.param("{}", id="by itself"),
        pytest.param("<text:p><draw:g>{}</draw:g></text:p>", id="in a group"),
        pytest.param(
            "<text:p><draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame></text:p>",
            id="in a box",
        ),
    ],
)
def test_a_control_is_read_once_wherever_it_stands(place: str) -> None:
    assert shown('<form:text form:id="c" form:value="Ann"/>', place) == "Ann"


@pytest.mark.parametrize(
    ("kind", "said", "text"),
    [
        ("FORMCHECKBOX", [("Checkbox_Checked", "true")], "☒"),
        ("FORMCHECKBOX", [], "☐"),
        ("FORMDROPDOWN", [("Dropdown_ListEntry", "A"), ("Dropdown_ListEntry", "B"), ("Dropdown_Selected", "1")], "B"),
        ("FORMDROPDOWN", [("Dropdown_ListEntry", "A"), ("Dropdown_Selected", "7")], ""),
        ("FORMDROPDOWN", [("Dropdown_ListEntry", "A")], ""),
        ("OTHER", [("Dropdown_ListEntry", "A"), ("Dropdown_Selected", "0")], ""),
    ],
)
def test_a_field_of_words_shows_its_state(kind: str, said: list[tuple[str, str]], text: str) -> None:
    values = "".join(f'<field:param field:name="{name}" field:value="{value}"/>' for name, value in said)
    mark = (
        '<field:fieldmark xmlns:field="urn:openoffice:names:experimental:ooo-ms-interop:xmlns:field:1.0" '
        f'field:type="vnd.oasis.opendocument.field.{kind}">{values}</field:fieldmark>'
    )
    assert extract(odt(f"<text:p>Year {mark}.</text:p>")).text == f"Year {text}."
