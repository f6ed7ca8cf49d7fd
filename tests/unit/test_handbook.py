"""The sample handbook and its questions hold together: what the eval measures is only as good as its gold."""

import json
import re
from collections import Counter
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

EVAL = Path(__file__).resolve().parents[2] / "eval"
HANDBOOK = EVAL / "handbook"
DOCUMENTS = sorted(path for path in HANDBOOK.iterdir() if path.name != "metadata.json")
MARKDOWN = [path for path in DOCUMENTS if path.suffix == ".md"]

METADATA_KEYS = {"title", "collection", "groups", "effective-date", "series", "language"}
ANSWERABLE_KINDS = {"paraphrase", "code", "table", "multi-part", "german", "chinese", "date", "fact"}
UNANSWERABLE_KINDS = {"off-topic", "near-miss"}
SCRIPT_KINDS = {"german": "de", "chinese": "zh"}

Question = dict[str, Any]


def questions_of(name: str) -> list[Question]:
    lines = (EVAL / "questions" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


TUNING = questions_of("tuning")
GRADING = questions_of("grading")
QUESTIONS = TUNING + GRADING
ANSWERABLE = [question for question in QUESTIONS if question["answerable"]]
UNANSWERABLE = [question for question in QUESTIONS if not question["answerable"]]
METADATA: dict[str, dict[str, str]] = json.loads((HANDBOOK / "metadata.json").read_text(encoding="utf-8"))


def identifier(value: object) -> str | None:
    if isinstance(value, Path):
        return value.name
    return str(value["id"]) if isinstance(value, dict) else None


def text_of(source: str) -> str:
    return (HANDBOOK / source).read_text(encoding="utf-8")


def documents_with(passage: str) -> list[str]:
    return [path.name for path in DOCUMENTS if passage in text_of(path.name)]


def normalised(question: str) -> str:
    """The question's letters and digits alone, so that punctuation cannot hide a repetition."""
    return "".join(character for character in question.casefold() if character.isalnum())


# Documents


def test_the_folder_holds_documents_and_their_metadata_only() -> None:
    assert {path.suffix for path in DOCUMENTS} == {".md", ".txt"}
    assert len(DOCUMENTS) >= 25


@pytest.mark.parametrize("path", DOCUMENTS, ids=identifier)
def test_a_document_is_clean_utf8_text(path: Path) -> None:
    text = path.read_bytes().decode("utf-8")

    assert text.strip()
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert not re.search(r"[ \t]+$", text, re.MULTILINE)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\ufeff\ufffd]", text)


@pytest.mark.parametrize("path", MARKDOWN, ids=identifier)
def test_headings_start_with_one_title_and_skip_no_level(path: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    levels = [len(marks) for marks in re.findall(r"^(#+) ", prose, re.MULTILINE)]

    assert prose.startswith("# ")
    assert levels.count(1) == 1
    assert all(deeper <= level + 1 for level, deeper in pairwise(levels))


@pytest.mark.parametrize("path", MARKDOWN, ids=identifier)
def test_the_rows_of_a_table_have_as_many_cells_as_its_head(path: Path) -> None:
    tables = re.findall(r"(?:^\|.*\|\n)+", path.read_text(encoding="utf-8"), re.MULTILINE)

    for table in tables:
        assert len({row.count("|") for row in table.splitlines()}) == 1, table


@pytest.mark.parametrize("path", DOCUMENTS, ids=identifier)
def test_a_document_names_no_real_mail_host_or_telephone(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert set(re.findall(r"@([\w.-]+\w)", text)) <= {"example.com"}
    assert "http" not in text
    assert not re.search(r"\+\d{2}", text)
    assert all(number.startswith("555-01") for number in re.findall(r"\b\d{3}-\d{4}\b", text))


def test_the_meal_limit_stands_in_one_document_and_the_planted_one_in_another() -> None:
    assert documents_with("The daily meal limit while travelling is 60 EUR.") == ["expenses.md"]
    assert documents_with("9999 EUR") == ["ticket-48213.md"]


# Metadata


def test_metadata_names_existing_documents_and_known_keys_only() -> None:
    assert set(METADATA) <= {path.name for path in DOCUMENTS}
    for name, entry in METADATA.items():
        assert entry, name
        assert set(entry) <= METADATA_KEYS, name
        assert all(value.strip() == value != "" for value in entry.values()), name


def test_effective_dates_are_dates_and_tell_the_versions_of_a_series_apart() -> None:
    versions: dict[str, list[date]] = {}
    for entry in METADATA.values():
        if "effective-date" in entry:
            effective = date.fromisoformat(entry["effective-date"])
            versions.setdefault(entry.get("series", ""), []).append(effective)
    versions.pop("", None)

    assert all("effective-date" in entry for entry in METADATA.values() if "series" in entry)
    assert {series: len(set(dates)) for series, dates in versions.items()} == {"remote-work": 2}


# Questions


def test_each_file_has_the_questions_it_must_have() -> None:
    for questions, answerable, unanswerable in ((GRADING, 64, 32), (TUNING, 30, 16)):
        kinds = Counter(question["kind"] for question in questions)

        assert sum(question["answerable"] for question in questions) >= answerable
        assert sum(not question["answerable"] for question in questions) >= unanswerable
        assert kinds["off-topic"] == kinds["near-miss"]
        assert set(kinds) == ANSWERABLE_KINDS | UNANSWERABLE_KINDS


def test_ids_are_unique_and_tell_the_file() -> None:
    assert max(Counter(question["id"] for question in QUESTIONS).values()) == 1
    assert all(re.fullmatch(r"g-\d{3}", question["id"]) for question in GRADING)
    assert all(re.fullmatch(r"t-\d{3}", question["id"]) for question in TUNING)


def test_no_question_is_asked_twice_in_either_file_or_both() -> None:
    counts = Counter(normalised(question["question"]) for question in QUESTIONS)

    assert [question for question, count in counts.items() if count > 1] == []


def test_no_passage_is_gold_in_both_files() -> None:
    tuning, grading = (
        {(gold["source"], gold["quote"]) for question in questions for gold in question.get("gold", [])}
        for questions in (TUNING, GRADING)
    )

    assert tuning & grading == set()


@pytest.mark.parametrize("question", QUESTIONS, ids=identifier)
def test_a_question_fits_the_api_and_its_language(question: Question) -> None:
    han = re.search(r"[\u4e00-\u9fff]", question["question"]) is not None

    assert question["question"].strip() == question["question"] != ""
    assert len(question["question"]) <= 500
    assert question["lang"] in {"en", "de", "zh"}
    assert (question["lang"] == "zh") == han
    if question["answerable"]:
        assert question["lang"] == SCRIPT_KINDS.get(question["kind"], "en")


@pytest.mark.parametrize("question", ANSWERABLE, ids=identifier)
def test_an_answerable_question_quotes_its_gold_verbatim_and_once(question: Question) -> None:
    assert set(question) == {"id", "question", "answerable", "kind", "lang", "gold", "answer"}
    assert question["kind"] in ANSWERABLE_KINDS
    assert question["answer"].strip()
    assert len(question["gold"]) == (2 if question["kind"] == "multi-part" else 1)
    for gold in question["gold"]:
        assert set(gold) == {"source", "quote"}
        assert "\n" not in gold["quote"]
        assert 20 <= len(gold["quote"]) <= 200
        assert text_of(gold["source"]).count(gold["quote"]) == 1


@pytest.mark.parametrize("question", ANSWERABLE, ids=identifier)
def test_gold_is_never_taken_from_a_restricted_document(question: Question) -> None:
    for gold in question["gold"]:
        assert "groups" not in METADATA.get(gold["source"], {})


@pytest.mark.parametrize("question", UNANSWERABLE, ids=identifier)
def test_an_unanswerable_question_says_why(question: Question) -> None:
    assert set(question) == {"id", "question", "answerable", "kind", "lang", "why"}
    assert question["kind"] in UNANSWERABLE_KINDS
    assert question["why"].strip()


def test_every_document_open_to_all_is_asked_about() -> None:
    asked = {gold["source"] for question in ANSWERABLE for gold in question["gold"]}
    open_to_all = {path.name for path in DOCUMENTS if "groups" not in METADATA.get(path.name, {})}

    assert asked == open_to_all
