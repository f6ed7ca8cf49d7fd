"""Tells a document's format by its bytes."""

from __future__ import annotations

import re

from citewell.errors import DocumentRejected
from citewell.extract.formats import Format
from citewell.extract.options import ReadOptions
from citewell.extract.text_sniffing import text_format_of

_LATE_PDF = re.compile(rb"[\r\n\x00]%PDF-\d\.\d[\r\n]")

_SIGNATURES: tuple[tuple[str, int, bytes], ...] = (
    ("ZIP archive", 0, b"PK\x05\x06"),
    ("ZIP archive", 0, b"PK\x07\x08"),
    ("PostScript", 0, b"%!PS"),
    ("PNG image", 0, b"\x89PNG\r\n\x1a\n"),
    ("JPEG image", 0, b"\xff\xd8\xff"),
    ("GIF image", 0, b"GIF87a"),
    ("GIF image", 0, b"GIF89a"),
    ("TIFF image", 0, b"II*\x00"),
    ("TIFF image", 0, b"MM\x00*"),
    ("WebP image", 8, b"WEBPVP8"),
    ("WAVE audio", 8, b"WAVEfmt "),
    ("AVI video", 8, b"AVI LIST"),
    ("MP4 or QuickTime media", 4, b"ftyp"),
    ("Matroska or WebM media", 0, b"\x1aE\xdf\xa3"),
    ("Ogg media", 0, b"OggS\x00"),
    ("FLAC audio", 0, b"fLaC\x00"),
    ("MP3 audio", 0, b"ID3\x02"),
    ("MP3 audio", 0, b"ID3\x03"),
    ("MP3 audio", 0, b"ID3\x04"),
    ("MP3 audio", 0, b"\xff\xfb"),
    ("gzip archive", 0, b"\x1f\x8b\x08"),
    ("bzip2 archive", 0, b"BZh91AY&SY"),
    ("xz archive", 0, b"\xfd7zXZ\x00"),
    ("zstd archive", 0, b"\x28\xb5\x2f\xfd"),
    ("7z archive", 0, b"7z\xbc\xaf\x27\x1c"),
    ("RAR archive", 0, b"Rar!\x1a\x07"),
    ("tar archive", 257, b"ustar"),
    ("executable", 0, b"\x7fELF"),
    ("executable", 0, b"\xcf\xfa\xed\xfe"),
    ("Java class file", 0, b"\xca\xfe\xba\xbe"),
    ("SQLite database", 0, b"SQLite format 3\x00"),
    ("Parquet file", 0, b"PAR1\x15"),
    ("WebAssembly module", 0, b"\x00asm"),
    ("font", 0, b"wOFF"),
    ("font", 0, b"wOF2"),
)


def format_of(data: bytes, options: ReadOptions) -> Format:
    """The format of ``data``, which isn't empty.

    Raises DocumentRejected ``unsupported_type`` for any that isn't read; of containers, which have to be opened,
    also ``corrupt``, ``encrypted`` and ``archive_bomb``.
    """
    if data.startswith(b"%PDF-") or _is_late_pdf(data):
        return Format.PDF
    if data.startswith(b"{\\rtf"):
        return Format.RTF
    if data.startswith(b"PK\x03\x04"):
        from citewell.extract.packages import format_of_package

        return format_of_package(data, options.limits)
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        from citewell.extract.compound_files import format_of_compound_file

        return format_of_compound_file(data)
    refuse_binary(data)
    return text_format_of(data)


def _is_late_pdf(data: bytes) -> bool:
    """Whether a PDF begins behind other bytes, such as a printer's commands: readers look through the first 1,024."""
    return _LATE_PDF.search(data, 0, 1_024) is not None and b"%%EOF" in data[-1_024:]


def refuse_binary(data: bytes) -> None:
    """Raise DocumentRejected ``unsupported_type`` when the first bytes are those of a known binary format."""
    for name, offset, signature in _SIGNATURES:
        if data.startswith(signature, offset):
            raise DocumentRejected("unsupported_type", f"{name}: this format can't be read")
