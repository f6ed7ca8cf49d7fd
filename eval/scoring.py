"""The figures of a run: averages over its answerable questions, and the refusal's errors where it can err."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from eval.metrics import first_rank, mean, ndcg_at_k, recall_at_k, reciprocal_rank
from eval.outcomes import Outcome

Figures = dict[str, Any]

CUTOFFS = (3, 5, 10, 30)


def figures(outcomes: Sequence[Outcome], *, threshold: float) -> Figures:
    """The contract's JSON but for its ``config``: those of the final ranking on top, of the others under ``arms``."""
    answerable = [each for each in outcomes if each.answerable]
    unanswerable = [each for each in outcomes if not each.answerable]
    names = dict.fromkeys(name for each in outcomes for name in each.rankings)
    result: Figures = {
        "queries": len(answerable),
        **_of([each.final for each in answerable], answerable),
        "arms": {name: _of([each.rankings[name] for each in answerable], answerable) for name in names},
    }
    if unanswerable:
        result["refusal"] = refusal_errors(answerable, unanswerable, threshold=threshold)
    return result


def _of(rankings: Sequence[Sequence[str]], outcomes: Sequence[Outcome]) -> dict[str, float]:
    rows = [question_figures(ranking, each.gold) for ranking, each in zip(rankings, outcomes, strict=True)]
    names = [f"recall@{k}" for k in CUTOFFS] + ["mrr@10", "ndcg@10"]
    return {name: round(mean([row[name] for row in rows]), 4) for name in names}


def question_figures(ranking: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    """One answerable question's share in each average."""
    wanted = set(gold)
    return {
        **{f"recall@{k}": recall_at_k(ranking, wanted, k=k) for k in CUTOFFS},
        "mrr@10": reciprocal_rank(ranking, wanted, k=10),
        "ndcg@10": ndcg_at_k(ranking, wanted, k=10),
    }


def refusal_errors(
    answerable: Sequence[Outcome], unanswerable: Sequence[Outcome], *, threshold: float
) -> dict[str, Any]:
    """Rates at ``threshold``, and the area under the curve of the score over all thresholds: of all, and by kind."""
    kept, refused = [each.score for each in answerable], [each.score for each in unanswerable]
    return {
        "unanswerable": len(unanswerable),
        "threshold": threshold,
        "false_refusal_rate": round(mean([float(score < threshold) for score in kept]), 4),
        "false_answer_rate": round(mean([float(score >= threshold) for score in refused]), 4),
        "auc": round(area_under_curve(kept, refused), 4),
        "kinds": {
            kind: _kind_errors(kept, [each.score for each in unanswerable if each.kind == kind], threshold=threshold)
            for kind in sorted({each.kind for each in unanswerable} - {""})
        },
    }


def _kind_errors(kept: Sequence[float], refused: Sequence[float], *, threshold: float) -> dict[str, float]:
    return {
        "unanswerable": len(refused),
        "false_answer_rate": round(mean([float(score >= threshold) for score in refused]), 4),
        "auc": round(area_under_curve(kept, refused), 4),
    }


def area_under_curve(high: Sequence[float], low: Sequence[float]) -> float:
    """How often a score of ``high`` lies over one of ``low``, ties counting half (Mann and Whitney 1947)."""
    return mean([(one > other) + (one == other) / 2 for one in high for other in low])


def timings(outcomes: Sequence[Outcome], *, index_seconds: float) -> dict[str, float]:
    """Seconds to index the set, and milliseconds by step of a question; embedding it isn't among them."""
    steps = dict.fromkeys(step for each in outcomes for step in each.seconds)
    return {
        "index_seconds": round(index_seconds, 1),
        **{f"{step}_p50_ms": round(1000 * median(each.seconds[step] for each in outcomes), 1) for step in steps},
    }


def missed(outcomes: Sequence[Outcome], *, k: int = 5) -> list[Outcome]:
    """The answerable questions whose gold isn't wholly among the first ``k``."""
    return [each for each in outcomes if each.answerable and recall_at_k(each.final, set(each.gold), k=k) < 1]


def first_ranks(outcome: Outcome) -> Mapping[str, int | None]:
    """The rank of the first gold in each ranking; None where it wasn't found."""
    return {name: first_rank(ranking, set(outcome.gold)) for name, ranking in outcome.rankings.items()}
