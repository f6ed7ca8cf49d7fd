"""Ask a set's questions of the product's own search, and note what it found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from citewell.core.keys import SINGLE_TENANT
from citewell.core.ranking import collapse, fuse_ranks
from citewell.core.refusing import RefusalFit
from citewell.core.values import Audience, Passage, Question, TextKind
from citewell.ports import ChunkStore, Embedder, IndexGeneration
from citewell.wiring import Wiring
from eval.dataset import Dataset, EvalQuestion, Gold
from eval.outcomes import FUSED, KEYWORD, NOTHING, RERANKED, RRF, VECTOR, Found, Outcome
from eval.progress import progress


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The product's own search over an index, step by step, so that each step's ranking can be noted.

    ``product`` is wired by the settings that are measured; its store and its embedder are replaced by these.
    """

    store: ChunkStore
    embedder: Embedder
    product: Wiring
    refusal: RefusalFit

    def __call__(self, dataset: Dataset) -> list[Outcome]:
        """One outcome a question, in order. Raises what the search does."""
        generation = self.store.live_generation()
        questions = progress(dataset.questions, f"{dataset.name}: search")
        return [replace(self._ask(each, generation), dataset=dataset.name) for each in questions]

    def _ask(self, question: EvalQuestion, generation: IndexGeneration) -> Outcome:
        [vector] = self.embedder.embed([question.text], TextKind.QUERY)
        asked = Question(question.text)
        began = time.perf_counter()
        limit = self.product.settings.candidates
        found = self.store.candidates(Audience(SINGLE_TENANT), generation, asked, vector, limit=limit)
        fused = self.product.fuse(found)
        seconds = {"search": time.perf_counter() - began}
        rankings = {
            FUSED: fused,
            VECTOR: _by(found, lambda passage: passage.vector_rank),
            KEYWORD: _by(found, lambda passage: passage.keyword_rank),
            RRF: fuse_ranks(found, k=self.product.settings.rrf_k),
        }
        failure = None
        if self.product.rerank_passages is not None:
            rankings[RERANKED], reranking = self.product.rerank_passages(question.text, fused)
            seconds["rerank"] = reranking.seconds if reranking else 0.0
            failure = reranking.failure if reranking else None
        sent = collapse(rankings.get(RERANKED, fused), self.product.settings.top_k)
        return Outcome(
            id=question.id,
            question=question.text,
            kind=question.kind,
            gold=tuple(sorted(map(gold_name, question.gold))),
            rankings={name: _names(passages, question) for name, passages in rankings.items()},
            found=tuple(Found(each.source, each.section, each.score, each.coverage) for each in sent),
            score=max((self.refusal.support(each) for each in sent), default=NOTHING),
            seconds=seconds,
            rerank_failure=str(failure) if failure else None,
        )


def passage_names(question: EvalQuestion, passage: Passage) -> list[str]:
    """What a found passage counts as: the gold that it is, or else something that no gold is called.

    Where gold is a whole document, every passage counts as its document. Where gold is a quote, a passage counts as
    each quote that it holds, and as itself when it holds none.
    """
    if all(gold.quote is None for gold in question.gold):
        return [passage.source]
    held = [
        gold_name(gold)
        for gold in sorted(question.gold, key=gold_name)
        if gold.source == passage.source and (gold.quote is None or gold.quote in passage.text)
    ]
    return held or [passage.chunk_id]


def gold_name(gold: Gold) -> str:
    return gold.source if gold.quote is None else f"{gold.source}: {gold.quote}"


def _by(passages: Iterable[Passage], rank: Callable[[Passage], int | None]) -> list[Passage]:
    ranked = [(position, passage) for passage in passages if (position := rank(passage)) is not None]
    return [passage for _, passage in sorted(ranked, key=lambda pair: pair[0])]


def _names(passages: Iterable[Passage], question: EvalQuestion) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for passage in passages for name in passage_names(question, passage)))
