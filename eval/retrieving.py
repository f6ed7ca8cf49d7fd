"""Ask a set's questions of the product's own search, and note what it found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from citewell.core.keys import SINGLE_TENANT
from citewell.core.ranking import collapse, fuse
from citewell.core.values import Audience, Passage, Question, TextKind
from citewell.ports import ChunkStore, Embedder
from citewell.settings import Settings
from eval.dataset import Dataset, EvalQuestion, Gold
from eval.outcomes import FUSED, KEYWORD, VECTOR, Found, Outcome
from eval.progress import progress
from eval.refusal import Refusal

DEPTH = 30
"""How far down a ranking is looked at."""


def retrieve(
    dataset: Dataset, *, store: ChunkStore, embedder: Embedder, settings: Settings, refusal: Refusal
) -> list[Outcome]:
    """One outcome a question, in order. Raises what the search does."""
    generation = store.live_generation()
    everyone = Audience(SINGLE_TENANT)
    outcomes = []
    for question in progress(dataset.questions, f"{dataset.name}: search"):
        [vector] = embedder.embed([question.text], TextKind.QUERY)
        began = time.perf_counter()
        asked = Question(question.text, top_k=settings.top_k)
        found = store.candidates(everyone, generation, asked, vector, limit=max(settings.candidates, DEPTH))
        fused = fuse(found, k=settings.rrf_k)
        seconds = {"search": time.perf_counter() - began}
        outcomes.append(_outcome(question, found, fused, settings=settings, refusal=refusal, seconds=seconds))
    return outcomes


def _outcome(
    question: EvalQuestion,
    found: Sequence[Passage],
    fused: Sequence[Passage],
    *,
    settings: Settings,
    refusal: Refusal,
    seconds: dict[str, float],
) -> Outcome:
    sent = collapse(fused, settings.top_k)
    signals = refusal.signals(question.text, sent)
    return Outcome(
        id=question.id,
        question=question.text,
        gold=tuple(sorted(map(gold_name, question.gold))),
        rankings={
            FUSED: _ranking(fused, question),
            VECTOR: _ranking(_by(found, lambda passage: passage.vector_rank), question),
            KEYWORD: _ranking(_by(found, lambda passage: passage.keyword_rank), question),
        },
        found=tuple(Found(each.source, each.section, round(each.score, 4)) for each in sent),
        signals=signals,
        score=refusal.score(signals),
        seconds=seconds,
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


def _ranking(passages: Iterable[Passage], question: EvalQuestion) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for passage in passages for name in passage_names(question, passage)))
