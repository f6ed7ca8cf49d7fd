"""What a reader is told beside the bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

RecognisePage = Callable[[bytes], str]
"""Reads the picture of one page, a PNG, and returns its text with ``\\n`` line ends; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one document may take; what takes more is rejected.

    ``pages`` and ``characters`` (of the extracted text) end in ``too_large``. ``unpacked_bytes`` is what an archive's
    parts may come to once decompressed, ``ratio`` how many times its size one part may grow to once it is larger than
    a megabyte; both end in ``archive_bomb``. Time and memory are bounded from outside, where the process is.
    """

    pages: int = 5_000
    characters: int = 20_000_000
    unpacked_bytes: int = 500_000_000
    ratio: int = 200


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """``content_type`` is the object's own, asked for its charset only. Without ``recognise_page`` nothing is OCRed."""

    content_type: str | None = None
    limits: Limits = field(default_factory=Limits)
    recognise_page: RecognisePage | None = None
