"""XML of documents, parsed so that it can reach nothing outside of itself and can't grow."""

from __future__ import annotations

import io
from collections.abc import Iterator

from lxml import etree

from citewell.errors import DocumentRejected

_ENTITY = "<!ENTITY"
_ENTITIES = tuple(_ENTITY.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be"))


def parse(data: bytes) -> etree._Element:
    """The root element, without comments and processing instructions.

    Raises DocumentRejected ``corrupt`` where it isn't well-formed (or nested over 256 deep, or has a text of over
    10 MB, which libxml2 refuses), ``archive_bomb`` where it declares entities: no format that is read here has any.
    """
    refuse_entities(data)
    try:
        root = etree.fromstring(data, _parser())
    except (etree.XMLSyntaxError, ValueError) as error:
        raise _corrupt() from error
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        raise _declares_entities()
    return root


def iterate(data: bytes, *tags: str) -> Iterator[etree._Element]:
    """Each element of ``tags`` (``{namespace}name``) when it ends, for parts too large to stand in memory whole.

    What came before the element is forgotten once the next is asked for. Raises as :func:`parse` does.
    """
    refuse_entities(data)
    try:
        for _, element in etree.iterparse(
            io.BytesIO(data), tag=tags, resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
        ):
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError as error:
        raise _corrupt() from error


def refuse_entities(data: bytes) -> None:
    """Raise DocumentRejected ``archive_bomb`` when ``data`` declares entities, whatever would read it."""
    if any(entity in data for entity in _ENTITIES):
        raise _declares_entities()


def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )


def _declares_entities() -> DocumentRejected:
    return DocumentRejected("archive_bomb", "the XML declares entities, which no such document needs")


def _corrupt() -> DocumentRejected:
    return DocumentRejected("corrupt", "a part of the document is no well-formed XML")
