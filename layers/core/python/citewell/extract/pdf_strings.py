"""Strings as PDFium hands them out: UTF-16, into memory of ours."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any


def string(ask: Callable[[Any, int], int]) -> str:
    """A string that PDFium gives as UTF-16 when it is asked twice: how many bytes, and which."""
    size = ask(None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    ask(buffer, size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace").replace("\0", "")


def shorts(buffer: Any) -> Any:
    return None if buffer is None else ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
