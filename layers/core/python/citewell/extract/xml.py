"""XML of documents, parsed so that it can reach nothing outside of itself and can't grow."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from lxml import etree

from citewell.errors import DocumentRejected

_TOO_LARGE = (etree.ErrorTypes.ERR_NO_MEMORY, 114)
"""The second is libxml2's for texts over 10 MB, and nesting over 256 deep; lxml has no name for it."""

_MISTAKE = re.compile(rb"&(?:#(?:x([0-9a-fA-F]{1,8})|([0-9]{1,8}));|(?!#?\w+;))|[\x01-\x08\x0b\x0c\x0e-\x1f]")
_XML_CONTROLS = (0x09, 0x0A, 0x0D)
_START = 4  # of UTF-16, half of whose bytes are zeros, nothing is mended
_ENTITY = "<!ENTITY"
_ENTITIES = tuple(_ENTITY.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be"))


def parse(data: bytes) -> etree._Element:
    """The root element, without comments and processing instructions.

    Characters that XML can't hold and ``&`` that begins nothing are mended, as office programs do. Raises
    DocumentRejected ``corrupt`` where it isn't well-formed (or nested over 256 deep), ``too_large`` where it needs more
    memory than there is (or has a text of over 10 MB, which libxml2 refuses), ``archive_bomb`` where it declares
    entities: no format that is read here has any.
    """
    refuse_entities(data)
    try:
        root = etree.fromstring(data, _parser())
    except etree.XMLSyntaxError as error:
        root = _parsed_once_mended(data, error)
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        raise _declares_entities()
    return root


def recovered(data: bytes) -> etree._Element | None:
    """The root element of XML that isn't well-formed, as far as it can be read; None where there is nothing.

    Raises DocumentRejected ``archive_bomb`` as :func:`parse` does.
    """
    refuse_entities(data)
    try:
        return etree.fromstring(data, _parser(recover=True))
    except etree.XMLSyntaxError:
        return None


def iterate(data: bytes, *tags: str) -> Iterator[etree._Element]:
    """Each element of ``tags`` (``{namespace}name``) when it ends, for parts too large to stand in memory whole.

    What came before the element is forgotten once the next is asked for. Raises as :func:`parse` does.
    """
    refuse_entities(data)
    count = 0
    try:
        for element in _ended(data, tags):
            count += 1
            yield element
    except etree.XMLSyntaxError as error:
        mended = _mended(data, error)
        try:
            yield from islice(_ended(mended, tags), count, None)
        except etree.XMLSyntaxError as second:
            raise _rejected(second) from second


def _ended(data: bytes, tags: Sequence[str]) -> Iterator[etree._Element]:
    for _, element in etree.iterparse(
        io.BytesIO(data), tag=tags, resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    ):
        yield element
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]


def refuse_entities(data: bytes) -> None:
    """Raise DocumentRejected ``archive_bomb`` when ``data`` declares entities, whatever would read it."""
    if any(entity in data for entity in _ENTITIES):
        raise _declares_entities()


def _parser(*, recover: bool = False) -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        recover=recover,
    )


def _parsed_once_mended(data: bytes, error: etree.XMLSyntaxError) -> etree._Element:
    try:
        return etree.fromstring(_mended(data, error), _parser())
    except etree.XMLSyntaxError as second:
        raise _rejected(second) from second


def _mended(data: bytes, error: etree.XMLSyntaxError) -> bytes:
    """``data`` without what made some program's text no XML. Raises where ``error`` has another cause."""
    if error.code not in _TOO_LARGE and b"\0" not in data[:_START]:
        mended = _MISTAKE.sub(_as_xml, data)
        if mended != data:
            return mended
    raise _rejected(error) from error


def _as_xml(mistake: re.Match[bytes]) -> bytes:
    text, hexadecimal, decimal = mistake[0], mistake[1], mistake[2]
    if text == b"&":
        return b"&amp;"
    code = int(hexadecimal, 16) if hexadecimal else int(decimal or b"0")
    is_character = code in _XML_CONTROLS or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0xFFFF < code < 0x110000
    return text if is_character else b" "


def _declares_entities() -> DocumentRejected:
    return DocumentRejected("archive_bomb", "the XML declares entities, which no such document needs")


def _rejected(error: etree.XMLSyntaxError) -> DocumentRejected:
    if error.code in _TOO_LARGE and "depth" not in str(error):
        return DocumentRejected("too_large", "a part of the document, or a text in it, takes more memory than allowed")
    return DocumentRejected("corrupt", "a part of the document is no well-formed XML")
