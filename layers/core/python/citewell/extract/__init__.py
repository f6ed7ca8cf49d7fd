"""Bytes of an object to text with structure.

The format comes from the bytes, never from a name. ``sniffing`` tells it, one module for each format reads it, and
``building`` gives all of them the same form. Plain text is read as Markdown, of which it uses little.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from citewell.errors import DocumentRejected
from citewell.extract.options import ReadOptions
from citewell.extract.sniffing import format_of

if TYPE_CHECKING:
    from citewell.core.values import ExtractedText

EXTRACTOR_VERSION = "5"
"""Part of the pipeline's version: raise it with any change that gives other text, blocks or titles."""


def extract(data: bytes, options: ReadOptions | None = None) -> ExtractedText:
    """Read a document's bytes, here and now; :mod:`citewell.edges.extractor_process` does it out of harm's way.

    Raises DocumentRejected with one of the documented codes.
    """
    options = options or ReadOptions()
    if not data:
        raise DocumentRejected("empty", "the object holds no bytes")
    # A parser is loaded by the first document that needs it: most messages need none, as nothing has changed.
    reader = import_module(f"citewell.extract.{format_of(data, options)}")
    extracted: ExtractedText = reader.read(data, options)
    if len(extracted.text) > options.limits.characters:  # of a text, of which nothing is built
        raise DocumentRejected("too_large", f"more than {options.limits.characters} characters of text")
    return extracted
