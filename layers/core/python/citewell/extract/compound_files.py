"""Compound files (OLE2): Outlook messages, encrypted Office documents, and Office documents of before 2007."""

from __future__ import annotations

import io

import olefile

from citewell.errors import DocumentRejected
from citewell.extract.formats import Format

_LEGACY = {
    "worddocument": "Word document of before 2007",
    "workbook": "Excel workbook of before 2007",
    "book": "Excel workbook of before 1997",
    "powerpoint document": "PowerPoint presentation of before 2007",
}


def format_of_compound_file(data: bytes) -> Format:
    """MSG. Raises DocumentRejected ``encrypted``, ``corrupt``, or ``unsupported_type`` for everything else."""
    names = _root_entries(data)
    if "__properties_version1.0" in names:
        return Format.MSG
    if "encryptedpackage" in names:
        raise DocumentRejected("encrypted", "the Office document is locked with a password")
    legacy = next((name for entry, name in _LEGACY.items() if entry in names), "compound file")
    raise DocumentRejected("unsupported_type", f"{legacy}: this format can't be read")


def _root_entries(data: bytes) -> frozenset[str]:
    """The names of the streams and storages that stand at the top: what is embedded deeper tells nothing."""
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as file:
            return frozenset(path[0].lower() for path in file.listdir(streams=True, storages=True))
    except Exception as error:  # olefile's own, and whatever a damaged directory makes it stumble over
        raise DocumentRejected("corrupt", "the compound file's directory is damaged") from error
