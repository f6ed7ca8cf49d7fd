"""How many of a question's words a text holds, rare words counting more."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+|[^\W_]+(?:[-.][^\W_]+)*")
_FIRST_OF_SPACELESS = "\u3040"
_LAST_OF_SPACELESS = "\u9fff"
_STEM = 5


def word_overlap(question: str, texts: Sequence[str]) -> list[float]:
    """For each of ``texts`` the share of ``question``'s words that it holds, 0 to 1, weighted by rarity in ``texts``.

    The weights make stop words count little in any language. Words are compared by their first five letters, which
    stands in for stemming; those with digits as a whole; text in Han or kana by its pairs of characters.

    Source of the weights: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
    """
    asked = _words(question)
    held = [shared_words(question, text) for text in texts]
    weights = {word: _rarity(sum(word in words for words in held), len(texts)) for word in asked}
    total = sum(weights.values())
    return [sum(weights[word] for word in sorted(words)) / total if total else 0.0 for words in held]


def shared_words(question: str, text: str) -> frozenset[str]:
    """The words of ``question`` that ``text`` holds, as they are compared."""
    return frozenset(_words(question) & _words(text))


def _rarity(holding: int, texts: int) -> float:
    return math.log(1 + (texts - holding + 0.5) / (holding + 0.5))


def _words(text: str) -> set[str]:
    words: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _FIRST_OF_SPACELESS <= word[0] <= _LAST_OF_SPACELESS:
            words.update(word[place : place + 2] for place in range(max(1, len(word) - 1)))
        else:
            words.add(word if any(map(str.isdecimal, word)) else word[:_STEM])
    return words
