"""The keyword index stays in step with the chunks, whatever is done to a document, and however it breaks off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.core.keywords import AVERAGE_LENGTH, LENGTH_NORMALISATION, SATURATION
from citewell.core.values import DocumentKey, Metadata
from citewell.edges import postgres_chunk_store, statements
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.edges.postgres_schema import PostgresSchema
from citewell.errors import VectorsMissing
from citewell.ports import IndexGeneration
from tests.benchmarks.loading import ALL_COUNTS, ALL_POSTINGS
from tests.integration.chunks import KEY, index, reuse_key, to_store, vector_of, version

Rows = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def rows(database: str) -> Iterator[Rows]:
    with psycopg.connect(database, autocommit=True) as connection:
        yield lambda query, *values: connection.execute(query, values).fetchall() if query else []


def stored_state(rows: Rows) -> dict[str, list[tuple[Any, ...]]]:
    """What the index says of each chunk, whatever number it has there."""
    return {
        "postings": rows("SELECT term, impact, chunk_id FROM posting JOIN chunk_words USING (number) ORDER BY 1, 2, 3"),
        "counts": rows("SELECT key, chunks FROM term_count ORDER BY key"),
        "readers": rows("SELECT chunk_id, readers, fingerprint FROM chunk_words ORDER BY chunk_id"),
    }


def assert_consistent(rows: Rows) -> None:
    postings = rows("SELECT term, impact, number FROM posting ORDER BY term, impact, number")
    assert postings == rows(f"SELECT * FROM ({ALL_POSTINGS}) AS fresh ORDER BY term, impact, number")  # noqa: S608
    counts = rows("SELECT key, chunks FROM term_count ORDER BY key")
    assert counts == rows(f"SELECT * FROM ({ALL_COUNTS}) AS fresh ORDER BY key")  # noqa: S608
    unlike = rows("""
        SELECT chunk_id FROM chunk JOIN document USING (tenant, source) LEFT JOIN chunk_words USING (chunk_id)
        WHERE chunk_words.tenant IS DISTINCT FROM chunk.tenant
           OR chunk_words.readers IS DISTINCT FROM keyword_readers(document.groups, document.next_groups)
    """)
    assert unlike == []


def term(rows: Rows, lexeme: str, tenant: str = "default") -> int:
    [(number,)] = rows("SELECT keyword_term(%s, %s)", tenant, lexeme)
    return int(number)


def count_of(rows: Rows, lexeme: str, readers: str = "", tenant: str = "default") -> int:
    found = rows(
        "SELECT chunks FROM term_count WHERE key = keyword_count(keyword_term(%s, %s), %s)", tenant, lexeme, readers
    )
    return int(found[0][0]) if found else 0


# --- one document ---------------------------------------------------------------------------------------------------


def test_a_word_is_posted_by_its_stem_with_what_it_adds_to_a_score(store: PostgresChunkStore, rows: Rows) -> None:
    index(store, ["The parking of bikes, and parks."], header="Parking")
    [(impact,)] = rows("SELECT impact FROM posting WHERE term = %s", term(rows, "park"))
    often, length = 4, 5  # twice in the text and once, for two, in the header; with "bikes" and no stop word
    saturated = often + SATURATION * (1 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * length / AVERAGE_LENGTH)
    assert impact == pytest.approx(often * (SATURATION + 1) / saturated, rel=1e-6)
    assert rows("SELECT count(*)::int FROM posting") == [(2,)]
    assert [count_of(rows, lexeme) for lexeme in ("park", "bike", "the", " chunks", " english")] == [1, 1, 0, 1, 1]


def test_words_are_stemmed_in_the_documents_language(store: PostgresChunkStore, rows: Rows) -> None:
    generation = store.live_generation()
    for language, source in [("german", "de.md"), ("simple", "xx.md")]:
        key = DocumentKey("default", source)
        chunks = to_store(["Die Häuser der Stadt"], key=key, header="")
        store.keep_vectors("default", generation, {chunks[0].reuse_key: vector_of("x")})
        store.swap(store.claim(key), generation, replace(version("v1"), search_language=language), chunks)
    assert [count_of(rows, lexeme) for lexeme in ("haus", "häuser", "stadt", "die")] == [1, 1, 2, 1]
    assert [count_of(rows, name) for name in (" german", " simple", " english", " chunks")] == [1, 1, 0, 2]


def test_another_language_of_the_same_text_indexes_its_words_anew(store: PostgresChunkStore, rows: Rows) -> None:
    index(store, ["Die Häuser"], header="")
    chunks = to_store(["Die Häuser"], header="")
    store.swap(store.claim(KEY), store.live_generation(), replace(version("v2"), search_language="german"), chunks)
    assert (count_of(rows, "haus"), count_of(rows, "häuser"), count_of(rows, " english")) == (1, 0, 0)
    assert_consistent(rows)


def test_chunks_that_only_moved_keep_their_words(store: PostgresChunkStore, rows: Rows) -> None:
    index(store, ["one apple", "two pears", "three plums"], names=["a", "b", "c"])
    before = set(rows("SELECT chunk_id, number FROM chunk_words"))
    index(store, ["a new beginning", "one apple", "two pears and figs", "three plums"], names=["n", "a", "b", "c"])
    after = set(rows("SELECT chunk_id, number FROM chunk_words"))
    assert len(after) == 4
    assert len(before & after) == 2
    assert_consistent(rows)


def test_a_removed_document_leaves_nothing_behind(store: PostgresChunkStore, rows: Rows) -> None:
    index(store, ["one apple", "two pears"])
    store.remove(store.claim(KEY))
    assert rows("SELECT (SELECT count(*) FROM chunk_words) + (SELECT count(*) FROM posting)") == [(0,)]
    assert rows("SELECT * FROM term_count") == []


def test_a_text_without_words_is_counted_as_a_chunk(store: PostgresChunkStore, rows: Rows) -> None:
    index(store, ["...", "and the of", "\U0001f642"], header="")
    assert rows("SELECT count(*)::int FROM posting") == [(0,)]
    assert count_of(rows, " chunks") == 3
    assert_consistent(rows)


# --- who is counted for whom ----------------------------------------------------------------------------------------

READERS = [
    (None, None, []),
    ([], None, [""]),
    ([], [], [""]),
    (["b", "a"], None, ["a", "b"]),
    (["b", "a"], [], ["a", "b"]),
    ([], ["b"], ["b"]),
    (["a", "b"], ["b", "c"], ["b"]),
    (["a"], ["b"], []),
    ([], [None], []),
    (["a"], [None], []),
    (None, ["a"], []),
]


@pytest.mark.parametrize(("groups", "coming", "expected"), READERS)
def test_a_document_is_counted_for_those_alone_who_may_find_it(
    rows: Rows, groups: list[str] | None, coming: list[str | None] | None, expected: list[str]
) -> None:
    assert rows("SELECT keyword_readers(%s::text[], %s::text[])", groups, coming) == [(expected,)]


def test_each_group_of_a_document_counts_it(store: PostgresChunkStore, rows: Rows) -> None:
    index(store, ["one apple"], metadata=Metadata(groups=("hr", "it")))
    assert [count_of(rows, "appl", group) for group in ("", "hr", "it", "board")] == [0, 1, 1, 0]


def test_a_document_that_is_being_closed_is_counted_for_whoever_may_still_find_it(
    store: PostgresChunkStore, rows: Rows
) -> None:
    index(store, ["one apple"])
    claim = store.claim(KEY)
    store.begin(claim, Metadata(groups=("board",)), title="T", attempts=1, last=False)
    assert (count_of(rows, "appl"), count_of(rows, "appl", "board")) == (0, 1)
    assert_consistent(rows)
    store.begin(claim, None, title="T", attempts=1, last=False)
    assert (count_of(rows, " chunks"), count_of(rows, " chunks", " all")) == (0, 1)
    store.begin(claim, Metadata(), title="T", attempts=1, last=False)
    assert count_of(rows, "appl") == 1
    assert_consistent(rows)


def test_closing_a_document_leaves_its_postings_alone(store: PostgresChunkStore, rows: Rows) -> None:
    index(store, ["one apple", "two apples"])
    before = rows("SELECT ctid::text, posting FROM posting")
    store.begin(store.claim(KEY), Metadata(groups=("board",)), title="T", attempts=1, last=False)
    assert rows("SELECT ctid::text, posting FROM posting") == before, "however many there are"
    assert (count_of(rows, "appl"), count_of(rows, "appl", "board")) == (0, 2)
    assert_consistent(rows)


# --- whatever is done -----------------------------------------------------------------------------------------------

WORDS = ["apple", "apples", "pear", "the", "fig tree", "日本語", "E-4711", "plum"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), max_size=4)
GROUPS = st.sampled_from([(), ("a",), ("a", "b"), ("b", "c")])
SOURCE = st.sampled_from(["one.md", "two.md"])
ACTIONS = st.one_of(
    st.tuples(st.just("index"), SOURCE, TEXTS, GROUPS),
    st.tuples(st.just("begin"), SOURCE, st.none() | GROUPS),
    st.tuples(st.just("refresh"), SOURCE),
    st.tuples(st.just("fail"), SOURCE),
    st.tuples(st.just("remove"), SOURCE),
    st.tuples(st.just("lacks a vector"), SOURCE, TEXTS),
    st.tuples(st.just("crash while swapping"), SOURCE, TEXTS),
    st.tuples(st.just("crash while removing"), SOURCE),
    st.tuples(st.just("delete chunks by hand"), SOURCE),
    st.tuples(st.just("delete the document by hand"), SOURCE),
    st.tuples(st.just("change a text by hand"), SOURCE),
    st.tuples(st.just("bury everything")),
)


class Crash(Exception):
    """The worker dies just before its transaction would have been committed."""


class Doing:
    """Does one thing after the other to two documents, and knows what each should say in the end."""

    def __init__(self, database: str, store: PostgresChunkStore, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
        self.database, self.store, self.rows, self.monkeypatch = database, store, rows, monkeypatch

    def __call__(self, action: str, *arguments: Any) -> None:
        getattr(self, action.replace(" ", "_"))(*arguments)

    def index(self, source: str, texts: list[str], groups: tuple[str, ...] = ()) -> None:
        index(self.store, texts, key=DocumentKey("default", source), metadata=Metadata(groups=groups))

    def begin(self, source: str, groups: tuple[str, ...] | None) -> None:
        metadata = None if groups is None else Metadata(groups=groups)
        self.store.begin(self._claim(source), metadata, title="T", attempts=1, last=False)

    def refresh(self, source: str) -> None:
        if (claim := self._claim(source)).served_version:
            self.store.refresh(claim, "v9", "p9")

    def fail(self, source: str) -> None:
        self.store.fail(self._claim(source), code="empty", stage="extract", attempts=1, version="v9")

    def remove(self, source: str) -> None:
        self.store.remove(self._claim(source))

    def lacks_a_vector(self, source: str, texts: list[str]) -> None:
        chunks = to_store([*texts, "unheard-of"], key=DocumentKey("default", source))
        generation = self.store.live_generation()
        self.store.keep_vectors("default", generation, {reuse_key(text): vector_of(text) for text in texts})
        with pytest.raises(VectorsMissing):
            self.store.swap(self._claim(source), generation, version("v9"), chunks)

    def crash_while_swapping(self, source: str, texts: list[str]) -> None:
        with self.monkeypatch.context() as patched:
            patched.setattr(postgres_chunk_store, "IngestOutcome", _crash)
            with pytest.raises(Crash):
                self._crash_within(lambda: self.index(source, texts))

    def crash_while_removing(self, source: str) -> None:
        with pytest.raises(Crash):
            self._crash_within(lambda: self.remove(source))

    def _crash_within(self, work: Callable[[], object]) -> None:
        """The last statement of a swap and of a removal is made to fail after it ran."""
        broken = "SELECT * FROM no_such_table"
        with self.monkeypatch.context() as patched:
            patched.setattr(statements, "DELETE_OTHER_CHUNKS", broken)
            patched.setattr(statements, "DELETE_CHUNKS", broken)
            try:
                work()
            except Exception as error:
                raise Crash from error

    def delete_chunks_by_hand(self, source: str) -> None:
        self._run("DELETE FROM chunk WHERE source = %s", source)

    def delete_the_document_by_hand(self, source: str) -> None:
        self._run("DELETE FROM document WHERE source = %s", source)

    def change_a_text_by_hand(self, source: str) -> None:
        """As the release before did, which knew nothing of the index."""
        self._run("UPDATE chunk SET text = text || '!', end_char = end_char + 1 WHERE source = %s", source)

    def bury_everything(self) -> None:
        with PostgresSchema(self.database).locked() as schema:
            schema.bury_documents()

    def _claim(self, source: str) -> Any:
        return self.store.claim(DocumentKey("default", source))

    def _run(self, statement: str, source: str) -> None:
        self.rows(f"WITH done AS ({statement} RETURNING 1) SELECT count(*) FROM done", source)  # noqa: S608


def _crash(*_: object, **__: object) -> object:
    raise Crash


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=st.lists(ACTIONS, max_size=8), texts=TEXTS, groups=GROUPS)
def test_after_anything_the_index_is_what_a_fresh_one_would_be(
    database: str,
    store: PostgresChunkStore,
    rows: Rows,
    monkeypatch: pytest.MonkeyPatch,
    actions: list[tuple[Any, ...]],
    texts: list[str],
    groups: tuple[str, ...],
) -> None:
    do = Doing(database, store, rows, monkeypatch)
    do("bury everything")
    for action in actions:
        do(*action)
        assert_consistent(rows)
    for source in ("one.md", "two.md"):
        do("index", source, texts, groups)
    grown = stored_state(rows)
    do("bury everything")
    assert stored_state(rows) == {"postings": [], "counts": [], "readers": []}
    for source in ("two.md", "one.md"):
        do("index", source, texts, groups)
    assert stored_state(rows) == grown


def test_workers_that_count_the_same_words_at_once_do_not_lock_each_other_out(
    database: str, generation: IndexGeneration, rows: Rows
) -> None:
    assert generation.generation == 1

    def work(worker: int) -> None:
        with closing(PostgresChunkStore(database)) as store:
            for turn in range(6):
                order = WORDS if (worker + turn) % 2 else WORDS[::-1]
                index(store, [f"{word} {turn}" for word in order], key=DocumentKey("default", f"{worker}.md"))

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work, worker) for worker in range(4)]:
            done.result()
    assert_consistent(rows)
    assert count_of(rows, " chunks") == 4 * len(WORDS)
