"""PDFium's functions called without declared types: a page takes hundreds of calls.

ctypes spends more time on converting what it knows the type of than PDFium on the answer, and a third of it on a
reference that was made once.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any


class Handle(ctypes.c_void_p):
    """Something of PDFium's. As a result it stays this and becomes no number, so that it can be an argument, too."""


def undeclared(function: Any, result: Any) -> Callable[..., Any]:
    """``function`` as one that takes references and ints as they are; anything else has to be ctypes' own."""
    return ctypes.PYFUNCTYPE(result)(ctypes.cast(function, ctypes.c_void_p).value or 0)
