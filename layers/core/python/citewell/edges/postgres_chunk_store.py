"""Documents, chunks and vectors in Postgres with pgvector: the chunk store of :mod:`citewell.ports`.

Who may write is decided by one number. :meth:`PostgresChunkStore.claim` counts a document's row up and hands the
number out; every later write takes the row's lock, or names the number in its WHERE, and does nothing when the
number has moved on. So workers on one document need no lock while they read, chunk and embed, and the last one to
have looked at the bucket wins, in whatever order they finish.
"""

from __future__ import annotations

import contextlib
import copy
import json
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Protocol

from psycopg import IsolationLevel

from citewell.core.keywords import AskedTerms
from citewell.core.languages import SIMPLE
from citewell.core.values import (
    Audience,
    Chunk,
    Document,
    DocumentError,
    DocumentKey,
    DocumentStatus,
    IngestOutcome,
    IngestResult,
    Metadata,
    Passage,
    Question,
    Vector,
)
from citewell.edges import postgres_keywords, search_statements, statements
from citewell.edges.postgres import Cursor, Database
from citewell.edges.postgres_login import Login
from citewell.errors import ConfigurationError, EmbedderMismatch, VectorsMissing
from citewell.ports import ChunkToStore, Claim, DocumentVersion, IndexGeneration

# Over before a function that answers would be cut off.
STATEMENT_SECONDS = 20.0

# pgvector's hnsw.ef_search: how many of the nearest chunks a walk through the index keeps in sight.
EF_SEARCH = 100

# As many as a search of the HNSW index takes the time to read.
POSTINGS = 2_000

# Longer than the queue lets a message wait for its next attempt, so that the attempt finds what the last one paid for.
PENDING_VECTORS_AGE = "1 day"

# For tries. No document is called so: no tenant's name has a slash, and no text has this word.
_NOBODY = Audience("citewell/check")
_NOTHING = DocumentKey(_NOBODY.tenant, "check-of-a-deployment")
_NO_WORD = "citewellcheckofadeployment"

_NO_CHUNK = "00000000-0000-0000-0000-000000000000"

_SUPERSEDED = IngestOutcome(IngestResult.SUPERSEDED, chunks=0, embedded=0)


class _Transactions(Protocol):
    """What the store needs of :class:`citewell.edges.postgres.Database`."""

    def transaction(
        self, *, isolation: IsolationLevel = ..., settings: Mapping[str, str] | None = None, planned_once: bool = ...
    ) -> contextlib.AbstractContextManager[Cursor]: ...

    def close(self) -> None: ...


class _Within:
    """Gives a transaction that is open already to whoever asks for a new one."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    @contextlib.contextmanager
    def transaction(
        self,
        *,
        isolation: IsolationLevel = IsolationLevel.READ_COMMITTED,  # noqa: ARG002 - the open one's counts
        settings: Mapping[str, str] | None = None,  # noqa: ARG002
        planned_once: bool = False,  # noqa: ARG002
    ) -> Iterator[Cursor]:
        yield self._cursor

    def close(self) -> None:
        self._cursor.close()


class PostgresChunkStore:
    """See :class:`citewell.ports.ChunkStore` for what each method promises. For one thread."""

    def __init__(
        self,
        login: Login | str,
        *,
        statement_seconds: float = STATEMENT_SECONDS,
        swap_seconds: float = 300.0,
        ef_search: int = EF_SEARCH,
        exact_chunks: int = 5_000,
        postings: int = POSTINGS,
    ) -> None:
        """
        Args:
            login: how to connect; text is libpq's URL or key-value string.
            statement_seconds: the longest a single statement may take, waiting for locks included.
            swap_seconds: the same for those of a swap. Entering a vector into a large HNSW index takes milliseconds,
                and a document may have thousands.
            ef_search: pgvector's ``hnsw.ef_search``, 1 to 1000.
            exact_chunks: up to how many chunks that may be found each is compared, without the index.
            postings: how many postings the keyword search reads where every chunk may be found: those of rare words to
                the end, and of common ones those of the chunks in which they count most.
        """
        self._database: _Transactions = Database(login, statement_seconds=statement_seconds)
        self._swap_settings = {"statement_timeout": str(round(swap_seconds * 1000))}
        self._ef_search = ef_search
        self._exact_chunks = exact_chunks
        self._postings = postings

    def close(self) -> None:
        self._database.close()

    def ping(self) -> None:
        with self._database.transaction():
            pass  # beginning it has asked the database something

    def live_generation(self) -> IndexGeneration:
        with self._database.transaction() as cursor:
            row = cursor.execute(statements.LIVE_GENERATION).fetchone()
        if row is None:
            raise ConfigurationError("No index generation is live: run the migration with the configured embedder.")
        return IndexGeneration(**row._asdict())

    # --- ingest ---

    def claim(self, key: DocumentKey) -> Claim:
        with self._database.transaction() as cursor:
            [row] = cursor.execute(statements.CLAIM, _key(key)).fetchall()
        return Claim(
            key=key,
            number=row.claim,
            served_version=row.served_version,
            served_pipeline=row.served_pipeline,
            content_hash=row.content_hash,
            chunks=row.chunks,
        )

    def begin(self, claim: Claim, metadata: Metadata | None, *, title: str, attempts: int, last: bool) -> None:
        state: dict[str, str | None] = (
            {"status": DocumentStatus.FAILED, "error_code": "interrupted", "error_stage": "ingest"}
            if last
            else {"status": DocumentStatus.PROCESSING, "error_code": None, "error_stage": None}
        )
        shown = _metadata(metadata, title) if metadata else {**_metadata(Metadata(), title), "groups": None}
        # Closing a large document counts all of its words anew.
        with self._database.transaction(settings=self._swap_settings) as cursor:
            cursor.execute(statements.BEGIN, {**_claim(claim), **shown, **state, "attempts": attempts})

    def known_vectors(self, key: DocumentKey, reuse_keys: Sequence[bytes]) -> frozenset[bytes]:
        with self._database.transaction() as cursor:
            rows = cursor.execute(statements.KNOWN_VECTORS, {**_key(key), "reuse_keys": list(reuse_keys)}).fetchall()
        return frozenset(row.reuse_key for row in rows)

    def keep_vectors(self, tenant: str, generation: IndexGeneration, vectors: Mapping[bytes, Vector]) -> None:
        for vector in vectors.values():
            _require_dimensions(vector, generation)
        with self._database.transaction() as cursor:
            cursor.execute(
                statements.KEEP_VECTORS,
                {
                    "tenant": tenant,
                    "reuse_keys": list(vectors),
                    "embeddings": [_as_text(vector) for vector in vectors.values()],
                },
            )

    def swap(
        self,
        claim: Claim,
        generation: IndexGeneration,
        version: DocumentVersion,
        chunks: Sequence[ChunkToStore],
    ) -> IngestOutcome:
        wanted = {
            **_key(claim.key),
            "generation": generation.generation,
            "chunk_ids": [chunk.chunk_id for chunk in chunks],
            "reuse_keys": [chunk.reuse_key for chunk in chunks],
        }
        with self._database.transaction(settings=self._swap_settings) as cursor:
            _hold_generation(cursor, generation)
            held = cursor.execute(statements.HOLD_DOCUMENT, _claim(claim)).fetchone()
            if held is None:
                return _SUPERSEDED
            cursor.execute(statements.WRITE_CHUNKS, {**_key(claim.key), "chunks": _as_json(chunks)})
            cursor.execute(statements.WRITE_VECTORS, wanted)
            cursor.execute(statements.DELETE_RETIRED_VECTORS, wanted)
            [(complete,)] = cursor.execute(statements.COUNT_COMPLETE_CHUNKS, wanted).fetchall()
            if complete != len(chunks):
                raise VectorsMissing(f"{len(chunks) - complete} of {len(chunks)} chunks have no vector.")
            result = IngestResult.UPDATED if held.is_served else IngestResult.INDEXED
            cursor.execute(
                statements.SERVE, {**_served(version), **_key(claim.key), "result": result, "chunks": complete}
            )
            cursor.execute(statements.FORGET_OLD_VECTORS, {"age": PENDING_VECTORS_AGE})
            # Last, because from here on the tenant's other workers wait.
            postgres_keywords.write_words(cursor, claim.key, version.search_language, chunks)
            cursor.execute(statements.DELETE_OTHER_CHUNKS, wanted)
        return IngestOutcome(result, chunks=complete, embedded=version.embedded)

    def refresh(self, claim: Claim, version: str, pipeline: str) -> IngestOutcome:
        with self._database.transaction() as cursor:
            row = cursor.execute(
                statements.REFRESH, {**_claim(claim), "version": version, "pipeline": pipeline}
            ).fetchone()
        return _SUPERSEDED if row is None else IngestOutcome(IngestResult.UNCHANGED, chunks=row.chunks, embedded=0)

    def remove(self, claim: Claim) -> IngestOutcome:
        with self._database.transaction(settings=self._swap_settings) as cursor:
            if cursor.execute(statements.HOLD_DOCUMENT, _claim(claim)).fetchone() is None:
                return _SUPERSEDED
            postgres_keywords.delete_words(cursor, claim.key)
            cursor.execute(statements.DELETE_CHUNKS, _key(claim.key))
            cursor.execute(statements.BURY, _key(claim.key))
        return IngestOutcome(IngestResult.DELETED, chunks=0, embedded=0)

    def documents_after(self, after: DocumentKey, *, limit: int) -> list[DocumentKey]:
        with self._database.transaction() as cursor:
            rows = cursor.execute(statements.DOCUMENTS_AFTER, {**_key(after), "limit": limit}).fetchall()
        return [DocumentKey(row.tenant, row.source) for row in rows]

    def fail(
        self, claim: Claim, *, code: str, stage: str, attempts: int, version: str | None, detail: str | None = None
    ) -> None:
        with self._database.transaction() as cursor:
            cursor.execute(
                statements.FAIL,
                {
                    **_claim(claim),
                    "error_code": code,
                    "error_stage": stage,
                    "error_detail": detail,
                    "attempts": attempts,
                    "version": version,
                },
            )

    # --- ask ---

    def candidates(
        self,
        audience: Audience,
        generation: IndexGeneration,
        question: Question,
        vector: Vector,
        *,
        limit: int,
    ) -> list[Passage]:
        _require_dimensions(vector, generation)
        collections, sources = _storable(question.collections), _storable(question.sources)
        if len(collections) < bool(question.collections) or len(sources) < bool(question.sources):
            return []  # the filter names only what no document can be called
        search = {**self._search(audience, vector, limit=limit), "collections": collections, "sources": sources}
        # One snapshot, so that both arms see the same documents.
        with self._database.transaction(
            isolation=IsolationLevel.REPEATABLE_READ, settings=self._search_settings(), planned_once=True
        ) as cursor:
            asked = postgres_keywords.asked_of(cursor, audience, question.text)
            search["excluded"], search["flags"] = list(asked.excluded), list(asked.flags)
            searched, chunks = self._extent(cursor, search, asked)
            if searched == 0:
                return []
            few = searched <= self._exact_chunks
            nearest = search_statements.nearest_exactly if few else search_statements.nearest_by_index
            search["terms"] = [term.number for term in asked.terms.known]
            near = cursor.execute(nearest(generation), search).fetchall()
            by_keywords = postgres_keywords.KeywordSearch(
                cursor, generation, search, searched, chunks, self._exact_chunks, self._postings
            )
            worded = by_keywords(asked, limit=limit)
        return _merged(near, worded, asked.terms)

    def _extent(self, cursor: Cursor, search: Mapping[str, Any], asked: postgres_keywords.Asked) -> tuple[int, int]:
        """How many chunks may be found, and how many the tenant has.

        They are counted document by document only where it matters exactly: a large tenant has thousands of documents.
        """
        if not search["collections"] and not search["sources"] and asked.terms.chunks > self._exact_chunks:
            return asked.terms.chunks, asked.chunks_of_all
        [extent] = cursor.execute(search_statements.COUNT_SEARCHED_CHUNKS, search).fetchall()
        return extent.searched, extent.chunks

    def document(self, audience: Audience, source: str) -> Document | None:
        if not _storable([source]):
            return None
        with self._database.transaction() as cursor:
            row = cursor.execute(search_statements.DOCUMENT, {**_audience(audience), "source": source}).fetchone()
        return None if row is None else _document(audience.tenant, row)

    def documents(
        self, audience: Audience, *, status: DocumentStatus | None, prefix: str, after: str, limit: int
    ) -> list[Document]:
        if not _storable([prefix]):
            return []
        page = {**_audience(audience), "prefix": prefix, "after": after, "limit": limit}
        with self._database.transaction() as cursor:
            rows = cursor.execute(search_statements.documents(status), page).fetchall()
        return [_document(audience.tenant, row) for row in rows]

    def document_chunks(self, audience: Audience, source: str, *, offset: int, limit: int) -> list[Passage] | None:
        if not _storable([source]):
            return None
        page = {**_audience(audience), "source": source, "offset": offset, "limit": limit}
        with self._database.transaction() as cursor:
            rows = cursor.execute(search_statements.DOCUMENT_CHUNKS, page).fetchall()
        if not rows:
            return None
        return [_passage(row, score=0.0) for row in rows if row.chunk_id is not None]

    # --- a deploy's check ---

    def try_reading(self) -> None:
        generation = self.live_generation()
        vector = [1.0] * generation.dimensions
        search = {
            **self._search(_NOBODY, vector, limit=1),
            "collections": [],
            "sources": [],
            "terms": [1],
            "weights": [1.0],
            "depths": [1],
            "promising": 1,
            "every": [],
            "every_word": [],
            "worded_limit": 1,
        }
        page = {**_audience(_NOBODY), "source": _NOTHING.source, "offset": 0, "limit": 1}
        with self._database.transaction(settings=self._search_settings()) as cursor:
            cursor.execute(search_statements.COUNT_SEARCHED_CHUNKS, search)
            postgres_keywords.look_up(cursor, _NOBODY, [_NO_WORD], SIMPLE)
            for arm in (
                search_statements.nearest_exactly,
                search_statements.nearest_by_index,
                search_statements.worded_alike_by_postings,
                search_statements.worded_alike_by_chunks,
            ):
                cursor.execute(arm(generation), search)
            cursor.execute(search_statements.DOCUMENT, page)
            cursor.execute(search_statements.documents(DocumentStatus.FAILED), {**page, "prefix": "", "after": ""})
            cursor.execute(search_statements.DOCUMENT_CHUNKS, page)

    def try_writing(self) -> None:
        generation = self.live_generation()
        vectors = {b"check": [1.0] * generation.dimensions}
        chunk = Chunk(ordinal=0, section=(), occurrence=0, part=0, start=0, end=len(_NO_WORD), text=_NO_WORD, header="")
        stored = ChunkToStore(_NO_CHUNK, b"check", chunk)
        version = DocumentVersion("1", "check", b"", "Check", Metadata(), None, (), 1, SIMPLE)
        with self._database.transaction(settings=self._swap_settings) as cursor:
            trial = copy.copy(self)
            trial._database = _Within(cursor)
            claim = trial.claim(_NOTHING)
            trial.begin(claim, Metadata(), title="Check", attempts=1, last=False)
            trial.known_vectors(_NOTHING, list(vectors))
            trial.keep_vectors(_NOTHING.tenant, generation, vectors)
            trial.swap(claim, generation, version, [stored])
            trial.refresh(claim, "2", "check")
            trial.fail(claim, code="check", stage="check", attempts=1, version="3")
            trial.remove(claim)
            cursor.connection.rollback()

    def _search(self, audience: Audience, vector: Vector, *, limit: int) -> dict[str, Any]:
        return {
            **_audience(audience),
            "vector": _as_text(vector),
            "limit": limit,
            "excluded": [],
            "flags": [],
        }

    def _search_settings(self) -> dict[str, str]:
        return {
            "hnsw.ef_search": str(self._ef_search),
            "hnsw.iterative_scan": "strict_order",
            # How much a term matches, or a filter leaves, is unknown to the planner, who then may prefer to read a
            # whole table, also for the sake of a join, or to fetch and sort all vectors of a tenant. None of it is ever
            # better where these are used.
            "enable_seqscan": "off",
            "enable_sort": "off",
            "enable_hashjoin": "off",
            "enable_mergejoin": "off",
            # A plan for any values is made for more rows than come, and so would be compiled, at every search anew.
            "jit": "off",
        }


# --- parameters -----------------------------------------------------------------------------------------------


def _key(key: DocumentKey) -> dict[str, Any]:
    return {"tenant": key.tenant, "source": key.source}


def _claim(claim: Claim) -> dict[str, Any]:
    return {**_key(claim.key), "claim": claim.number}


def _audience(audience: Audience) -> dict[str, Any]:
    return {"tenant": audience.tenant, "groups": list(audience.groups)}


def _metadata(metadata: Metadata, title: str) -> dict[str, Any]:
    return {**asdict(metadata), "groups": list(metadata.groups), "title": title}


def _served(version: DocumentVersion) -> dict[str, Any]:
    return {
        **_metadata(version.metadata, version.title),
        "version": version.version,
        "pipeline": version.pipeline,
        "content_hash": version.content_hash,
        "embedded": version.embedded,
        "pages": version.pages,
        "unread_pages": list(version.unread_pages),
    }


def _as_text(vector: Vector) -> str:
    """A vector as pgvector reads it, with the digits that tell 32-bit floats apart."""
    floats = array("f", vector)
    return f"[{','.join(['%.9g'] * len(floats)) % tuple(floats)}]"


def _as_json(chunks: Iterable[ChunkToStore]) -> str:
    return json.dumps(
        [
            {
                "chunk_id": stored.chunk_id,
                "ordinal": stored.chunk.ordinal,
                "section": stored.chunk.section,
                "page": stored.chunk.page,
                "start_char": stored.chunk.start,
                "end_char": stored.chunk.end,
                "text": stored.chunk.text,
                "header": stored.chunk.header,
            }
            for stored in chunks
        ],
        ensure_ascii=False,
    )


def _storable(texts: Iterable[str]) -> list[str]:
    """Those that Postgres could hold; no document can be called by another."""
    return [text for text in texts if "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)]


# --- checks and results ---------------------------------------------------------------------------------------


def _require_dimensions(vector: Vector, generation: IndexGeneration) -> None:
    if len(vector) != generation.dimensions:
        raise EmbedderMismatch(
            f"The embedder made {len(vector)} dimensions; the index was built by {generation.model_id} "
            f"with {generation.dimensions}. Set the embedder back, or migrate with the index replaced and reindex."
        )


def _hold_generation(cursor: Cursor, generation: IndexGeneration) -> None:
    if cursor.execute(statements.HOLD_GENERATION, {"generation": generation.generation}).fetchone() is None:
        raise EmbedderMismatch(
            f"The index of {generation.model_id} was replaced while a document was being processed. "
            "Process it again with the embedder of the new index."
        )


def _passage(row: Any, **found: Any) -> Passage:
    return Passage(
        chunk_id=row.chunk_id,
        source=row.source,
        title=row.title,
        section=tuple(row.section),
        page=row.page,
        ordinal=row.ordinal,
        start=row.start_char,
        end=row.end_char,
        text=row.text,
        **found,
    )


def _merged(near: Sequence[Any], worded: Sequence[Any], asked: AskedTerms) -> list[Passage]:
    """One passage a chunk, with the ranks of the arms that found it. Equal chunks are ranked by their ids."""
    rows = {row.chunk_id: row for row in (*near, *worded)}
    scores = {chunk_id: asked.score(row.impacts) for chunk_id, row in rows.items()}
    by_vector = sorted((-_cosine(row), row.chunk_id) for row in near)
    by_keyword = sorted((-scores[row.chunk_id], row.chunk_id) for row in worded)
    vector_ranks = {chunk_id: rank for rank, (_, chunk_id) in enumerate(by_vector, start=1)}
    keyword_ranks = {chunk_id: rank for rank, (_, chunk_id) in enumerate(by_keyword, start=1)}
    return [
        _passage(
            row,
            score=_cosine(row),
            vector_rank=vector_ranks.get(chunk_id),
            keyword_rank=keyword_ranks.get(chunk_id),
            keyword_score=scores[chunk_id],
            coverage=asked.coverage(row.impacts),
        )
        for chunk_id, row in rows.items()
    ]


def _cosine(row: Any) -> float:
    """The similarity to the question; a vector of zeros is like nothing."""
    return 0.0 if math.isnan(row.distance) else 1.0 - float(row.distance)


def _document(tenant: str, row: Any) -> Document:
    failed = row.status == DocumentStatus.FAILED
    return Document(
        key=DocumentKey(tenant, row.source),
        title=row.title,
        status=DocumentStatus(row.status),
        result=None if row.result is None else IngestResult(row.result),
        chunks=row.chunks,
        embedded=row.embedded,
        pages=row.pages,
        unread_pages=tuple(row.unread_pages),
        version=row.version,
        updated_at=_as_utc(row.updated_at),
        error=DocumentError(row.error_code, row.error_stage, row.attempts, row.error_detail) if failed else None,
    )


def _as_utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
