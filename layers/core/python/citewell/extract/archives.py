"""ZIP archives, of which Office and OpenDocument files are made, opened so that none of them can outgrow its limits."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator

from citewell.errors import DocumentRejected
from citewell.extract.options import Limits

_MEMBERS = 20_000
"""An Office file has hundreds; each takes memory before its size is known."""

_DIRECTORY_ENTRY = b"PK\x01\x02"
_ENCRYPTED = 0x1
_FREELY_GROWING = 4_000_000
"""Bytes up to which a part may be compressed as well as it can: no harm is done with them."""

_DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, IndexError, NotImplementedError, OverflowError,
    RuntimeError, ValueError, OSError,
)  # fmt: skip
"""What zipfile raises for directories and parts that contradict themselves."""


class Archive:
    """The parts of a ZIP file, by name: ``/`` parts folders, and upper and lower case are the same.

    Opening looks at the archive's directory alone. Raises DocumentRejected ``corrupt``, ``encrypted``, or
    ``archive_bomb`` when the parts come to more than the limits allow. Archives in the archive are never opened.
    """

    def __init__(self, data: bytes, limits: Limits) -> None:
        if data.count(_DIRECTORY_ENTRY) > _MEMBERS:
            raise DocumentRejected("archive_bomb", f"more than {_MEMBERS} parts")
        try:
            self._file = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGED as error:
            raise DocumentRejected("corrupt", "the archive has no readable directory: it may be cut off") from error
        self._ratio = limits.ratio
        self._members = {
            _name(each.filename): each for each in self._file.infolist() if not each.filename.endswith("/")
        }
        self._check(limits)

    def _check(self, limits: Limits) -> None:
        unpacked = 0
        for member in self._file.infolist():
            if member.flag_bits & _ENCRYPTED:
                raise DocumentRejected("encrypted", "the archive is locked with a password")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise DocumentRejected("corrupt", f"a part is compressed by method {member.compress_type}")
            unpacked += member.file_size
        if unpacked > limits.unpacked_bytes:
            raise DocumentRejected("archive_bomb", f"{unpacked} bytes unpacked, {limits.unpacked_bytes} allowed")

    def __contains__(self, name: str) -> bool:
        return _name(name) in self._members

    def __iter__(self) -> Iterator[str]:
        """The names as the archive writes them, in its order."""
        return iter(each.filename for each in self._members.values())

    def read(self, name: str) -> bytes:
        """The bytes of the part ``name``, no more than the directory promised.

        Raises DocumentRejected ``corrupt`` when the part is missing or damaged, ``archive_bomb`` when it grows to more
        times its size than the limits allow: parts that nobody reads, such as a blank picture, may do so.
        """
        member = self._members.get(_name(name))
        if member is None:
            raise DocumentRejected("corrupt", "a part that the document must have is missing")
        if member.file_size > max(_FREELY_GROWING, member.compress_size * self._ratio):
            raise DocumentRejected("archive_bomb", f"a part grows to over {self._ratio} times its size")
        try:
            return self._file.read(member)
        except _DAMAGED as error:
            raise DocumentRejected("corrupt", "a part of the archive is damaged") from error


def _name(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").casefold()
