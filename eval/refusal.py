"""The refusal as the eval sees it: signals, one score made of them, and the threshold under which it refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from citewell.core.refusing import min_score_for
from citewell.core.values import Passage
from citewell.settings import Settings

BEST_COSINE = "best_cosine"


@dataclass(frozen=True, slots=True)
class Refusal:
    """What is in force: ``model_id`` is the embedder's, and ``threshold`` is one of :meth:`score`."""

    model_id: str
    threshold: float

    def signals(self, question: str, passages: Sequence[Passage]) -> dict[str, float]:  # noqa: ARG002
        """What the passages that would be sent tell; empty without passages."""
        if not passages:
            return {}
        return {BEST_COSINE: max(passage.score for passage in passages)}

    def score(self, signals: Mapping[str, float]) -> float:
        return signals.get(BEST_COSINE, -1.0)


def refusal_in_force(model_id: str, settings: Settings) -> Refusal:
    """As the product would refuse with these settings. Raises ConfigurationError when it would know no threshold."""
    return Refusal(model_id, min_score_for(model_id, settings.min_score))
