"""Bytes of an object to text with structure.

The format comes from the bytes, never from a name. Today that is Markdown and plain text; plain text is read as
Markdown, of which it uses little.
"""

from __future__ import annotations

from citewell.core.values import ExtractedText
from citewell.errors import DocumentRejected
from citewell.extract.decoding import decode
from citewell.extract.normalising import is_blank, normalise
from citewell.extract.sniffing import refuse_binary, refuse_markup

EXTRACTOR_VERSION = "2"
"""Part of the pipeline's version: raise it with any change that gives other text, blocks or titles."""


def extract(data: bytes, *, content_type: str | None) -> ExtractedText:
    """Read a document's bytes. ``content_type`` is only asked for its charset.

    Raises DocumentRejected: ``empty`` when there is nothing to read, ``unsupported_type`` for a format other than
    text, ``undecodable`` for text in an encoding that can't be told for certain.
    """
    if not data:
        raise DocumentRejected("empty", "the object holds no bytes")
    refuse_binary(data)
    text = normalise(decode(data, content_type=content_type))
    if is_blank(text):
        raise DocumentRejected("empty", "the object holds nothing but white space and control characters")
    refuse_markup(text)
    # A parser is loaded by the first document that needs it: most messages need none, as nothing has changed.
    from citewell.extract.markdown import read_markdown

    return read_markdown(text)
