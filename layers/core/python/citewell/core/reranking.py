"""What a reranker reads of the passages that were found, and the order that its scores give them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citewell.core.headers import contextual_header
from citewell.core.tokens import estimate_token_starts
from citewell.core.values import Passage

_HEADER_TOKENS = 64


def text_to_rerank(passage: Passage) -> str:
    """The passage under its contextual header, as it was embedded: a table's row alone says little.

    Measured with the bundled reranker on 30 tuning questions of northwind: nDCG@10 .843 with it, .801 without.
    """
    header = contextual_header(
        passage.title, passage.section, max_tokens=_HEADER_TOKENS, token_starts=estimate_token_starts
    )
    return f"{header}\n\n{passage.text}" if header else passage.text


def reordered(passages: Sequence[Passage], scores: Sequence[float]) -> list[Passage]:
    """``passages`` by ``scores``, one for each of them, best first; ``rerank_score`` set. Equals keep their order."""
    scored = [replace(passage, rerank_score=score) for passage, score in zip(passages, scores, strict=True)]
    return sorted(scored, key=lambda each: -(each.rerank_score or 0.0))
