"""What makes the build fail: retrieval that got worse than the committed baseline by more than chance explains."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from eval.outcomes import FUSED, KEYWORD, RRF, VECTOR

TOLERANCE = 0.03
"""Room for another processor's rounding, which may swap two passages that are nearly equal."""

GUARDED = (FUSED, RRF, VECTOR, KEYWORD)
"""The rankings whose nDCG@10 is bounded, too. An arm that breaks shows in its own figures at once; in the fusion's it
may hide behind the other arm. Rank fusion is what a deployment may choose instead of the fusion in force."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """``missed`` holds the ids of the questions whose gold isn't wholly among the first five."""

    recall_at_5: float
    ndcg_at_10: Mapping[str, float]
    false_refusal_rate: float
    false_answer_rate: float
    missed: tuple[str, ...]

    @property
    def recall_bound(self) -> float:
        """The lowest recall@5 that passes."""
        return self.recall_at_5 - TOLERANCE

    @classmethod
    def of(cls, figures: Mapping[str, Any], *, missed: Sequence[str]) -> Self:
        refusal = figures["refusal"]
        return cls(
            recall_at_5=figures["recall@5"],
            ndcg_at_10={name: figures["arms"][name]["ndcg@10"] for name in GUARDED},
            false_refusal_rate=refusal["false_refusal_rate"],
            false_answer_rate=refusal["false_answer_rate"],
            missed=tuple(sorted(missed)),
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        values = json.loads(text)
        return cls(**{**values, "missed": tuple(values["missed"])})

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=2) + "\n"


def regressions(baseline: Baseline, today: Baseline) -> list[str]:
    """A line for each figure that got too bad; empty when the build may pass."""
    lines = []
    if today.recall_at_5 < baseline.recall_bound:
        newly_missed = sorted(set(today.missed) - set(baseline.missed))
        lines.append(
            f"recall@5 fell from {baseline.recall_at_5:.3f} to {today.recall_at_5:.3f}; newly missed: "
            + (", ".join(newly_missed) or "none, but more of those that were missed in part")
        )
    for name in GUARDED:
        before, now = baseline.ndcg_at_10[name], today.ndcg_at_10[name]
        if now < before - TOLERANCE:
            lines.append(f"ndcg@10 of the {name} ranking fell from {before:.3f} to {now:.3f}")
    for name in ("false_refusal_rate", "false_answer_rate"):
        before, now = getattr(baseline, name), getattr(today, name)
        if now > before + TOLERANCE:
            lines.append(f"{name} rose from {before:.3f} to {now:.3f}, over its bound of {before + TOLERANCE:.3f}")
    return lines


def passed(baseline: Baseline, today: Baseline) -> str:
    """The line that says so, for a build without regressions."""
    return (
        f"gate passed: recall@5 {today.recall_at_5:.3f} "
        f"(baseline {baseline.recall_at_5:.3f}, bound {baseline.recall_bound:.3f})"
    )
