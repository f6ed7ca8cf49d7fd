"""The keyword search's ranking: BM25, cut in two.

What depends on the passage alone, its impact, is computed when it is indexed, so that the passages that a word counts
most in can be read first. How rare a word is, which every new document changes, is multiplied in when it is asked for.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; the header's weight as
in their BM25F with one length normalisation for both fields.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from citewell.core.values import Chunk
from citewell.core.words import WORDS_VERSION, words

SATURATION = 1.5
"""BM25's k1: how much less each repetition of a word adds than the one before."""

LENGTH_NORMALISATION = 0.75
"""BM25's b: how much a word in a long passage counts less than in a short one, from 0 to 1."""

AVERAGE_LENGTH = 80.0
"""Of a passage, in counted words that aren't stop words: what it is in the sets that were measured (docs/retrieval.md).
A constant: with the true average, every document that comes would change every impact."""

HEADER_WEIGHT = 2
"""How often in the text a word would have to stand to count as it does once in the header (title and headings)."""

KEYWORDS_VERSION = f"1.{WORDS_VERSION}"
"""Part of the pipeline's version: raise the first number with any change to what is stored of a passage's words."""


def counted_words(chunk: Chunk) -> Counter[str]:
    """The words of a chunk's text and header, stop words included, with how often each counts."""
    counts = Counter(words(chunk.text))
    for word, count in Counter(words(chunk.header)).items():
        counts[word] += HEADER_WEIGHT * count
    return counts


def fingerprint(chunk: Chunk, language: str) -> bytes:
    """16 bytes over all that a chunk's entry in the keyword index is made of."""
    digest = hashlib.sha256()
    for part in (KEYWORDS_VERSION, language, chunk.header, chunk.text):
        digest.update(f"{len(part)} ".encode() + part.encode(errors="surrogatepass"))
    return digest.digest()[:16]


def rarity(chunks: int, holding: int) -> float:
    """BM25's inverse document frequency of a word that ``holding`` of ``chunks`` chunks hold; always above zero."""
    return math.log(1 + (chunks - holding + 0.5) / (holding + 0.5))


def depths(holding: Sequence[int], postings: int) -> list[int]:
    """How many postings of each term to read, of which ``holding`` chunks hold each, in all ``postings`` at most.

    Rare terms, which decide, are read to the end; what they leave is shared among the common ones.
    """
    shares, left = [0] * len(holding), postings
    ascending = sorted(range(len(holding)), key=lambda place: holding[place])
    for done, place in enumerate(ascending):
        shares[place] = min(holding[place], left // (len(holding) - done))
        left -= shares[place]
    return shares


@dataclass(frozen=True, slots=True)
class Term:
    """What a word of the question is in one of the languages in which the caller's documents are.

    ``word`` counts the question's words from 0; ``holding`` is the number of chunks with the term.
    """

    number: int
    word: int
    holding: int


@dataclass(frozen=True)
class AskedTerms:
    """A question as the index knows it. ``chunks`` is how many there are for the caller."""

    chunks: int
    terms: tuple[Term, ...]

    @classmethod
    def of(cls, chunks: int, terms: Iterable[Term]) -> AskedTerms:
        """Two words with one ending less may be the same term: it belongs to the first of them alone."""
        first: dict[int, Term] = {}
        for term in sorted(terms, key=lambda term: (term.word, term.number)):
            first.setdefault(term.number, term)
        return cls(chunks, tuple(first.values()))

    @cached_property
    def known(self) -> tuple[Term, ...]:
        """Those that some chunk holds: the ones to look for."""
        return tuple(term for term in self.terms if term.holding)

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """The rarity of each of ``known``."""
        return tuple(rarity(self.chunks, term.holding) for term in self.known)

    @cached_property
    def _total(self) -> float:
        return sum(self._word_weights.values())

    @cached_property
    def _word_weights(self) -> Mapping[int, float]:
        """The rarity of each word: that of its commonest term, or of a word that no chunk holds."""
        holding: dict[int, int] = {}
        for term in self.terms:
            holding[term.word] = max(term.holding, holding.get(term.word, 0))
        return {word: rarity(self.chunks, count) for word, count in holding.items()}

    def score(self, impacts: Sequence[float | None]) -> float:
        """BM25 of a chunk with these ``impacts`` of ``known``, None where it doesn't hold the term.

        A word that several languages make several terms of counts by the one that fits best.
        """
        best: dict[int, float] = {}
        for term, weight, impact in zip(self.known, self.weights, impacts, strict=True):
            if impact is not None:
                best[term.word] = max(best.get(term.word, 0.0), weight * impact)
        return sum(best.values())

    def coverage(self, impacts: Sequence[float | None]) -> float:
        """How much of the question's words the chunk holds, by their rarity: from 0 to 1. See :meth:`score`."""
        held = {term.word for term, impact in zip(self.known, impacts, strict=True) if impact is not None}
        return sum(self._word_weights[word] for word in sorted(held)) / self._total if held else 0.0


def holds_phrase(text: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether the words of ``phrase`` stand next to each other among those of ``text``."""
    return any(
        tuple(text[start : start + len(phrase)]) == tuple(phrase)
        for start, word in enumerate(text)
        if word == phrase[0]
    )
