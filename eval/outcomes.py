"""What came of one question: every figure is computed from these, and they are what a kept run holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

VECTOR, KEYWORD, RRF, FUSED, RERANKED = "vector", "keyword", "rrf", "fused", "reranked"
"""The rankings of a question: of each arm, of plain rank fusion for comparison, of the fusion in force, and of the
reranker where one ran."""

NOTHING = -1.0
"""The score of a question for which nothing was found: no cosine is lower."""


@dataclass(frozen=True, slots=True)
class Found:
    """One of the passages that would have been sent: what a person who looks into a miss wants to know of it, and what
    the refusal looks at. ``score`` is its cosine."""

    source: str
    section: tuple[str, ...]
    score: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """``rankings`` are of names, best first, each once: see :func:`eval.retrieving.passage_names`.

    ``kind`` is the question's. ``gold`` holds the names that should be found; empty when the corpus doesn't answer.
    ``score`` is what the run's refusal made of ``found``, :data:`NOTHING` where that is empty: the question is refused
    where it is under the threshold. ``seconds`` are by step. ``rerank_failure`` says why the reranker left the fused
    order as it was. ``dataset`` is its set's name.
    """

    id: str
    question: str
    kind: str
    gold: tuple[str, ...]
    rankings: Mapping[str, tuple[str, ...]]
    found: tuple[Found, ...]
    score: float
    seconds: Mapping[str, float]
    rerank_failure: str | None = None
    dataset: str = ""

    @property
    def answerable(self) -> bool:
        return bool(self.gold)

    @property
    def final(self) -> tuple[str, ...]:
        """The ranking that an asker gets."""
        return self.rankings.get(RERANKED, self.rankings[FUSED])

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        return cls(
            **{
                **values,
                "gold": tuple(values["gold"]),
                "rankings": {name: tuple(ranking) for name, ranking in values["rankings"].items()},
                "found": tuple(Found(**{**each, "section": tuple(each["section"])}) for each in values["found"]),
            }
        )
