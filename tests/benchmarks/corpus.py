"""A made-up corpus of any size, the same every time.

Words follow Zipf's law, as those of natural texts do, and vectors lie in clusters, as those of real embedders do:
with even words no word would be rare or common, and with even vectors every search would be equally hard.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from tests.benchmarks import loading
from tests.benchmarks.loading import Matrix, Row

CHUNKS_OF_A_DOCUMENT = 20
WORDS_OF_A_CHUNK = 160
VOCABULARY = 30_000
CLUSTERS = 200

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprtvz" for vowel in "aiou"]


def word(rank: int) -> str:
    """The ``rank``-th most frequent word, from 0. No English stop word, and no ending that a stemmer cuts off."""
    base = len(_SYLLABLES)
    return "".join(_SYLLABLES[(rank // base**place) % base] for place in range(4)) + "k"


def texts(count: int, *, seed: int = 1) -> Iterator[str]:
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    words = [word(rank) for rank in range(VOCABULARY)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))
    for _ in range(count):
        yield " ".join(chance.choices(words, cum_weights=weights, k=WORDS_OF_A_CHUNK))


def vectors(count: int, dimensions: int, *, seed: int = 2) -> Matrix:
    """Unit vectors around ``CLUSTERS`` centres, which don't depend on the seed."""
    centres = np.random.default_rng(0).standard_normal((CLUSTERS, dimensions)).astype(np.float32)
    chance = np.random.default_rng(seed)
    spread = chance.standard_normal((count, dimensions)).astype(np.float32)
    rows = centres[chance.integers(CLUSTERS, size=count)] + 0.7 * spread
    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def load(conninfo: str, *, tenants: dict[str, int], dimensions: int) -> None:
    """Fill a migrated database with a live generation of ``dimensions``. ``tenants``: chunks of each."""
    total = sum(tenants.values())
    bodies, embeddings = texts(total), iter(vectors(total, dimensions))
    rows = [
        Row(tenant, _source(number), number % CHUNKS_OF_A_DOCUMENT, "Title", next(bodies), next(embeddings))
        for tenant, chunks in tenants.items()
        for number in range(chunks)
    ]
    loading.load(conninfo, rows)


def as_text(vector: Matrix) -> str:
    return f"[{','.join(map(str, vector.tolist()))}]"


def _source(number: int) -> str:
    document = number // CHUNKS_OF_A_DOCUMENT
    return f"folder-{document % 10}/document-{document:06}.md"
