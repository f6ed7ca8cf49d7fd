"""Answers without a language model: the sentences of the passages that fit the question best, word for word.

It needs no key, invents nothing, and says so by its name. It is an edge because it uses the embedder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from citewell.core.citing import without_marks
from citewell.core.excerpting import excerpts, without_open_code
from citewell.core.overlap import shared_words, word_overlap
from citewell.core.prompting import SENTINEL
from citewell.core.tokens import estimate_token_starts
from citewell.core.values import Generation, Passage, StopReason, TextKind, Usage, Vector
from citewell.errors import GeneratorUnavailable
from citewell.ports import Embedder

MODEL = "extractive"

MOST_SENTENCES = 3
MOST_CONSIDERED = 48
"""More than these aren't embedded: it would take longer than an asker waits."""

# Tuned on eval/questions/tuning.jsonl and 120 questions of SQuAD 2.0; the optimum is flat.
_OVERLAP_WEIGHT = 0.2
_PASSAGE_WEIGHT = 0.5
_BEHIND_THE_BEST = 0.15
"""How much worse than the best a further sentence may be: wide enough for the second half of a double question."""

_LONGEST = 600
_SPARE_TOKENS = 16
_STOPS = ".!?。！？"


@dataclass(frozen=True, slots=True)
class _Candidate:
    """``number`` is its passage's, from 1. ``merit`` is what is known before anything is embedded."""

    number: int
    text: str
    embedded_text: str
    merit: float


class ExtractiveGenerator:
    """The generator port by selection. A sentence whose cosine is under ``min_score`` isn't taken for an answer.

    Each sentence is embedded behind its section's heading, without which "It ends after 30 days." says nothing.
    Besides GeneratorUnavailable, ``generate`` raises what the embedder does.
    """

    def __init__(self, embedder: Embedder, *, min_score: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._min_score = min_score
        self._clock = clock

    def generate(self, question: str, passages: Sequence[Passage], *, seconds: float) -> Generation:
        deadline = self._clock() + seconds
        candidates = sorted(_candidates(question, passages), key=lambda each: -each.merit)[:MOST_CONSIDERED]
        cosines = self._cosines(question, candidates, deadline=deadline)
        scored = [
            (cosine + candidate.merit, candidate)
            for cosine, candidate in zip(cosines, candidates, strict=True)
            if cosine >= self._min_score
        ]
        text = " ".join(_quoted(candidate) for candidate in _best(question, scored)) or SENTINEL
        return Generation(text=text, stop_reason=StopReason.END, usage=Usage(), model=MODEL)

    def check(self, *, seconds: float) -> None:
        """There is no model to reach."""

    def _cosines(self, question: str, candidates: Sequence[_Candidate], *, deadline: float) -> list[float]:
        if not candidates:
            return []
        [asked] = self._embedder.embed([question], TextKind.QUERY)
        texts = [self._fitting(candidate.embedded_text) for candidate in candidates]
        cosines: list[float] = []
        for start in range(0, len(texts), self._embedder.batch_size):
            if self._clock() >= deadline:
                raise GeneratorUnavailable("the time was up before all sentences were compared")
            batch = self._embedder.embed(texts[start : start + self._embedder.batch_size], TextKind.PASSAGE)
            cosines += [_cosine(asked, vector) for vector in batch]
        return cosines

    def _fitting(self, text: str) -> str:
        """``text`` cut to what the embedder takes, by estimate: the functions that answer have no tokenizer."""
        starts = estimate_token_starts(text)
        most = self._embedder.max_tokens - _SPARE_TOKENS
        return text if len(starts) <= most else text[: starts[most]]


def _candidates(question: str, passages: Sequence[Passage]) -> list[_Candidate]:
    found: dict[str, tuple[int, str]] = {}
    for number, passage in enumerate(passages, start=1):
        heading = passage.section[-1] if passage.section else passage.title
        for excerpt in excerpts(passage.text):
            text = _shortened(f"{excerpt.lead_in} {excerpt.text}".strip())
            # A document that quotes the sentinel can't make the answer a refusal.
            if SENTINEL not in text:
                found.setdefault(text, (number, f"{heading}: {text}"))
    overlaps = word_overlap(question, list(found))
    return [
        _Candidate(
            number=number,
            text=text,
            embedded_text=embedded_text,
            merit=_PASSAGE_WEIGHT * passages[number - 1].score + _OVERLAP_WEIGHT * overlap,
        )
        for (text, (number, embedded_text)), overlap in zip(found.items(), overlaps, strict=True)
    ]


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    cut = text[:_LONGEST]
    return without_open_code(cut[: cut.rfind(" ")] + " …" if " " in cut else cut + "…")


def _cosine(first: Vector, second: Vector) -> float:
    product = sum(a * b for a, b in zip(first, second, strict=True))
    lengths = sum(a * a for a in first) * sum(b * b for b in second)
    return float(product / lengths**0.5)


def _best(question: str, scored: Sequence[tuple[float, _Candidate]]) -> list[_Candidate]:
    """The best sentence, and further ones that are nearly as good and speak of more of the question than it does."""
    ranked = sorted(scored, key=lambda each: -each[0])  # stable: equals stay in their passages' order
    chosen: list[_Candidate] = []
    answered: frozenset[str] = frozenset()
    for score, candidate in ranked:
        shared = shared_words(question, candidate.text)
        if not chosen or (score >= ranked[0][0] - _BEHIND_THE_BEST and not shared <= answered):
            chosen.append(candidate)
            answered |= shared
    return chosen[:MOST_SENTENCES]


def _quoted(candidate: _Candidate) -> str:
    """The sentence with its citation, before the full stop where it has one."""
    text = without_marks(candidate.text)
    stop = text[-1] if text[-1] in _STOPS else ""
    return f"{text.removesuffix(stop)} [{candidate.number}]{stop}"
