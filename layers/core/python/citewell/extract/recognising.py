"""The text on the picture of a page, read by Tesseract: a program of its own, so that nothing of it is loaded here."""

from __future__ import annotations

import ctypes
import re
import signal
import subprocess
import sys
from pathlib import Path

from citewell.errors import ConfigurationError, DocumentRejected
from citewell.extract.pictures import png_of_grey

_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
_SECONDS = 120  # far more than a page takes; the document's own time ends sooner as a rule
_AUTOMATIC_PAGE = "3"  # finds columns and their order by itself
_ONE_THREAD = {"OMP_THREAD_LIMIT": "1"}  # four of them on one core take longer than one; it needs nothing else
_LACKING = re.compile(rb"Failed loading language '([^'\n]+)'")
_BLANK_PAGE = png_of_grey(b"\xff" * 64 * 64, columns=64, rows=64, stride=64)


def recognise(png: bytes, *, program: str, languages: str) -> str:
    """What ``png`` says, paragraphs parted by a blank line; empty where nothing can be made out.

    ``languages`` as Tesseract takes them, such as ``eng+deu``. Raises DocumentRejected: ``too_slow`` when a page takes
    more than two minutes, ``parser_crashed`` when the program fails of this picture; and ConfigurationError when it
    would of any, or lacks a language.
    """
    done = _run(png, program, languages)
    if done.returncode:
        check(program=program, languages=languages)
        raise DocumentRejected("parser_crashed", f"Tesseract failed, exit code {done.returncode}")
    return done.stdout.decode("utf-8", "replace").replace("\f", "\n\n").strip()


def check(*, program: str, languages: str) -> None:
    """Raises ConfigurationError when ``program`` can't read a blank page in ``languages``."""
    if code := _run(_BLANK_PAGE, program, languages).returncode:
        raise ConfigurationError(f"Tesseract ({program}) can't be used: exit code {code}")


def _run(png: bytes, program: str, languages: str) -> subprocess.CompletedProcess[bytes]:
    """Of several languages Tesseract does without those that it lacks, and only says so."""
    command = [program, "stdin", "stdout", "-l", languages, "--psm", _AUTOMATIC_PAGE]
    try:
        done = subprocess.run(
            command,
            input=png,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
            env=_environment(program),
            preexec_fn=_end_with_parent,
        )
    except subprocess.TimeoutExpired as error:
        raise DocumentRejected("too_slow", f"recognising a page's text took more than {_SECONDS} seconds") from error
    except OSError as error:
        raise ConfigurationError(f"Tesseract ({program}) can't be used: {error.strerror}") from error
    if lacking := _LACKING.findall(done.stderr):
        named = ", ".join(sorted({each.decode("utf-8", "replace") for each in lacking}))
        raise ConfigurationError(
            f"Tesseract has no data for {named}: install it, or take it out of CITEWELL_OCR_LANGUAGES ({languages})"
        )
    return done


def _environment(program: str) -> dict[str, str]:
    """Its libraries and languages stand beside it, where it comes with a layer; a system's own knows where they are."""
    root = Path(program).parent.parent
    found = {"LD_LIBRARY_PATH": root / "lib", "TESSDATA_PREFIX": root / "share" / "tessdata"}
    return _ONE_THREAD | {name: str(folder) for name, folder in found.items() if folder.is_dir()}


def _end_with_parent() -> None:
    """A program that outlives a document whose time is up would take the next one's."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
