from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import eval.runs
from eval.__main__ import main
from eval.commands import gate
from eval.dataset import Dataset
from eval.gate import Baseline, passed, regressions
from eval.runs import Run
from tests.outcomes import a_run, an_outcome

GOOD = Baseline(
    recall_at_5=0.9,
    ndcg_at_10={"fused": 0.8, "rrf": 0.75, "vector": 0.7, "keyword": 0.6},
    false_refusal_rate=0.05,
    false_answer_rate=0.3,
    missed=("g-1",),
)


def test_the_gate_lets_noise_pass() -> None:
    noise = {"fused": 0.78, "rrf": 0.73, "vector": 0.68, "keyword": 0.58}
    assert regressions(GOOD, Baseline(0.88, noise, 0.07, 0.32, ("g-1", "g-2"))) == []


def test_the_gate_names_what_is_newly_missed() -> None:
    assert regressions(GOOD, replace(GOOD, recall_at_5=0.8, missed=("g-1", "g-2", "g-3"))) == [
        "recall@5 fell from 0.900 to 0.800; newly missed: g-2, g-3"
    ]


def test_the_gate_says_so_when_nothing_is_newly_missed() -> None:
    [line] = regressions(GOOD, replace(GOOD, recall_at_5=0.8))
    assert line.endswith("newly missed: none, but more of those that were missed in part")


@pytest.mark.parametrize("ranking", ["fused", "rrf", "vector", "keyword"])
def test_the_gate_watches_each_ranking(ranking: str) -> None:
    before = GOOD.ndcg_at_10[ranking]
    worse = replace(GOOD, ndcg_at_10={**GOOD.ndcg_at_10, ranking: before - 0.031})
    assert regressions(GOOD, worse) == [
        f"ndcg@10 of the {ranking} ranking fell from {before:.3f} to {before - 0.031:.3f}"
    ]


def test_the_gate_watches_both_refusal_errors() -> None:
    assert regressions(GOOD, replace(GOOD, false_refusal_rate=0.2, false_answer_rate=0.5)) == [
        "false_refusal_rate rose from 0.050 to 0.200, over its bound of 0.080",
        "false_answer_rate rose from 0.300 to 0.500, over its bound of 0.330",
    ]


def test_a_baseline_survives_its_file() -> None:
    assert Baseline.from_json(GOOD.to_json()) == GOOD


def test_a_passed_gate_says_how_far_the_bound_is() -> None:
    today = replace(GOOD, recall_at_5=0.8812)
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
    baseline.write_text(
        Baseline(recall_before, dict.fromkeys(("fused", "rrf", "vector", "keyword"), 0.0), 0.0, 0.0, ()).to_json(),
        encoding="utf-8",
    )
    monkeypatch.setattr(gate, "BASELINE", baseline)
    monkeypatch.setattr(gate, "perform", _half_found)
    monkeypatch.setattr(eval.runs, "RUNS", tmp_path)
    assert main(["gate"]) == status
    output, errors = capfd.readouterr()
    assert (output + errors).splitlines()[-1] == verdict


def test_a_written_baseline_is_said_and_passes_the_next_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gate, "BASELINE", tmp_path / "baseline.json")
    monkeypatch.setattr(gate, "perform", _half_found)
    monkeypatch.setattr(eval.runs, "RUNS", tmp_path)
    assert main(["gate", "--write-baseline"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "baseline written: recall@5 0.500"
    assert main(["gate"]) == 0


def test_the_graded_run_is_kept_and_drawn_where_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "BASELINE", tmp_path / "baseline.json")
    monkeypatch.setattr(gate, "perform", _half_found)
    monkeypatch.setattr(eval.runs, "RUNS", tmp_path)
    assert main(["gate", "--write-baseline", "--report", str(tmp_path / "new/report.html")]) == 0
    assert eval.runs.kept("a-run").outcomes == _half_found(Dataset("", (), ())).outcomes
    assert "late?" in (tmp_path / "new/report.html").read_text(encoding="utf-8")


def _half_found(_: Dataset) -> Run:
    return a_run(
        [
            an_outcome("found", gold="a", ranking=["a"], score=0.9),
            an_outcome("late", gold="f", ranking=["a", "b", "c", "d", "e", "f"], score=0.8),
            an_outcome("off", gold=None, ranking=["a"], score=0.1),
        ]
    )
