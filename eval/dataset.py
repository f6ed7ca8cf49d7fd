"""Retrieval sets: documents, questions, and which documents answer them.

Two layouts are read. A retrieval set is a folder with `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`; its gold
is document ids. The handbook is a folder of files with `metadata.json`, and its questions name gold by a passage
quoted from the document, so that chunking anew doesn't break it.

Each set has two halves: one to tune on, one to report. The handbook's stand in files of their own; those of a
retrieval set follow from the questions' ids: see :func:`half_of`.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

HANDBOOK = Path(__file__).parent / "handbook"
QUESTIONS = Path(__file__).parent / "questions"


class Half(StrEnum):
    """Which of a set's questions: those for choosing settings, those for judging the result, or both."""

    TUNING = "tuning"
    GRADING = "grading"
    ALL = "all"


def half_of(question_id: str) -> Half:
    """TUNING or GRADING, by the lowest bit of the first byte of the id's SHA-256: the same on every machine, and
    a question that is added or removed moves no other one."""
    return Half.GRADING if hashlib.sha256(question_id.encode()).digest()[0] & 1 else Half.TUNING


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """``source`` is the id that gold names; ``metadata`` is S3 user metadata."""

    source: str
    data: bytes
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Gold:
    """``quote`` narrows a document down to the passage that holds it; None where the whole document is gold."""

    source: str
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """``gold`` is empty when the corpus doesn't answer the question; ``kind`` may say how it doesn't: off-topic, ..."""

    id: str
    text: str
    gold: frozenset[Gold]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """``half`` says which of the set's questions these are."""

    name: str
    documents: tuple[CorpusDocument, ...]
    questions: tuple[EvalQuestion, ...]
    half: Half = Half.ALL

    def halved(self, half: Half) -> Self:
        """The set with that half of its questions, by their ids."""
        if half is Half.ALL:
            return self
        return replace(self, questions=tuple(each for each in self.questions if half_of(each.id) is half), half=half)

    def content_hash(self) -> str:
        """SHA-256, in hex, over everything that is indexed, asked and expected: equal sets give comparable figures."""
        rows = [[each.source, hashlib.sha256(each.data).hexdigest(), dict(each.metadata)] for each in self.documents]
        asked = [
            [each.id, each.text, sorted([gold.source, gold.quote or ""] for gold in each.gold)]
            for each in self.questions
        ]
        return hashlib.sha256(json.dumps([rows, asked], sort_keys=True).encode()).hexdigest()


class DatasetError(Exception):
    """A set that can't be read as it is; the message names file and line."""


def read_dataset(folder: Path | None, half: Half | None) -> Dataset:
    """That half of the retrieval set in ``folder``, or of the handbook where it is that or none. Raises DatasetError.

    By default the handbook's tuning half, so that nobody studies the other by accident, and all of any other set.
    """
    if folder is not None and folder.resolve() != HANDBOOK:
        return read_retrieval_set(folder).halved(half or Half.ALL)
    chosen = half or Half.TUNING
    if chosen is not Half.ALL:
        return replace(read_handbook(HANDBOOK, QUESTIONS / f"{chosen}.jsonl"), half=chosen)
    tuning, grading = (read_handbook(HANDBOOK, QUESTIONS / f"{each}.jsonl") for each in (Half.TUNING, Half.GRADING))
    return replace(tuning, questions=tuning.questions + grading.questions)


def read_retrieval_set(folder: Path) -> Dataset:
    """The set in ``folder``, of the layout in the README. Raises DatasetError."""
    documents = tuple(
        CorpusDocument(
            source=row["id"],
            data=row["text"].encode(),
            metadata={"title": row["title"]} if row.get("title") else {},
        )
        for row in _json_lines(folder / "corpus.jsonl", required=("id", "text"))
    )
    gold = _relevance(folder / "qrels.tsv", known=frozenset(document.source for document in documents))
    questions = tuple(
        EvalQuestion(
            id=row["id"],
            text=row["question"],
            gold=frozenset(gold.get(row["id"], ())) if row.get("answerable", True) else frozenset(),
            kind=_kind(row),
        )
        for row in _json_lines(folder / "queries.jsonl", required=("id", "question"))
    )
    if lost := [row.id for row in questions if not row.gold and row.id in gold]:
        raise DatasetError(f"{folder}: unanswerable questions have gold documents: {', '.join(lost[:5])}")
    return Dataset(folder.name, documents, questions)


def read_handbook(folder: Path, questions: Path) -> Dataset:
    """The files of ``folder`` with the questions of one JSONL file. Raises DatasetError."""
    metadata = json.loads(_text(folder / "metadata.json"))
    documents = tuple(
        CorpusDocument(source=path.name, data=path.read_bytes(), metadata=metadata.get(path.name, {}))
        for path in sorted(folder.iterdir())
        if path.name != "metadata.json"
    )
    return Dataset(
        folder.name,
        documents,
        tuple(
            EvalQuestion(
                id=row["id"],
                text=row["question"],
                gold=frozenset(Gold(each["source"], each["quote"]) for each in row.get("gold", ())),
                kind=_kind(row),
            )
            for row in _json_lines(questions, required=("id", "question", "answerable"))
        ),
    )


def _kind(row: Mapping[str, Any]) -> str:
    """As the handbook's questions say it, or the outside sets' notes: "near miss", "adversarial to <document>"."""
    said = str(row.get("kind") or row.get("note") or "")
    return said.partition(" to ")[0].replace(" ", "-")


def _relevance(file: Path, *, known: frozenset[str]) -> dict[str, list[Gold]]:
    gold: dict[str, list[Gold]] = defaultdict(list)
    for number, line in _lines(file):
        row = line.split("\t")
        if len(row) != 2 or row[1] not in known:
            raise DatasetError(f"{file}:{number}: expected a query id and the id of a document of the corpus")
        gold[row[0]].append(Gold(row[1]))
    return gold


_TEXTS = ("id", "question", "text")


def _json_lines(file: Path, *, required: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    ids = set()
    for number, line in _lines(file):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"{file}:{number}: not JSON") from error
        if not isinstance(row, dict):
            raise DatasetError(f"{file}:{number}: not a JSON object")
        if missing := [name for name in required if name not in row]:
            raise DatasetError(f"{file}:{number}: lacks {', '.join(missing)}")
        texts = {"title": row.get("title") or "", **{name: row[name] for name in required if name in _TEXTS}}
        if odd := [name for name, value in texts.items() if not _is_text(value)]:
            raise DatasetError(f"{file}:{number}: not a text: {', '.join(odd)}")
        if row["id"] in ids:
            raise DatasetError(f"{file}:{number}: the id {row['id']} stands there twice")
        ids.add(row["id"])
        yield row


def _is_text(value: object) -> bool:
    """Halves of surrogate pairs, which JSON can name, are none."""
    return isinstance(value, str) and value == value.encode(errors="replace").decode()


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """The lines that aren't blank, with their numbers from 1."""
    # Not splitlines: a document may hold U+2028, which JSON leaves as it is.
    for number, line in enumerate(_text(file).split("\n"), start=1):
        if line.strip():
            yield number, line


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise DatasetError(f"{file} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"{file} is not UTF-8") from error
