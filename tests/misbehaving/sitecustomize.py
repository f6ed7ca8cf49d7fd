"""Makes the reader of texts do what the text says, in processes that find this folder on their path.

Real parsers hang, crash and take all memory on files that the next release of theirs reads; these always do.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable

from citewell.core.values import ExtractedText
from citewell.extract import markdown
from citewell.extract.building import TextBuilder
from citewell.extract.options import ReadOptions

_read = markdown.read
_kept: list[bytes] = []


def _hold_the_interpreter() -> None:
    re.match(r"(a+)+$", "a" * 64 + "b")


def _take_memory_by_and_by() -> None:
    while True:
        _kept.append(os.urandom(1 << 20))


def _die_of_memory_like_rust() -> None:
    os.write(2, b"memory allocation of 17179869184 bytes failed\n")
    os.abort()


def _print_much() -> None:
    for _ in range(1000):
        os.write(1, b"0123456789" * 100)
        sys.stderr.write("a warning" * 100)


def _start_a_program() -> None:
    if os.fork() == 0:
        time.sleep(600)
    time.sleep(600)


def _nest() -> None:
    _nest()


def _fail() -> None:
    raise KeyError("a document's words")


def _answer_nonsense() -> None:
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, b"\0\0\0\0\0\0\0\2{]")
        except OSError:
            continue


def _answer_without_end() -> None:
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, b"\xff" * 8)
        except OSError:
            continue


DEEDS: dict[str, Callable[[], object]] = {
    "sleep": lambda: time.sleep(600),
    "hold the interpreter": _hold_the_interpreter,
    "die": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "abort": os.abort,
    "exit": lambda: os._exit(3),
    "ask for all memory": lambda: bytearray(1 << 36),
    "take memory by and by": _take_memory_by_and_by,
    "keep memory": lambda: _kept.append(os.urandom(200 << 20)),
    "die of memory": _die_of_memory_like_rust,
    "be killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "print much": _print_much,
    "start a program": _start_a_program,
    "lack a library": lambda: __import__("no_such_library"),
    "nest without end": _nest,
    "fail": _fail,
    "answer nonsense": _answer_nonsense,
    "answer without end": _answer_without_end,
}


def read(data: bytes, options: ReadOptions) -> ExtractedText:
    asked = data.decode(errors="replace")
    if asked == "tell the environment":
        builder = TextBuilder(options.limits)
        builder.code("\n".join((*sorted(os.environ), f"process {os.getpid()}")))
        return builder.finish()
    if asked in DEEDS:
        DEEDS[asked]()
    return _read(data, options)


markdown.read = read
