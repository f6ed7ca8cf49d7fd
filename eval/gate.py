"""What makes the build fail: retrieval that got worse than the committed baseline by more than chance explains."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

RECALL_TOLERANCE = 0.03
"""Room for another processor's rounding, which may swap two passages that are nearly equal."""

REFUSAL_TOLERANCE = 0.03


@dataclass(frozen=True, slots=True)
class Baseline:
    """``missed`` holds the ids of the questions whose gold isn't wholly among the first five."""

    recall_at_5: float
    false_refusal_rate: float
    false_answer_rate: float
    missed: tuple[str, ...]

    @property
    def recall_bound(self) -> float:
        """The lowest recall@5 that passes."""
        return self.recall_at_5 - RECALL_TOLERANCE

    @classmethod
    def of(cls, figures: Mapping[str, Any], *, missed: Sequence[str]) -> Self:
        refusal = figures["refusal"]
        return cls(
            recall_at_5=figures["recall@5"],
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
            + ", ".join(newly_missed)
        )
    for name in ("false_refusal_rate", "false_answer_rate"):
        before, now = getattr(baseline, name), getattr(today, name)
        if now > before + REFUSAL_TOLERANCE:
            lines.append(f"{name} rose from {before:.3f} to {now:.3f}")
    return lines


def passed(baseline: Baseline, today: Baseline) -> str:
    """The line that says so, for a build without regressions."""
    return (
        f"gate passed: recall@5 {today.recall_at_5:.3f} "
        f"(baseline {baseline.recall_at_5:.3f}, bound {baseline.recall_bound:.3f})"
    )
