"""Each knob of retrieval turned by itself, everything else as the product has it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest import mock

from citewell.core import chunking
from citewell.core.keys import SINGLE_TENANT
from citewell.core.ranking import fuse_ranks, fuse_scores
from citewell.core.values import Audience, Passage, Question, TextKind
from citewell.settings import Settings
from citewell.wiring import Wiring
from eval.configuration import eval_settings
from eval.dataset import Dataset, EvalQuestion, Half, half_of
from eval.embedding_cache import cached
from eval.indexing import database, index
from eval.metrics import mean, ndcg_at_k, recall_at_k
from eval.progress import progress
from eval.retrieving import gold_name, passage_names

Fusion = Callable[[list[Passage]], list[Passage]]
Found = list[tuple[EvalQuestion, list[Passage]]]

PRODUCT = "as it is"

INDEXED: Mapping[str, dict[str, Any]] = {
    **{f"chunk_tokens {tokens}": {"chunk_tokens": tokens} for tokens in (200, 300, 480)},
    **{f"overlap_tokens {tokens}": {"overlap_tokens": tokens} for tokens in (0, 96)},
}
CANDIDATES = (10, 60)
WITHOUT_HEADER = "no header"


def _weighted_ranks(passages: list[Passage], *, k: int, vector_weight: float) -> list[Passage]:
    def score(each: Passage) -> float:
        arms = ((each.vector_rank, vector_weight), (each.keyword_rank, 1 - vector_weight))
        return sum(weight / (k + rank) for rank, weight in arms if rank is not None)

    return sorted(passages, key=lambda each: (-score(each), each.chunk_id))


FUSIONS: Mapping[str, Fusion] = {
    **{f"rrf, k {k}": partial(fuse_ranks, k=k) for k in (60, 20, 10, 5)},
    **{f"rrf, k 10, vectors {weight}": partial(_weighted_ranks, k=10, vector_weight=weight) for weight in (0.3, 0.7)},
    "convex, plain min-max": partial(fuse_scores, least_spread=0.0, full_coverage=1e-9),
    **{f"convex, least spread {spread}": partial(fuse_scores, least_spread=spread) for spread in (0.15, 0.35)},
    **{f"convex, full coverage {share}": partial(fuse_scores, full_coverage=share) for share in (0.15, 0.5)},
    **{f"convex, vectors {weight}": partial(fuse_scores, vector_weight=weight) for weight in (0.3, 0.4, 0.6, 0.7)},
}


@dataclass(frozen=True, slots=True)
class Turned:
    """What one setting of a knob gives on one half of a set."""

    knob: str
    half: Half
    ndcg_at_10: float
    recall_at_5: float


def turned(dataset: Dataset) -> Iterator[Turned]:
    """Every knob in turn, both halves; those that need no other index share one."""
    settings = eval_settings()
    fuse = Wiring(settings).fuse
    found, *others = _found(dataset, settings, settings.candidates, *CANDIDATES)
    yield from _figures(PRODUCT, found, fuse)
    for name, fusion in FUSIONS.items():
        yield from _figures(name, found, fusion)
    for limit, other in zip(CANDIDATES, others, strict=True):
        yield from _figures(f"candidates {limit}", other, fuse)
    for name, changed in INDEXED.items():
        [found] = _found(dataset, dataclasses.replace(settings, **changed), settings.candidates)
        yield from _figures(name, found, fuse)
    with mock.patch.object(chunking, "contextual_header", return_value=""):
        [found] = _found(dataset, settings, settings.candidates)
    yield from _figures(WITHOUT_HEADER, found, fuse)


def _found(dataset: Dataset, settings: Settings, *limits: int) -> list[Found]:
    """For each of ``limits``, what both arms find for each answerable question when they give that many."""
    everyone = Audience(SINGLE_TENANT)
    questions = [each for each in dataset.questions if each.gold]
    found: list[Found] = [[] for _ in limits]
    with cached(Wiring(settings).embedder) as embedder, database(embedder) as store:
        index(dataset, store=store, embedder=embedder, settings=settings)
        generation = store.live_generation()
        for each in progress(questions, f"{dataset.name}: search"):
            [vector] = embedder.embed([each.text], TextKind.QUERY)
            asked = Question(each.text)
            for rows, limit in zip(found, limits, strict=True):
                rows.append((each, store.candidates(everyone, generation, asked, vector, limit=limit)))
    return found


def _figures(knob: str, found: Found, fusion: Fusion) -> Iterator[Turned]:
    for half in (Half.TUNING, Half.GRADING):
        rows = [_scored(each, fusion(passages)) for each, passages in found if half_of(each.id) is half]
        yield Turned(knob, half, mean([ndcg for ndcg, _ in rows]), mean([recall for _, recall in rows]))


def _scored(question: EvalQuestion, passages: list[Passage]) -> tuple[float, float]:
    names = list(dict.fromkeys(name for passage in passages for name in passage_names(question, passage)))
    gold = {gold_name(each) for each in question.gold}
    return ndcg_at_k(names, gold, k=10), recall_at_k(names, gold, k=5)
