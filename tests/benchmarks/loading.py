"""Rows into the real schema, past the store and with COPY, so that 100,000 chunks take seconds."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector
from psycopg.sql import SQL, Identifier

from citewell.core.values import Chunk, DocumentKey
from citewell.edges.postgres_keywords import add_words
from citewell.ports import ChunkToStore

Matrix = NDArray[np.float32]

# What the triggers of chunk_words keep, from its rows alone.
ALL_POSTINGS = """
SELECT word.term, word.impact, number
FROM chunk_words CROSS JOIN unnest(terms, impacts) AS word (term, impact)
WHERE word.impact > 0
"""
ALL_COUNTS = """
SELECT keyword_count(word.term, reader.name) AS key, count(*)::integer AS chunks
FROM chunk_words CROSS JOIN unnest(terms) AS word (term) CROSS JOIN unnest(readers) AS reader (name)
GROUP BY 1
UNION ALL
SELECT keyword_count(keyword_term(tenant, ' chunks'), ' all'), count(*)::integer FROM chunk_words GROUP BY 1
"""

_WORDS_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """One chunk and its vector (float32, as many as the index has dimensions)."""

    tenant: str
    source: str
    ordinal: int
    header: str
    text: str
    vector: Matrix

    @property
    def chunk_id(self) -> uuid.UUID:
        return uuid.uuid5(uuid.NAMESPACE_URL, f"{self.tenant}/{self.source}#{self.ordinal}")

    @property
    def stored(self) -> ChunkToStore:
        chunk = Chunk(self.ordinal, (), 0, self.ordinal, 0, len(self.text), self.text, self.header)
        return ChunkToStore(str(self.chunk_id), b"", chunk)


def load(conninfo: str, rows: Sequence[Row]) -> None:
    """Fill a migrated database that has a live generation. The HNSW index is built at the end, which is faster."""
    with psycopg.connect(conninfo) as connection:
        register_vector(connection)
        [(generation, index, definition)] = connection.execute(
            "SELECT generation, indexname, indexdef FROM index_generation "
            "JOIN pg_indexes ON indexname = 'chunk_vector_hnsw_' || generation WHERE status = 'live'"
        ).fetchall()
        connection.execute(SQL("DROP INDEX {}").format(Identifier(index)))
        _load_documents(connection, rows)
        _load_chunks(connection, rows)
        _load_words(connection, rows)
        _load_vectors(connection, rows, generation)
        connection.execute("SET LOCAL maintenance_work_mem = '512MB'")
        connection.execute(definition.encode())
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")  # what autovacuum does soon after such a load


def _load_documents(connection: psycopg.Connection, rows: Sequence[Row]) -> None:
    columns = "tenant, source, claim, status, title, groups, served_version, served_pipeline, content_hash, chunks"
    with connection.cursor().copy(f"COPY document ({columns}) FROM STDIN") as copy:
        for (tenant, source), chunks in Counter((row.tenant, row.source) for row in rows).items():
            copy.write_row((tenant, source, 1, "READY", "Title", [], "v1", "p1", b"hash", chunks))


def _load_chunks(connection: psycopg.Connection, rows: Sequence[Row]) -> None:
    columns = "chunk_id, tenant, source, ordinal, section, start_char, end_char, text, header"
    with connection.cursor().copy(f"COPY chunk ({columns}) FROM STDIN") as copy:
        for row in rows:
            span = (0, len(row.text))
            copy.write_row((row.chunk_id, row.tenant, row.source, row.ordinal, [], *span, row.text, row.header))


def _load_words(connection: psycopg.Connection, rows: Sequence[Row]) -> None:
    """By the store's own statement, a tenant's chunks in any order; what the triggers do at each, once for all."""
    connection.execute("ALTER TABLE chunk_words DISABLE TRIGGER USER")
    connection.execute("DROP INDEX posting_by_impact")
    by_tenant: dict[str, list[Row]] = {}
    for row in rows:
        by_tenant.setdefault(row.tenant, []).append(row)
    for tenant, own in by_tenant.items():
        for start in range(0, len(own), _WORDS_BATCH):
            chunks = [row.stored for row in own[start : start + _WORDS_BATCH]]
            add_words(connection.cursor(), DocumentKey(tenant, own[start].source), "english", chunks)
    connection.execute("ALTER TABLE chunk_words ENABLE TRIGGER USER")
    connection.execute(f"INSERT INTO posting {ALL_POSTINGS}".encode())
    connection.execute(f"INSERT INTO term_count {ALL_COUNTS}".encode())
    connection.execute("CREATE INDEX posting_by_impact ON posting (term, impact DESC, number)")


def _load_vectors(connection: psycopg.Connection, rows: Sequence[Row], generation: int) -> None:
    columns = "generation, chunk_id, tenant, reuse_key, embedding"
    with connection.cursor().copy(f"COPY chunk_vector ({columns}) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(["int4", "uuid", "text", "bytea", "vector"])
        for row in rows:
            chunk_id = row.chunk_id
            copy.write_row((generation, chunk_id, row.tenant, sha256(chunk_id.bytes).digest(), row.vector))
