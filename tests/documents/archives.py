"""ZIP archives, whole and broken."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping

_CENTRAL = b"PK\x01\x02"


def zipped(parts: Mapping[str, bytes | str], *, compressed: bool = True) -> bytes:
    """A ZIP archive of ``parts``, the same bytes each time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=archive.compression)
    return buffer.getvalue()


def unzipped(archive: bytes) -> dict[str, bytes]:
    """The parts of a ZIP archive by name."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def with_flag(archive: bytes, flag: int) -> bytes:
    """``archive`` with a general purpose flag set on its only part: 1 says that it is encrypted."""
    changed = bytearray(archive)
    changed[6] |= flag
    changed[archive.index(_CENTRAL) + 8] |= flag
    return bytes(changed)


def understated(name: str, content: bytes, *, size: int) -> bytes:
    """An archive whose directory says that its part holds but the first ``size`` bytes, the checksum included."""
    archive = bytearray(zipped({name: content}))
    central = archive.index(_CENTRAL)
    for at, value in ((14, zlib.crc32(content[:size])), (22, size)):
        struct.pack_into("<I", archive, at, value)
        struct.pack_into("<I", archive, central + at + 2, value)
    return bytes(archive)
