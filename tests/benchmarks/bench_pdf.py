"""Shows how fast PDFs are read beside pypdf, and how much memory a long one takes.

    .venv/bin/python -m tests.benchmarks.bench_pdf [--runs 5]

Speed is pages for each CPU-second, user and system, over the real PDFs beside the repository that both can read. The
readers take turns, file by file; each file counts with its fastest run, since whatever else a machine does only ever
makes one slower. PDFium's own share, which is to load the pages and hand out their characters unordered, is the most
that could be reached. Reading all of them is to be at least ten times as fast as pypdf. A company's documents and the
odd files that libraries are tested with are also told apart: on the latter PDFium alone isn't ten times as fast.

Memory is that of a process of its own, by Linux's account: what reading a document of 500 pages and 50 MB adds to what
the process holds once the file and the reader are loaded. Budget 40 MB, whatever the number of pages.

Exits with 1 when a bound isn't kept.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import io
import logging
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pypdf
import pypdf.errors
import pypdfium2.raw as pdfium

from citewell.errors import DocumentRejected
from citewell.extract import extract
from tests.benchmarks import shared_data
from tests.documents.pdfs import Page, lines, pdf

TIMES_AS_FAST = 10.0
PAGES = 500
BYTES_A_PAGE = 100_000
MEMORY_BUDGET_MB = 40

READ = """
import pathlib, re, sys
import citewell.extract.pdf
from citewell.extract import extract
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
data = pathlib.Path(sys.argv[1]).read_bytes()
before = peak()
extracted = extract(data)
print(peak() - before, extracted.pages, len(extracted.text))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it repairs, it tells
    is_fast = _compare_speed(options.runs)
    is_small = _measure_memory()
    return 0 if is_fast and is_small else 1


def _compare_speed(runs: int) -> bool:
    print(f"{'pages for each CPU-second':52}{'pages':>6}" + "".join(f"{name:>10}" for name in _READERS))
    odd = _measure_speed("odd files", shared_data.odd_pdfs(), runs)
    company = _measure_speed("a company's", shared_data.company_pdfs(), runs)
    ratio = _report("all", odd + company)
    print(f"all: at least {TIMES_AS_FAST:.0f} times as fast as pypdf asked for")
    return ratio >= TIMES_AS_FAST


def _measure_speed(name: str, paths: Sequence[Path], runs: int) -> list[tuple[int, Mapping[str, float]]]:
    """The pages of each file that both can read, and each reader's seconds."""
    measured = []
    for path in paths:
        data = path.read_bytes()
        if count := _pages_of(data):
            measured.append((count, _fastest(data, runs)))
            _report(path.name, measured[-1:])
    _report(name, measured)
    return measured


def _report(name: str, measured: Sequence[tuple[int, Mapping[str, float]]]) -> float:
    """How many times as fast as pypdf we are."""
    pages = sum(count for count, _ in measured)
    seconds = {reader: sum(each[reader] for _, each in measured) for reader in _READERS}
    print(f"{name:52}{pages:6}" + "".join(f"{pages / seconds[reader]:10.0f}" for reader in _READERS), end="")
    ratio, ceiling = (seconds["pypdf"] / seconds[reader] for reader in ("citewell", "pdfium"))
    print(f"   {ratio:4.1f} times as fast as pypdf, PDFium alone {ceiling:4.1f}")
    return ratio


def _fastest(data: bytes, runs: int) -> Mapping[str, float]:
    fastest = dict.fromkeys(_READERS, float("inf"))
    for _ in range(runs):
        for name, read in _READERS.items():
            gc.collect()  # what one reader leaves behind, another would have to clear up
            start = time.process_time()
            read(data)
            fastest[name] = min(fastest[name], time.process_time() - start)
    return fastest


def _pages_of(data: bytes) -> int:
    """How many pages there are; 0 if one of the readers takes none of them."""
    try:
        with_text = extract(data).pages or 0
        return with_text if with_text == len(pypdf.PdfReader(io.BytesIO(data)).pages) else 0
    except (DocumentRejected, pypdf.errors.PyPdfError):
        return 0


def _read_with_pypdf(data: bytes) -> int:
    return sum(len(page.extract_text()) for page in pypdf.PdfReader(io.BytesIO(data)).pages)


def _read_with_pdfium(data: bytes) -> int:
    document = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    characters = 0
    for index in range(pdfium.FPDF_GetPageCount(document)):
        page = pdfium.FPDF_LoadPage(document, index)
        text = pdfium.FPDFText_LoadPage(page)
        count = pdfium.FPDFText_CountChars(text)
        characters += pdfium.FPDFText_GetText(text, 0, count, (ctypes.c_ushort * (count + 1))())
        pdfium.FPDFText_ClosePage(text)
        pdfium.FPDF_ClosePage(page)
    pdfium.FPDF_CloseDocument(document)
    return characters


def _read_here(data: bytes) -> int:
    return len(extract(data).text)


_READERS: Mapping[str, Callable[[bytes], int]] = {
    "citewell": _read_here,
    "pypdf": _read_with_pypdf,
    "pdfium": _read_with_pdfium,
}


def _measure_memory() -> bool:
    noise = random.Random(1)  # noqa: S311  # what can't be compressed, not what nobody can guess
    words = ["leave", "travel", "claim", "office", "month", "salary", "because", "whoever", "before", "second"]
    pages = [
        Page(
            lines(72, 720, (" ".join(noise.choices(words, k=11)) for _ in range(45)))
            + "\nq 99 0 0 99 72 10 cm /I1 Do Q",
            scan=noise.randbytes(BYTES_A_PAGE),
        )
        for _ in range(PAGES)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.pdf"
        path.write_bytes(pdf(*pages))
        megabytes = path.stat().st_size / 1e6
        command = [sys.executable, "-c", READ, str(path)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    added, count, characters = map(int, done.stdout.split())
    print(
        f"{count} pages, {megabytes:.0f} MB, {characters} characters of text: {added / 1024:.0f} MB of memory", end=""
    )
    print(f", at most {MEMORY_BUDGET_MB} asked for")
    return added / 1024 <= MEMORY_BUDGET_MB


if __name__ == "__main__":
    sys.exit(main())
