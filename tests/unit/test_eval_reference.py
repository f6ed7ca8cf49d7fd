from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.__main__ import main
from eval.commands import reference as command
from eval.commands.reference import PUBLISHED, deviations, judged
from eval.dataset import CorpusDocument, Dataset, EvalQuestion, Gold
from eval.reference import OVERLAP, SIZE, paragraph_chunks, rankings, words
from eval.runs import Run
from tests.fakes import HashEmbedder
from tests.outcomes import a_run, an_outcome


def test_paragraphs_are_packed_and_a_tail_is_repeated() -> None:
    chunks = paragraph_chunks(f"{'a' * 900}\n\n{'b' * 800}\n \n{'c' * 500}")
    assert chunks == [f"{'a' * 900}\n\n{'b' * 800}", f"{'b' * OVERLAP}\n\n{'c' * 500}"]


def test_a_long_paragraph_is_cut_and_each_piece_repeats_the_end_of_the_one_before() -> None:
    text = "".join(str(number % 10) for number in range(4000))
    chunks = paragraph_chunks(text)
    assert [len(chunk) for chunk in chunks] == [SIZE, SIZE, 4000 - 2 * (SIZE - OVERLAP)]
    assert chunks[0][-OVERLAP:] == chunks[1][:OVERLAP]


@given(st.lists(st.text("xy z", min_size=1, max_size=2500), min_size=1, max_size=6))
def test_no_chunk_is_too_long_and_no_word_is_lost(paragraphs: list[str]) -> None:
    text = "\n\n".join(paragraphs)
    chunks = paragraph_chunks(text)
    assert max(map(len, chunks)) <= SIZE
    assert {letter for chunk in chunks for letter in chunk if letter in "xyz"} == set(text) & set("xyz")


def test_words_are_stems_and_pairs_of_characters() -> None:
    assert words("The reports_filed: 东京都 X") == ["the", "report", "file", "东京", "京都", "x"]
    assert words("中 one") == ["中", "one"]


def _a_set() -> Dataset:
    documents = tuple(
        CorpusDocument(name, text.encode(), {"title": name})
        for name, text in {"fees": "A late fee of 25 EUR.", "travel": "Trains before planes.", "empty": ""}.items()
    )
    questions = (
        EvalQuestion("q", "Trains before planes.", frozenset({Gold("travel")})),
        EvalQuestion("none", "Who?", frozenset()),
    )
    return Dataset("toy", documents, questions)


def test_both_arms_rank_documents_and_unanswerable_questions_are_left_out() -> None:
    found = rankings(_a_set(), HashEmbedder())
    assert found.keys() == {"q"}
    assert found["q"]["bm25"] == ["travel"]
    assert found["q"]["vector"][0] == found["q"]["rrf"][0] == "travel"
    assert set(found["q"]["rrf"]) == {"fees", "travel", "empty"}


def _figures(ndcg: float, *, recall: float = 0.9, **by_arm: float) -> dict[str, Mapping[str, float]]:
    arms = dict.fromkeys(("keyword", "vector", "fused", "bm25", "rrf"), ndcg) | by_arm
    return {arm: {"ndcg@10": value, "recall@5": recall} for arm, value in arms.items()}


def test_every_bound_is_judged_by_its_own_figures() -> None:
    ours = {name: _figures(0.83) for name in PUBLISHED}
    theirs = {name: _figures(0.80) for name in PUBLISHED}
    verdicts = judged(ours, theirs)
    assert len(verdicts) == 4 * 7 + 1
    assert all(verdicts.values())


@pytest.mark.parametrize(
    ("name", "ours", "broken"),
    [
        ("squad2", _figures(0.80, fused=0.794), "squad2: ndcg@10 over the reference: -0.0060, at least -0.005"),
        ("squad2", _figures(0.80, recall=0.894), "squad2: recall@5 over the reference: -0.0060, at least -0.005"),
        ("squad2", _figures(0.80, vector=0.811), "squad2: ndcg@10 over its better arm: -0.0110, at least -0.010"),
        ("squad2", _figures(0.80, keyword=0.779), "squad2: ndcg@10 of keywords over bm25s: -0.0210, at least -0.020"),
        ("xquad", _figures(0.80, keyword=0.769), "xquad: ndcg@10 of keywords over bm25s: -0.0310, at least -0.030"),
    ],
)
def test_a_broken_bound_fails_alone(name: str, ours: Mapping[str, Mapping[str, float]], broken: str) -> None:
    verdicts = judged({name: ours}, {name: _figures(0.80)})
    assert [said for said, good in verdicts.items() if not good] == [broken]


def test_a_figure_at_its_bound_passes() -> None:
    assert all(judged({"xquad": _figures(0.80, fused=0.795, keyword=0.77)}, {"xquad": _figures(0.80)}).values())


def test_a_recipe_that_differs_from_what_was_published_says_where() -> None:
    bm25, vector, rrf, recall = PUBLISHED["squad2"]
    theirs = _figures(0, bm25=bm25, vector=vector, rrf=rrf + 0.009, recall=recall - 0.011)
    assert deviations({"squad2": theirs}) == [
        "the reference's rrf recall@5 on squad2 is 0.941 here and 0.952 as published"
    ]


def test_the_command_ends_with_its_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def perform(_: Dataset) -> Run:
        return a_run([an_outcome("q", gold="travel", ranking=["fees", "travel"], keyword=["travel"])])

    monkeypatch.setattr(command, "read_retrieval_set", lambda _: _a_set())
    monkeypatch.setattr(command, "perform", perform)
    monkeypatch.setattr(command, "keep", lambda _: tmp_path)
    monkeypatch.setattr(command, "recipe", lambda _: _figures(0.9))
    assert main(["reference", "--only", "squad2", "--json", str(tmp_path / "out.json")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-4] == "FAIL  squad2: ndcg@10 over the reference: -0.2691, at least -0.005"
    assert json.loads((tmp_path / "out.json").read_text())["product"]["squad2"]["fused"]["mrr@10"] == 0.5
