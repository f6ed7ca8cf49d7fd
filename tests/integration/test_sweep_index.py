"""A sweep over the real store: what the bucket has forgotten leaves the index, and nothing else changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from citewell.core.keys import Tenancy
from citewell.core.values import Audience, DocumentKey, IngestResult
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.events import Sweep, object_keys, sweep_of
from citewell.usecases.ingest_object import Attempt, IngestObject
from citewell.usecases.sweep_index import SweepIndex
from tests.fakes import HashEmbedder, InProcessExtractor, MemoryBucket

ATTEMPT = Attempt(number=1, last=False, seconds_left=lambda: 900)
BUCKET = "docs"


@dataclass
class MemoryQueue:
    messages: list[str] = field(default_factory=list)

    def send(self, messages: Sequence[str]) -> None:
        self.messages += messages


@pytest.fixture
def bucket() -> MemoryBucket:
    return MemoryBucket()


def ingest_of(store: PostgresChunkStore, bucket: MemoryBucket, tenancy: Tenancy) -> IngestObject:
    return IngestObject(
        objects=bucket,
        extractor=InProcessExtractor(),
        chunks=store,
        embedder=HashEmbedder(),
        tenancy=tenancy,
        max_object_bytes=1_000_000,
        chunk_tokens=200,
        overlap_tokens=20,
    )


def swept(store: PostgresChunkStore, tenancy: Tenancy, *, prefix: str = "", page: int = 500) -> list[str]:
    """The keys that all messages of one sweep name, in order."""
    queue, keys = MemoryQueue(), []
    sweeping = SweepIndex(documents=store, queue=queue, bucket=BUCKET, tenancy=tenancy, page=page)
    sweeping(Sweep(prefix))
    while queue.messages:
        message = queue.messages.pop(0)
        if rest := sweep_of(message):
            sweeping(rest)
        else:
            keys += object_keys(message, bucket=BUCKET)
    return keys


@pytest.mark.parametrize("page", [1, 2, 3, 4, 500])
def test_each_document_of_each_tenant_is_named_once_by_its_key(
    store: PostgresChunkStore, bucket: MemoryBucket, page: int
) -> None:
    ingest = ingest_of(store, bucket, Tenancy.PREFIX)
    for key in ("acme/b.md", "acme/hr/a.md", "umbra/ü b+c%25.md", "acme/gone.md"):
        bucket.put(key, "A text.")
        ingest(key, ATTEMPT)
    bucket.delete("acme/gone.md")
    ingest("acme/gone.md", ATTEMPT)
    assert sorted(swept(store, Tenancy.PREFIX, page=page)) == ["acme/b.md", "acme/hr/a.md", "umbra/ü b+c%25.md"]
    assert swept(store, Tenancy.PREFIX, prefix="acme/hr", page=page) == ["acme/hr/a.md"]
    assert swept(store, Tenancy.PREFIX, prefix="other/", page=page) == []


def test_an_index_that_knows_nothing_is_swept_at_once(store: PostgresChunkStore) -> None:
    assert swept(store, Tenancy.SINGLE) == []
    assert store.documents_after(DocumentKey("", ""), limit=1) == []


def test_what_was_erased_without_an_event_leaves_the_index_and_the_rest_stays(
    store: PostgresChunkStore, bucket: MemoryBucket
) -> None:
    """As after the restoring of a snapshot: the row is there, and neither bucket nor queue speaks of it."""
    ingest = ingest_of(store, bucket, Tenancy.SINGLE)
    for key in ("erased.md", "kept.md"):
        bucket.put(key, "A text.")
        ingest(key, ATTEMPT)
    bucket.delete("erased.md")
    results = {key: ingest(key, ATTEMPT).result for key in swept(store, Tenancy.SINGLE)}
    assert results == {"erased.md": IngestResult.DELETED, "kept.md": IngestResult.UNCHANGED}
    assert store.document_chunks(Audience("default"), "erased.md", offset=0, limit=10) is None
    assert swept(store, Tenancy.SINGLE) == ["kept.md"]
