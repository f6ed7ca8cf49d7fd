"""Find the passages that may answer a question, and answer it from them or say that they don't."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from citewell.core.citing import check_answer
from citewell.core.ranking import collapse, fuse
from citewell.core.refusing import refusal_reason, refuse
from citewell.core.values import Answer, Audience, Passage, Question, TextKind
from citewell.ports import ChunkStore, Embedder, Generator
from citewell.usecases.index_generation import check_embedder


@dataclass(frozen=True, slots=True)
class SearchPassages:
    """Hybrid retrieval: vector and keyword candidates, merged by reciprocal rank fusion."""

    chunks: ChunkStore
    embedder: Embedder
    candidates: int
    rrf_k: int

    def __call__(self, question: Question, audience: Audience) -> list[Passage]:
        """The best ``question.top_k`` passages that ``audience`` may see, best first.

        Raises EmbedderMismatch, EmbedderUnavailable, DatabaseUnavailable.
        """
        generation = self.chunks.live_generation()
        check_embedder(self.embedder, generation)
        [vector] = self.embedder.embed([question.text], TextKind.QUERY)
        found = self.chunks.candidates(audience, generation, question, vector, limit=self.candidates)
        return collapse(fuse(found, k=self.rrf_k), top_k=question.top_k)


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer and what it took.

    ``passages`` are what was found, best first: what the answer was written from, unless it is a refusal. Times are in
    seconds; ``model_seconds`` is None where no model was called, and holds the loading of its client in a process's
    first call.
    """

    answer: Answer
    passages: tuple[Passage, ...]
    search_seconds: float
    model_seconds: float | None


@dataclass(frozen=True, slots=True)
class AskQuestion:
    """``generator`` is a callable so that a refusal doesn't pay for the model's client. ``min_score`` is a cosine.

    ``clock`` counts seconds, from any start.
    """

    search: SearchPassages
    generator: Callable[[], Generator]
    min_score: float
    clock: Callable[[], float]

    def __call__(self, question: Question, audience: Audience, *, seconds_left: Callable[[], float]) -> Asked:
        """A cited answer, or a refusal with its reason. Raises what the search does, and GeneratorUnavailable."""
        began = self.clock()
        passages = self.search(question, audience)
        searched = self.clock()
        reason = refusal_reason(passages, self.min_score)
        if reason is not None:
            return Asked(refuse(reason), tuple(passages), searched - began, None)
        generation = self.generator().generate(question.text, passages, seconds=seconds_left())
        generated = self.clock()
        return Asked(check_answer(generation, passages), tuple(passages), searched - began, generated - searched)
