from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.dataset import Dataset, DatasetError, EvalQuestion, Gold, Half, half_of, read_dataset, read_retrieval_set


def _write_set(folder: Path, *, corpus: str, queries: str, qrels: str) -> Path:
    for name, text in (("corpus.jsonl", corpus), ("queries.jsonl", queries), ("qrels.tsv", qrels)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_retrieval_set_is_read(tmp_path: Path) -> None:
    folder = _write_set(
        tmp_path,
        corpus=json.dumps({"id": "d 1", "title": "T", "text": "one\u2028line"}, ensure_ascii=False) + "\n\n",
        queries='{"id": "q1", "question": "Q?"}\n{"id": "q2", "question": "R?", "answerable": false}',
        qrels="q1\td 1\n",
    )
    dataset = read_retrieval_set(folder)
    assert [document.data.decode() for document in dataset.documents] == ["one\u2028line"]
    assert dataset.documents[0].metadata == {"title": "T"}
    assert [question.gold for question in dataset.questions] == [frozenset({Gold("d 1")}), frozenset()]


@pytest.mark.parametrize(
    ("corpus", "queries", "qrels", "message"),
    [
        ("{", "", "", "corpus.jsonl:1: not JSON"),
        ("5", "", "", "corpus.jsonl:1: not a JSON object"),
        ('{"id": "d"}', "", "", "corpus.jsonl:1: lacks text"),
        ('{"id": "d", "text": null}', "", "", "corpus.jsonl:1: not a text: text"),
        ('{"id": 1, "text": "t", "title": 5}', "", "", "corpus.jsonl:1: not a text: title, id"),
        ('{"id": "d", "text": "\\ud800"}', "", "", "corpus.jsonl:1: not a text: text"),
        ('{"id": "d", "text": "t"}\n{"id": "d", "text": "u"}', "", "", "corpus.jsonl:2: the id d stands there twice"),
        (
            '{"id": "d", "text": "t"}',
            '{"id": "q", "question": "Q?"}\n{"id": "q", "question": "Q?"}',
            "q\td\n",
            "queries.jsonl:2: the id q stands there twice",
        ),
        ('{"id": "d", "text": "t"}', '{"id": "q"}', "", "queries.jsonl:1: lacks question"),
        ('{"id": "d", "text": "t"}', "", "q\tunknown\n", "qrels.tsv:1: expected a query id"),
        (
            '{"id": "d", "text": "t"}',
            '{"id": "q", "question": "Q?", "answerable": false}',
            "q\td\n",
            "unanswerable questions have gold documents: q",
        ),
    ],
)
def test_a_broken_set_is_refused_with_file_and_line(
    tmp_path: Path, corpus: str, queries: str, qrels: str, message: str
) -> None:
    folder = _write_set(tmp_path, corpus=corpus, queries=queries, qrels=qrels)
    with pytest.raises(DatasetError) as refused:
        read_retrieval_set(folder)
    assert message in str(refused.value)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_set_that_lacks_a_file_or_is_not_in_utf_8_is_refused(tmp_path: Path, name: str) -> None:
    folder = _write_set(tmp_path, corpus='{"id": "d", "text": "t"}', queries="", qrels="")
    (folder / name).write_bytes(b"\xe4")
    with pytest.raises(DatasetError, match=f"{name} is not UTF-8"):
        read_retrieval_set(folder)
    (folder / name).unlink()
    with pytest.raises(DatasetError, match=f"{name} can't be read: No such file or directory"):
        read_retrieval_set(folder)


def test_the_handbook_is_read_with_its_metadata() -> None:
    dataset = read_dataset(None, None)
    assert (dataset.name, dataset.half, dataset.questions[0].id) == ("handbook", Half.TUNING, "t-001")
    sources = {document.source: document for document in dataset.documents}
    assert "metadata.json" not in sources
    assert sources["salary-bands.md"].metadata == {"groups": "hr"}
    assert {gold.source for question in dataset.questions for gold in question.gold} <= sources.keys()


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({}, ""),
        ({"kind": "near-miss"}, "near-miss"),
        ({"note": "off topic"}, "off-topic"),
        ({"note": "adversarial to sq-014-041"}, "adversarial"),
    ],
)
def test_how_a_question_is_unanswerable_is_taken_from_either_field(
    tmp_path: Path, said: dict[str, str], kind: str
) -> None:
    query = json.dumps({"id": "q", "question": "Q?", "answerable": False, **said})
    folder = _write_set(tmp_path, corpus='{"id": "d", "text": "t"}', queries=query, qrels="")
    assert [question.kind for question in read_retrieval_set(folder).questions] == [kind]


def test_the_halves_of_the_handbook_are_its_files() -> None:
    halves = [read_dataset(None, half).questions for half in (Half.TUNING, Half.GRADING)]
    assert halves[1][0].id == "g-001"
    assert read_dataset(None, Half.ALL).questions == halves[0] + halves[1]


def test_a_question_stays_in_its_half_for_ever() -> None:
    assert [half_of(name).value for name in ("nw-000", "nw-001", "wa-0003", "质")] == [
        "tuning",
        "tuning",
        "grading",
        "grading",
    ]


def test_the_halves_of_a_set_share_no_question_and_lose_none() -> None:
    whole = _asked([f"q{number}" for number in range(200)])
    tuning, grading = (whole.halved(half) for half in (Half.TUNING, Half.GRADING))
    assert {*tuning.questions, *grading.questions} == {*whole.questions}
    assert len(tuning.questions) + len(grading.questions) == 200
    assert 80 <= len(tuning.questions) <= 120
    assert whole.halved(Half.ALL) == whole


def test_the_content_hash_tells_what_is_asked_and_expected() -> None:
    sets = [_asked(["q"]), _asked(["r"]), _asked(["q"], gold="a"), _asked(["q"], gold="b"), _asked(["q"], name="other")]
    hashes = [each.content_hash() for each in sets]
    assert hashes[4] == hashes[0]
    assert len(set(hashes)) == 4


def _asked(ids: list[str], *, gold: str | None = None, name: str = "set") -> Dataset:
    expected = frozenset({Gold(gold)} if gold else ())
    return Dataset(name, (), tuple(EvalQuestion(each, f"{each}?", expected) for each in ids))
