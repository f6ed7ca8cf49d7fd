"""What a question finds: both arms, their filters, and questions that try to break out of the query."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.core.values import Audience, DocumentKey, Metadata, Passage, Question
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.edges.postgres_schema import PostgresSchema
from citewell.errors import EmbedderMismatch
from citewell.ports import IndexGeneration
from citewell.usecases.migrate import ensure_generation
from tests.integration.chunks import EVERYONE, KEY, index, vector_of

MEALS = "The daily meal limit while travelling is 60 EUR."
HOTELS = "Hotels are booked through the travel desk."
PHONES = "Error code E-4711 means that the phone is locked."


@pytest.fixture(params=[1000, 0], ids=["exact", "by index"])
def store(database: str, generation: IndexGeneration, request: pytest.FixtureRequest) -> Iterator[PostgresChunkStore]:  # noqa: ARG001 - made live
    """One that compares every chunk, and one that always asks the HNSW index."""
    with closing(PostgresChunkStore(database, exact_chunks=request.param)) as store:
        yield store


def search(
    store: PostgresChunkStore,
    text: str,
    *,
    audience: Audience = EVERYONE,
    like: str | None = None,
    limit: int = 30,
    collections: tuple[str, ...] = (),
    sources: tuple[str, ...] = (),
) -> list[Passage]:
    """Ask ``text`` with the vector of ``like`` (default: of the text itself)."""
    question = Question(text, collections=collections, sources=sources)
    return store.candidates(audience, store.live_generation(), question, vector_of(like or text), limit=limit)


def by_keyword(passages: list[Passage]) -> list[str]:
    found = [passage for passage in passages if passage.keyword_rank is not None]
    return [passage.text for passage in sorted(found, key=lambda passage: passage.keyword_rank or 0)]


def by_vector(passages: list[Passage]) -> list[str]:
    found = [passage for passage in passages if passage.vector_rank is not None]
    return [passage.text for passage in sorted(found, key=lambda passage: passage.vector_rank or 0)]


def cosine(left: str, right: str) -> float:
    a, b = vector_of(left), vector_of(right)
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)


def test_an_empty_index_finds_nothing(store: PostgresChunkStore) -> None:
    assert search(store, "What is the meal limit?") == []


def test_a_passage_tells_where_it_stands_and_how_it_was_found(store: PostgresChunkStore) -> None:
    index(store, [MEALS, HOTELS, PHONES])
    passages = {passage.text: passage for passage in search(store, "What is the meal limit?", like=MEALS)}
    found = passages[MEALS]
    assert found == Passage(
        chunk_id=found.chunk_id,
        source=KEY.source,
        title="Expenses",
        section=("Expenses", "Part 0"),
        page=None,
        ordinal=0,
        start=0,
        end=len(MEALS),
        text=MEALS,
        score=pytest.approx(1.0, abs=1e-6),  # type: ignore[arg-type]  # compares as a float
        vector_rank=1,
        keyword_rank=1,
        keyword_score=found.keyword_score,
        coverage=1.0,
    )
    assert found.keyword_score is not None
    assert found.keyword_score > 0
    assert passages[HOTELS].keyword_rank is None


def test_the_vector_arm_ranks_by_cosine(store: PostgresChunkStore) -> None:
    texts = [f"text {number}" for number in range(50)]
    index(store, texts)
    passages = search(store, "the", like="question", limit=10)
    expected = sorted(texts, key=lambda text: -cosine(text, "question"))[:10]
    assert by_vector(passages) == expected
    assert [p.score for p in sorted(passages, key=lambda p: p.vector_rank or 0)] == [
        pytest.approx(cosine(text, "question"), abs=1e-5) for text in expected
    ]


def test_a_passage_that_only_the_keywords_find_has_its_cosine_too(store: PostgresChunkStore) -> None:
    texts = [f"text {number}" for number in range(40)]
    furthest = min(texts, key=lambda text: cosine(text, "question"))
    index(store, [text if text != furthest else furthest + " zebra" for text in texts])
    [passage] = [
        found for found in search(store, "Any zebra?", like="question", limit=3) if found.keyword_rank is not None
    ]
    assert passage.text == furthest + " zebra"
    assert passage.score == pytest.approx(cosine(passage.text, "question"), abs=1e-5)


def test_a_natural_question_finds_by_any_of_its_words(store: PostgresChunkStore) -> None:
    index(store, [MEALS, HOTELS, PHONES])
    assert by_keyword(search(store, "Who pays for hotels and meals on the moon?")) in ([HOTELS, MEALS], [MEALS, HOTELS])
    assert by_keyword(search(store, "What does E-4711 mean?"))[0] == PHONES


def test_rare_words_count_more_than_common_ones(store: PostgresChunkStore) -> None:
    index(
        store, ["travel costs and travel rules for travel"] * 1 + [f"travel note {n}" for n in range(30)] + ["A visa."]
    )
    assert by_keyword(search(store, "travel visa"))[0] == "A visa."


def test_repetition_counts_and_a_match_in_the_header_counts_more(store: PostgresChunkStore) -> None:
    index(store, ["leave here", "leave, leave, leave and leave again"])
    index(store, ["Twenty days."], key=DocumentKey("default", "leave.md"), header="Annual leave")
    found = by_keyword(search(store, "leave"))
    assert found == ["leave, leave, leave and leave again", "Twenty days.", "leave here"]


def test_of_common_words_no_more_than_the_bound_is_read_and_a_rare_one_decides(
    database: str, generation: IndexGeneration
) -> None:
    with closing(PostgresChunkStore(database, postings=10)) as store:
        index(store, [f"travel rule {number}" for number in range(20)] + ["travel visa"])
        assert store.live_generation() == generation
        assert 5 <= len(by_keyword(search(store, "travel rule"))) <= 10
        assert by_keyword(search(store, "travel visa"))[0] == "travel visa"


def test_a_question_of_stop_words_leaves_the_keyword_arm_empty(store: PostgresChunkStore) -> None:
    index(store, [MEALS])
    passages = search(store, "what is the of and to")
    assert (by_keyword(passages), by_vector(passages)) == ([], [MEALS])


def test_no_arm_yields_more_than_the_limit(store: PostgresChunkStore) -> None:
    index(store, [f"travel note {number}" for number in range(40)])
    passages = search(store, "travel", limit=7)
    assert (len(by_vector(passages)), len(by_keyword(passages))) == (7, 7)


def test_equal_passages_are_ranked_by_their_ids_every_time(store: PostgresChunkStore) -> None:
    for document in range(8):
        index(store, [MEALS], key=DocumentKey("default", f"copy-{document}.md"))
    passages = search(store, "meal limit", like=MEALS)
    by_id = sorted(passage.chunk_id for passage in passages)
    assert [p.chunk_id for p in sorted(passages, key=lambda p: p.vector_rank or 0)] == by_id
    assert [p.chunk_id for p in sorted(passages, key=lambda p: p.keyword_rank or 0)] == by_id
    assert search(store, "meal limit", like=MEALS) == passages


# --- who may find what --------------------------------------------------------------------------------------------


def test_a_document_of_groups_is_found_by_neither_arm_without_them(store: PostgresChunkStore) -> None:
    index(store, [MEALS], metadata=Metadata(groups=("board", "hr")))
    assert search(store, "meal limit", like=MEALS) == []
    assert search(store, "meal limit", like=MEALS, audience=Audience("default", ("sales",))) == []
    for groups in [("hr",), ("board", "sales")]:
        passages = search(store, "meal limit", like=MEALS, audience=Audience("default", groups))
        assert (by_vector(passages), by_keyword(passages)) == ([MEALS], [MEALS])


def test_a_document_that_gets_groups_is_found_no_more(store: PostgresChunkStore) -> None:
    index(store, [MEALS, HOTELS])
    index(store, [PHONES], key=DocumentKey("default", "phones.md"))
    index(store, [MEALS, HOTELS], name="v2", metadata=Metadata(groups=("hr",)))
    passages = search(store, "meal limit hotels phone", like=MEALS)
    assert (by_vector(passages), by_keyword(passages)) == ([PHONES], [PHONES])


def test_tenants_find_their_own_documents_only(store: PostgresChunkStore) -> None:
    index(store, [MEALS])
    index(store, [MEALS + " Theirs."], key=DocumentKey("them", KEY.source))
    for tenant, expected in [("default", MEALS), ("them", MEALS + " Theirs.")]:
        passages = search(store, "meal limit", like=MEALS, audience=Audience(tenant))
        assert (by_vector(passages), by_keyword(passages)) == ([expected], [expected])
    assert search(store, "meal limit", like=MEALS, audience=Audience("nobody")) == []


def test_a_small_tenant_far_from_the_question_is_found_whole_beside_a_large_one(store: PostgresChunkStore) -> None:
    index(store, [f"near {number}" for number in range(300)], key=DocumentKey("large", "a.md"))
    few = [f"few {number}" for number in range(5)]
    index(store, few, key=DocumentKey("small", "a.md"))
    passages = search(store, "the", like="near 0", audience=Audience("small"))
    assert by_vector(passages) == sorted(few, key=lambda text: -cosine(text, "near 0"))


def test_what_may_not_be_found_changes_no_score_and_no_rank_of_what_may(store: PostgresChunkStore) -> None:
    index(store, [MEALS, HOTELS, PHONES])
    before = search(store, "meal limit travel phone", like=MEALS)
    assert [passage for passage in before if passage.keyword_score]
    hidden = [f"{MEALS} Number {number}." for number in range(40)]
    index(store, hidden, key=DocumentKey("default", "board.md"), metadata=Metadata(groups=("board",)))
    index(store, hidden, key=DocumentKey("them", "meals.md"))
    index(store, [*hidden, PHONES], key=DocumentKey("default", "closed.md"))
    claim = store.claim(DocumentKey("default", "closed.md"))
    store.begin(claim, Metadata(groups=("board",)), title="Closed", attempts=1, last=False)
    assert search(store, "meal limit travel phone", like=MEALS) == before
    of_the_board = search(store, "meal limit travel phone", like=MEALS, audience=Audience("default", ("board",)))
    assert len(of_the_board) > len(before)


def test_a_removed_document_is_not_found(store: PostgresChunkStore) -> None:
    index(store, [MEALS])
    store.remove(store.claim(KEY))
    assert search(store, "meal limit", like=MEALS) == []


def test_an_old_version_is_found_while_a_new_one_is_processed_and_after_it_failed(store: PostgresChunkStore) -> None:
    index(store, [MEALS])
    claim = store.claim(KEY)
    store.begin(claim, Metadata(), title="New", attempts=1, last=False)
    assert by_vector(search(store, "meal limit", like=MEALS)) == [MEALS]
    store.fail(claim, code="empty", stage="extract", attempts=1, version="v2")
    assert by_keyword(search(store, "meal limit", like=MEALS)) == [MEALS]


def test_only_the_given_generation_answers(database: str, store: PostgresChunkStore) -> None:
    index(store, [MEALS])
    index(store, [HOTELS], key=DocumentKey("default", "hotels.md"))
    ensure_generation(PostgresSchema(database), model_id="hash-embedder-2", dimensions=8, replace=True)
    assert search(store, "meal limit hotels", like=MEALS) == []
    index(store, [MEALS], name="v2")
    passages = search(store, "meal limit hotels", like=MEALS)
    assert (by_vector(passages), by_keyword(passages)) == ([MEALS], [MEALS])


def test_a_vector_of_another_dimension_is_refused(store: PostgresChunkStore) -> None:
    with pytest.raises(EmbedderMismatch, match="2 dimensions"):
        store.candidates(EVERYONE, store.live_generation(), Question("x"), [1.0, 2.0], limit=5)


def test_a_vector_of_zeros_is_like_nothing(store: PostgresChunkStore) -> None:
    index(store, [MEALS])
    passages = store.candidates(EVERYONE, store.live_generation(), Question("meal"), [0.0] * 8, limit=5)
    assert [passage.score for passage in passages] == [0.0]


# --- filters ------------------------------------------------------------------------------------------------------


@pytest.fixture
def shelves(store: PostgresChunkStore) -> PostgresChunkStore:
    for source, collection in [
        ("hr/leave.md", "hr"),
        ("hr/pay.md", "hr"),
        ("it/leave.md", "it"),
        ("50%/a.md", ""),
        ("50x/a.md", ""),
        ("a_b/c.md", ""),
        ("axb/c.md", ""),
        ("back\\slash.md", ""),
    ]:
        key = DocumentKey("default", source)
        index(store, [f"leave in {source}"], key=key, metadata=Metadata(collection=collection))
    return store


@pytest.mark.parametrize(
    ("collections", "sources", "expected"),
    [
        (("hr",), (), {"hr/leave.md", "hr/pay.md"}),
        (("hr", "it"), (), {"hr/leave.md", "hr/pay.md", "it/leave.md"}),
        ((), ("hr/",), {"hr/leave.md", "hr/pay.md"}),
        ((), ("hr/leave.md", "it/"), {"hr/leave.md", "it/leave.md"}),
        (("it",), ("hr/",), set()),
        (("it", "hr"), ("hr/p",), {"hr/pay.md"}),
        ((), ("50%",), {"50%/a.md"}),
        ((), ("a_b",), {"a_b/c.md"}),
        ((), ("back\\",), {"back\\slash.md"}),
        ((), ("%",), set()),
        ((), ("HR/",), set()),
        (("nothing",), (), set()),
        ((), ("a\0",), set()),
        (("\ud800",), (), set()),
        ((), ("a\0", "it/"), {"it/leave.md"}),
    ],
    ids=lambda value: repr(sorted(value) if isinstance(value, set) else value),  # the same in every process
)
def test_filters_narrow_both_arms_literally(
    shelves: PostgresChunkStore, collections: tuple[str, ...], sources: tuple[str, ...], expected: set[str]
) -> None:
    passages = search(shelves, "leave", collections=collections, sources=sources)
    assert {passage.source for passage in passages if passage.vector_rank} == expected
    assert {passage.source for passage in passages if passage.keyword_rank} == expected


# --- hostile questions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        "O'Brien's \"quoted\" back\\slash \\' '' \\\\ limit",
        "limit & | ! : * ( ) <-> :* & limit",
        "limit'); DROP TABLE chunk; --",
        "limit \0 with NUL",
        "limit \ud83d half an emoji",
        "limit $1 %s %(tenant)s {generation} {}",
        "limit https://example.com/a?b=c&d user@example.com /usr/bin/env C:\\x 3.14 -5 well-known",
        "limit " + "a" * 494,
        "limit " + "wort " * 98,
    ],
    ids=["quotes", "operators", "injection", "nul", "surrogate", "placeholders", "tokens", "long word", "many words"],
)
def test_a_hostile_question_is_only_words(store: PostgresChunkStore, question: str) -> None:
    index(store, [MEALS, HOTELS])
    assert MEALS in by_keyword(search(store, question))


@pytest.mark.parametrize("question", ["\U0001f642" * 500, "'", "\\", "&|!:*()", "\0", " ", "<->", "''''"])
def test_a_question_without_words_finds_by_vector_alone(store: PostgresChunkStore, question: str) -> None:
    index(store, [MEALS])
    passages = search(store, question, like=MEALS)
    assert (by_vector(passages), by_keyword(passages)) == ([MEALS], [])


def test_every_lexeme_that_postgres_makes_of_a_text_finds_that_text_again(store: PostgresChunkStore) -> None:
    hostile = "it's c:\\temp\\x 'a''b' <b>tag</b> &amp; x&y a|b !c d:* 1e10 v1.2.3 foo_bar ümlaut 日本語 naïve-café's"
    index(store, [hostile])
    for word in hostile.split():
        passages = search(store, word)
        assert by_keyword(passages) in ([hostile], []), word
    assert by_keyword(search(store, hostile)) == [hostile]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=st.text(max_size=500))
def test_any_text_is_a_question(store: PostgresChunkStore, question: str) -> None:
    if store.document(EVERYONE, KEY.source) is None:
        index(store, [MEALS])
    assert by_vector(search(store, question, like=MEALS)) == [MEALS]


def test_naughty_strings_are_questions_and_texts(store: PostgresChunkStore) -> None:
    """The Big List of Naughty Strings, where it is at hand, else the few of it that matter most here."""
    path = Path(__file__).parents[3] / "shared/data/injection/blns.json"
    strings = json.loads(path.read_text()) if path.exists() else ["1'; DROP TABLE users--", "\u202e test", "Ω≈ç√∫", "﷽"]
    texts = [text for text in dict.fromkeys(strings) if text.strip() and "\0" not in text]
    index(store, texts)
    stored = store.document_chunks(EVERYONE, KEY.source, offset=0, limit=1000)
    assert stored is not None
    assert [passage.text for passage in stored] == texts
    for text in texts[::10]:
        assert by_vector(search(store, text))[0] == text
