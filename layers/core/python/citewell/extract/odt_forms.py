"""What the controls of a form in an OpenDocument text show."""

from __future__ import annotations

from citewell.extract.odt_styles import TEXT
from citewell.extract.ooxml import Element, number_of
from citewell.extract.symbols import check_box

_FORM = "{urn:oasis:names:tc:opendocument:xmlns:form:1.0}"
_FIELD = "{urn:openoffice:names:experimental:ooo-ms-interop:xmlns:field:1.0}"
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_VALUES = ("text", "textarea", "formatted-text", "number", "date", "combobox")
_LABELS = ("fixed-text", "frame")

FIELD_MARK = _FIELD + "fieldmark"
"""A control of Word's, as LibreOffice keeps it."""


class Forms:
    """The controls of a text, by the ids under which drawings refer to them."""

    def __init__(self, text: Element) -> None:
        controls = (each for forms in text.iter(_FORM + "form") for each in forms)
        self._controls = {each.get(_XML_ID) or each.get(_FORM + "id", ""): each for each in controls}

    def shown(self, identifier: str | None) -> str:
        """What a reader sees of a control; nothing of a button."""
        control = self._controls.get(identifier or "")
        if control is None:
            return ""
        kind = control.tag.removeprefix(_FORM)
        if kind == "checkbox":
            state = control.get(_FORM + "current-state") or control.get(_FORM + "state")
            return f"{check_box(checked=state == 'checked')} {control.get(_FORM + 'label', '')}"
        if kind == "radio":
            state = control.get(_FORM + "current-selected") or control.get(_FORM + "selected")
            return f"{check_box(checked=state == 'true')} {control.get(_FORM + 'label', '')}"
        if kind == "listbox":
            chosen = control.findall(f"{_FORM}option[@{_FORM}current-selected='true']")
            chosen = chosen or control.findall(f"{_FORM}option[@{_FORM}selected='true']")  # at first
            return ", ".join(each.get(_FORM + "label", "") for each in chosen)
        if kind in _VALUES:
            written = control.get(_FORM + "current-value") or control.get(_FORM + "value")
            return written or "\n".join("".join(each.itertext()) for each in control.iterchildren(TEXT + "p"))
        return control.get(_FORM + "label", "") if kind in _LABELS else ""


def field_mark(mark: Element) -> str:
    """What a check box or a drop-down list of Word's shows."""
    said = [(each.get(_FIELD + "name", ""), each.get(_FIELD + "value", "")) for each in mark]
    kind = mark.get(_FIELD + "type", "").rpartition(".")[2]
    if kind == "FORMCHECKBOX":
        return check_box(checked=("Checkbox_Checked", "true") in said)
    entries = [value for name, value in said if name == "Dropdown_ListEntry"]
    chosen = next((number_of(value) for name, value in said if name == "Dropdown_Selected"), None)
    if kind != "FORMDROPDOWN" or chosen is None:
        return ""
    return entries[chosen] if 0 <= chosen < len(entries) else ""
