"""The difference between two runs over the same questions, and how much of it chance could explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 10_000
SEED = 20_240_601


@dataclass(frozen=True, slots=True)
class Difference:
    """Means before and after, and the 95% interval of their difference; ``better`` and ``worse`` count questions."""

    before: float
    after: float
    low: float
    high: float
    better: int
    worse: int

    @property
    def difference(self) -> float:
        return self.after - self.before


def compare(before: Sequence[float], after: Sequence[float]) -> Difference:
    """``before`` and ``after`` hold one figure a question, in the same order; neither may be empty.

    The interval is the percentile bootstrap's over questions, paired: Efron and Tibshirani, "An Introduction to the
    Bootstrap", 1993, chapter 13. Seeded, so that the same runs always give the same interval.
    """
    differences = np.asarray(after, dtype=float) - np.asarray(before, dtype=float)
    random = np.random.default_rng(SEED)
    resampled = random.integers(len(differences), size=(RESAMPLES, len(differences)))
    means = differences[resampled].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Difference(
        before=float(np.mean(before)),
        after=float(np.mean(after)),
        low=float(low),
        high=float(high),
        better=int((differences > 0).sum()),
        worse=int((differences < 0).sum()),
    )
