"""Outcomes and runs of the eval, as short as a test can say them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval.outcomes import FUSED, KEYWORD, RRF, VECTOR, Found, Outcome
from eval.runs import Run
from eval.scoring import figures, timings


def an_outcome(
    question_id: str,
    *,
    gold: str | None,
    ranking: Sequence[str],
    score: float = 0.5,
    keyword: Sequence[str] = (),
    coverage: float = 1.0,
    kind: str = "",
) -> Outcome:
    """Found by the vector arm alone, unless ``keyword`` says otherwise; ``score`` is every passage's cosine."""
    return Outcome(
        id=question_id,
        question=f"{question_id}?",
        kind=kind,
        gold=(gold,) if gold else (),
        rankings={FUSED: tuple(ranking), RRF: tuple(ranking), VECTOR: tuple(ranking), KEYWORD: tuple(keyword)},
        found=tuple(Found(name, ("Section",), score, coverage) for name in ranking[:5]),
        score=score,
        seconds={"search": 0.002},
    )


def a_run(outcomes: Sequence[Outcome], *, name: str = "a-run", threshold: float = 0.6, **config: Any) -> Run:
    result = figures(outcomes, threshold=threshold)
    result["time"] = timings(outcomes, index_seconds=1.0)
    dataset = {"name": "a-set", "half": "all", "sha256": "00"}
    return Run(name, {"dataset": dataset, "refusal": {"threshold": threshold}, **config}, result, tuple(outcomes))
