"""The store on a real Postgres: claims, swaps, vectors that are reused, and what readers see meanwhile."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from itertools import permutations
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

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
)
from citewell.edges.postgres import Database
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.edges.postgres_schema import PostgresSchema
from citewell.errors import ConfigurationError, DatabaseUnavailable, EmbedderMismatch, VectorsMissing
from citewell.ports import ChunkToStore, Claim, IndexGeneration
from citewell.usecases.migrate import ensure_generation
from infra.local.throwaway_postgres import Server
from tests.integration.chunks import EVERYONE, KEY, index, reuse_key, to_store, vector_of, version

Rows = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def other_store(database: str, store: PostgresChunkStore) -> Iterator[PostgresChunkStore]:  # noqa: ARG001 - live first
    """A second worker's."""
    with closing(PostgresChunkStore(database)) as other:
        yield other


@pytest.fixture
def rows(database: str) -> Iterator[Rows]:
    """Ask the database itself."""
    with psycopg.connect(database, autocommit=True) as connection:
        yield lambda query, *values: connection.execute(query, values).fetchall()


def texts_of(store: PostgresChunkStore, key: DocumentKey = KEY) -> list[str] | None:
    passages = store.document_chunks(Audience(key.tenant), key.source, offset=0, limit=10_000)
    return None if passages is None else [passage.text for passage in passages]


def shown(store: PostgresChunkStore, key: DocumentKey = KEY) -> Document:
    document = store.document(Audience(key.tenant), key.source)
    assert document is not None
    return document


def vectors_by_text(rows: Rows) -> dict[str, list[float]]:
    found = rows("SELECT text, embedding::real[] FROM chunk JOIN chunk_vector USING (chunk_id)")
    return {text: list(array("f", embedding)) for text, embedding in found}


def as_32_bit(text: str) -> list[float]:
    return list(array("f", vector_of(text)))


# --- claims -----------------------------------------------------------------------------------------------------


def test_claims_on_one_document_count_up_and_say_what_is_served(store: PostgresChunkStore) -> None:
    assert store.claim(KEY) == Claim(KEY, 1, None, None, None, 0)
    index(store, ["one", "two"])
    assert store.claim(KEY) == Claim(KEY, 3, "v1", "p1", sha256(b"v1").digest(), 2)


def test_claims_on_other_documents_and_tenants_count_by_themselves(store: PostgresChunkStore) -> None:
    store.claim(KEY)
    assert store.claim(DocumentKey("default", "other.md")).number == 1
    assert store.claim(DocumentKey("elsewhere", KEY.source)).number == 1


def test_a_claim_alone_shows_nothing(store: PostgresChunkStore) -> None:
    store.claim(KEY)
    assert store.document(EVERYONE, KEY.source) is None
    assert texts_of(store) is None


@pytest.mark.parametrize("order", list(permutations(["old", "new"])), ids=lambda order: " then ".join(order))
def test_of_two_workers_the_one_with_the_newer_claim_wins_in_whatever_order_they_finish(
    store: PostgresChunkStore,
    other_store: PostgresChunkStore,
    generation: IndexGeneration,
    order: tuple[str, ...],
) -> None:
    workers = {"old": (store, store.claim(KEY)), "new": (other_store, other_store.claim(KEY))}
    results = {}
    for name in order:
        worker, claim = workers[name]
        worker.keep_vectors("default", generation, {reuse_key(name): vector_of(name)})
        results[name] = worker.swap(claim, generation, version(name), to_store([name])).result
    assert results == {"old": IngestResult.SUPERSEDED, "new": IngestResult.INDEXED}
    assert texts_of(store) == ["new"]
    assert shown(store).version == "new"


WRITES: dict[str, Callable[[PostgresChunkStore, Claim], IngestOutcome | None]] = {
    "begin": lambda store, claim: store.begin(claim, Metadata(title="Late"), title="Late", attempts=9, last=True),
    "refresh": lambda store, claim: store.refresh(claim, "late", "late"),
    "remove": lambda store, claim: store.remove(claim),
    "fail": lambda store, claim: store.fail(claim, code="late", stage="late", attempts=9, version="late"),
    "swap": lambda store, claim: store.swap(claim, store.live_generation(), version("late"), to_store(["kept"])),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_a_void_claim_writes_nothing_anywhere(
    store: PostgresChunkStore,
    other_store: PostgresChunkStore,
    rows: Rows,
    write: Callable[[PostgresChunkStore, Claim], IngestOutcome | None],
) -> None:
    index(store, ["kept"])
    void = store.claim(KEY)
    other_store.claim(KEY)

    def everything() -> list[list[tuple[Any, ...]]]:
        return [rows(f"SELECT xmin, t.* FROM {table} AS t") for table in ("document", "chunk", "chunk_vector")]  # noqa: S608 - our own names

    before = everything()
    outcome = write(store, void)
    assert outcome in (None, IngestOutcome(IngestResult.SUPERSEDED, 0, 0))
    assert everything() == before


def test_a_claim_waits_for_a_swap_that_is_under_way_and_then_sees_what_it_made(
    database: str, store: PostgresChunkStore, other_store: PostgresChunkStore
) -> None:
    """The row lock of the swap, held here by hand, is all that orders the two."""
    index(store, ["one"])
    with psycopg.connect(database) as swapping:
        swapping.execute("SELECT FROM document FOR UPDATE")
        impatient = PostgresChunkStore(database, statement_seconds=0.2)
        with closing(impatient), pytest.raises(DatabaseUnavailable, match="too long"):
            impatient.claim(KEY)
    assert other_store.claim(KEY).number == 2


def test_workers_that_race_end_in_what_the_newest_claim_wrote(database: str, generation: IndexGeneration) -> None:
    def work(worker: int) -> list[tuple[int, str, IngestResult]]:
        done = []
        with closing(PostgresChunkStore(database)) as store:
            for turn in range(6):
                text = f"worker {worker}, turn {turn}"
                claim = store.claim(KEY)
                store.keep_vectors("default", generation, {reuse_key(text): vector_of(text)})
                outcome = store.swap(claim, generation, version(text), to_store([text, "shared"][: 1 + turn % 2]))
                done.append((claim.number, text, outcome.result))
        return done

    with closing(PostgresChunkStore(database)) as store:
        store.keep_vectors("default", generation, {reuse_key("shared"): vector_of("shared")})
        with ThreadPoolExecutor(4) as pool:
            done = sorted(entry for worker in pool.map(work, range(4)) for entry in worker)
        assert [number for number, _, _ in done] == list(range(1, 25))
        _, newest, result = done[-1]
        assert result is not IngestResult.SUPERSEDED
        assert [result for _, _, result in done].count(IngestResult.INDEXED) == 1
        assert (texts_of(store) or [])[0] == newest
        assert shown(store).version == newest


# --- swaps ------------------------------------------------------------------------------------------------------


def test_the_first_swap_indexes_and_the_next_updates(store: PostgresChunkStore) -> None:
    assert index(store, ["one", "two"]) == IngestOutcome(IngestResult.INDEXED, 2, 2)
    assert index(store, ["one", "three", "four"], name="v2") == IngestOutcome(IngestResult.UPDATED, 3, 2)
    assert texts_of(store) == ["one", "three", "four"]
    assert index(store, ["four"], name="v3") == IngestOutcome(IngestResult.UPDATED, 1, 0)
    assert texts_of(store) == ["four"]


def test_a_chunk_comes_back_as_it_was_stored(store: PostgresChunkStore, generation: IndexGeneration) -> None:
    text = "Ünïcödé \\ 'quoted' \"double\" {braces} \t tab\n```\ncode % $1 \U0001f642\n```"
    chunk = Chunk(
        ordinal=0,
        section=("A, {b}", 'C "d" \\', ""),
        occurrence=2,
        part=3,
        start=7,
        end=7 + len(text),
        text=text,
        header="A > C",
        page=14,
    )
    stored = ChunkToStore("0b0a1c6e-5a3c-5a53-9d9c-0f5b3c8a7d11", reuse_key("x"), chunk)
    claim = store.claim(KEY)
    store.keep_vectors("default", generation, {reuse_key("x"): vector_of("x")})
    store.swap(claim, generation, version("v1"), [stored])
    assert store.document_chunks(EVERYONE, KEY.source, offset=0, limit=10) == [
        Passage(
            chunk_id=stored.chunk_id,
            source=KEY.source,
            title="Expenses",
            section=chunk.section,
            page=14,
            ordinal=0,
            start=7,
            end=7 + len(text),
            text=text,
            score=0.0,
        )
    ]


def test_a_swap_writes_only_what_changed(store: PostgresChunkStore, rows: Rows) -> None:
    index(store, ["one", "two", "three", "four"])
    chunks, vectors = (
        "SELECT text, xmin::text FROM chunk",
        "SELECT text, chunk_vector.xmin::text FROM chunk_vector JOIN chunk USING (chunk_id)",
    )
    chunks_before, vectors_before = set(rows(chunks)), set(rows(vectors))
    index(store, ["one", "TWO!", "three", "four"], name="v2")
    assert {text for text, _ in set(rows(vectors)) - vectors_before} == {"TWO!"}
    # The chunks behind the edit moved by a character; the one before it was left alone.
    assert {text for text, _ in set(rows(chunks)) - chunks_before} == {"TWO!", "three", "four"}


def test_a_swap_that_lacks_a_vector_changes_nothing(
    store: PostgresChunkStore, generation: IndexGeneration, rows: Rows
) -> None:
    index(store, ["old one", "old two"])
    claim = store.claim(KEY)
    store.keep_vectors("default", generation, {reuse_key("new one"): vector_of("new one")})
    with pytest.raises(VectorsMissing, match="1 of 2 chunks"):
        store.swap(claim, generation, version("v2"), to_store(["new one", "new two"]))
    assert texts_of(store) == ["old one", "old two"]
    assert set(vectors_by_text(rows)) == {"old one", "old two"}
    assert shown(store).version == "v1"


def test_a_swap_that_breaks_in_the_middle_leaves_the_old_version_answering(
    store: PostgresChunkStore, generation: IndexGeneration
) -> None:
    index(store, ["old one", "old two"])
    claim = store.claim(KEY)
    store.keep_vectors("default", generation, {reuse_key("new"): vector_of("new")})
    [broken] = to_store(["new"])
    broken = replace(broken, chunk=replace(broken.chunk, end=broken.chunk.end + 1))
    with pytest.raises(psycopg.errors.CheckViolation):
        store.swap(claim, generation, version("v2"), [broken])
    assert texts_of(store) == ["old one", "old two"]
    assert store.swap(claim, generation, version("v2"), to_store(["new"])).result is IngestResult.UPDATED


def test_a_swap_twice_with_the_same_claim_ends_in_the_same_state(
    store: PostgresChunkStore, generation: IndexGeneration
) -> None:
    index(store, ["one"])
    claim = store.claim(KEY)
    for _ in range(2):
        outcome = store.swap(claim, generation, version("v2"), to_store(["one"]))
        assert outcome == IngestOutcome(IngestResult.UPDATED, 1, 0)
    assert texts_of(store) == ["one"]


def test_a_document_without_chunks_is_served_empty(store: PostgresChunkStore) -> None:
    assert index(store, []) == IngestOutcome(IngestResult.INDEXED, 0, 0)
    assert texts_of(store) == []
    assert shown(store).status is DocumentStatus.READY


def test_a_large_document_is_swapped_whole(store: PostgresChunkStore) -> None:
    texts = [f"Paragraph {number} says {number * 7}." for number in range(2500)]
    assert index(store, texts) == IngestOutcome(IngestResult.INDEXED, 2500, 2500)
    del texts[3]
    assert index(store, texts, name="v2") == IngestOutcome(IngestResult.UPDATED, 2499, 0)
    assert texts_of(store) == texts


# --- vectors ----------------------------------------------------------------------------------------------------


def test_vectors_that_change_places_between_chunks_follow_their_texts(store: PostgresChunkStore, rows: Rows) -> None:
    index(store, ["one", "two", "three"])
    outcome = index(store, ["two", "three", "one", "one"], name="v2")
    assert outcome == IngestOutcome(IngestResult.UPDATED, 4, 0)
    assert texts_of(store) == ["two", "three", "one", "one"]
    assert vectors_by_text(rows) == {text: as_32_bit(text) for text in ("one", "two", "three")}


def test_a_vector_moves_to_another_chunk_although_its_own_chunk_goes(store: PostgresChunkStore, rows: Rows) -> None:
    index(store, ["one", "two"], names=["a", "b"])
    assert index(store, ["two"], names=["c"], name="v2").embedded == 0
    assert vectors_by_text(rows) == {"two": as_32_bit("two")}


def test_what_was_kept_before_a_crash_is_known_to_the_next_attempt(
    store: PostgresChunkStore, other_store: PostgresChunkStore, generation: IndexGeneration
) -> None:
    store.claim(KEY)
    store.keep_vectors("default", generation, {reuse_key("one"): vector_of("one")})
    store.close()
    assert index(other_store, ["one", "two"]) == IngestOutcome(IngestResult.INDEXED, 2, 1)


def test_keeping_the_same_batch_again_is_harmless(store: PostgresChunkStore, generation: IndexGeneration) -> None:
    for _ in range(2):
        store.keep_vectors("default", generation, {reuse_key("one"): vector_of("one")})
    store.keep_vectors("default", generation, {})
    assert store.known_vectors(KEY, [reuse_key("one")] * 2) == {reuse_key("one")}


def test_a_vector_known_from_another_document_survives_that_document(
    store: PostgresChunkStore,
    generation: IndexGeneration,
    rows: Rows,
) -> None:
    other = DocumentKey("default", "other.md")
    index(store, ["shared"], key=other)
    rows("WITH gone AS (DELETE FROM pending_vector RETURNING 1) SELECT count(*) FROM gone")
    claim = store.claim(KEY)
    assert store.known_vectors(KEY, [reuse_key("shared")]) == {reuse_key("shared")}
    store.remove(store.claim(other))
    assert store.swap(claim, generation, version("v1"), to_store(["shared"])).result is IngestResult.INDEXED
    assert vectors_by_text(rows) == {"shared": as_32_bit("shared")}


def test_a_documents_own_vectors_are_not_copied(store: PostgresChunkStore, rows: Rows) -> None:
    index(store, ["one"])
    rows("WITH gone AS (DELETE FROM pending_vector RETURNING 1) SELECT count(*) FROM gone")
    assert store.known_vectors(KEY, [reuse_key("one"), reuse_key("two")]) == {reuse_key("one")}
    assert rows("SELECT count(*) FROM pending_vector") == [(0,)]


def test_vectors_of_another_tenant_are_not_known(store: PostgresChunkStore, generation: IndexGeneration) -> None:
    index(store, ["secret"], key=DocumentKey("them", "a.md"))
    assert store.known_vectors(KEY, [reuse_key("secret")]) == frozenset()
    with pytest.raises(VectorsMissing):
        store.swap(store.claim(KEY), generation, version("v1"), to_store(["secret"]))


def test_kept_vectors_are_forgotten_by_age_unless_they_were_asked_for_since(
    store: PostgresChunkStore, generation: IndexGeneration, rows: Rows
) -> None:
    store.keep_vectors("default", generation, {reuse_key(text): vector_of(text) for text in ("old", "asked", "new")})
    rows(
        "UPDATE pending_vector SET created_at = now() - interval '25 hours' WHERE reuse_key = ANY (%s) RETURNING 1",
        [reuse_key("old"), reuse_key("asked")],
    )
    assert store.known_vectors(KEY, [reuse_key("asked")]) == {reuse_key("asked")}
    index(store, ["something"])
    left = {row[0] for row in rows("SELECT reuse_key FROM pending_vector")}
    assert left == {reuse_key("asked"), reuse_key("new"), reuse_key("something")}


def test_vectors_of_another_dimension_are_refused(store: PostgresChunkStore, generation: IndexGeneration) -> None:
    with pytest.raises(EmbedderMismatch, match="3 dimensions"):
        store.keep_vectors("default", generation, {reuse_key("one"): [1.0, 2.0, 3.0]})
    assert store.known_vectors(KEY, [reuse_key("one")]) == frozenset()


def test_a_swap_into_a_generation_that_was_replaced_meanwhile_is_refused(
    database: str, store: PostgresChunkStore, generation: IndexGeneration
) -> None:
    claim = store.claim(KEY)
    store.keep_vectors("default", generation, {reuse_key("one"): vector_of("one")})
    ensure_generation(PostgresSchema(database), model_id="another", dimensions=4, replace=True)
    with pytest.raises(EmbedderMismatch, match="replaced while"):
        store.swap(claim, generation, version("v1"), to_store(["one"]))
    assert store.document(EVERYONE, KEY.source) is None


# --- what readers see -------------------------------------------------------------------------------------------


def test_a_document_that_is_begun_shows_as_processing_under_its_new_title(store: PostgresChunkStore) -> None:
    store.begin(store.claim(KEY), Metadata(), title="Expenses", attempts=1, last=False)
    document = shown(store)
    assert document == Document(
        key=KEY,
        title="Expenses",
        status=DocumentStatus.PROCESSING,
        result=None,
        chunks=0,
        embedded=0,
        pages=None,
        unread_pages=(),
        version=None,
        updated_at=document.updated_at,
        error=None,
    )
    assert texts_of(store) == []


def test_a_last_attempt_shows_as_interrupted_until_it_has_ended(
    store: PostgresChunkStore, generation: IndexGeneration
) -> None:
    claim = store.claim(KEY)
    store.begin(claim, Metadata(), title="Expenses", attempts=5, last=True)
    assert shown(store).status is DocumentStatus.FAILED
    assert shown(store).error == DocumentError("interrupted", "ingest", 5)
    store.keep_vectors("default", generation, {reuse_key("one"): vector_of("one")})
    store.swap(claim, generation, version("v1", embedded=1), to_store(["one"]))
    assert (shown(store).status, shown(store).error) == (DocumentStatus.READY, None)


def test_an_old_version_keeps_answering_under_its_own_title_while_a_new_one_is_processed_and_fails(
    store: PostgresChunkStore,
) -> None:
    index(store, ["old"])
    claim = store.claim(KEY)
    store.begin(claim, Metadata(title="New"), title="New", attempts=2, last=False)
    assert (shown(store).status, shown(store).title, texts_of(store)) == (
        DocumentStatus.PROCESSING,
        "Expenses",
        ["old"],
    )
    store.fail(claim, code="unsupported_type", stage="extract", attempts=2, version="v2")
    document = shown(store)
    assert document.status is DocumentStatus.FAILED
    assert document.error == DocumentError("unsupported_type", "extract", 2)
    assert (document.version, document.chunks, document.result) == ("v2", 1, None)
    assert texts_of(store) == ["old"]


@pytest.mark.parametrize(
    ("served", "coming", "readers"),
    [
        ((), ("hr",), {"hr", "both"}),
        ((), None, set()),
        (("hr",), (), {"hr", "both"}),
        (("hr",), ("board",), {"both"}),
        (("hr",), ("hr", "board"), {"hr", "both"}),
        (("board", "hr"), ("hr",), {"hr", "both"}),
        (("hr",), None, set()),
        ((), (), {"nobody in particular", "hr", "board", "both"}),
    ],
    ids=["closed", "unclear", "opened", "moved", "widened", "narrowed", "closed and unclear", "open"],
)
def test_until_a_version_with_other_groups_is_served_the_old_one_answers_whoever_may_read_both(
    store: PostgresChunkStore, served: tuple[str, ...], coming: tuple[str, ...] | None, readers: set[str]
) -> None:
    callers = {
        "nobody in particular": EVERYONE,
        "hr": Audience("default", ("hr",)),
        "board": Audience("default", ("board", "sales")),
        "both": Audience("default", ("board", "hr")),
    }

    def may_read() -> set[str]:
        return {name for name, caller in callers.items() if store.document(caller, KEY.source)}

    index(store, ["old"], metadata=Metadata(groups=served))
    before = may_read()
    metadata = None if coming is None else Metadata(groups=coming)
    claim = store.claim(KEY)
    store.begin(claim, metadata, title="New", attempts=1, last=False)
    assert may_read() == readers
    store.fail(claim, code="empty", stage="extract", attempts=1, version="v2")
    assert may_read() == readers, "a version that failed closes the document all the same"
    store.refresh(store.claim(KEY), "v3", "p1")
    assert may_read() == before, "the served version is the newest again"
    store.begin(store.claim(KEY), metadata, title="New", attempts=1, last=False)
    index(store, ["new"], name="v4", metadata=Metadata(groups=coming or ()))
    assert may_read() == {name for name, caller in callers.items() if not coming or set(coming) & set(caller.groups)}
    store.remove(store.claim(KEY))
    store.begin(store.claim(KEY), Metadata(), title="Again", attempts=1, last=False)
    assert may_read() == callers.keys()


def test_a_new_document_whose_groups_are_unclear_is_shown_to_nobody(store: PostgresChunkStore) -> None:
    claim = store.claim(KEY)
    store.begin(claim, None, title="Expenses", attempts=1, last=False)
    store.fail(claim, code="bad_metadata", stage="metadata", attempts=1, version="v1")
    assert store.document(EVERYONE, KEY.source) is None


def test_a_failure_says_more_than_its_code_until_another_version_is_served(
    store: PostgresChunkStore, generation: IndexGeneration
) -> None:
    claim = store.claim(KEY)
    store.begin(claim, Metadata(), title="Scan", attempts=1, last=False)
    store.fail(claim, code="no_text_layer", stage="extract", attempts=1, version="v1", detail="pages 1 to 3")
    assert shown(store).error == DocumentError("no_text_layer", "extract", 1, "pages 1 to 3")
    claim = store.claim(KEY)
    store.keep_vectors("default", generation, {reuse_key("one"): vector_of("one")})
    store.swap(claim, generation, version("v2", unread_pages=(2, 3)), to_store(["one"]))
    assert (shown(store).error, shown(store).unread_pages) == (None, (2, 3))
    store.fail(store.claim(KEY), code="empty", stage="extract", attempts=1, version="v3")
    assert (shown(store).error, shown(store).unread_pages) == (DocumentError("empty", "extract", 1), (2, 3))


def failed(store: PostgresChunkStore, source: str, *, tenant: str = "default", groups: tuple[str, ...] = ()) -> None:
    claim = store.claim(DocumentKey(tenant, source))
    store.begin(claim, Metadata(groups=groups), title=source, attempts=1, last=False)
    store.fail(claim, code="corrupt", stage="extract", attempts=1, version="v1")


def listed(
    store: PostgresChunkStore,
    audience: Audience = EVERYONE,
    *,
    status: DocumentStatus | None = DocumentStatus.FAILED,
    prefix: str = "",
    after: str = "",
    limit: int = 10,
) -> list[str]:
    documents = store.documents(audience, status=status, prefix=prefix, after=after, limit=limit)
    return [document.key.source for document in documents]


def test_documents_are_listed_by_status_and_prefix_page_by_page(store: PostgresChunkStore) -> None:
    for source in ("hr/b.pdf", "hr/a.pdf", "sales/c.pdf", "hr_%/d.pdf"):
        failed(store, source)
    index(store, ["one"])
    store.remove(store.claim(DocumentKey("default", "sales/c.pdf")))
    store.claim(DocumentKey("default", "hr/only-claimed.pdf"))
    assert listed(store) == ["hr/a.pdf", "hr/b.pdf", "hr_%/d.pdf"]
    assert listed(store, limit=2) == ["hr/a.pdf", "hr/b.pdf"]
    assert listed(store, after="hr/b.pdf") == ["hr_%/d.pdf"]
    assert listed(store, prefix="hr_") == ["hr_%/d.pdf"]
    assert listed(store, prefix="hr/") == ["hr/a.pdf", "hr/b.pdf"]
    assert listed(store, status=DocumentStatus.READY) == [KEY.source]
    assert listed(store, status=None) == sorted(["hr/a.pdf", "hr/b.pdf", "hr_%/d.pdf", KEY.source])
    assert listed(store, prefix="h\0") == []
    [document] = store.documents(EVERYONE, status=None, prefix="hr/a", after="", limit=1)
    assert document == store.document(EVERYONE, "hr/a.pdf")


def test_documents_of_others_are_not_listed(store: PostgresChunkStore) -> None:
    failed(store, "a.pdf", tenant="other")
    failed(store, "b.pdf", groups=("hr",))
    claim = store.claim(DocumentKey("default", "c.pdf"))
    store.begin(claim, None, title="c", attempts=1, last=False)
    store.fail(claim, code="bad_metadata", stage="metadata", attempts=1, version="v1")
    assert listed(store) == []
    assert listed(store, Audience("default", ("hr",))) == ["b.pdf"]
    assert listed(store, Audience("other", ("hr",))) == ["a.pdf"]


def test_a_failure_that_knows_no_version_keeps_the_last_one(store: PostgresChunkStore) -> None:
    index(store, ["one"])
    store.fail(store.claim(KEY), code="object_vanished", stage="read", attempts=5, version=None)
    assert shown(store).version == "v1"


def test_a_refresh_notes_the_new_version_and_ends_a_failure(store: PostgresChunkStore) -> None:
    index(store, ["one", "two"])
    claim = store.claim(KEY)
    store.fail(claim, code="corrupt", stage="extract", attempts=1, version="v2")
    claim = store.claim(KEY)
    assert store.refresh(claim, "v3", "p2") == IngestOutcome(IngestResult.UNCHANGED, 2, 0)
    document = shown(store)
    assert (document.status, document.result, document.embedded) == (DocumentStatus.READY, IngestResult.UNCHANGED, 0)
    assert (document.version, document.error) == ("v3", None)
    again = store.claim(KEY)
    assert (again.served_version, again.served_pipeline, again.chunks) == ("v3", "p2", 2)


def test_a_removed_document_is_gone_for_readers_and_its_claims_go_on_counting(
    store: PostgresChunkStore, rows: Rows
) -> None:
    index(store, ["one"])
    overtaken = store.claim(KEY)
    assert store.remove(store.claim(KEY)) == IngestOutcome(IngestResult.DELETED, 0, 0)
    assert store.document(EVERYONE, KEY.source) is None
    assert texts_of(store) is None
    assert rows("SELECT count(*) FROM chunk_vector") == [(0,)]
    assert store.refresh(overtaken, "v1", "p1").result is IngestResult.SUPERSEDED
    assert store.claim(KEY) == Claim(KEY, 4, None, None, None, 0)
    assert index(store, ["one"], name="v2").result is IngestResult.INDEXED
    assert texts_of(store) == ["one"]


def test_chunks_come_in_pages_by_their_ordinal(store: PostgresChunkStore) -> None:
    index(store, [f"text {number}" for number in range(12)])
    page = store.document_chunks(EVERYONE, KEY.source, offset=10, limit=5)
    assert page is not None
    assert [(passage.ordinal, passage.text) for passage in page] == [(10, "text 10"), (11, "text 11")]
    assert store.document_chunks(EVERYONE, KEY.source, offset=12, limit=5) == []


def test_a_document_of_groups_is_served_to_nobody_without_them(store: PostgresChunkStore) -> None:
    index(store, ["salaries"], metadata=Metadata(groups=("board", "hr")))
    assert store.document(EVERYONE, KEY.source) is None
    assert texts_of(store) is None
    assert store.document(Audience("default", ("sales",)), KEY.source) is None
    document = store.document(Audience("default", ("sales", "hr")), KEY.source)
    assert document is not None
    assert document.title == "Expenses"


def test_a_failure_before_anything_was_known_of_the_document_is_shown_to_nobody(store: PostgresChunkStore) -> None:
    """Its groups aren't known either."""
    store.fail(store.claim(KEY), code="embedder_mismatch", stage="ingest", attempts=5, version=None)
    assert store.document(EVERYONE, KEY.source) is None


def test_tenants_see_their_own_documents_only(store: PostgresChunkStore) -> None:
    index(store, ["ours"])
    theirs = DocumentKey("them", KEY.source)
    index(store, ["theirs"], key=theirs)
    assert (texts_of(store), texts_of(store, theirs)) == (["ours"], ["theirs"])
    store.remove(store.claim(theirs))
    assert texts_of(store) == ["ours"]
    assert store.document(Audience("nobody"), KEY.source) is None


@pytest.mark.parametrize("source", ["a\0b", "\ud800", "", "%", "'; DROP TABLE document; --"])
def test_a_source_that_no_document_has_is_none(store: PostgresChunkStore, source: str) -> None:
    index(store, ["one"])
    assert store.document(EVERYONE, source) is None
    assert store.document_chunks(EVERYONE, source, offset=0, limit=5) is None


@pytest.mark.parametrize(
    "source", ["50%_off\\deal.md", 'O\'Brien "quoted".md', "über/日本語/\U0001f642.md", "a b+c&d=e?f#g", "x" * 1024]
)
def test_any_object_key_is_a_source(store: PostgresChunkStore, source: str) -> None:
    key = DocumentKey("default", source)
    index(store, ["one"], key=key)
    assert shown(store, key).key == key


def test_the_time_of_the_last_change_is_shown_in_utc(store: PostgresChunkStore) -> None:
    index(store, ["one"])
    assert shown(store).updated_at.endswith("Z")


# --- the connection ---------------------------------------------------------------------------------------------


def test_a_connection_that_broke_while_idle_is_replaced_unnoticed(store: PostgresChunkStore, rows: Rows) -> None:
    index(store, ["one"])
    ended = rows(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    assert ended == [(True,)]
    assert texts_of(store) == ["one"]


def test_a_database_that_is_away_is_unavailable_and_the_next_try_may_succeed(
    store: PostgresChunkStore, database: str, database_server: Server
) -> None:
    store.ping()
    name = Identifier(urlsplit(database).path[1:])
    with psycopg.connect(database_server.url, autocommit=True) as admin:
        admin.execute(SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s",
            [urlsplit(database).path[1:]],
        )
        for _ in range(2):
            with pytest.raises(DatabaseUnavailable, match=r"^The database can't be reached\.$"):
                store.ping()
        admin.execute(SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name))
    store.ping()


def test_a_server_that_does_not_exist_is_unavailable() -> None:
    with pytest.raises(DatabaseUnavailable):
        PostgresChunkStore("postgresql://nobody@127.0.0.1:1/nothing").ping()


def test_no_setting_outlives_its_transaction(database: str) -> None:
    connection = Database(database, statement_seconds=7)
    with connection.transaction(settings={"hnsw.ef_search": "123"}) as cursor:
        assert cursor.execute("SHOW statement_timeout").fetchone() == ("7s",)
        assert cursor.execute("SHOW hnsw.ef_search").fetchone() == ("123",)
    with connection.transaction() as cursor:
        assert cursor.execute("SHOW hnsw.ef_search").fetchone() != ("123",)
    connection.close()


def test_an_error_in_the_block_rolls_back_and_leaves_the_connection_usable(
    store: PostgresChunkStore, generation: IndexGeneration
) -> None:
    claim = store.claim(KEY)
    with pytest.raises(VectorsMissing):
        store.swap(claim, generation, version("v1"), to_store(["one"]))
    assert store.claim(KEY).number == 2


def test_a_database_that_was_never_migrated_says_what_to_do(empty_database: str) -> None:
    store = PostgresChunkStore(empty_database)
    with closing(store), pytest.raises(ConfigurationError, match="run the migration"):
        store.live_generation()


def test_a_migrated_database_without_a_generation_says_what_to_do(database: str) -> None:
    with closing(PostgresChunkStore(database)) as store, pytest.raises(ConfigurationError, match="No index generation"):
        store.live_generation()
