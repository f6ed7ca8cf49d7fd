"""Writes the one kind of picture that leaves this process: a grey PNG, for a program that recognises text."""

from __future__ import annotations

import struct
import zlib

_EIGHT_BITS_GREY = (8, 0, 0, 0, 0)


def png_of_grey(pixels: bytes, *, columns: int, rows: int, stride: int) -> bytes:
    """A PNG of ``rows`` lines, each ``stride`` bytes apart of which the first ``columns`` are its pixels (0 black)."""
    lines = b"".join(b"\0" + pixels[row * stride : row * stride + columns] for row in range(rows))
    head = struct.pack(">IIBBBBB", columns, rows, *_EIGHT_BITS_GREY)
    parts = (_part(b"IHDR", head), _part(b"IDAT", zlib.compress(lines, 1)), _part(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _part(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
