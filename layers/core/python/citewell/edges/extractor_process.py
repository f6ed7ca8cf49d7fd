"""Reads documents in a child process: what hangs, dies or takes all memory there is one document, not the worker.

The child is kept for the next document, as long as it is well. Nothing of Lambda's that a sandbox lacks is used: pipes,
signals and limits, but no shared memory and no semaphores. Its environment is empty, so it holds no credentials.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import IO, Any

from citewell.core.values import ExtractedText
from citewell.errors import ConfigurationError, DocumentRejected, ExtractorUnavailable, OutOfTime
from citewell.extract import EXTRACTOR_VERSION
from citewell.extract.options import Limits
from citewell.extract.transport import LENGTH, from_json

_SECONDS_TO_START = 60.0
_SECONDS_TO_DIE = 2.0
_PIECE = 1 << 16
_ANSWER_BYTES_A_CHARACTER = 16
"""At most: 6 for an escaped one, and the rest for its block, if each character were one."""
_LEAST_ANSWER_BYTES = 1 << 24

_OUT_OF_MEMORY = (b"memory allocation", b"bad_alloc", b"MemoryError", b"out of memory", b"Out of memory")
"""What the runtimes of Rust, C++ and Python say when they are refused memory and die of it."""
_NEAR_THE_LIMIT = 0.8


@dataclass(frozen=True, slots=True)
class Ocr:
    """``program`` is Tesseract's path, ``languages`` its codes, joined by ``+``."""

    program: str
    languages: str


def tesseract() -> str:
    """The path of Tesseract's program. Raises ConfigurationError where it isn't installed."""
    if found := shutil.which("tesseract"):
        return found
    raise ConfigurationError("CITEWELL_OCR is tesseract, but no program of that name is on the PATH: install it")


class ExtractorProcess:
    """Extractor over one child process; one document at a time."""

    def __init__(
        self,
        *,
        limits: Limits,
        seconds: float,
        memory_mb: int,
        environment: Mapping[str, str],
        ocr: Ocr | None = None,
    ) -> None:
        self._limits = limits
        self._seconds = seconds
        self._memory_mb = memory_mb
        self._environment = environment
        self._ocr = ocr
        self._most = max(_LEAST_ANSWER_BYTES, _ANSWER_BYTES_A_CHARACTER * limits.characters)
        self._lock = threading.Lock()
        self._child: _Child | None = None

    @property
    def version(self) -> str:
        """With OCR another one: pages that were pictures only are read once it is on, at the next sweep."""
        return f"{EXTRACTOR_VERSION} tesseract {self._ocr.languages}" if self._ocr else EXTRACTOR_VERSION

    def extract(self, data: bytes, *, content_type: str | None, seconds: float) -> ExtractedText:
        if seconds <= 0:
            raise OutOfTime("no time was left to read the document")
        try:
            answer = self._ask({"content_type": content_type, "check": False}, data, min(self._seconds, seconds))
        except TimeoutError as error:
            if seconds < self._seconds:
                raise OutOfTime("the worker's time was up before the document was read") from error
            raise DocumentRejected("too_slow", f"reading it takes over {self._seconds:g} seconds") from error
        try:
            if "rejected" in answer:
                code, message = answer["rejected"]
                raise DocumentRejected(str(code), str(message))
            return from_json(answer["extracted"])
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            self.close()
            raise _senseless() from error

    def check(self, *, seconds: float) -> None:
        try:
            answer = self._ask({"content_type": None, "check": True}, b"", seconds)
        except (TimeoutError, DocumentRejected) as error:
            raise ExtractorUnavailable("the extracting process doesn't load its libraries") from error
        if "rejected" in answer:
            raise ExtractorUnavailable(f"the extracting process doesn't load its libraries: {answer['rejected'][1]}")

    def _ask(self, header: Mapping[str, Any], data: bytes, seconds: float) -> dict[str, Any]:
        """The child's answer. Raises TimeoutError, DocumentRejected when the child dies of the document, and
        ConfigurationError when it lacks something; the child is gone then, and so it is after its last answer."""
        with self._lock:
            child = self._ready_child()
            first = json.dumps(header).encode()
            request = b"".join((LENGTH.pack(len(first)), first, LENGTH.pack(len(data)), data))
            try:
                answer = json.loads(child.ask(request, seconds=seconds, most=self._most))
                last = answer["last"]
            except EOFError as error:
                self._child = None
                raise child.cause_of_death(self._memory_mb) from error
            except (ValueError, KeyError, TypeError) as error:
                self.close()
                raise _senseless() from error
            except BaseException:
                self.close()
                raise
            if last:
                self.close()
        if "unable" in answer:
            raise ConfigurationError(answer["unable"])
        return dict(answer)

    def close(self) -> None:
        """End the child, if there is one. The next document starts another."""
        if self._child is not None:
            self._child.end()
            self._child = None

    def _ready_child(self) -> _Child:
        # The system ends a child with the thread that started it, be it in the midst of another thread's document.
        if self._child is not None and (self._child.thread is not threading.current_thread() or self._child.is_dead()):
            self.close()
        if self._child is None:
            options = {
                "parent": os.getpid(),
                "memory_mb": self._memory_mb,
                "limits": asdict(self._limits),
                "ocr": asdict(self._ocr) if self._ocr else None,
            }
            try:
                self._child = _Child(json.dumps(options), self._environment)
                self._child.ask(b"", seconds=_SECONDS_TO_START, most=0)
            except (OSError, EOFError, ValueError) as error:
                self.close()
                raise ExtractorUnavailable("the extracting process doesn't start") from error
        return self._child


def _senseless() -> DocumentRejected:
    return DocumentRejected("parser_crashed", "the reader's answer makes no sense")


class _Child:
    """One process of :mod:`citewell.extract.worker`, with what may have to be known of it once it is gone."""

    def __init__(self, options: str, environment: Mapping[str, str]) -> None:
        self.thread = threading.current_thread()
        # A child's peak is counted from before it was another program, when it shared its parent's memory.
        self._inherited_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "citewell.extract.worker", options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd="/",
            env=dict(environment),
            start_new_session=True,  # so that what it starts ends with it
        )
        self._requests, self._answers, self._errors = map(_unblocked, _pipes(self._process))
        self.end = weakref.finalize(self, _end, self._process)

    def is_dead(self) -> bool:
        return self._process.poll() is not None

    def ask(self, request: bytes, *, seconds: float, most: int) -> bytes:
        """Write ``request`` and return the next message. Raises TimeoutError, EOFError when the process died, and
        ValueError for a message over ``most`` bytes."""
        deadline = time.monotonic() + seconds
        rest, answer = memoryview(request), bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._answers, selectors.EVENT_READ)
            if rest:
                selector.register(self._requests, selectors.EVENT_WRITE)
            while (wanted := _message_length(answer, most)) is None or len(answer) < wanted:
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    if key.fd == self._answers:
                        answer += self._received()
                    elif not (rest := rest[self._sent(rest) :]):
                        selector.unregister(self._requests)
        self._printed()
        return bytes(memoryview(answer)[LENGTH.size :])

    def _received(self) -> bytes:
        if piece := os.read(self._answers, _PIECE):
            return piece
        raise EOFError

    def _sent(self, rest: memoryview) -> int:
        try:
            return os.write(self._requests, rest[:_PIECE])
        except BrokenPipeError as error:
            raise EOFError from error

    def _printed(self) -> bytes:
        """What was printed since the last call: read away, so that there is room for a dying process's last words."""
        with contextlib.suppress(BlockingIOError):
            return os.read(self._errors, _PIECE)
        return b""

    def cause_of_death(self, memory_mb: int) -> DocumentRejected:
        """Why the process died by itself; it is buried with that."""
        status, usage = self._bury()
        self._process.returncode = code = os.waitstatus_to_exitcode(status)
        last_words = self._printed()
        self.end()
        peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        own_peak = usage.ru_maxrss > self._inherited_peak
        if (
            any(each in last_words for each in _OUT_OF_MEMORY)
            or (own_peak and peak > _NEAR_THE_LIMIT * memory_mb * 2**20)
            or code == -signal.SIGKILL  # by nobody here: the kernel's way when a machine's memory is used up
        ):
            return DocumentRejected("too_large", "reading it takes more memory than is allowed")
        reason = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return DocumentRejected("parser_crashed", f"the process that read it died: {reason}")

    def _bury(self) -> tuple[int, resource.struct_rusage]:
        """Wait status and resource usage. A process's pipes close a moment before its death has a cause."""
        deadline = time.monotonic() + _SECONDS_TO_DIE
        pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        while pid == 0:
            if time.monotonic() > deadline:
                _kill_group(self._process)
            time.sleep(0.01)
            pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        _kill_group(self._process)  # what it started, and left
        return status, usage


def _message_length(answer: bytearray, most: int) -> int | None:
    """How long ``answer`` will be with its length, None while that isn't known."""
    if len(answer) < LENGTH.size:
        return None
    length = int(LENGTH.unpack_from(answer)[0])
    if length > most:
        raise ValueError("the answer is longer than any may be")
    return LENGTH.size + length


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and what it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:
        _kill_group(process)
        process.wait()
    for pipe in _pipes(process):
        pipe.close()


def _pipes(process: subprocess.Popen[bytes]) -> Sequence[IO[bytes]]:
    return [each for each in (process.stdin, process.stdout, process.stderr) if each is not None]


def _unblocked(pipe: IO[bytes]) -> int:
    os.set_blocking(pipe.fileno(), False)
    return pipe.fileno()
