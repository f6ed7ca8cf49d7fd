"""When a question is refused before any model is called, and what the refusal says."""

from __future__ import annotations

import pytest

from citewell.core.refusing import REFUSAL, RefusalFit, fit_for, refusal_reason, refuse
from citewell.core.values import Answer, Usage
from citewell.errors import ConfigurationError
from infra.model import MODEL_SHA256
from tests.passages import a_passage

BUNDLED = f"bge-small-en-v1.5-int8@{MODEL_SHA256[:12]}"
COSINE = RefusalFit("model", coverage_weight=0.0, threshold=0.55)


def test_a_best_score_below_the_threshold_is_refused_with_both_figures() -> None:
    passages = [a_passage("a", score=0.12), a_passage("b", score=0.31)]
    assert refusal_reason(passages, COSINE) == "best score 0.31 below threshold 0.55"


def test_the_best_score_decides_wherever_it_stands() -> None:
    assert refusal_reason([a_passage("a", score=0.1), a_passage("b", score=0.9)], COSINE) is None


def test_a_score_that_reaches_the_threshold_is_enough() -> None:
    assert refusal_reason([a_passage(score=0.55)], COSINE) is None


def test_the_fused_score_does_not_count() -> None:
    assert refusal_reason([a_passage(score=0.2, fused_score=1.0)], COSINE) is not None


def test_figures_that_round_alike_are_shown_with_as_many_decimals_as_it_takes() -> None:
    assert refusal_reason([a_passage(score=0.5498)], COSINE) == "best score 0.5498 below threshold 0.5500"


def test_a_score_that_is_no_number_is_refused() -> None:
    assert refusal_reason([a_passage(score=float("nan"))], COSINE) == "best score nan below threshold 0.55"


def test_no_passage_at_all_has_a_reason_of_its_own() -> None:
    assert refusal_reason([], RefusalFit("model", 0.0, -1.0)) == "no passage was found"


def test_a_passage_without_the_question_s_words_supports_an_answer_less() -> None:
    fit = RefusalFit("model", coverage_weight=0.3, threshold=0.5)
    assert fit.support(a_passage(score=0.6, coverage=1.0)) == pytest.approx(0.6)
    assert fit.support(a_passage(score=0.6, coverage=0.5)) == pytest.approx(0.51)
    assert fit.support(a_passage(score=0.6, coverage=0.0)) == pytest.approx(0.42)
    assert refusal_reason([a_passage(score=0.6, coverage=0.0)], fit) == "best score 0.42 below threshold 0.50"
    assert refusal_reason([a_passage(score=0.6, coverage=0.0), a_passage("b", score=0.55, coverage=0.9)], fit) is None


def test_the_model_that_comes_with_the_product_has_a_fit() -> None:
    assert fit_for(BUNDLED).model_id == BUNDLED


def test_a_configured_fit_wins_over_the_known_one() -> None:
    own = RefusalFit(BUNDLED, 0.1, 0.4)
    assert fit_for(BUNDLED, fit=own) == own


def test_a_plain_threshold_is_a_fit_of_the_cosine_alone() -> None:
    assert fit_for(BUNDLED, min_score=0.4) == RefusalFit(BUNDLED, 0.0, 0.4)


def test_a_fit_of_another_embedder_is_refused_with_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match=r"made for the embedder bge.*embedded by voyage-3.*calibrate"):
        fit_for("voyage-3", fit=RefusalFit(BUNDLED, 0.1, 0.4))


def test_two_thresholds_are_one_too_many() -> None:
    with pytest.raises(ConfigurationError, match="both set"):
        fit_for(BUNDLED, fit=RefusalFit(BUNDLED, 0.1, 0.4), min_score=0.4)


def test_an_unknown_model_needs_a_fit() -> None:
    with pytest.raises(ConfigurationError, match=r"text-embedding-3-small.*calibrate.*CITEWELL_MIN_SCORE"):
        fit_for("text-embedding-3-small")


def test_a_fit_goes_through_json() -> None:
    fit = RefusalFit("voyage-3", 0.15, 0.47)
    assert RefusalFit.from_json(fit.to_json()) == fit


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        '{"model_id": "m", "coverage_weight": 0.1}',
        '{"model_id": "m", "coverage_weight": "much", "threshold": 0.5}',
        '{"model_id": "m", "coverage_weight": "0.1", "threshold": 0.5}',
        '{"model_id": "m", "coverage_weight": 0.1, "threshold": true}',
        '{"model_id": null, "coverage_weight": 0.1, "threshold": 0.5}',
        '{"model_id": "m", "coverage_weight": 0.1, "threshold": 0.5, "min_score": 0.7}',
        "[" * 100_000,
        f'{{"model_id": "m", "coverage_weight": 0.1, "threshold": 1{"0" * 400}}}',
        '{"model_id": "m", "coverage_weight": 1.5, "threshold": 0.5}',
        '{"model_id": "m", "coverage_weight": 0.1, "threshold": NaN}',
        '{"model_id": "m", "coverage_weight": 0.1, "threshold": 2}',
    ],
)
def test_what_is_no_fit_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="fit"):
        RefusalFit.from_json(text)


def test_a_refusal_has_the_fixed_text_no_citation_and_its_reason() -> None:
    assert refuse("best score 0.31 below threshold 0.55") == Answer(
        text="I don't know based on the available documents.",
        citations=(),
        reason="best score 0.31 below threshold 0.55",
        usage=Usage(),
        model=None,
    )
    assert refuse("x").text == REFUSAL
