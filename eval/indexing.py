"""A set's documents through the product's own ingest, into a database of its own."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier

from citewell.core.keys import Tenancy
from citewell.core.values import ObjectHead
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.edges.postgres_schema import PostgresSchema
from citewell.ports import ChunkStore, Embedder
from citewell.settings import Settings
from citewell.usecases.ingest_object import Attempt, IngestObject
from citewell.usecases.migrate import ensure_generation, migrate
from citewell.wiring import Wiring
from eval.dataset import CorpusDocument, Dataset
from eval.progress import progress
from infra.local.throwaway_postgres import choose, ways

MIGRATIONS = Path(__file__).parents[1] / "migrations"


class CorpusObjects:
    """A corpus as :class:`citewell.ports.ObjectStore`: each document under its id, in one version."""

    def __init__(self, documents: Sequence[CorpusDocument]) -> None:
        self._documents = {document.source: document for document in documents}

    def head(self, key: str) -> ObjectHead | None:
        document = self._documents.get(key)
        if document is None:
            return None
        return ObjectHead(key, "1", len(document.data), "text/markdown", tuple(sorted(document.metadata.items())))

    def read(self, head: ObjectHead) -> bytes:
        return self._documents[head.key].data

    def keeps_versions(self) -> bool:
        return True


def index(dataset: Dataset, *, store: ChunkStore, embedder: Embedder, settings: Settings) -> None:
    """Ingest every document. Raises what ingest raises: a set that can't be indexed whole can't be scored."""
    ingest = IngestObject(
        objects=CorpusObjects(dataset.documents),
        extractor=Wiring(settings).extractor,
        chunks=store,
        embedder=embedder,
        tenancy=Tenancy.SINGLE,
        max_object_bytes=settings.max_object_bytes,
        chunk_tokens=settings.chunk_tokens,
        overlap_tokens=settings.overlap_tokens,
    )
    once = Attempt(number=1, last=True, seconds_left=lambda: float("inf"))
    for document in progress(dataset.documents, f"{dataset.name}: index"):
        ingest(document.source, once)


@contextmanager
def database(embedder: Embedder) -> Iterator[PostgresChunkStore]:
    """The store of an empty migrated database on a Postgres that was started for it and goes with it."""
    server = choose(ways()).server
    name = f"citewell_eval_{secrets.token_hex(4)}"
    try:
        with psycopg.connect(server.url, autocommit=True) as admin:
            admin.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
            try:
                schema = PostgresSchema(server.url_of(name))
                migrate(schema, MIGRATIONS)
                ensure_generation(schema, model_id=embedder.model_id, dimensions=embedder.dimensions, replace=False)
                with closing(PostgresChunkStore(server.url_of(name))) as store:
                    yield store
            finally:
                admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))
    finally:
        server.stop()
