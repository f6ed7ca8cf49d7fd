"""Chunks of real Markdown files as the product cuts them, as many as are wanted, and questions of words from them.

The files make some 10,000 chunks; the rest are mixed, each of the first lines of one real chunk and the last lines of
another. That keeps lengths, lines and neighbouring words as they are, and nine in ten texts differ, but a word
becomes as many times commoner as there are more chunks: ten times at 100,000. Fresh text would bring new rare words
instead, so this is a harder test for rare words than a real index of that size, and the same for common ones.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from citewell.core.chunking import split_chunks
from citewell.core.tokens import estimate_token_starts
from citewell.extract import extract

# As the settings are unless somebody changes them.
CHUNK_TOKENS, OVERLAP_TOKENS = 400, 48

RARE = range(20, 201)
COMMON_SHARE = 0.1

_WORD = re.compile(r"[^\W\d_]{3,}")
_SPOKEN = 10


@dataclass(frozen=True, slots=True)
class Text:
    header: str
    text: str


def cut(files: Iterable[Path]) -> list[Text]:
    """The chunks of ``files`` in order, with the product's usual sizes."""
    chunks = []
    for file in files:
        extracted = extract(file.read_bytes())
        chunks += split_chunks(
            extracted,
            title=extracted.title,
            max_tokens=CHUNK_TOKENS,
            overlap_tokens=OVERLAP_TOKENS,
            token_starts=estimate_token_starts,
        )
    return [Text(chunk.header, chunk.text) for chunk in chunks]


def multiplied(real: Sequence[Text], count: int, *, seed: int = 3) -> list[Text]:
    """The first ``count`` of ``real`` and, when there are fewer, as many mixed ones as are missing."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    mixed = (_mixed(*chance.sample(real, 2)) for _ in range(count - len(real)))
    return [*real[:count], *mixed]


def _mixed(first: Text, second: Text) -> Text:
    head, tail = first.text.split("\n"), second.text.split("\n")
    return Text(first.header, "\n".join(head[: (len(head) + 1) // 2] + tail[len(tail) // 2 :]))


def document_frequencies(texts: Iterable[Text], stem_of: Callable[[Sequence[str]], Mapping[str, str]]) -> Counter[str]:
    """In how many of ``texts`` each stem stands. ``stem_of`` maps words to their stems, and leaves stop words out."""
    words = [set(_WORD.findall(f"{text.header}\n{text.text}".lower())) for text in texts]
    stems = stem_of(sorted(set().union(*words)))
    return Counter(stem for found in words for stem in {stems[word] for word in found if word in stems})


@dataclass(frozen=True, slots=True)
class Questions:
    """As many of each kind as were asked for: of rare words only, of common words only, and as people write."""

    rare: list[str]
    common: list[str]
    mixed: list[str]


def questions(texts: Sequence[Text], frequencies: Counter[str], count: int, *, seed: int = 4) -> Questions:
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    rare = sorted(stem for stem, chunks in frequencies.items() if chunks in RARE)
    common = sorted(stem for stem, chunks in frequencies.items() if chunks > COMMON_SHARE * len(texts))
    return Questions(
        rare=[" ".join(chance.sample(rare, 3)) for _ in range(count)],
        common=[" ".join(chance.sample(common, min(5, len(common)))) for _ in range(count)],
        mixed=[_spoken(chance, texts) for _ in range(count)],
    )


def _spoken(chance: random.Random, texts: Sequence[Text]) -> str:
    """Words that follow one another in one of ``texts``, stop words included."""
    while len(words := chance.choice(texts).text.split()) < _SPOKEN:
        pass
    start = chance.randint(0, len(words) - _SPOKEN)
    return " ".join(words[start : start + _SPOKEN])[:200]
