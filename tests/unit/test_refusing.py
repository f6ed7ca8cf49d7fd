"""When a question is refused before any model is called, and what the refusal says."""

from __future__ import annotations

import pytest

from citewell.core.refusing import REFUSAL, min_score_for, refusal_reason, refuse
from citewell.core.values import Answer, Usage
from citewell.errors import ConfigurationError
from infra.model import MODEL_SHA256
from tests.passages import a_passage


def test_a_best_score_below_the_threshold_is_refused_with_both_figures() -> None:
    passages = [a_passage("a", score=0.12), a_passage("b", score=0.31)]
    assert refusal_reason(passages, 0.55) == "best score 0.31 below threshold 0.55"


def test_the_best_score_decides_wherever_it_stands() -> None:
    assert refusal_reason([a_passage("a", score=0.1), a_passage("b", score=0.9)], 0.55) is None


def test_a_score_that_reaches_the_threshold_is_enough() -> None:
    assert refusal_reason([a_passage(score=0.55)], 0.55) is None


def test_the_fused_score_does_not_count() -> None:
    assert refusal_reason([a_passage(score=0.2, fused_score=1.0)], 0.55) is not None


def test_figures_that_round_alike_are_shown_with_as_many_decimals_as_it_takes() -> None:
    assert refusal_reason([a_passage(score=0.5498)], 0.55) == "best score 0.5498 below threshold 0.5500"


def test_a_score_that_is_no_number_is_refused() -> None:
    assert refusal_reason([a_passage(score=float("nan"))], 0.55) == "best score nan below threshold 0.55"


def test_no_passage_at_all_has_a_reason_of_its_own() -> None:
    assert refusal_reason([], -1.0) == "no passage was found"


def test_the_configured_threshold_wins() -> None:
    assert min_score_for(f"bge-small-en-v1.5-int8@{MODEL_SHA256[:12]}", 0.0) == 0.0


def test_the_model_that_is_shipped_has_a_provisional_threshold() -> None:
    assert min_score_for(f"bge-small-en-v1.5-int8@{MODEL_SHA256[:12]}", None) == 0.55


def test_an_unknown_model_needs_the_setting() -> None:
    with pytest.raises(ConfigurationError, match=r"text-embedding-3-small.*CITEWELL_MIN_SCORE"):
        min_score_for("text-embedding-3-small", None)


def test_a_refusal_has_the_fixed_text_no_citation_and_its_reason() -> None:
    assert refuse("best score 0.31 below threshold 0.55") == Answer(
        text="I don't know based on the available documents.",
        citations=(),
        reason="best score 0.31 below threshold 0.55",
        usage=Usage(),
        model=None,
    )
    assert refuse("x").text == REFUSAL
