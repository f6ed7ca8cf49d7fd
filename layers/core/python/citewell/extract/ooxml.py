"""The package that every Office document is: parts, and relationships between them (ECMA-376 part 2).

Strict documents (ISO/IEC 29500 strict) are read as transitional ones: their namespaces are exchanged before parsing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from citewell.errors import DocumentRejected
from citewell.extract import xml
from citewell.extract.archives import Archive
from citewell.extract.options import Limits

Element: TypeAlias = Any
"""An lxml element; lxml has no types."""

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
V = "{urn:schemas-microsoft-com:vml}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

_PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
_NO_TITLE = re.compile(
    r"powerpoint[ -]pr.sentation|presentation|microsoft (?:word|excel) - .*|document\d*|untitled.*", re.I
)
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
_CONTENT_TAGS = (W + "t", A + "t", MATH + "t", A + "graphicData")


@dataclass(frozen=True, slots=True)
class Relationship:
    """``kind`` is the last word of its type (``styles``), ``target`` the part's name in the package."""

    kind: str
    target: str


@dataclass(frozen=True, slots=True)
class Properties:
    """What the document says of itself."""

    title: str | None = None
    language: str | None = None


class Package:
    """The parts of an Office document.

    Raises DocumentRejected ``corrupt``, ``encrypted`` or ``archive_bomb``; what is merely missing is None.
    """

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._archive = Archive(data, limits)
        self._relationships: dict[str, dict[str, Relationship]] = {}

    def main_part(self, usual: str) -> str:
        """The name of the document itself; ``usual`` where the package doesn't say or says something untrue."""
        found = next((each.target for each in self.relationships("").values() if each.kind == "officeDocument"), usual)
        return found if found in self._archive else usual

    def data(self, part: str) -> bytes:
        """Raises DocumentRejected ``corrupt`` when there is no such part."""
        return _transitional(self._archive.read(part))

    def xml(self, part: str) -> Element:
        """Raises DocumentRejected ``corrupt`` when there is no such part, or it is no XML."""
        return xml.parse(self.data(part))

    def spare_xml(self, part: str) -> Element | None:
        """The same of a part without which the document can still be read: what is left of one that is damaged."""
        try:
            return self.xml(part)
        except DocumentRejected as rejected:
            if rejected.code != "corrupt":
                raise
        try:
            return xml.recovered(self.data(part))
        except DocumentRejected:  # damaged in the archive
            return None

    def relationships(self, part: str) -> dict[str, Relationship]:
        """By id, those to other parts of the package; ``part`` is empty for the package's own."""
        if part not in self._relationships:
            folder, name = posixpath.split(part)
            source = posixpath.join(folder, "_rels", f"{name}.rels")
            root = self.spare_xml(source) if source in self._archive else None
            self._relationships[part] = {} if root is None else dict(_internal(root, folder))
        return self._relationships[part]

    def all_related(self, part: str, kind: str) -> list[str]:
        """The parts of a ``kind`` that ``part`` relates to and that are there."""
        targets = (each.target for each in self.relationships(part).values() if each.kind == kind)
        return [target for target in targets if target in self._archive]

    def related(self, part: str, kind: str) -> str | None:
        """The first of them."""
        return next(iter(self.all_related(part, kind)), None)

    def related_xml(self, part: str, kind: str) -> Element | None:
        """The first of them, as :meth:`spare_xml` reads it."""
        target = self.related(part, kind)
        return self.spare_xml(target) if target is not None else None

    def target(self, part: str, identifier: str | None) -> str | None:
        """The part that a relationship of ``part`` names, if it is there."""
        found = self.relationships(part).get(identifier or "")
        return found.target if found is not None and found.target in self._archive else None

    def properties(self) -> Properties:
        """Titles that an office program gives by itself are none."""
        core = self.related_xml("", "core-properties")
        if core is None:
            return Properties()
        title, language = ((core.findtext(_DUBLIN_CORE + name) or "").strip() for name in ("title", "language"))
        return Properties(None if _NO_TITLE.fullmatch(title) else title or None, language or None)


def chosen_branch(alternate: Element) -> Element:
    """The branch of an ``mc:AlternateContent`` to read: the first that has text or a graphic.

    Of a graphic the fallback would but say that this version can't show it.
    """
    branches = [each for each in alternate if each.tag in (MC + "Choice", MC + "Fallback")]
    return next((each for each in branches if _has_content(each)), branches[0] if branches else ())


def value_of(parent: Element, name: str) -> str | None:
    """``w:val`` of a WordprocessingML child; None without the child."""
    child = parent.find(W + name)
    value: str | None = child.get(W + "val") if child is not None else None
    return value


def number_of(value: str | None) -> int | None:
    """A whole number; None for anything else."""
    try:
        return int(value or "")
    except ValueError:
        return None


def _has_content(branch: Element) -> bool:
    return any(True for _ in branch.iter(*_CONTENT_TAGS))


def _internal(root: Element, folder: str) -> Iterator[tuple[str, Relationship]]:
    for each in root:
        target = each.get("Target", "")
        if each.tag == _PACKAGE + "Relationship" and target and each.get("TargetMode") != "External":
            path = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            yield each.get("Id", ""), Relationship(each.get("Type", "").rsplit("/", 1)[-1], path)


def _transitional(data: bytes) -> bytes:
    return _STRICT.sub(_transitional_name, data) if b"http://purl.oclc.org/ooxml/" in data[:65_536] else data


def _transitional_name(strict: re.Match[bytes]) -> bytes:
    family, name = strict.groups()
    return b"http://schemas.openxmlformats.org/%s/2006/%s" % (family, name)
