"""Tells a document's format by its bytes."""

from __future__ import annotations

import re

from citewell.errors import DocumentRejected
from citewell.extract.formats import Format
from citewell.extract.options import ReadOptions
from citewell.extract.text_sniffing import text_format_of

_HEAD_BYTES = 1_024
_BEFORE_SIGNATURE = b"\xef\xbb\xbf\x00 \t\r\n"
"""A byte order mark and white space, which some programs put before anything."""

_LATE_PDF = re.compile(rb"%PDF-\d\.\d\s")
_PDF_END = re.compile(rb"startxref\s+\d+\s+%%EOF[\s\x00]*\Z")
_PDF_TAIL_BYTES = 65_536

_RTF_GROUP = re.compile(rb"\{\\(?:\*\\)?(?:pard|plain\\f\d|ansi|fonttbl|colortbl|stylesheet)(?![A-Za-z])")
_RTF_PARAGRAPH = re.compile(rb"\\par(?![A-Za-z])")
_RTF_ESCAPED = re.compile(rb"\\[\\{}]")
_MOST_OPEN = 2
"""Groups that a cut leaves open."""

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
    ("MP3 audio", 0, b"\xff\xf3"),
    ("MP3 audio", 0, b"\xff\xf2"),
    ("signed or encrypted message", 4, b"\x06\x09*\x86H\x86\xf7\r\x01\x07"),
    ("LZ4 archive", 0, b"\x04\x22M\x18"),
    ("compressed file", 0, b"\x1f\x9d"),
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
    start = data[:_HEAD_BYTES].lstrip(_BEFORE_SIGNATURE)
    if data.startswith(b"%PDF-") or _is_late_pdf(data):
        return Format.PDF
    if start.startswith(b"{\\rtf") or _is_beheaded_rtf(start, data):
        return Format.RTF
    if start.startswith(b"PK\x03\x04"):
        from citewell.extract.packages import format_of_package

        return format_of_package(data, options.limits)
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        from citewell.extract.compound_files import format_of_compound_file

        return format_of_compound_file(data)
    refuse_binary(data)
    return text_format_of(data)


def _is_late_pdf(data: bytes) -> bool:
    """Whether a PDF begins behind other bytes, such as a printer's commands: readers look through the first 1,024."""
    return (found := _LATE_PDF.search(data, 0, _HEAD_BYTES)) is not None and (
        not data[: found.start()].strip(_BEFORE_SIGNATURE) or _PDF_END.search(data[-_PDF_TAIL_BYTES:]) is not None
    )


def _is_beheaded_rtf(start: bytes, data: bytes) -> bool:
    """Whether these are RTF's groups without the one around them: words that TeX doesn't have, braces that match."""
    if _RTF_GROUP.match(start) is None or _RTF_PARAGRAPH.search(data) is None:
        return False
    marks = _RTF_ESCAPED.sub(b"", data)
    return abs(marks.count(b"{") - marks.count(b"}")) <= _MOST_OPEN


def refuse_binary(data: bytes) -> None:
    """Raise DocumentRejected ``unsupported_type`` when the first bytes are those of a known binary format."""
    for name, offset, signature in _SIGNATURES:
        if data.startswith(signature, offset):
            raise DocumentRejected("unsupported_type", f"{name}: this format can't be read")
