from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.fitting import Logistic, Share, choose_threshold, errors_at, fit_logistic, folds
from tests.outcomes import an_outcome


def _fit(rows: list[tuple[bool, float]], *, l2: float = 0.0) -> Logistic:
    return fit_logistic([{"x": value} for _, value in rows], [answerable for answerable, _ in rows], l2=l2)


def test_without_a_penalty_the_odds_are_those_of_the_data() -> None:
    # Of x = 1, three of four are answerable; of x = 0, one of four: so the log odds rise by 2 log 3.
    rows = [(True, 1.0)] * 3 + [(False, 1.0)] + [(True, 0.0)] + [(False, 0.0)] * 3
    fit = _fit(rows)
    assert [fit.weights["x"], fit.intercept] == pytest.approx([2 * log(3), -log(3)])
    assert fit.score({"x": 1.0}) == pytest.approx(0.75)


def test_classes_weigh_the_same_however_many_there_are() -> None:
    rows = [(True, 1.0)] * 30 + [(True, 0.0)] * 10 + [(False, 1.0)] + [(False, 0.0)] * 3
    fit = _fit(rows)
    assert [fit.weights["x"], fit.intercept] == pytest.approx([2 * log(3), -log(3)])


def test_known_weights_are_found_again() -> None:
    random = np.random.default_rng(7)
    values = random.normal([0.7, 0.5], [0.1, 0.2], size=(6000, 2))
    chance = 1 / (1 + np.exp(-(20 * (values[:, 0] - 0.7) + 5 * (values[:, 1] - 0.5))))
    labels = random.random(6000) < chance
    rows = [{"cosine": row[0], "coverage": row[1], "constant": 3.0} for row in values]
    fit = fit_logistic(rows, list(labels))
    assert fit.weights["cosine"] == pytest.approx(20, rel=0.1)
    assert fit.weights["coverage"] == pytest.approx(5, rel=0.1)
    assert fit.weights["constant"] == 0


def test_classes_that_are_wholly_apart_get_finite_weights() -> None:
    fit = _fit([(True, 0.9), (True, 0.8), (False, 0.2), (False, 0.1)], l2=1.0)
    assert 0 < fit.weights["x"] < 100
    assert fit.score({"x": 0.9}) > 0.5 > fit.score({"x": 0.1})


def test_a_score_is_a_probability_however_far_off() -> None:
    fit = _fit([(True, 1.0), (False, 0.0)], l2=0.1)
    assert [fit.score({"x": value}) for value in (-1e6, 1e6)] == [0.0, 1.0]
    assert fit.score({"x": 0.25}) == pytest.approx(1 / (1 + exp(-(fit.intercept + fit.weights["x"] / 4))))


def test_the_threshold_refuses_as_many_as_it_may_and_not_one_more() -> None:
    kept = [number / 10 for number in range(1, 11)]
    assert choose_threshold(kept, false_refusals=0.0) == 0.1
    assert choose_threshold(kept, false_refusals=0.1) == pytest.approx(0.15)
    assert choose_threshold(kept, false_refusals=0.29) == pytest.approx(0.25)


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5]), min_size=1, max_size=30), st.floats(0, 1))
def test_the_threshold_keeps_its_promise_and_no_higher_one_does(kept: list[float], allowed: float) -> None:
    threshold = choose_threshold(kept, false_refusals=allowed)
    refusals, _ = errors_at(threshold, kept, [])
    assert refusals.rate <= allowed + 1e-9
    lowest_kept = min(score for score in kept if score >= threshold)
    for higher in sorted(score for score in kept if score > lowest_kept)[:1]:
        more, _ = errors_at(higher, kept, [])
        assert more.count > allowed * len(kept) - 1e-9


def test_errors_are_counted_on_both_sides_of_the_threshold() -> None:
    assert errors_at(0.5, [0.4, 0.5, 0.6], [0.4, 0.5]) == (Share(1, 3), Share(1, 2))


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662), (0, 0, 0.0, 1.0)],
)
def test_intervals_are_wilsons(count: int, of: int, low: float, high: float) -> None:
    assert Share(count, of).interval == pytest.approx((low, high), abs=1e-4)


def test_folds_hold_both_classes_and_stay_the_same() -> None:
    examples = [an_outcome(f"q{number}", gold=None if number % 4 else "a", ranking=[]) for number in range(40)]
    parts = folds(examples, 5)
    assert [len(part) for part in parts] == [8] * 5
    assert [sum(each.answerable for each in part) for part in parts] == [2] * 5
    assert sorted(each.id for part in parts for each in part) == sorted(each.id for each in examples)
    assert folds(examples[::-1], 5) == parts
