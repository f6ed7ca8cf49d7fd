"""Merge what the search arms found into one ranking of distinct passages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import inf

from citewell.core.values import Passage

MAX_MERGED_CHARACTERS = 6_000
"""Overlapping passages aren't merged past this length: a chain of them could otherwise become a whole document."""


def reciprocal_rank_fusion(rankings: Sequence[Sequence[str]], *, k: int = 60) -> dict[str, float]:
    """Ids with their fused scores, best first: the sum of ``1 / (k + rank)`` over the rankings, ranks from 1.

    Equal scores are ordered by the better single rank, then by id, so that the same rankings always give the same
    order. An id that a ranking names twice counts once, at its better rank.

    Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
    Methods", SIGIR 2009 (k = 60 is theirs).
    """
    ranks: dict[str, list[int]] = {}
    for ranking in rankings:
        for rank, each in enumerate(dict.fromkeys(ranking), start=1):
            ranks.setdefault(each, []).append(rank)
    # Summed in rank order: floating-point sums depend on their order, and ties must be exact.
    scores = {each: sum(1 / (k + rank) for rank in sorted(found)) for each, found in ranks.items()}
    return {each: scores[each] for each in sorted(ranks, key=lambda each: (-scores[each], min(ranks[each]), each))}


def fuse_ranks(passages: Iterable[Passage], *, k: int = 60) -> list[Passage]:
    """``passages`` in the order of the reciprocal rank fusion of ``vector_rank`` and ``keyword_rank``.

    ``fused_score`` is set to the fusion's score.
    """
    by_id = {each.chunk_id: each for each in passages}
    arms = [
        _ranking(by_id, lambda each: each.vector_rank),
        _ranking(by_id, lambda each: each.keyword_rank),
    ]
    scores = reciprocal_rank_fusion(arms, k=k)
    return [replace(by_id[each], fused_score=score) for each, score in scores.items()]


LEAST_SPREAD = 0.25
"""Cosines closer together than this aren't pulled apart: an embedder that doesn't know a question's language finds
everything about equally near, and its order then says next to nothing."""

FULL_COVERAGE = 0.3
"""A keyword ranking counts in full when its best passage holds this share of the question's words, by their weight."""


def fuse_scores(
    passages: Iterable[Passage],
    *,
    vector_weight: float = 0.5,
    least_spread: float = LEAST_SPREAD,
    full_coverage: float = FULL_COVERAGE,
) -> list[Passage]:
    """``passages`` in the order of the convex combination of their scores: half the cosine, half the keyword score.

    Both are brought to 0..1 among these passages first, as far as they have something to say. ``fused_score`` is set
    to the sum. Needs ``score``, ``keyword_score`` and ``coverage`` of every passage, whichever arm found it.

    Source: Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", ACM TOIS 2023. What differs
    and what it is worth against fusing ranks is measured in docs/retrieval.md.
    """
    found = list(passages)
    nearest = max((each.score for each in found), default=0.0)
    spread = max(nearest - min((each.score for each in found), default=0.0), least_spread) or 1.0
    best = max(found, key=lambda each: (each.keyword_score or 0.0, each.chunk_id), default=None)
    most = (best.keyword_score if best else None) or 1.0
    trust = min(1.0, best.coverage / full_coverage) if best else 0.0
    scored = [
        replace(
            each,
            fused_score=vector_weight * (1 - (nearest - each.score) / spread)
            + (1 - vector_weight) * trust * ((each.keyword_score or 0.0) / most),
        )
        for each in found
    ]
    return sorted(scored, key=lambda each: (-each.fused_score, _best_rank(each), each.chunk_id))


def _best_rank(passage: Passage) -> float:
    return min((rank for rank in (passage.vector_rank, passage.keyword_rank) if rank is not None), default=inf)


def _ranking(by_id: dict[str, Passage], rank: Callable[[Passage], int | None]) -> list[str]:
    ranked = [(found, each) for each, passage in by_id.items() if (found := rank(passage)) is not None]
    return [each for _, each in sorted(ranked)]


def collapse(passages: Sequence[Passage], top_k: int) -> list[Passage]:
    """The first ``top_k`` distinct passages of ``passages``, which are in order, best first.

    A passage with the text of a better one is dropped. One whose span overlaps or touches that of a better one of
    the same document is merged with it: the text of both, once. What remains keeps the better one's place, id,
    section and page, and the best rank and score of either. Passages behind the last one needed aren't looked at,
    so that a merge never pulls in what wouldn't have been sent.
    """
    kept: list[Passage] = []
    for passage in passages:
        merged = _absorb(kept, passage)
        if merged is not None:
            kept = merged
        elif len(kept) < top_k:
            kept.append(passage)
        else:
            break
    return kept


def _absorb(kept: Sequence[Passage], passage: Passage) -> list[Passage] | None:
    """``kept`` with ``passage`` taken into one of them; None when it is distinct from all."""
    for place, better in enumerate(kept):
        grown = _union(better, passage)
        if grown is not None:
            return [*kept[:place], *_close_gaps(grown, kept[place + 1 :])]
    return None


def _close_gaps(grown: Passage, worse: Sequence[Passage]) -> list[Passage]:
    """``grown`` and what remains of ``worse``: what was distinct before may meet the grown passage now."""
    distinct = []
    for each in worse:
        union = _union(grown, each)
        if union is None:
            distinct.append(each)
        else:
            grown = union
    return [grown, *distinct]


def _union(better: Passage, worse: Passage) -> Passage | None:
    if better.text.split() == worse.text.split():
        return _with_best_figures(better, worse)
    if better.source != worse.source or max(better.start, worse.start) > min(better.end, worse.end):
        return None
    first, second = sorted((better, worse), key=lambda each: (each.start, each.end))
    shared = first.end - second.start
    # Spans of two versions of a document say nothing about each other.
    if first.text[second.start - first.start :][: len(second.text)] != second.text[:shared]:
        return None
    text = first.text + second.text[shared:]
    if len(text) > max(MAX_MERGED_CHARACTERS, len(first.text)):
        return None
    return replace(_with_best_figures(better, worse), start=first.start, end=max(first.end, second.end), text=text)


def _with_best_figures(better: Passage, worse: Passage) -> Passage:
    return replace(
        better,
        score=max(better.score, worse.score),
        vector_rank=_least(better.vector_rank, worse.vector_rank),
        keyword_rank=_least(better.keyword_rank, worse.keyword_rank),
        keyword_score=max((s for s in (better.keyword_score, worse.keyword_score) if s is not None), default=None),
        coverage=max(better.coverage, worse.coverage),
        fused_score=max(better.fused_score, worse.fused_score),
    )


def _least(*ranks: int | None) -> int | None:
    return min((rank for rank in ranks if rank is not None), default=None)
