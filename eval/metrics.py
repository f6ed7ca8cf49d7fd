"""What a ranking is worth, by the definitions that everybody uses; relevance is binary.

A ranking is a list of ids, best first, each once. ``gold`` holds the ids that should be found.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from math import log2


def recall_at_k(ranking: Sequence[str], gold: Set[str], *, k: int) -> float:
    """The share of ``gold`` that stands among the first ``k``."""
    return len(gold & set(ranking[:k])) / len(gold)


def reciprocal_rank(ranking: Sequence[str], gold: Set[str], *, k: int) -> float:
    """1 / rank of the first gold id among the first ``k``; 0 when there is none."""
    return next((1 / rank for rank, found in enumerate(ranking[:k], start=1) if found in gold), 0.0)


def ndcg_at_k(ranking: Sequence[str], gold: Set[str], *, k: int) -> float:
    """Normalised discounted cumulative gain (Järvelin and Kekäläinen 2002) with a gain of 1 for each gold id."""
    gain = sum(1 / log2(rank + 1) for rank, found in enumerate(ranking[:k], start=1) if found in gold)
    best = sum(1 / log2(rank + 1) for rank in range(1, min(len(gold), k) + 1))
    return gain / best


def first_rank(ranking: Sequence[str], gold: Set[str]) -> int | None:
    """The rank of the first gold id, from 1; None when it wasn't found."""
    return next((rank for rank, found in enumerate(ranking, start=1) if found in gold), None)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
