"""The process that reads documents out of harm's way: ``python -m citewell.extract.worker OPTIONS``.

It reads requests from its standard input and writes answers to its standard output, as :mod:`transport` has them,
until its input ends. OPTIONS is a JSON object: ``parent`` (process id), ``memory_mb``, ``limits``, and ``ocr``, null or
the program and the languages of Tesseract. Its first message is empty and says that it is ready. Each answer holds
``extracted``, ``rejected`` (code and message), ``unable`` (what is missing here) or, to a check, nothing of these, and
whether it is the ``last``.

A library that hangs, dies or takes all memory takes this process with it and nothing else; the one that started it
sees to that: :mod:`citewell.edges.extractor_process`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import traceback
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from citewell.errors import ConfigurationError, DocumentRejected
from citewell.extract import extract
from citewell.extract.formats import Format
from citewell.extract.options import Limits, ReadOptions, RecognisePage
from citewell.extract.transport import LENGTH, receive, to_json

_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
_GROWN = 0.5
"""Share of the memory limit that may stay in use between documents; libraries keep what they once took."""


def main(arguments: list[str]) -> int:
    options = json.loads(arguments[0])
    _end_with(options["parent"])
    _limit_memory(options["memory_mb"])
    requests, answers = _own_pipes()
    try:
        _serve(requests, answers, options)
    except MemoryError:
        os.write(2, b"out of memory")
        return 1
    return 0


def _serve(requests: BinaryIO, answers: BinaryIO, options: dict[str, Any]) -> None:
    _write(answers, b"")
    last = False
    while not last and (header := receive(requests)) is not None and (document := receive(requests)) is not None:
        answer, last = _answer(json.loads(header), document, options)
        del document
        last = last or _in_use() > _GROWN * options["memory_mb"] * 2**20
        message = json.dumps({**answer, "last": last}, ensure_ascii=False)
        _write(answers, message.encode("utf-8", "surrogatepass"))  # as json.loads decodes it


def _answer(header: dict[str, Any], document: bytes, options: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The answer, and whether it is better that this process reads no further document."""
    try:
        if header["check"]:
            _check(options["ocr"])
            return {}, True  # it is larger now than any document needs it to be
        read_options = ReadOptions(
            content_type=header["content_type"],
            limits=Limits(**options["limits"]),
            recognise_page=_recogniser(options["ocr"]),
        )
        return {"extracted": to_json(extract(document, read_options))}, False
    except DocumentRejected as error:
        return {"rejected": [error.code, str(error)]}, False
    except MemoryError:
        return {"rejected": ["too_large", "reading it takes more memory than is allowed"]}, True
    except ImportError as error:
        missing = f"the library {error.name} isn't installed"
        return {"unable": f"{missing}: documents are read with what `citewell[parsers]` installs"}, True
    except ConfigurationError as error:
        return {"unable": str(error)}, True
    except Exception as error:
        # Where, but not what: a library's message may quote the document.
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}"
        return {"rejected": ["parser_crashed", f"the reader failed with {where}"]}, True


def _check(ocr: dict[str, str] | None) -> None:
    """Load what reads documents, of every kind, and have a blank page recognised."""
    for each in Format:
        import_module(f"citewell.extract.{each}")
    if ocr is not None:
        from citewell.extract.recognising import check

        check(**ocr)


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Input and output for messages alone. What a library prints is lost, but for what native code has to say when it
    dies: that goes to the pipe of stderr, or nowhere where that is full."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    sys.stderr = os.fdopen(nothing, "w")
    os.set_blocking(2, False)
    return requests, answers


def _write(pipe: BinaryIO, message: bytes) -> None:
    pipe.write(LENGTH.pack(len(message)))
    pipe.write(message)
    pipe.flush()


def _end_with(parent: int) -> None:
    """Die when the thread that started this process does, even in the midst of a document."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before that was arranged
        os._exit(1)


def _limit_memory(megabytes: int) -> None:
    """Bounds what may be written to: heaps, stacks and private mappings, but not the libraries' code."""
    limit = megabytes * 2**20
    with contextlib.suppress(ValueError, OSError):  # where the system knows no such limit
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    with contextlib.suppress(ValueError, OSError):  # a core dump would hold the document
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _in_use() -> int:
    """Bytes of memory that this process holds now; 0 where the system doesn't say."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    return 0


def _recogniser(ocr: dict[str, str] | None) -> RecognisePage | None:
    if ocr is None:
        return None
    from citewell.extract.recognising import recognise

    return partial(recognise, program=ocr["program"], languages=ocr["languages"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
