"""Small documents for the tests of the store, and a worker that indexes them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from hashlib import sha256

from citewell.core.values import Audience, Chunk, DocumentKey, IngestOutcome, Metadata, Vector
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.ports import ChunkToStore, DocumentVersion

EVERYONE = Audience("default")
KEY = DocumentKey("default", "handbook/expenses.md")


def vector_of(text: str) -> Vector:
    """Eight dimensions that follow from the text alone."""
    return [byte / 255 + 0.01 for byte in sha256(text.encode(errors="surrogatepass")).digest()[:8]]


def reuse_key(text: str) -> bytes:
    return sha256(b"key" + text.encode()).digest()


def to_store(
    texts: Sequence[str], *, key: DocumentKey = KEY, names: Sequence[str] | None = None, header: str = "Expenses"
) -> list[ChunkToStore]:
    """Chunks that follow one another. The i-th chunk's id follows from ``names[i]`` (default: i)."""
    chunks, start = [], 0
    for ordinal, text in enumerate(texts):
        name = names[ordinal] if names else str(ordinal)
        chunk = Chunk(
            ordinal=ordinal,
            section=("Expenses", f"Part {name}"),
            occurrence=0,
            part=0,
            start=start,
            end=start + len(text),
            text=text,
            header=header,
        )
        chunk_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{key.tenant}|{key.source}|{name}"))
        chunks.append(ChunkToStore(chunk_id, reuse_key(text), chunk))
        start += len(text) + 2
    return chunks


def version(
    name: str, *, embedded: int = 0, metadata: Metadata | None = None, unread_pages: tuple[int, ...] = ()
) -> DocumentVersion:
    return DocumentVersion(
        version=name,
        pipeline="p1",
        content_hash=sha256(name.encode()).digest(),
        title="Expenses",
        metadata=metadata or Metadata(),
        pages=None,
        unread_pages=unread_pages,
        embedded=embedded,
        search_language="english",
    )


def index(
    store: PostgresChunkStore,
    texts: Sequence[str],
    *,
    key: DocumentKey = KEY,
    names: Sequence[str] | None = None,
    name: str = "v1",
    metadata: Metadata | None = None,
    header: str = "Expenses",
) -> IngestOutcome:
    """All that a worker does with one version of a document. Only vectors that aren't known are made."""
    generation = store.live_generation()
    claim = store.claim(key)
    chunks = to_store(texts, key=key, names=names, header=header)
    known = store.known_vectors(key, [chunk.reuse_key for chunk in chunks])
    missing = {reuse_key(text): vector_of(text) for text in texts if reuse_key(text) not in known}
    store.keep_vectors(key.tenant, generation, missing)
    return store.swap(claim, generation, version(name, embedded=len(missing), metadata=metadata), chunks)
