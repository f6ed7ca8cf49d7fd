"""Content controls that show a value kept elsewhere in a Word document: Word writes it into them as it opens the file.

Programs that fill in templates change the value alone, so what stands in the control itself may be a template's words.
"""

from __future__ import annotations

import re

from citewell.errors import DocumentRejected
from citewell.extract.ooxml import Element, Package, W

_CORE, _EXTENDED = "{6c3c8bc8-f283-45ae-878a-bab7291924a1}", "{6668398d-a668-4e3e-a5eb-62b293d839f1}"
_ITEM_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/customXml}itemID"
_TEXTS = (W + "text", W + "dropDownList", W + "comboBox")
_PREFIX = re.compile(r"xmlns:([\w.-]+)\s*=\s*[\"']([^\"']*)[\"']")
_STEP = re.compile(r"/(@?)(?:([\w.-]+):)?([\w.-]+)(?:\[(\d+)\])?")


def fill_in(root: Element, package: Package, part: str) -> None:
    """Write the values of plain text and choices into the controls of ``root``, which is the XML of ``part``."""
    stores: _Stores | None = None
    for properties in root.iter(W + "sdtPr"):
        binding = properties.find(W + "dataBinding")
        if binding is None or not any(properties.find(kind) is not None for kind in _TEXTS):
            continue
        stores = stores or _Stores(package, part)
        value = _value(binding, stores.get(binding.get(W + "storeItemID", "").lower()))
        content = properties.getparent().find(W + "sdtContent")
        if value.strip() and content is not None and content.find(f".//{W}sdt") is None:
            _write(content, _shown(properties, value))


class _Stores:
    """The XML that values are kept in, by its id; None where it is missing or can't be read."""

    def __init__(self, package: Package, part: str) -> None:
        self._package = package
        self._parts = {
            _CORE: package.related("", "core-properties"),
            _EXTENDED: package.related("", "extended-properties"),
        }
        for item in package.all_related(part, "customXml"):
            described = package.related(item, "customXmlProps")
            if (properties := self._read(described)) is not None:
                self._parts[properties.get(_ITEM_ID, "").lower()] = item
        self._opened: dict[str, Element | None] = {}

    def get(self, identifier: str) -> Element | None:
        if identifier not in self._opened:
            self._opened[identifier] = self._read(self._parts.get(identifier))
        return self._opened[identifier]

    def _read(self, part: str | None) -> Element | None:
        try:
            return self._package.spare_xml(part) if part is not None else None
        except DocumentRejected:  # for what it is; the document can do without it
            return None


def _value(binding: Element, store: Element | None) -> str:
    """Where a path leads that is but names and places, as Word writes it; empty for any other."""
    path = binding.get(W + "xpath", "")
    steps = list(_STEP.finditer(path))
    if store is None or "".join(step[0] for step in steps) != path:
        return ""
    namespaces = dict(_PREFIX.findall(binding.get(W + "prefixMappings", "")))
    found: Element | None = None
    for is_attribute, prefix, name, place in (step.groups() for step in steps):
        tag = f"{{{namespaces.get(prefix, '')}}}{name}" if prefix else name
        if is_attribute:
            return (found.get(tag) or "") if found is not None else ""
        candidates = [store] if found is None else list(found)
        same = [each for each in candidates if each.tag == tag]
        index = int(place or 1) - 1
        if not 0 <= index < len(same):
            return ""
        found = same[index]
    return "".join(found.itertext()) if found is not None else ""


def _shown(properties: Element, value: str) -> str:
    """What a list of choices calls a value."""
    items = (each for kind in _TEXTS[1:] for each in properties.iterfind(f"{kind}/{W}listItem"))
    return next((each.get(W + "displayText") or value for each in items if each.get(W + "value") == value), value)


def _write(content: Element, value: str) -> None:
    texts = list(content.iter(W + "t"))
    if texts and "".join(each.text or "" for each in texts).split() != value.split():
        texts[0].text = value
        for each in texts[1:]:
            each.text = ""
