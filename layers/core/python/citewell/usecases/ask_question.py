"""Find the passages that may answer a question, and answer it from them or say that they don't."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.core.citing import check_answer
from citewell.core.ranking import collapse
from citewell.core.refusing import RefusalFit, refusal_reason, refuse
from citewell.core.values import Answer, Audience, Passage, Question, TextKind
from citewell.ports import ChunkStore, Embedder, Generator
from citewell.usecases.index_generation import check_embedder

if TYPE_CHECKING:
    # Nothing of a reranker is loaded where none is used.
    from citewell.usecases.rerank_passages import Reranking, RerankPassages


@dataclass(frozen=True, slots=True)
class Found:
    """Passages, best first, and what reordering them took: None where nothing was to be reordered."""

    passages: list[Passage]
    reranking: Reranking | None = None


@dataclass(frozen=True, slots=True)
class SearchPassages:
    """Hybrid retrieval: vector and keyword candidates, merged by ``fuse``, reranked where that is on."""

    chunks: ChunkStore
    embedder: Embedder
    candidates: int
    fuse: Callable[[list[Passage]], list[Passage]]
    rerank: RerankPassages | None = None

    def __call__(self, question: Question, audience: Audience) -> Found:
        """The best ``question.top_k`` passages that ``audience`` may see, best first.

        Raises EmbedderMismatch, EmbedderUnavailable, DatabaseUnavailable.
        """
        generation = self.chunks.live_generation()
        check_embedder(self.embedder, generation)
        [vector] = self.embedder.embed([question.text], TextKind.QUERY)
        found = self.chunks.candidates(audience, generation, question, vector, limit=self.candidates)
        fused = self.fuse(found)
        ordered, reranking = (fused, None) if self.rerank is None else self.rerank(question.text, fused)
        return Found(collapse(ordered, top_k=question.top_k), reranking)


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer and what it took.

    ``passages`` are what was found, best first: what the answer was written from, unless it is a refusal. Times are in
    seconds; ``model_seconds`` is None where no model was called, and holds the loading of its client in a process's
    first call. ``reranking`` is part of the search, and of its time.
    """

    answer: Answer
    passages: tuple[Passage, ...]
    search_seconds: float
    model_seconds: float | None
    reranking: Reranking | None = None


@dataclass(frozen=True, slots=True)
class AskQuestion:
    """``generator`` is a callable so that a refusal doesn't pay for the model's client. ``clock`` counts seconds."""

    search: SearchPassages
    generator: Callable[[], Generator]
    refusal: RefusalFit
    clock: Callable[[], float]

    def __call__(self, question: Question, audience: Audience, *, seconds_left: Callable[[], float]) -> Asked:
        """A cited answer, or a refusal with its reason. Raises what the search does, and GeneratorUnavailable."""
        began = self.clock()
        found = self.search(question, audience)
        passages = found.passages
        searched = self.clock()
        reason = refusal_reason(passages, self.refusal)
        if reason is not None:
            return Asked(refuse(reason), tuple(passages), searched - began, None, found.reranking)
        generation = self.generator().generate(question.text, passages, seconds=seconds_left())
        generated = self.clock()
        answer = check_answer(generation, passages)
        return Asked(answer, tuple(passages), searched - began, generated - searched, found.reranking)
