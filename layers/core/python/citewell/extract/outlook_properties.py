"""The properties that an Outlook message ([MS-OXMSG]), an attachment or another of its parts is made of."""

from __future__ import annotations

import datetime
import struct
from collections.abc import Iterator

import olefile

from citewell.extract.declaring import decoded_as
from citewell.extract.legacy_encodings import guess_encoding

MESSAGE_CLASS = 0x001A
INTERNET_CODEPAGE = 0x3FDE
_MESSAGE_CODEPAGE = 0x3FFD

_NARROW_TEXT = "001E"
_EPOCH = datetime.datetime(1601, 1, 1, tzinfo=datetime.UTC)
_CODEPAGES = {65000: "utf-7", 65001: "utf-8", 20127: "ascii", 20866: "koi8_r", 21866: "koi8_u", 28591: "iso8859_1"} | {
    50220: "iso2022_jp", 51932: "euc_jp", 51949: "euc_kr", 54936: "gb18030"
}  # fmt: skip

_NAMES = "__nameid_version1.0"
_NAMED_FROM = 0x8000
_SETS = {bytes.fromhex(f"{number}20060000000000c000000000000046") for number in ("02", "03", "04")}
"""Of appointments, tasks and addresses: no number in one of them is one in another."""
_OWN_SETS_FROM = 3


class Properties:
    """The properties of a message or an attachment: those of variable length are streams, the others a table."""

    def __init__(self, file: olefile.OleFileIO, path: tuple[str, ...], header_bytes: int) -> None:
        self.file = file
        self.path = path
        self._named: dict[int, int] | None = None
        self._table = dict(_fixed_properties(self._stream("__properties_version1.0")[header_bytes:]))
        codepage = self.number(_MESSAGE_CODEPAGE) or self.number(INTERNET_CODEPAGE)
        self._charset = charset_of(codepage) if codepage else self._guessed_charset()

    def text(self, property_id: int) -> str:
        if wide := self._stream(f"__substg1.0_{property_id:04X}001F"):
            return wide.decode("utf-16-le", "replace").rstrip("\x00")
        return decoded_as(self._charset, self._stream(f"__substg1.0_{property_id:04X}001E")).rstrip("\x00")

    def binary(self, property_id: int) -> bytes:
        return self._stream(f"__substg1.0_{property_id:04X}0102")

    def number(self, property_id: int) -> int:
        return int.from_bytes(self._table.get(property_id, b"")[:4], "little")

    def time(self, property_id: int) -> datetime.datetime | None:
        ticks = int.from_bytes(self._table.get(property_id, b""), "little")
        try:
            return _EPOCH + datetime.timedelta(microseconds=ticks // 10) if ticks else None
        except OverflowError:
            return None

    def named(self, number: int) -> int:
        """The id of a property that [MS-OXPROPS] numbers so in a set, which is another one in each file; else 0."""
        if self._named is None:
            self._named = dict(_named_properties(self.file))
        return self._named.get(number, 0)

    def storages(self, prefix: str) -> Iterator[tuple[str, ...]]:
        """The paths of the storages right below this one whose names begin with ``prefix``, in order."""
        paths = {tuple(path[: len(self.path) + 1]) for path in self.file.listdir(streams=True, storages=True)}
        depth = len(self.path)
        return (
            path for path in sorted(paths) if len(path) > depth and path[:depth] == self.path
            and path[depth].startswith(prefix)
        )  # fmt: skip

    def _guessed_charset(self) -> str:
        """Told by all texts together, as a subject alone is too short."""
        names = [path[-1] for path in self.file.listdir() if path[:-1] == list(self.path)]
        texts = [self._stream(name).rstrip(b"\x00") for name in sorted(names) if name.upper().endswith(_NARROW_TEXT)]
        return guess_encoding(b"\n".join(texts)) or "cp1252"

    def _stream(self, name: str) -> bytes:
        path = [*self.path, name]
        if not self.file.exists(path):
            return b""
        content: bytes = self.file.openstream(path).read()
        return content


def _fixed_properties(table: bytes) -> Iterator[tuple[int, bytes]]:
    for at in range(0, len(table) - 15, 16):
        yield int.from_bytes(table[at + 2 : at + 4], "little"), table[at + 8 : at + 16]


def _named_properties(file: olefile.OleFileIO) -> Iterator[tuple[int, int]]:
    """(number, id) of each; [MS-OXMSG] 2.2.3."""
    sets, entries = (
        file.openstream([_NAMES, name]).read() if file.exists([_NAMES, name]) else b""
        for name in ("__substg1.0_00020102", "__substg1.0_00030102")
    )
    for number, kind, index in struct.iter_unpack("<IHH", entries[: len(entries) // 8 * 8]):
        at = 16 * ((kind >> 1) - _OWN_SETS_FROM)
        if not kind & 1 and at >= 0 and sets[at : at + 16] in _SETS:
            yield number, _NAMED_FROM + index


def charset_of(codepage: int) -> str:
    return _CODEPAGES.get(codepage) or (f"iso8859_{codepage - 28590}" if 28590 < codepage < 28607 else f"cp{codepage}")


def shown_time(time: datetime.datetime | None) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC" if time else ""
