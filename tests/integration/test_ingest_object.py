"""The ingest use case over the real store: whatever happens to events and workers, the index follows the bucket."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import psycopg
import pytest

from citewell.core import keywords
from citewell.core.keys import Tenancy
from citewell.core.values import Audience, DocumentStatus, IngestOutcome, IngestResult, Question
from citewell.core.words import words
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.errors import DocumentRejected, EmbedderMismatch, EmbedderUnavailable, ObjectVanished, OutOfTime
from citewell.usecases import ingest_object
from citewell.usecases.ingest_object import Attempt, IngestObject
from tests.fakes import HashEmbedder, InProcessExtractor, MemoryBucket

EVERYONE = Audience("default")
KEY = "handbook/fees.md"
SECTIONS = [f"## Section {number}\n\nRule {number} says {number * 7}.\n" for number in range(12)]
HANDBOOK = "# Fees\n\n" + "\n".join(SECTIONS)


def attempt(number: int = 1, *, last: bool = False, seconds: float = 900) -> Attempt:
    return Attempt(number=number, last=last, seconds_left=lambda: seconds)


@pytest.fixture
def bucket() -> MemoryBucket:
    return MemoryBucket()


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
def ingest(store: PostgresChunkStore, bucket: MemoryBucket, embedder: HashEmbedder) -> IngestObject:
    return IngestObject(
        objects=bucket,
        extractor=InProcessExtractor(),
        chunks=store,
        embedder=embedder,
        tenancy=Tenancy.SINGLE,
        max_object_bytes=1_000_000,
        chunk_tokens=200,
        overlap_tokens=20,
    )


def texts(store: PostgresChunkStore, key: str = KEY) -> list[str] | None:
    chunks = store.document_chunks(EVERYONE, key, offset=0, limit=1000)
    return None if chunks is None else [chunk.text for chunk in chunks]


def test_what_its_metadata_leaves_open_a_document_says_of_itself_but_never_who_may_read_it(
    ingest: IngestObject, bucket: MemoryBucket, database: str
) -> None:
    front = "---\ntitle: Gebühren\nlanguage: de\ndate: 2026-01-31\ngroups: hr\n---\n\nBis Freitag.\n"
    bucket.put(KEY, front)
    bucket.put("stated.md", front, language="fr", effective_date="2025-02-28")
    for key in (KEY, "stated.md"):
        ingest(key, attempt())
    stored = "SELECT title, language, effective_date::text, groups FROM document ORDER BY source"
    with psycopg.connect(database) as connection:
        assert connection.execute(stored).fetchall() == [
            ("Gebühren", "de", "2026-01-31", []),
            ("Gebühren", "fr", "2025-02-28", []),
        ]


def test_a_new_document_is_indexed_and_then_unchanged(
    ingest: IngestObject, bucket: MemoryBucket, embedder: HashEmbedder
) -> None:
    bucket.put(KEY, HANDBOOK)
    first = ingest(KEY, attempt())
    assert first.result is IngestResult.INDEXED
    assert first.chunks == first.embedded == len(embedder.embedded) >= 12
    assert ingest(KEY, attempt()) == IngestOutcome(IngestResult.UNCHANGED, first.chunks, 0)
    assert bucket.reads == 1, "the same version is not even downloaded"


def test_a_document_is_read_again_once_another_extractor_would_read_more_of_it(
    ingest: IngestObject, bucket: MemoryBucket, embedder: HashEmbedder
) -> None:
    bucket.put(KEY, HANDBOOK)
    ingest(KEY, attempt())
    embedder.embedded.clear()
    with_ocr = replace(ingest, extractor=InProcessExtractor(version="with OCR"))
    assert with_ocr(KEY, attempt()).result is IngestResult.UPDATED
    assert (bucket.reads, embedder.embedded) == (2, [])
    assert with_ocr(KEY, attempt()).result is IngestResult.UNCHANGED
    assert bucket.reads == 2


def test_the_same_bytes_in_a_new_version_are_unchanged_and_the_version_is_noted(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket, embedder: HashEmbedder
) -> None:
    bucket.put(KEY, HANDBOOK)
    chunks = ingest(KEY, attempt()).chunks
    embedder.embedded.clear()
    second = bucket.put(KEY, HANDBOOK.replace("\n", "\r\n"))
    assert ingest(KEY, attempt()) == IngestOutcome(IngestResult.UNCHANGED, chunks, 0)
    document = store.document(EVERYONE, KEY)
    assert document is not None
    assert (document.result, document.embedded, document.version) == (IngestResult.UNCHANGED, 0, second)
    assert embedder.embedded == []


def test_an_edited_paragraph_embeds_its_own_chunk_only(
    ingest: IngestObject, bucket: MemoryBucket, embedder: HashEmbedder
) -> None:
    bucket.put(KEY, HANDBOOK)
    chunks = ingest(KEY, attempt()).chunks
    embedder.embedded.clear()
    bucket.put(KEY, HANDBOOK.replace("Rule 5 says 35.", "Rule 5 says 36."))
    assert ingest(KEY, attempt()) == IngestOutcome(IngestResult.UPDATED, chunks, 1)
    assert ["Rule 5 says 36." in text for text in embedder.embedded] == [True]


def test_metadata_alone_is_a_change_that_embeds_nothing(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket
) -> None:
    bucket.put(KEY, HANDBOOK)
    chunks = ingest(KEY, attempt()).chunks
    bucket.put(KEY, HANDBOOK, collection="academy", effective_date="2026-01-01")
    assert ingest(KEY, attempt()) == IngestOutcome(IngestResult.UPDATED, chunks, 0)
    bucket.put(KEY, HANDBOOK, groups="hr")
    assert ingest(KEY, attempt()) == IngestOutcome(IngestResult.UPDATED, chunks, 0)
    assert store.document(EVERYONE, KEY) is None, "a document with groups is served to nobody yet"


def by_words(store: PostgresChunkStore, question: str) -> int:
    """How many passages the keywords find."""
    found = store.candidates(EVERYONE, store.live_generation(), Question(question), [1.0] * 8, limit=30)
    return len([passage for passage in found if passage.keyword_rank])


def test_other_keywords_index_the_words_anew_and_embed_nothing(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.put(KEY, HANDBOOK)
    chunks = ingest(KEY, attempt()).chunks
    found = by_words(store, "rules")
    assert found > 0
    monkeypatch.setattr(ingest_object, "KEYWORDS_VERSION", "next")
    monkeypatch.setattr(keywords, "KEYWORDS_VERSION", "next")
    monkeypatch.setattr(keywords, "words", lambda text: [word[::-1] for word in words(text)])
    assert ingest(KEY, attempt()) == IngestOutcome(IngestResult.UPDATED, chunks, 0)
    assert (by_words(store, "rules"), by_words(store, "elur")) == (0, found)
    assert ingest(KEY, attempt()) == IngestOutcome(IngestResult.UNCHANGED, chunks, 0)


def test_what_an_earlier_release_has_indexed_gets_its_words_and_embeds_nothing(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket, database: str
) -> None:
    bucket.put(KEY, HANDBOOK)
    chunks = ingest(KEY, attempt()).chunks
    found = by_words(store, "rules")
    with psycopg.connect(database) as connection:
        connection.execute("DELETE FROM chunk_words")
        connection.execute("UPDATE document SET served_pipeline = 'of the release before', content_hash = 'other'")
    assert by_words(store, "rules") == 0
    assert ingest(KEY, attempt()) == IngestOutcome(IngestResult.UPDATED, chunks, 0)
    assert by_words(store, "rules") == found


def test_words_are_taken_in_the_language_that_the_metadata_names_or_else_the_texts_own(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket
) -> None:
    german = "Die Häuser in der Straße sind für die Bewohner und nicht für den Verkehr."
    bucket.put("a.md", german)
    ingest("a.md", attempt())
    assert by_words(store, "Haus") == 1
    bucket.put("a.md", german, language="en-GB")
    assert ingest("a.md", attempt()).result is IngestResult.UPDATED
    assert (by_words(store, "Haus"), by_words(store, "Häuser")) == (0, 1)
    bucket.put("a.md", german, language="tlh")
    ingest("a.md", attempt())
    assert (by_words(store, "Haus"), by_words(store, "Häuser")) == (0, 1)
    bucket.put("a.md", german, language="de-AT")
    ingest("a.md", attempt())
    assert by_words(store, "Haus") == 1


def test_a_new_title_is_embedded_again(ingest: IngestObject, bucket: MemoryBucket) -> None:
    bucket.put(KEY, HANDBOOK)
    chunks = ingest(KEY, attempt()).chunks
    bucket.put(KEY, HANDBOOK, title="Academy fees")
    assert ingest(KEY, attempt()) == IngestOutcome(IngestResult.UPDATED, chunks, chunks)


def test_texts_known_from_another_document_of_the_tenant_are_not_embedded_again(
    ingest: IngestObject, bucket: MemoryBucket
) -> None:
    bucket.put(KEY, HANDBOOK)
    chunks = ingest(KEY, attempt()).chunks
    bucket.put("copy.md", HANDBOOK)
    assert ingest("copy.md", attempt()) == IngestOutcome(IngestResult.INDEXED, chunks, 0)


def test_a_delete_removes_the_document_and_a_new_upload_brings_it_back(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket
) -> None:
    bucket.put(KEY, HANDBOOK)
    ingest(KEY, attempt())
    bucket.delete(KEY)
    assert ingest(KEY, attempt()) == IngestOutcome(IngestResult.DELETED, 0, 0)
    assert store.document(EVERYONE, KEY) is None
    assert texts(store) is None
    assert ingest(KEY, attempt()).result is IngestResult.DELETED, "a delete that comes twice ends in the same state"
    bucket.put(KEY, HANDBOOK)
    assert ingest(KEY, attempt()).result is IngestResult.INDEXED


def test_a_delete_of_what_was_never_there_leaves_nothing(ingest: IngestObject, store: PostgresChunkStore) -> None:
    assert ingest("never.md", attempt()).result is IngestResult.DELETED
    assert store.document(EVERYONE, "never.md") is None


@pytest.mark.parametrize("order", list(permutations(range(4))), ids=str)
def test_events_in_any_order_end_in_what_stands_in_the_bucket(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket, order: Sequence[int]
) -> None:
    """Four events of one key are delivered in any order; the bucket goes on changing in between."""
    changes = ["first", "second", None, "third"]
    for step, _ in enumerate(order):
        body = changes[step]
        bucket.delete(KEY) if body is None else bucket.put(KEY, f"# Fees\n\nThe {body} text.")
        if order[step] % 2:  # some deliveries are late: they come after a later change
            ingest(KEY, attempt())
    ingest(KEY, attempt())
    assert texts(store) == ["# Fees\n\nThe third text."]


def test_a_worker_that_looked_earlier_never_overwrites_one_that_looked_later(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket
) -> None:
    bucket.put(KEY, "The old text.")

    def overtake() -> None:
        bucket.before_read = lambda: None
        bucket.put(KEY, "The new text.")
        assert ingest(KEY, attempt()).result is IngestResult.INDEXED

    bucket.before_read = overtake
    assert ingest(KEY, attempt()).result is IngestResult.SUPERSEDED
    assert texts(store) == ["The new text."]
    document = store.document(EVERYONE, KEY)
    assert document is not None
    assert (document.status, document.result) == (DocumentStatus.READY, IngestResult.INDEXED)


def test_a_worker_overtaken_by_a_delete_does_not_bring_the_document_back(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket
) -> None:
    bucket.put(KEY, "The text.")

    def overtake() -> None:
        bucket.before_read = lambda: None
        bucket.delete(KEY)
        assert ingest(KEY, attempt()).result is IngestResult.DELETED

    bucket.before_read = overtake
    assert ingest(KEY, attempt()).result is IngestResult.SUPERSEDED
    assert store.document(EVERYONE, KEY) is None


def test_a_version_that_vanishes_while_it_is_read_makes_the_worker_look_again(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket
) -> None:
    bucket.put(KEY, "The old text.")

    def replace_for_good() -> None:
        bucket.before_read = lambda: None
        bucket.put(KEY, "The new text.")
        bucket.erase_versions()

    bucket.before_read = replace_for_good
    assert ingest(KEY, attempt()).result is IngestResult.INDEXED
    assert texts(store) == ["The new text."]


def test_an_object_that_never_stands_still_is_left_for_another_attempt(
    ingest: IngestObject, bucket: MemoryBucket
) -> None:
    bucket.put(KEY, "text")

    def replace_for_good() -> None:
        bucket.put(KEY, "other text")
        bucket.erase_versions()

    bucket.before_read = replace_for_good
    with pytest.raises(ObjectVanished):
        ingest(KEY, attempt())


def test_what_was_embedded_before_a_crash_is_not_embedded_again_and_the_old_version_answers_meanwhile(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket, embedder: HashEmbedder
) -> None:
    bucket.put(KEY, "# Fees\n\nThe old text.")
    ingest(KEY, attempt())
    embedder.embedded.clear()
    bucket.put(KEY, HANDBOOK)

    def die_in_the_third_batch(_: Sequence[str]) -> None:
        if len(embedder.embedded) >= 8:
            raise EmbedderUnavailable("away")

    embedder.on_embed = die_in_the_third_batch
    with pytest.raises(EmbedderUnavailable):
        ingest(KEY, attempt())
    assert texts(store) == ["# Fees\n\nThe old text."]
    document = store.document(EVERYONE, KEY)
    assert document is not None
    assert document.status is DocumentStatus.PROCESSING
    embedder.on_embed = lambda _: None
    outcome = ingest(KEY, attempt(2))
    assert outcome.result is IngestResult.UPDATED
    assert outcome.embedded == outcome.chunks - 8
    assert len(embedder.embedded) == len(set(embedder.embedded)) == outcome.chunks


def test_a_worker_stops_before_its_time_is_up_and_the_next_one_goes_on(
    ingest: IngestObject, bucket: MemoryBucket, embedder: HashEmbedder
) -> None:
    bucket.put(KEY, HANDBOOK)
    left = iter([900.0, 900.0, 10.0])
    with pytest.raises(OutOfTime):
        ingest(KEY, Attempt(number=1, last=False, seconds_left=lambda: next(left)))
    assert len(embedder.embedded) == 4
    outcome = ingest(KEY, attempt(2))
    assert outcome.embedded == outcome.chunks - 4


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(64), "unsupported_type"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "corrupt"),
        (b"x" * 1_000_001, "too_large"),
    ],
    ids=["empty", "blank", "png", "pdf", "huge"],
)
def test_what_cannot_be_indexed_fails_with_its_code_at_once_and_the_old_version_goes_on_answering(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket, body: bytes, code: str
) -> None:
    bucket.put(KEY, "The old text.")
    ingest(KEY, attempt())
    bucket.put(KEY, body)
    with pytest.raises(DocumentRejected):
        ingest(KEY, attempt())
    document = store.document(EVERYONE, KEY)
    assert document is not None
    assert document.error is not None
    assert (document.status, document.error.code, document.error.attempts) == (DocumentStatus.FAILED, code, 1)
    assert texts(store) == ["The old text."]
    bucket.put(KEY, "The old text.")
    assert ingest(KEY, attempt()).result is IngestResult.UNCHANGED
    document = store.document(EVERYONE, KEY)
    assert document is not None
    assert (document.status, document.error) == (DocumentStatus.READY, None)


def test_bad_metadata_is_shown_to_whoever_may_read_the_document_and_to_nobody_else(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket
) -> None:
    bucket.put("open.md", HANDBOOK, effective_date="soon")
    bucket.put("closed.md", HANDBOOK, effective_date="soon", groups="hr")
    bucket.put("unclear.md", HANDBOOK, groups=" , ")
    for key in ("open.md", "closed.md", "unclear.md"):
        with pytest.raises(DocumentRejected):
            ingest(key, attempt())
    document = store.document(EVERYONE, "open.md")
    assert document is not None
    assert document.error is not None
    assert document.error.code == "bad_metadata"
    assert store.document(EVERYONE, "closed.md") is None
    assert store.document(EVERYONE, "unclear.md") is None


@pytest.mark.parametrize("key", ["folder/", "/", "a\0b.md"])
def test_keys_that_name_no_document_are_ignored(ingest: IngestObject, bucket: MemoryBucket, key: str) -> None:
    bucket.put(key, "text")
    assert ingest(key, attempt()).result is IngestResult.IGNORED


def test_only_the_last_attempt_records_a_failure_that_another_could_mend(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket, embedder: HashEmbedder
) -> None:
    bucket.put(KEY, HANDBOOK)

    def be_away(_: Sequence[str]) -> None:
        raise EmbedderUnavailable("away")

    embedder.on_embed = be_away
    for number in (1, 2):
        with pytest.raises(EmbedderUnavailable):
            ingest(KEY, attempt(number))
        document = store.document(EVERYONE, KEY)
        assert document is not None
        assert (document.status, document.error) == (DocumentStatus.PROCESSING, None)
    with pytest.raises(EmbedderUnavailable):
        ingest(KEY, attempt(3, last=True))
    document = store.document(EVERYONE, KEY)
    assert document is not None
    assert document.error is not None
    assert document.status is DocumentStatus.FAILED
    assert (document.error.code, document.error.stage, document.error.attempts) == ("embedder_unavailable", "embed", 3)


def test_a_worker_that_dies_in_its_last_attempt_leaves_the_truth_behind(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket, embedder: HashEmbedder
) -> None:
    class Killed(BaseException):
        """As if the process had gone: nothing of ours runs any more."""

    bucket.put(KEY, HANDBOOK)

    def die(_: Sequence[str]) -> None:
        raise Killed

    embedder.on_embed = die
    with pytest.raises(Killed):
        ingest(KEY, attempt(3, last=True))
    document = store.document(EVERYONE, KEY)
    assert document is not None
    assert document.error is not None
    assert (document.status, document.error.code) == (DocumentStatus.FAILED, "interrupted")


def test_an_unexpected_error_is_recorded_without_its_text(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket, embedder: HashEmbedder
) -> None:
    bucket.put(KEY, HANDBOOK)

    def break_down(texts: Sequence[str]) -> None:
        raise ZeroDivisionError(texts[0])

    embedder.on_embed = break_down
    with pytest.raises(ZeroDivisionError):
        ingest(KEY, attempt(3, last=True))
    document = store.document(EVERYONE, KEY)
    assert document is not None
    assert document.error is not None
    assert document.error.code == "internal_error"


def test_an_embedder_that_did_not_build_the_index_is_refused_with_what_to_do(
    ingest: IngestObject, bucket: MemoryBucket, embedder: HashEmbedder
) -> None:
    bucket.put(KEY, HANDBOOK)
    embedder.model_id = "another-model"
    with pytest.raises(EmbedderMismatch, match="set the embedder back, or deploy with replaceIndex=true"):
        ingest(KEY, attempt())
    assert embedder.embedded == []


def test_a_document_with_groups_is_invisible_from_its_first_moment(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket, embedder: HashEmbedder
) -> None:
    bucket.put(KEY, HANDBOOK, groups="hr")
    seen: list[object] = []
    embedder.on_embed = lambda _: seen.append(store.document(EVERYONE, KEY))
    ingest(KEY, attempt())
    assert seen
    assert set(seen) == {None}
    assert texts(store) is None


@pytest.mark.parametrize("body", [b"\x89PNG\r\n\x1a\n" + bytes(64), b""], ids=["unreadable", "empty"])
def test_a_document_is_closed_even_if_its_new_version_cannot_be_read(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket, body: bytes
) -> None:
    hr = Audience("default", ("hr",))
    bucket.put(KEY, "The old text.")
    ingest(KEY, attempt())
    bucket.put(KEY, body, groups="hr")
    with pytest.raises(DocumentRejected):
        ingest(KEY, attempt())
    assert store.document(EVERYONE, KEY) is None
    assert texts(store) is None
    document = store.document(hr, KEY)
    assert document is not None
    assert (document.status, document.chunks) == (DocumentStatus.FAILED, 1)


def test_a_document_is_closed_before_its_new_version_is_read(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket
) -> None:
    bucket.put(KEY, "The old text.")
    ingest(KEY, attempt())
    bucket.put(KEY, "The new text.", groups="hr")
    seen: list[object] = []
    bucket.before_read = lambda: seen.append(texts(store))
    ingest(KEY, attempt())
    assert seen == [None]


def test_a_version_that_does_not_say_clearly_whom_it_is_for_closes_the_document_until_one_does(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket
) -> None:
    bucket.put(KEY, "The old text.")
    ingest(KEY, attempt())
    bucket.put(KEY, "The old text.", groups=" , ")
    with pytest.raises(DocumentRejected):
        ingest(KEY, attempt())
    assert texts(store) is None
    bucket.put(KEY, "The old text.")
    assert ingest(KEY, attempt()).result is IngestResult.UNCHANGED
    assert texts(store) == ["The old text."]


def test_a_version_that_is_taken_back_leaves_the_document_as_it_was(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket, embedder: HashEmbedder
) -> None:
    bucket.put(KEY, "The old text.")
    ingest(KEY, attempt())
    served = bucket.head(KEY)
    assert served is not None
    bucket.put(KEY, "The new text.", groups="hr")

    def be_away(_: Sequence[str]) -> None:
        raise EmbedderUnavailable("away")

    embedder.on_embed = be_away
    with pytest.raises(EmbedderUnavailable):
        ingest(KEY, attempt())
    assert texts(store) is None
    bucket.restore(served)
    assert ingest(KEY, attempt()).result is IngestResult.UNCHANGED
    assert texts(store) == ["The old text."]


def test_metadata_that_cannot_be_sent_closes_the_document_to_everyone_until_it_can(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket
) -> None:
    """Among the values that S3 leaves out may be the groups."""
    audiences = (EVERYONE, Audience("default", ("hr",)))
    bucket.put("new.md", HANDBOOK)
    bucket.hide_metadata("new.md")
    bucket.put(KEY, "The old text.")
    ingest(KEY, attempt())
    bucket.put(KEY, "The old text.")
    bucket.hide_metadata(KEY)
    for key in ("new.md", KEY):
        with pytest.raises(DocumentRejected) as rejected:
            ingest(key, attempt())
        assert (rejected.value.code, rejected.value.stage) == ("bad_metadata", "metadata")
        for audience in audiences:
            assert store.document(audience, key) is None
            assert store.document_chunks(audience, key, offset=0, limit=10) is None
    assert bucket.reads == 1, "of neither bad version the bytes are even downloaded"
    bucket.put(KEY, "The old text.")
    assert ingest(KEY, attempt()).result is IngestResult.UNCHANGED
    assert texts(store) == ["The old text."]


def test_a_version_served_before_its_metadata_was_known_to_be_missing_is_closed_when_it_is_looked_at_again(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket
) -> None:
    bucket.put(KEY, "The old text.")
    ingest(KEY, attempt())
    bucket.hide_metadata(KEY)
    with pytest.raises(DocumentRejected):
        ingest(KEY, attempt())
    assert texts(store) is None


def test_without_versions_the_same_bytes_with_other_groups_close_the_document(
    ingest: IngestObject, store: PostgresChunkStore, bucket: MemoryBucket
) -> None:
    bucket.versioned = False
    first = bucket.put(KEY, HANDBOOK)
    chunks = ingest(KEY, attempt()).chunks
    assert ingest(KEY, attempt()) == IngestOutcome(IngestResult.UNCHANGED, chunks, 0)
    assert bucket.put(KEY, HANDBOOK, groups="hr") == first, "the bytes' ETag"
    assert ingest(KEY, attempt()) == IngestOutcome(IngestResult.UPDATED, chunks, 0)
    assert store.document(EVERYONE, KEY) is None
    assert texts(store) is None
    assert store.document(Audience("default", ("hr",)), KEY) is not None
    bucket.put(KEY, HANDBOOK)
    assert ingest(KEY, attempt()).result is IngestResult.UPDATED
    assert texts(store) is not None
