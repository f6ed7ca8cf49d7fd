"""Documents that are part of another one: taken over by it with its next saving (``altChunk``), or shown on it (OLE).

Each is read once. What it can't be read of is left out, and so are documents in it in turn.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from citewell.core.values import BlockKind, ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.building import TextBuilder
from citewell.extract.ooxml import Package
from citewell.extract.options import ReadOptions
from citewell.extract.sniffing import format_of

_LIMITS = {"too_large", "archive_bomb"}


class InnerDocuments:
    """Of one document. ``options``: how to read them; None leaves them out."""

    def __init__(self, package: Package, builder: TextBuilder, options: ReadOptions | None) -> None:
        self._package, self._builder, self._options = package, builder, options
        self._opened: set[str] = set()

    def write(self, part: str, identifier: str | None) -> None:
        """The one that a relationship of ``part`` names: its headings are the document's own.

        Raises DocumentRejected ``too_large`` or ``archive_bomb``, as of the document itself.
        """
        if (inner := self._read(part, identifier)) is not None:
            self._builder.include(inner)

    def write_object(self, part: str, identifier: str | None) -> None:
        """The same of one that is shown as an object, in the section where it stands: its headings are paragraphs.

        One that outgrows its limits is left out: of it, a reader sees a part only.
        """
        try:
            inner = self._read(part, identifier)
        except DocumentRejected:
            return
        if inner is not None:
            blocks = (
                replace(each, kind=BlockKind.PARAGRAPH) if each.kind is BlockKind.HEADING else each
                for each in inner.blocks
            )
            self._builder.include(replace(inner, blocks=tuple(blocks)))

    def _read(self, part: str, identifier: str | None) -> ExtractedText | None:
        target = self._package.target(part, identifier)
        if target is None or target in self._opened or self._options is None:
            return None
        self._opened.add(target)
        try:
            return _read_inner(self._package.data(target), self._options)
        except DocumentRejected as rejected:
            if rejected.code in _LIMITS:
                raise
            return None


def _read_inner(data: bytes, options: ReadOptions) -> ExtractedText:
    reader = import_module(f"citewell.extract.{format_of(data, options)}")
    # Office's formats, which can hold others and show but a part of themselves.
    read = getattr(reader, "read_inner", reader.read)
    extracted: ExtractedText = read(data, options)
    return extracted
