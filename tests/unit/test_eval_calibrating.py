from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import eval.runs
from citewell.core.refusing import RefusalFit
from eval.__main__ import main
from eval.calibrating import (
    best_weight,
    calibrated,
    cross_validated,
    curve,
    errors_of,
    fit_cosine,
    fit_signals,
    fit_support,
    signals,
    support,
)
from eval.commands import calibrate
from eval.dataset import Dataset
from eval.outcomes import NOTHING, Outcome
from eval.runs import Run
from tests.outcomes import a_run, an_outcome
from tests.passages import a_passage

# Cosines overlap; near misses lack the question's rare words, and that tells them.
NEAR_MISSES = [
    *(an_outcome(f"a{n}", gold="a", ranking=["a"], score=0.60 + n / 100, coverage=0.9) for n in range(20)),
    *(an_outcome(f"u{n}", gold=None, ranking=["a"], score=0.62 + n / 100, coverage=0.3) for n in range(20)),
]


def test_support_is_the_products() -> None:
    fit = RefusalFit("m", 0.4, 0.5)
    outcome = an_outcome("q", gold="a", ranking=["a"], score=0.7, coverage=0.25)
    assert support(outcome, 0.4) == pytest.approx(fit.support(a_passage(score=0.7, coverage=0.25)))
    assert support(an_outcome("q", gold="a", ranking=[]), 0.4) == NOTHING


def test_coverage_gets_weight_where_it_tells() -> None:
    assert best_weight(NEAR_MISSES) > 0.2
    fit = calibrated(NEAR_MISSES, model_id="m", false_refusals=0.05)
    refused, answered = errors_of(NEAR_MISSES, lambda each: support(each, fit.coverage_weight), fit.threshold)
    assert (fit.model_id, refused.count, answered.count) == ("m", 1, 0)


def test_coverage_gets_none_where_it_does_not_tell() -> None:
    same = [
        an_outcome(f"q{n}", gold="a" if n % 2 else None, ranking=["a"], score=0.5 + n % 2 / 10, coverage=0.5)
        for n in range(10)
    ]
    assert best_weight(same) == 0.0


def test_the_cross_validation_judges_what_was_not_fitted_on() -> None:
    seen: list[set[str]] = []

    def spy(outcomes: list[Outcome]) -> Callable[[Outcome], float]:
        seen.append({each.id for each in outcomes})
        return lambda each: support(each, 0.0)

    judged = cross_validated(NEAR_MISSES, spy, parts=4, false_refusals=0.05)  # type: ignore[arg-type]  # a list does
    assert [len(ids) for ids in seen] == [30] * 4
    assert set.intersection(*seen) == set()
    assert (judged.false_refusals.of, judged.false_answers.of) == (20, 20)


def test_signals_beat_the_cosine_where_coverage_tells() -> None:
    judged = [
        cross_validated(NEAR_MISSES, fit, parts=5, false_refusals=0.05)
        for fit in (fit_cosine, fit_support, fit_signals)
    ]
    assert judged[0].auc < 0.6
    assert min(judged[1].auc, judged[2].auc) > 0.98
    assert judged[1].false_answers.count < judged[0].false_answers.count


def test_the_curve_falls() -> None:
    rates = [share.rate for _, share in curve(NEAR_MISSES, lambda each: support(each, 0.0)).values()]
    assert rates == sorted(rates, reverse=True)


def test_signals_of_nothing_are_noughts() -> None:
    values = signals(an_outcome("q", gold=None, ranking=[]))
    assert [values[name] for name in ("best_cosine", "margin", "best_coverage", "mean_coverage")] == [0, 0, 0, 0]


@pytest.fixture
def _fitted_on_near_misses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def perform(_: Dataset) -> Run:
        return a_run(NEAR_MISSES, embedder="model@1")

    monkeypatch.setattr(eval.runs, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(calibrate, "perform", perform)


@pytest.mark.usefixtures("_fitted_on_near_misses")
def test_the_fit_is_written_for_the_embedder_and_said_beside_the_cosine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", "--out", str(tmp_path / "new" / "fit.json"), "--false-refusals", "0.05"]) == 0
    fit = RefusalFit.from_json((tmp_path / "new" / "fit.json").read_text(encoding="utf-8"))
    assert fit == calibrated(NEAR_MISSES, model_id="model@1", false_refusals=0.05)
    out = capsys.readouterr().out
    assert "best cosine alone" in out
    assert f"CITEWELL_REFUSAL_FIT='{json.dumps(json.loads(fit.to_json()))}'" in out
    assert "a-set          20   20  1.000  0.050 (0.009 .. 0.236)  0.000 (0.000 .. 0.161)" in out


@pytest.mark.usefixtures("_fitted_on_near_misses")
def test_more_parts_than_questions_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "--folds", "21"]) == 2
    assert (
        "20 answerable and 20 unanswerable questions: 21 parts need as many of either kind" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "wrong", [["--false-refusals", "2"], ["--false-refusals", "nan"], ["--folds", "1"], ["--folds", "-5"]]
)
def test_shares_and_parts_that_are_none_are_refused_before_anything_is_run(wrong: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["calibrate", *wrong])
    assert refused.value.code == 2
