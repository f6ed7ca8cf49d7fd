"""Put what was found into the order of a model that reads question and passage together, where it can in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from citewell.core.reranking import reordered, text_to_rerank
from citewell.core.values import Passage
from citewell.errors import CitewellError, ConfigurationError, Unavailable
from citewell.ports import Reranker


@dataclass(frozen=True, slots=True)
class Reranking:
    """What came of it: how many passages were given to the reranker, and for how many seconds.

    ``failure`` is why they are left in the order that they had; None where they have the reranker's.
    """

    passages: int
    seconds: float
    failure: CitewellError | None = None


@dataclass(frozen=True, slots=True)
class RerankPassages:
    """``candidates`` is how many passages are read anew, from the best on. ``clock`` counts seconds, from any start."""

    reranker: Reranker
    candidates: int
    clock: Callable[[], float]

    def __call__(self, question: str, passages: Sequence[Passage]) -> tuple[list[Passage], Reranking | None]:
        """``passages``, which come best first, the first of them reordered; None where there was nothing to order.

        A reranker that fails, or that was set up wrongly, costs a worse order and no answer.
        """
        first, rest = passages[: self.candidates], passages[self.candidates :]
        if len(first) < 2:
            return list(passages), None
        began = self.clock()
        try:
            scores = self.reranker.rerank(question, [text_to_rerank(each) for each in first])
        except (Unavailable, ConfigurationError) as failure:
            return list(passages), Reranking(len(first), self.clock() - began, failure)
        return [*reordered(first, scores), *rest], Reranking(len(first), self.clock() - began)
