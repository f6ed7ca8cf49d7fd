"""ZIP archives and compound files, whole and broken."""

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


def compound_file(*names: str) -> bytes:
    """A compound file (OLE2) with empty streams of these names at its top."""
    entries = [_directory_entry("Root Entry", kind=5, child=1 if names else _NONE)]
    for number, name in enumerate(names, start=1):
        entries.append(_directory_entry(name, kind=2, right=number + 1 if number < len(names) else _NONE))
    entries += [bytes(68) + struct.pack("<III", _NONE, _NONE, _NONE) + bytes(48)] * (-len(entries) % 4)
    directory = b"".join(entries)
    sectors = len(directory) // _SECTOR
    table = [_TABLE_SECTOR, *range(2, sectors + 1), _END_OF_CHAIN]
    table += [_NONE] * (_SECTOR // 4 - len(table))
    header = struct.pack(
        "<8s16sHHHHH6xIIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", bytes(16), 0x3E, 3, 0xFFFE, 9, 6,
        0, 1, 1, 0, 4096, _END_OF_CHAIN, 0, _END_OF_CHAIN, 0, 0,
    )  # fmt: skip
    header += b"\xff\xff\xff\xff" * ((_SECTOR - len(header)) // 4)
    return header + struct.pack(f"<{len(table)}I", *table) + directory


_SECTOR = 512
_NONE = 0xFFFFFFFF
_END_OF_CHAIN = 0xFFFFFFFE
_TABLE_SECTOR = 0xFFFFFFFD


def _directory_entry(name: str, *, kind: int, right: int = 0xFFFFFFFF, child: int = 0xFFFFFFFF) -> bytes:
    encoded = name.encode("utf-16-le")
    head = encoded.ljust(64, b"\0") + struct.pack("<HBB", len(encoded) + 2, kind, 1)
    return head + struct.pack("<III", _NONE, right, child) + bytes(36) + struct.pack("<IQ", _END_OF_CHAIN, 0)
