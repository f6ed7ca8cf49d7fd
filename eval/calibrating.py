"""Fit the refusal on answerable and unanswerable questions, and say how well it will do on others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import mean

from citewell.core.refusing import RefusalFit
from eval.fitting import Share, choose_threshold, errors_at, fit_logistic, folds
from eval.outcomes import NOTHING, Outcome
from eval.scoring import area_under_curve

Score = Callable[[Outcome], float]
Fit = Callable[[Sequence[Outcome]], Score]
"""Makes a score of the questions that it may look at; a question under a threshold of it will be refused."""

WEIGHTS = tuple(step / 20 for step in range(21))

ALLOWED = (0.0, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)
"""Shares of false refusals at which the curve is shown."""


def support(outcome: Outcome, coverage_weight: float) -> float:
    """What a fit with this weight makes of the question: :meth:`citewell.core.refusing.RefusalFit.support`, at best."""
    return max((each.score * (1 - coverage_weight * (1 - each.coverage)) for each in outcome.found), default=NOTHING)


def fit_cosine(_: Sequence[Outcome]) -> Score:
    return lambda outcome: support(outcome, 0.0)


def fit_support(outcomes: Sequence[Outcome]) -> Score:
    weight = best_weight(outcomes)
    return lambda outcome: support(outcome, weight)


def best_weight(outcomes: Sequence[Outcome]) -> float:
    """The weight of coverage that tells the questions apart best, by the area under the curve; the least of equals.

    The area is the mean over the sets: one deployment has one set of documents, and whether a question of one set looks
    more answerable than one of another's is nothing that it could get wrong.
    """
    return max(WEIGHTS, key=lambda weight: (round(_auc(outcomes, lambda each: support(each, weight)), 6), -weight))


def fit_signals(outcomes: Sequence[Outcome]) -> Score:
    """A logistic regression over everything that might tell: what a freer fit than the product's would gain."""
    rows = [signals(each) for each in outcomes]
    fit = fit_logistic(rows, [each.answerable for each in outcomes])
    return lambda outcome: fit.score(signals(outcome))


def signals(outcome: Outcome) -> dict[str, float]:
    """``margin`` is the best cosine's over the mean of the others; ``words`` is the logarithm of their number."""
    cosines = sorted((each.score for each in outcome.found), reverse=True) or [0.0]
    others = cosines[1:] or cosines
    return {
        "best_cosine": cosines[0],
        "margin": cosines[0] - mean(others),
        "best_coverage": max((each.coverage for each in outcome.found), default=0.0),
        "mean_coverage": mean(each.coverage for each in outcome.found) if outcome.found else 0.0,
        "words": log(1 + len(outcome.question.split())),
    }


@dataclass(frozen=True, slots=True)
class Judged:
    """How a way of fitting does on questions that it hasn't seen: ``auc`` is the mean over the folds."""

    auc: float
    false_refusals: Share
    false_answers: Share


def cross_validated(outcomes: Sequence[Outcome], fit: Fit, *, parts: int, false_refusals: float) -> Judged:
    """Fit on all but one part, score and threshold both; count the errors on that part; add up over the parts."""
    aucs, refused, answered = [], Share(0, 0), Share(0, 0)
    divided = folds(outcomes, parts)
    for held_out in divided:
        seen = [each for part in divided if part is not held_out for each in part]
        score = fit(seen)
        threshold = choose_threshold(_scores(seen, score, answerable=True), false_refusals=false_refusals)
        wrong = errors_of(held_out, score, threshold)
        aucs.append(_auc(held_out, score))
        refused, answered = refused + wrong[0], answered + wrong[1]
    return Judged(mean(aucs), refused, answered)


def errors_of(outcomes: Sequence[Outcome], score: Score, threshold: float) -> tuple[Share, Share]:
    """False refusals and false answers."""
    kept, refused = (_scores(outcomes, score, answerable=answerable) for answerable in (True, False))
    return errors_at(threshold, kept, refused)


def curve(outcomes: Sequence[Outcome], score: Score) -> Mapping[float, tuple[float, Share]]:
    """The threshold and the false answers for each share of false refusals in :data:`ALLOWED`."""
    kept = _scores(outcomes, score, answerable=True)
    points = {}
    for allowed in ALLOWED:
        threshold = choose_threshold(kept, false_refusals=allowed)
        points[allowed] = threshold, errors_of(outcomes, score, threshold)[1]
    return points


def calibrated(outcomes: Sequence[Outcome], *, model_id: str, false_refusals: float) -> RefusalFit:
    """The fit on all of ``outcomes``: the weight that tells best, and the highest threshold that is allowed."""
    weight = best_weight(outcomes)
    kept = [support(each, weight) for each in outcomes if each.answerable]
    return RefusalFit(model_id, weight, choose_threshold(kept, false_refusals=false_refusals))


def auc_of(outcomes: Sequence[Outcome], fit: RefusalFit) -> float:
    return _auc(outcomes, lambda each: support(each, fit.coverage_weight))


def _auc(outcomes: Sequence[Outcome], score: Score) -> float:
    """The mean over the sets that have both kinds of questions."""
    areas = []
    for dataset in dict.fromkeys(each.dataset for each in outcomes):
        of_set = [each for each in outcomes if each.dataset == dataset]
        kept, refused = (_scores(of_set, score, answerable=answerable) for answerable in (True, False))
        if kept and refused:
            areas.append(area_under_curve(kept, refused))
    return mean(areas)


def _scores(outcomes: Sequence[Outcome], score: Score, *, answerable: bool) -> list[float]:
    return [score(each) for each in outcomes if each.answerable is answerable]
