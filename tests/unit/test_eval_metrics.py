from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R, nDCG

from eval.metrics import first_rank, mean, ndcg_at_k, recall_at_k, reciprocal_rank

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


@given(
    st.permutations([f"d{number}" for number in range(15)]),
    st.integers(0, 15),
    st.sets(st.sampled_from([f"d{number}" for number in range(18)]), min_size=1),
    st.integers(1, 12),
)
def test_they_equal_those_of_a_standard_library(ordered: list[str], found: int, gold: set[str], k: int) -> None:
    ranking = ordered[:found]
    scores = {name: float(found - rank) for rank, name in enumerate(ranking)}
    relevant = {"q": dict.fromkeys(gold, 1)}
    theirs = ir_measures.calc_aggregate([R @ k, RR @ k, nDCG @ k], relevant, {"q": scores})
    ours = {
        R @ k: recall_at_k(ranking, gold, k=k),
        RR @ k: reciprocal_rank(ranking, gold, k=k),
        nDCG @ k: ndcg_at_k(ranking, gold, k=k),
    }
    assert ours == pytest.approx(theirs)


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
