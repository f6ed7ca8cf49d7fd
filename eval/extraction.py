"""Manifests of real files with what a person sees in them, and which of it an extractor finds.

A manifest is a JSON Lines file beside the files that it names: an object with `file` and `expect` a line, whose keys
are those of :class:`ExpectedFile`. Everything is compared as a reader would: see :func:`as_read`. A document that is
rejected with a code that the manifest allows meets all that is expected of its text.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from citewell.core.values import BlockKind, ExtractedText
from citewell.errors import DocumentRejected
from eval.dataset import DatasetError

_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_STRAIGHT = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
)
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")
_WHITE_SPACE = re.compile(r"\s+")

NEEDS_OCR = "ocr"
"""What the words on scans need."""


@dataclass(frozen=True, slots=True)
class ExpectedFile:
    """What a person sees in one file.

    ``text`` is (page, words, needs): ``page`` None where there are no pages, ``needs`` what only a better extractor
    gives. ``order`` are pairs, the first before the second; ``table_rows`` cells on one line in this order, others
    may stand between; ``absent`` raw strings that must not be in the output. ``error`` is the terminal code,
    ``or_errors`` are as right, and so is any text with ``or_text``.
    """

    name: str
    data: bytes
    text: tuple[tuple[int | None, str, str | None], ...] = ()
    order: tuple[tuple[str, str], ...] = ()
    table_rows: tuple[tuple[str, ...], ...] = ()
    headings: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    ocr_text: tuple[str, ...] = ()
    error: str | None = None
    or_errors: tuple[str, ...] = ()
    or_text: bool = False

    @property
    def allowed_errors(self) -> tuple[str, ...]:
        return (self.error, *self.or_errors) if self.error else self.or_errors


@dataclass(frozen=True, slots=True)
class Reading:
    """What became of a file: its text or the code of its rejection; neither means that the reader itself failed."""

    extracted: ExtractedText | None
    code: str | None
    problem: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """One expectation. ``missed`` is the reason why it isn't met, None where it is."""

    file: str
    expectation: str
    needs: str | None
    missed: str | None


def read_manifest(manifest: Path) -> list[ExpectedFile]:
    """The files of ``manifest``, in its order. Raises DatasetError naming the line or the file at fault."""
    try:
        lines = manifest.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise DatasetError(f"{manifest} can't be read: {error.strerror}") from error
    return [
        _expected(line, manifest.parent, f"{manifest}:{number}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]


def _expected(line: str, folder: Path, place: str) -> ExpectedFile:
    try:
        entry = json.loads(line)
        name, expect = entry["file"], entry["expect"]
        file = ExpectedFile(
            name,
            (folder / name).read_bytes(),
            text=tuple((each.get("page"), each["contains"], each.get("needs")) for each in expect.get("text", ())),
            order=tuple((before, after) for before, after in expect.get("order", ())),
            table_rows=tuple(tuple(cells) for cells in expect.get("table_rows", ())),
            headings=tuple(expect.get("headings", ())),
            absent=tuple(expect.get("not_contains", ())),
            ocr_text=tuple(expect.get("ocr_text", ())),
            error=expect.get("error"),
            or_errors=_several(expect.get("or_error", ())),
            or_text=bool(expect.get("or_text", False)),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DatasetError(f"{place}: no object with `file` and `expect` as a manifest has it: {error}") from error
    except OSError as error:
        raise DatasetError(f"{place}: {name} can't be read: {error.strerror}") from error
    if (wanted := entry.get("sha256")) and hashlib.sha256(file.data).hexdigest() != wanted:
        raise DatasetError(f"{place}: {name} isn't the file that the manifest's sha256 names")
    return file


def _several(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def read(data: bytes, extract: Callable[[bytes], ExtractedText]) -> Reading:
    """What ``extract`` makes of ``data``. A reader that raises anything but DocumentRejected has failed."""
    started = time.perf_counter()
    extracted, code, problem = None, None, ""
    try:
        extracted = extract(data)
    except DocumentRejected as error:
        code, problem = error.code, str(error)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    return Reading(extracted, code, problem, time.perf_counter() - started)


def judge(file: ExpectedFile, reading: Reading, *, ocr: bool) -> list[Judgement]:
    """Every expectation of ``file``. With ``ocr`` a scan's words are expected instead of its rejection."""
    expects_words = ocr and bool(file.ocr_text)
    expectations = list(_text_expectations(file))
    if reading.extracted is not None:
        reasons = list(_reasons(file, _Output(reading.extracted)))
    elif reading.code in file.allowed_errors and not expects_words:
        reasons = [None] * len(expectations)
    else:
        reasons = [_ended(reading)] * len(expectations)
    return [
        *(() if expects_words else _outcome(file, reading)),
        *(
            Judgement(file.name, what, needs, missed)
            for (what, needs), missed in zip(expectations, reasons, strict=True)
        ),
        *(_recognised(file, reading) if expects_words else ()),
    ]


def _outcome(file: ExpectedFile, reading: Reading) -> Iterator[Judgement]:
    """Whether the file's end is one of those allowed; nothing for a file of which only text is expected."""
    if file.error is None and not file.or_text:
        return
    wanted = file.error or " or ".join((*file.or_errors, "text"))
    met = reading.code in file.allowed_errors or (file.or_text and reading.extracted is not None)
    yield Judgement(file.name, f"ends as {wanted}", None, None if met else f"it ended as {_ended(reading)}")


def _ended(reading: Reading) -> str:
    return "text" if reading.extracted else f"{reading.code or 'the reader failed'} ({reading.problem})"


def _text_expectations(file: ExpectedFile) -> Iterator[tuple[str, str | None]]:
    for page, words, needs in file.text:
        yield f"{words!r}{'' if page is None else f' on page {page}'}", needs
    for before, after in file.order:
        yield f"{before!r} before {after!r}", None
    for cells in file.table_rows:
        yield f"row {' | '.join(cells)}", None
    for heading in file.headings:
        yield f"heading {heading!r}", None
    for string in file.absent:
        yield f"no {string!r}", None


def _reasons(file: ExpectedFile, output: _Output) -> Iterator[str | None]:
    """Why each of :func:`_text_expectations` is missed, None where it isn't."""
    for page, words, _ in file.text:
        yield output.lacks(words, page)
    for before, after in file.order:
        yield output.misorders(before, after)
    for cells in file.table_rows:
        yield output.lacks_row(cells)
    for heading in file.headings:
        yield output.lacks_heading(heading)
    for string in file.absent:
        yield output.has(string)


def _recognised(file: ExpectedFile, reading: Reading) -> Iterator[Judgement]:
    for words in file.ocr_text:
        missed = _Output(reading.extracted).lacks(words, None) if reading.extracted else _ended(reading)
        yield Judgement(file.name, repr(words), NEEDS_OCR, missed)


class _Output:
    """An extractor's output in the form in which it is compared. Each question is answered by why not, or None."""

    def __init__(self, extracted: ExtractedText) -> None:
        self._raw = extracted.text
        self._text = as_read(extracted.text)
        self._squeezed = squeezed(extracted.text)
        self._lines = [squeezed(line) for line in extracted.text.split("\n")]
        self._headings = [
            squeezed(extracted.text[block.start : block.end])
            for block in extracted.blocks
            if block.kind is BlockKind.HEADING
        ]
        pages: dict[int, list[str]] = {}
        for block in extracted.blocks:
            if block.page is not None:
                pages.setdefault(block.page, []).append(extracted.text[block.start : block.end])
        self._pages = {page: "\n".join(texts) for page, texts in pages.items()}

    def lacks(self, words: str, page: int | None) -> str | None:
        if page is None:
            return None if _holds(self._text, words, whole=self._squeezed) else "it isn't in the text"
        on = [each for each, text in self._pages.items() if _holds(as_read(text), words, whole=squeezed(text))]
        if page in on:
            return None
        return f"it is on page {', '.join(map(str, on))} instead" if on else "it is on no page"

    def misorders(self, before: str, after: str) -> str | None:
        first, second = self._squeezed.find(squeezed(before)), self._squeezed.find(squeezed(after))
        if min(first, second) < 0:
            return f"{(before if first < 0 else after)!r} isn't in the text"
        return None if first < second else "the other way round"

    def lacks_row(self, cells: Sequence[str]) -> str | None:
        wanted = [squeezed(cell) for cell in cells]
        if any(_in_order(line, wanted) for line in self._lines):
            return None
        absent = [cell for cell in cells if squeezed(cell) not in self._squeezed]
        return f"not in the text: {', '.join(absent)}" if absent else "its cells aren't on one line in this order"

    def lacks_heading(self, heading: str) -> str | None:
        wanted = squeezed(heading)
        if any(wanted in each for each in self._headings):
            return None
        return "it is there, but no heading" if wanted in self._squeezed else "it isn't in the text"

    def has(self, string: str) -> str | None:
        """Raw: an entity that stands in the output is there however it may be read."""
        return "it is there" if string in self._raw else None


def _holds(text: str, words: str, *, whole: str) -> bool:
    return squeezed(words) in whole if _CJK.search(words) else as_read(words) in text


def _in_order(line: str, cells: Sequence[str]) -> bool:
    at = 0
    for cell in cells:
        at = line.find(cell, at)
        if at < 0:
            return False
        at += len(cell)
    return True


def as_read(text: str) -> str:
    """NFKC, without invisible characters, with straight quotes and dashes, and one space where there is any."""
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).translate(_STRAIGHT)
    return _WHITE_SPACE.sub(" ", text).strip()


def squeezed(text: str) -> str:
    """:func:`as_read` without white space: for CJK, order and the cells of tables."""
    return as_read(text).replace(" ", "")
