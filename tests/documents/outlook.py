"""Outlook messages: compound files of properties, small enough to be read here."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Tree: TypeAlias = "Mapping[str, bytes | Tree]"

_SECTOR, _MINI_SECTOR, _MINI_LIMIT = 512, 64, 4_096
_FREE, _END, _TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def message(
    properties: Mapping[int, str | bytes],
    *,
    numbers: Mapping[int, int] | None = None,
    attachments: Sequence[Tree] = (),
    named: Mapping[int, tuple[str, int]] | None = None,
    ansi: str | None = None,
) -> bytes:
    """A message of these properties by their ids; ``ansi`` writes texts in that encoding instead of UTF-16.

    ``named`` says of an id from 0x8000 which property it is: the set's GUID and the number in it.
    """
    tree = storage(properties, numbers=numbers, attachments=attachments, ansi=ansi, header_bytes=32)
    return compound_file({**tree, "__nameid_version1.0": _names(named)} if named else tree)


def _names(named: Mapping[int, tuple[str, int]]) -> Tree:
    sets = list(dict.fromkeys(name for name, _ in named.values()))
    entries = [
        struct.pack("<IHH", number, (sets.index(name) + 3) << 1, key - 0x8000) for key, (name, number) in named.items()
    ]
    return {
        "__substg1.0_00020102": b"".join(uuid.UUID(each).bytes_le for each in sets),
        "__substg1.0_00030102": b"".join(entries),
    }


def storage(
    properties: Mapping[int, str | bytes],
    *,
    numbers: Mapping[int, int] | None = None,
    attachments: Sequence[Tree] = (),
    ansi: str | None = None,
    header_bytes: int = 8,
) -> Tree:
    """What a message or an attachment (``header_bytes``: 32, 24 within another message, 8) is made of."""
    tree: dict[str, bytes | Tree] = {
        f"__attach_version1.0_#{number:08X}": attachment for number, attachment in enumerate(attachments)
    }
    for key, value in properties.items():
        kind = "0102" if isinstance(value, bytes) else "001E" if ansi else "001F"
        content = value if isinstance(value, bytes) else value.encode(ansi or "utf-16-le")
        tree[f"__substg1.0_{key:04X}{kind}"] = content
    table = b"".join(struct.pack("<HHIQ", 3, key, 0, value) for key, value in (numbers or {}).items())
    return tree | {"__properties_version1.0": bytes(header_bytes) + table}


def attached(name: str, *, numbers: Mapping[int, int] | None = None) -> Tree:
    return storage({0x3707: name, 0x3701: b"content"}, numbers=numbers)


def attached_message(inner: Tree) -> Tree:
    return {**storage({}), "__substg1.0_3701000D": inner}


def compound_file(tree: Tree) -> bytes:
    """A compound file ([MS-CFB]) of storages and streams of up to 4 KB each."""
    entries: list[bytes] = []
    content = bytearray()
    chains: list[int] = []
    _add_storage("Root Entry", tree, entries, content, chains)
    mini_table = struct.pack(f"<{len(chains)}I", *chains)
    parts = [b"".join(entries), mini_table, bytes(content)]
    entries[0] = entries[0][:116] + struct.pack("<IQ", _start_of(parts, 2), len(content))
    parts[0] = b"".join(entries)
    table: list[int] = []
    for part in parts:
        count = -(-len(part) // _SECTOR)
        table += [*range(len(table) + 1, len(table) + count), _END] if count else []
    tables = -(-(len(table) + 1) // (_SECTOR // 4 - 1))
    first_table = len(table)
    table += [_TABLE] * tables
    header = struct.pack(
        "<8s16sHHHHH6xIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", bytes(16), 0x3E, 3, 0xFFFE, 9, 6,
        0, tables, 0, 0, _MINI_LIMIT, _start_of(parts, 1), -(-len(mini_table) // _SECTOR), _END, 0,
    )  # fmt: skip
    header += struct.pack(f"<{tables}I", *range(first_table, first_table + tables))
    sectors = b"".join(part + bytes(-len(part) % _SECTOR) for part in parts)
    table += [_FREE] * (-len(table) % (_SECTOR // 4))
    return header + b"\xff" * (_SECTOR - len(header)) + sectors + struct.pack(f"<{len(table)}I", *table)


def _start_of(parts: Sequence[bytes], index: int) -> int:
    return sum(-(-len(part) // _SECTOR) for part in parts[:index])


def _add_storage(name: str, tree: Tree, entries: list[bytes], content: bytearray, chains: list[int]) -> int:
    """Its entry, then those of what it holds, each of which points to the next; returns the entry's number."""
    number = len(entries)
    entries.append(b"")
    children: list[int] = []
    for key, value in tree.items():
        if isinstance(value, bytes):
            children.append(len(entries))
            entries.append(_entry(key, kind=2, start=_add_stream(value, content, chains), size=len(value)))
        else:
            children.append(_add_storage(key, value, entries, content, chains))
    for child, following in zip(children, [*children[1:], _FREE], strict=True):
        entries[child] = entries[child][:72] + struct.pack("<I", following) + entries[child][76:]
    entries[number] = _entry(name, kind=1 if number else 5, child=children[0] if children else _FREE)
    return number


def _add_stream(value: bytes, content: bytearray, chains: list[int]) -> int:
    count = -(-len(value) // _MINI_SECTOR)
    start = len(chains)
    chains += [*range(start + 1, start + count), _END] if count else []
    content += value + bytes(-len(value) % _MINI_SECTOR)
    return start if count else _END


def _entry(name: str, *, kind: int, child: int = _FREE, start: int = 0, size: int = 0) -> bytes:
    encoded = name.encode("utf-16-le")
    return (
        encoded.ljust(64, b"\0")
        + struct.pack("<HBBIII", len(encoded) + 2, kind, 1, _FREE, _FREE, child)
        + bytes(36)
        + struct.pack("<IQ", start, size)
    )
