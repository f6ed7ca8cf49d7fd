from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eval.__main__ as command
from citewell.core.values import Passage
from eval.dataset import Dataset, DatasetError, EvalQuestion, Gold, read_handbook, read_retrieval_set
from eval.gate import Baseline, passed, regressions
from eval.metrics import first_rank, mean, ndcg_at_k, recall_at_k, reciprocal_rank
from eval.run import Scored, figures, misses, passage_names

RANKING = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("gold", "k", "recall", "reciprocal", "ndcg"),
    [
        ({"a"}, 3, 1.0, 1.0, 1.0),
        ({"c"}, 3, 1.0, 1 / 3, 0.5),
        ({"d"}, 3, 0.0, 0.0, 0.0),
        ({"b", "z"}, 3, 0.5, 0.5, 0.63093 / 1.63093),
        ({"a", "b", "c", "d"}, 2, 0.5, 1.0, 1.0),
    ],
)
def test_metrics_by_hand(gold: set[str], k: int, recall: float, reciprocal: float, ndcg: float) -> None:
    assert recall_at_k(RANKING, gold, k=k) == recall
    assert reciprocal_rank(RANKING, gold, k=k) == reciprocal
    assert ndcg_at_k(RANKING, gold, k=k) == pytest.approx(ndcg, abs=1e-4)


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.sets(st.sampled_from("abcdefgh"), min_size=1))
def test_metrics_stay_between_nought_and_one_and_agree_on_what_was_found(ranking: list[str], gold: set[str]) -> None:
    values = [recall_at_k(ranking, gold, k=5), reciprocal_rank(ranking, gold, k=5), ndcg_at_k(ranking, gold, k=5)]
    assert all(0 <= value <= 1 for value in values)
    assert len({value > 0 for value in values}) == 1


def test_the_mean_of_nothing_is_nought() -> None:
    assert mean([]) == 0.0


def test_the_rank_of_the_first_gold() -> None:
    assert first_rank(RANKING, {"c", "d"}) == 3
    assert first_rank(RANKING, {"z"}) is None


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
        ('{"id": "d"}', "", "", "corpus.jsonl:1: lacks text"),
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
    eval_folder = Path(__file__).parents[2] / "eval"
    dataset = read_handbook(eval_folder / "handbook", eval_folder / "questions/tuning.jsonl")
    sources = {document.source: document for document in dataset.documents}
    assert "metadata.json" not in sources
    assert sources["salary-bands.md"].metadata == {"groups": "hr"}
    assert {gold.source for question in dataset.questions for gold in question.gold} <= sources.keys()


def _passage(chunk_id: str, source: str, text: str) -> Passage:
    return Passage(chunk_id, source, "", (), None, 0, 0, len(text), text, 0.5)


def test_a_passage_counts_as_the_quotes_that_it_holds() -> None:
    fee, rate = Gold("fees.md", "25 EUR"), Gold("fees.md", "2 %")
    question = EvalQuestion("q", "?", frozenset({fee, rate}))
    both = _passage("c1", "fees.md", "A late fee of 25 EUR, and 2 % a month.")
    other = _passage("c2", "fees.md", "Nothing of the kind.")
    elsewhere = _passage("c3", "travel.md", "25 EUR")
    assert set(passage_names(question, both)) == {"fees.md: 25 EUR", "fees.md: 2 %"}
    assert passage_names(question, other) == ["c2"]
    assert passage_names(question, elsewhere) == ["c3"]


def test_where_documents_are_gold_a_passage_counts_as_its_document() -> None:
    question = EvalQuestion("q", "?", frozenset({Gold("fees.md")}))
    assert passage_names(question, _passage("c1", "fees.md", "text")) == ["fees.md"]


def _scored(question_id: str, *, gold: str | None, ranking: list[str], best: float | None) -> Scored:
    question = EvalQuestion(question_id, f"{question_id}?", frozenset({Gold(gold)} if gold else ()))
    return Scored(question=question, fused=ranking, vector=ranking, keyword=[], best_score=best)


def test_figures_and_misses() -> None:
    scored = [
        _scored("found", gold="a", ranking=["a", "b"], best=0.9),
        _scored("late", gold="f", ranking=["a", "b", "c", "d", "e", "f"], best=0.5),
        _scored("off", gold=None, ranking=["a"], best=0.7),
        _scored("empty", gold=None, ranking=[], best=None),
    ]
    result = figures(scored, min_score=0.6, config={})
    assert (result["queries"], result["recall@5"], result["recall@10"]) == (2, 0.5, 1.0)
    assert result["arms"]["keyword"]["recall@30"] == 0.0
    assert result["refusal"] == {
        "unanswerable": 2,
        "min_score": 0.6,
        "false_refusal_rate": 0.5,
        "false_answer_rate": 0.5,
        "auc": 0.75,
    }
    assert misses(scored) == [("late", "late?", 6)]


GOOD = Baseline(recall_at_5=0.9, false_refusal_rate=0.05, false_answer_rate=0.3, missed=("g-1",))


def test_the_gate_lets_noise_pass() -> None:
    assert regressions(GOOD, Baseline(0.88, 0.07, 0.32, ("g-1", "g-2"))) == []


def test_the_gate_names_what_is_newly_missed() -> None:
    assert regressions(GOOD, Baseline(0.8, 0.05, 0.3, ("g-1", "g-2", "g-3"))) == [
        "recall@5 fell from 0.900 to 0.800; newly missed: g-2, g-3"
    ]


def test_the_gate_watches_both_refusal_errors() -> None:
    assert regressions(GOOD, Baseline(0.9, 0.2, 0.5, ("g-1",))) == [
        "false_refusal_rate rose from 0.050 to 0.200",
        "false_answer_rate rose from 0.300 to 0.500",
    ]


def test_a_baseline_survives_its_file() -> None:
    assert Baseline.from_json(GOOD.to_json()) == GOOD


def test_a_passed_gate_says_how_far_the_bound_is() -> None:
    today = Baseline(0.8812, 0.05, 0.3, ("g-1",))
    assert passed(GOOD, today) == "gate passed: recall@5 0.881 (baseline 0.900, bound 0.870)"


@pytest.mark.parametrize(
    ("recall_before", "status", "verdict"),
    [
        (0.5, 0, "gate passed: recall@5 0.500 (baseline 0.500, bound 0.470)"),
        (0.53, 0, "gate passed: recall@5 0.500 (baseline 0.530, bound 0.500)"),
        (1.0, 1, "gate failed: recall@5 fell from 1.000 to 0.500; newly missed: late"),
    ],
    ids=["as good as before", "at the bound", "worse"],
)
def test_the_gate_ends_with_its_verdict(
    recall_before: float,
    status: int,
    verdict: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    baseline = tmp_path / "baseline.json"
    baseline.write_text(Baseline(recall_before, 0.0, 0.0, ()).to_json(), encoding="utf-8")
    monkeypatch.setattr(command, "BASELINE", baseline)
    monkeypatch.setattr(command, "_score", _half_found)
    assert command.main(["gate"]) == status
    output, errors = capfd.readouterr()
    assert (output + errors).splitlines()[-1] == verdict


def test_a_written_baseline_is_said_and_passes_the_next_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "BASELINE", tmp_path / "baseline.json")
    monkeypatch.setattr(command, "_score", _half_found)
    assert command.main(["gate", "--write-baseline"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "baseline written: recall@5 0.500"
    assert command.main(["gate"]) == 0


def _half_found(_: Dataset) -> tuple[list[Scored], dict[str, Any]]:
    scored = [
        _scored("found", gold="a", ranking=["a"], best=0.9),
        _scored("late", gold="f", ranking=["a", "b", "c", "d", "e", "f"], best=0.8),
        _scored("off", gold=None, ranking=["a"], best=0.1),
    ]
    return scored, figures(scored, min_score=0.6, config={})
