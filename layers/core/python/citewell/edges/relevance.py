"""Scores as a reranker sent them: one finite number for each passage, or none is used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from citewell.edges.retrying import TryAgain


def checked_scores(pairs: Sequence[tuple[Any, Any]], *, count: int) -> list[float]:
    """The scores of ``pairs`` (index and score, in any order) by index.

    Raises TryAgain unless there is exactly one for each index from 0 to ``count`` - 1.
    """
    try:
        by_index = dict(pairs)
        scores = [float(by_index[index]) for index in range(count)]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise TryAgain("not every passage came back with a number") from error
    if len(pairs) != count:
        raise TryAgain(f"{len(pairs)} scores came back for {count} passages")
    if not all(map(math.isfinite, scores)):
        raise TryAgain("a score is not a finite number")
    return scores
