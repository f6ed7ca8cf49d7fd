from __future__ import annotations

from dataclasses import replace

import pytest

from eval.scoring import area_under_curve, figures, first_ranks, missed, timings
from tests.outcomes import an_outcome

OUTCOMES = [
    an_outcome("found", gold="a", ranking=["a", "b"], score=0.9),
    an_outcome("late", gold="f", ranking=["a", "b", "c", "d", "e", "f"], score=0.5),
    an_outcome("off", gold=None, ranking=["a"], score=0.7, kind="off-topic"),
    an_outcome("empty", gold=None, ranking=[], score=-1.0),
]


def test_figures_are_means_over_the_answerable_questions() -> None:
    result = figures(OUTCOMES, threshold=0.6)
    assert (result["queries"], result["recall@5"], result["recall@10"]) == (2, 0.5, 1.0)
    assert result["mrr@10"] == pytest.approx((1 + 1 / 6) / 2, abs=1e-4)
    assert result["arms"]["vector"] == {name: result[name] for name in result["arms"]["vector"]}
    assert result["arms"]["keyword"]["recall@30"] == 0.0


def test_refusal_errors_are_shares_of_each_kind() -> None:
    assert figures(OUTCOMES, threshold=0.6)["refusal"] == {
        "unanswerable": 2,
        "threshold": 0.6,
        "false_refusal_rate": 0.5,
        "false_answer_rate": 0.5,
        "auc": 0.75,
        "kinds": {"off-topic": {"unanswerable": 1, "false_answer_rate": 1.0, "auc": 0.5}},
    }


def test_a_score_at_the_threshold_is_answered() -> None:
    result = figures(OUTCOMES, threshold=0.7)["refusal"]
    assert (result["false_refusal_rate"], result["false_answer_rate"]) == (0.5, 0.5)


def test_a_set_without_unanswerable_questions_has_no_refusal_figures() -> None:
    assert "refusal" not in figures(OUTCOMES[:2], threshold=0.6)


def test_a_reranked_ranking_is_what_counts_and_the_fused_one_stands_beside_it() -> None:
    fused = an_outcome("q", gold="b", ranking=["a", "b"])
    reranked = replace(fused, rankings={**fused.rankings, "reranked": ("b", "a")})
    result = figures([reranked], threshold=0.6)
    assert (result["mrr@10"], result["arms"]["fused"]["mrr@10"]) == (1.0, 0.5)


def test_what_is_missed_has_its_first_rank_by_arm() -> None:
    [late] = missed(OUTCOMES)
    assert late.id == "late"
    assert first_ranks(late) == {"fused": 6, "rrf": 6, "vector": 6, "keyword": None}


def test_ties_count_half_under_the_curve() -> None:
    assert area_under_curve([0.5, 0.9], [0.5, 0.1]) == pytest.approx(3.5 / 4)


def test_times_are_medians_by_step() -> None:
    assert timings(OUTCOMES, index_seconds=1.26) == {"index_seconds": 1.3, "search_p50_ms": 2.0}
