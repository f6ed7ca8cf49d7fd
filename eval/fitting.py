"""Fit the refusal: weights for its signals, and the threshold of the score that they give."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ITERATIONS = 100
_CONVERGED = 1e-10
_NORMAL_95 = 1.959963984540054


class Judgeable(Protocol):
    """A question of which it is known whether it can be answered."""

    @property
    def id(self) -> str: ...

    @property
    def answerable(self) -> bool: ...


_Question = TypeVar("_Question", bound=Judgeable)


@dataclass(frozen=True, slots=True)
class Logistic:
    """The probability that a question can be answered is ``1 / (1 + exp(-(intercept + sum(weight * signal))))``."""

    weights: Mapping[str, float]
    intercept: float

    def score(self, signals: Mapping[str, float]) -> float:
        raised = self.intercept + sum(weight * signals[name] for name, weight in self.weights.items())
        return float(_sigmoid(np.array([raised]))[0])


def fit_logistic(rows: Sequence[Mapping[str, float]], answerable: Sequence[bool], *, l2: float = 1.0) -> Logistic:
    """Logistic regression over the signals of ``rows``, with an L2 penalty of ``l2 / 2`` a squared standardised weight.

    Both classes weigh the same however many questions each has; neither may be empty. Newton's method: Hastie,
    Tibshirani and Friedman, "The Elements of Statistical Learning", 2009, section 4.4.1.
    """
    names = list(rows[0])
    values = np.array([[row[name] for name in names] for row in rows], dtype=float)
    labels = np.array(answerable, dtype=float)
    mean, spread = values.mean(axis=0), values.std(axis=0)
    spread[spread == 0] = 1.0  # a signal that never varies gets no weight
    columns = np.hstack([(values - mean) / spread, np.ones((len(values), 1))])
    balance = np.where(labels == 1, 0.5 / labels.sum(), 0.5 / (1 - labels).sum()) * len(labels)
    penalty = np.diag([l2] * len(names) + [0.0])  # the intercept is free
    weights = np.zeros(len(names) + 1)
    for _ in range(_ITERATIONS):
        predicted = _sigmoid(columns @ weights)
        slope = columns.T @ (balance * (labels - predicted)) - penalty @ weights
        curvature = (columns * (balance * predicted * (1 - predicted))[:, None]).T @ columns + penalty
        step = np.linalg.solve(curvature, slope)
        weights += step
        if np.abs(step).max() < _CONVERGED:
            break
    raw = weights[:-1] / spread
    return Logistic(dict(zip(names, map(float, raw), strict=True)), float(weights[-1] - raw @ mean))


def _sigmoid(raised: Floats) -> Floats:
    return 0.5 * (1 + np.tanh(raised / 2))  # doesn't overflow


def choose_threshold(kept: Sequence[float], *, false_refusals: float) -> float:
    """The highest threshold that refuses at most that share of the answerable questions, whose scores are ``kept``.

    No other threshold with so few false refusals has fewer false answers. It lies halfway to the best score that it
    refuses, so that neither side stands on the edge.
    """
    ordered = sorted(kept)
    refused = min(int(false_refusals * len(ordered) + 1e-9), len(ordered) - 1)
    lowest_kept = ordered[refused]
    below = [score for score in ordered[:refused] if score < lowest_kept]
    return (below[-1] + lowest_kept) / 2 if below else lowest_kept


def folds(questions: Sequence[_Question], count: int) -> list[list[_Question]]:
    """``count`` parts with equal shares of both classes: by a hash of the ids, so they stay the same."""
    parts: list[list[_Question]] = [[] for _ in range(count)]
    ordered = sorted(questions, key=lambda each: (each.answerable, hashlib.sha256(each.id.encode()).digest()))
    for number, question in enumerate(ordered):
        parts[number % count].append(question)
    return parts


@dataclass(frozen=True, slots=True)
class Share:
    """``count`` of ``of``."""

    count: int
    of: int

    @property
    def rate(self) -> float:
        return self.count / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95%: Wilson, "Probable inference, the law of succession, and statistical inference", 1927."""
        if not self.of:
            return 0.0, 1.0
        z, n, p = _NORMAL_95, self.of, self.rate
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        reach = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, middle - reach), min(1.0, middle + reach)

    def __add__(self, other: Self) -> Self:
        return replace(self, count=self.count + other.count, of=self.of + other.of)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.rate:.3f} ({low:.3f} .. {high:.3f})"


def errors_at(threshold: float, kept: Sequence[float], refused: Sequence[float]) -> tuple[Share, Share]:
    """False refusals of the answerable questions' scores ``kept``, and false answers of the others'."""
    return (
        Share(sum(score < threshold for score in kept), len(kept)),
        Share(sum(score >= threshold for score in refused), len(refused)),
    )
