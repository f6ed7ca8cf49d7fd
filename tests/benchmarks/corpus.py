"""A made-up corpus of any size, the same every time, loaded past the store so that 50,000 chunks take seconds.

Words follow Zipf's law, as those of natural texts do, and vectors lie in clusters, as those of real embedders do:
with even words no word would be rare or common, and with even vectors every search would be equally hard.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from hashlib import sha256
from itertools import accumulate

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.sql import SQL, Identifier

CHUNKS_OF_A_DOCUMENT = 20
WORDS_OF_A_CHUNK = 160
VOCABULARY = 30_000
CLUSTERS = 200

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprtvz" for vowel in "aiou"]

Matrix = NDArray[np.float32]


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
    with psycopg.connect(conninfo) as connection:
        [(generation, index, definition)] = connection.execute(
            "SELECT generation, indexname, indexdef FROM index_generation "
            "JOIN pg_indexes ON indexname = 'chunk_vector_hnsw_' || generation WHERE status = 'live'"
        ).fetchall()
        connection.execute(SQL("DROP INDEX {}").format(Identifier(index)))  # built at the end, which is faster
        for tenant, chunks in tenants.items():
            _load_documents(connection, tenant, chunks)
            _load_chunks(connection, tenant, chunks, bodies)
            _load_vectors(connection, tenant, chunks, embeddings, generation)
        connection.execute("SET LOCAL maintenance_work_mem = '512MB'")
        connection.execute(definition.encode())
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")  # what autovacuum does soon after such a load


def _load_documents(connection: psycopg.Connection, tenant: str, chunks: int) -> None:
    columns = "tenant, source, claim, status, title, groups, served_version, served_pipeline, content_hash, chunks"
    with connection.cursor().copy(f"COPY document ({columns}) FROM STDIN") as copy:
        for first in range(0, chunks, CHUNKS_OF_A_DOCUMENT):
            served = min(CHUNKS_OF_A_DOCUMENT, chunks - first)
            copy.write_row((tenant, _source(first), 1, "READY", "Title", [], "v1", "p1", b"hash", served))


def _load_chunks(connection: psycopg.Connection, tenant: str, chunks: int, bodies: Iterator[str]) -> None:
    columns = "chunk_id, tenant, source, ordinal, section, start_char, end_char, text, header"
    with connection.cursor().copy(f"COPY chunk ({columns}) FROM STDIN") as copy:
        for number in range(chunks):
            text = next(bodies)
            ordinal = number % CHUNKS_OF_A_DOCUMENT
            copy.write_row(
                (_chunk_id(tenant, number), tenant, _source(number), ordinal, [], 0, len(text), text, "Title")
            )


def _load_vectors(
    connection: psycopg.Connection, tenant: str, chunks: int, embeddings: Iterator[Matrix], generation: int
) -> None:
    columns = "generation, chunk_id, tenant, reuse_key, embedding"
    with connection.cursor().copy(f"COPY chunk_vector ({columns}) FROM STDIN") as copy:
        for number in range(chunks):
            chunk_id = _chunk_id(tenant, number)
            copy.write_row(
                (generation, chunk_id, tenant, sha256(chunk_id.encode()).digest(), as_text(next(embeddings)))
            )


def as_text(vector: Matrix) -> str:
    return f"[{','.join(map(str, vector.tolist()))}]"


def _source(number: int) -> str:
    document = number // CHUNKS_OF_A_DOCUMENT
    return f"folder-{document % 10}/document-{document:06}.md"


def _chunk_id(tenant: str, number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{tenant}/{number}"))
