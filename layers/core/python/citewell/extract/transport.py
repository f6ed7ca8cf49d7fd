"""What travels on the pipes between a process and the one that extracts for it, and in which form.

JSON, never pickle: what comes out of a process that has parsed a hostile file is data and nothing else. Each message
is its length (8 bytes, big-endian) and its bytes. A request is two of them: a JSON object and the document.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

from citewell.core.values import Block, BlockKind, ExtractedText

LENGTH = struct.Struct(">Q")
"""Of the message that follows."""


def receive(pipe: BinaryIO) -> bytes | None:
    """The next message, however long it takes; None when the other side is gone."""
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    message = pipe.read(LENGTH.unpack(head)[0])
    return message if len(message) == LENGTH.unpack(head)[0] else None


def to_json(extracted: ExtractedText) -> dict[str, Any]:
    """As JSON takes it; heading paths, of which many blocks share one, stand there once."""
    paths: dict[tuple[str, ...], int] = {}
    blocks = [
        [block.kind, block.start, block.end, paths.setdefault(block.headings, len(paths)), block.page]
        for block in extracted.blocks
    ]
    return {
        "text": extracted.text,
        "blocks": blocks,
        "paths": [list(path) for path in paths],
        "title": extracted.title,
        "pages": extracted.pages,
        "unread_pages": extracted.unread_pages,
        "language": extracted.language,
        "effective_date": extracted.effective_date,
    }


def from_json(values: Mapping[str, Any]) -> ExtractedText:
    """The inverse. Raises ValueError, KeyError or TypeError for what :func:`to_json` doesn't write."""
    paths = [tuple(map(str, path)) for path in values["paths"]]
    blocks = tuple(
        Block(BlockKind(kind), int(start), int(end), paths[path], None if page is None else int(page))
        for kind, start, end, path, page in values["blocks"]
    )
    return ExtractedText(
        str(values["text"]),
        blocks,
        title=_text(values["title"]),
        pages=None if values["pages"] is None else int(values["pages"]),
        unread_pages=tuple(int(page) for page in values["unread_pages"]),
        language=_text(values["language"]),
        effective_date=_text(values["effective_date"]),
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
