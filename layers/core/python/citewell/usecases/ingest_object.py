"""Bring the index in step with one key of the bucket.

An event only says that a key deserves a look. What counts is what stands in the bucket once the key has been
claimed: whoever holds the newest claim has looked last, so it alone may write. No lock is held in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from citewell.core.chunking import CHUNKER_VERSION, split_chunks
from citewell.core.hashing import chunk_id, content_hash, pipeline_version, reuse_key
from citewell.core.headers import HEADER_VERSION
from citewell.core.keys import Tenancy, default_title, document_key, groups_of, metadata_of
from citewell.core.keywords import KEYWORDS_VERSION
from citewell.core.languages import SIMPLE, language_of, named
from citewell.core.values import ExtractedText, IngestOutcome, IngestResult, Metadata, ObjectHead, TextKind
from citewell.errors import CitewellError, DocumentRejected, ObjectVanished, OutOfTime
from citewell.ports import (
    ChunkStore,
    ChunkToStore,
    Claim,
    DocumentVersion,
    Embedder,
    Extractor,
    IndexGeneration,
    ObjectStore,
)
from citewell.usecases.index_generation import check_embedder

_LOOKS = 3
"""How often the version that was looked at may vanish before the attempt is given up."""

SECONDS_FOR_A_BATCH = 30.0
"""What must be left of the worker's time to embed one more batch and still swap."""

_SPECIAL_TOKENS = 2
"""What models put around a text."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One delivery of a message. ``number`` counts from 1; ``seconds_left`` tells the worker's remaining time."""

    number: int
    last: bool
    seconds_left: Callable[[], float]


@dataclass(frozen=True, slots=True)
class IngestObject:
    """The use case over its ports; the other fields are the settings of the same names."""

    objects: ObjectStore
    extractor: Extractor
    chunks: ChunkStore
    embedder: Embedder
    tenancy: Tenancy
    max_object_bytes: int
    chunk_tokens: int
    overlap_tokens: int

    def __call__(self, key: str, attempt: Attempt) -> IngestOutcome:
        """Index, refresh or remove the document under the object key ``key``; IGNORED when it names no document.

        Raises DocumentRejected, after recording the document as FAILED, when another attempt can't help. Raises
        other CitewellErrors when it may; on the last attempt those are recorded as FAILED too.
        """
        document = document_key(key, self.tenancy)
        if document is None:
            return IngestOutcome(IngestResult.IGNORED, chunks=0, embedded=0)
        claim = self.chunks.claim(document)
        head: ObjectHead | None = None
        try:
            generation = self.chunks.live_generation()
            check_embedder(self.embedder, generation)
            for _ in range(_LOOKS):
                head = self.objects.head(key)
                try:
                    return self._converge(claim, head, generation, attempt)
                except ObjectVanished:
                    continue
            raise ObjectVanished("the object kept changing while it was being read")
        except Exception as error:
            if attempt.last or isinstance(error, DocumentRejected):
                known = error if isinstance(error, CitewellError) else CitewellError()
                self.chunks.fail(
                    claim,
                    code=known.code,
                    stage=known.stage,
                    attempts=attempt.number,
                    version=head.version if head else None,
                    detail=str(error) if isinstance(error, DocumentRejected) else None,
                )
            raise

    def _converge(
        self, claim: Claim, head: ObjectHead | None, generation: IndexGeneration, attempt: Attempt
    ) -> IngestOutcome:
        if head is None:
            return self.chunks.remove(claim)
        pipeline = pipeline_version(
            extractor=self.extractor.version,
            chunker=CHUNKER_VERSION,
            header=HEADER_VERSION,
            keywords=KEYWORDS_VERSION,
            generation=str(generation.generation),
            max_tokens=self.chunk_tokens,
            overlap_tokens=self.overlap_tokens,
        )
        if _is_served(claim, head, pipeline):
            return self.chunks.refresh(claim, head.version, pipeline)
        # Before anything can fail: whoever may read the document is to see that it is there, and nobody else is.
        name = default_title(claim.key.source)
        begin = partial(self.chunks.begin, claim, title=name, attempts=attempt.number, last=attempt.last)
        try:
            readers = _readers(head)
        except DocumentRejected:
            begin(None)
            raise
        begin(readers)
        stated = metadata_of(head.user_metadata)
        extracted = self._read(head, attempt)
        metadata = _completed(stated, extracted)
        title = metadata.title or extracted.title or name
        fingerprint = content_hash(extracted, title=title, metadata=metadata, pipeline=pipeline)
        if fingerprint == claim.content_hash:
            return self.chunks.refresh(claim, head.version, pipeline)
        chunks = self._split(claim, extracted, title)
        embedded = self._embed(claim, generation, chunks, attempt)
        version = DocumentVersion(
            version=head.version,
            pipeline=pipeline,
            content_hash=fingerprint,
            title=title,
            metadata=metadata,
            pages=extracted.pages,
            unread_pages=extracted.unread_pages,
            embedded=embedded,
            search_language=_search_language(stated, extracted),
        )
        outcome = self.chunks.swap(claim, generation, version, chunks)
        # A new pipeline indexes again what has answered before.
        began = outcome.result is not IngestResult.SUPERSEDED and head.version != claim.served_version
        return replace(outcome, uploaded=head.uploaded) if began else outcome

    def _read(self, head: ObjectHead, attempt: Attempt) -> ExtractedText:
        if head.size > self.max_object_bytes:
            raise DocumentRejected("too_large", f"{head.size} bytes, {self.max_object_bytes} allowed", stage="read")
        data = self.objects.read(head)
        seconds = attempt.seconds_left() - SECONDS_FOR_A_BATCH
        return self.extractor.extract(data, content_type=head.content_type, seconds=seconds)

    def _split(self, claim: Claim, extracted: ExtractedText, title: str) -> list[ChunkToStore]:
        chunks = split_chunks(
            extracted,
            title=title,
            max_tokens=min(self.chunk_tokens, self.embedder.max_tokens - _SPECIAL_TOKENS),
            overlap_tokens=self.overlap_tokens,
            token_starts=self.embedder.token_starts,
        )
        return [
            ChunkToStore(
                chunk_id=chunk_id(claim.key, chunk.section, chunk.occurrence, chunk.part),
                reuse_key=reuse_key(
                    self.embedder.model_id, self.embedder.dimensions, TextKind.PASSAGE, chunk.embedded_text
                ),
                chunk=chunk,
            )
            for chunk in chunks
        ]

    def _embed(
        self, claim: Claim, generation: IndexGeneration, chunks: Sequence[ChunkToStore], attempt: Attempt
    ) -> int:
        """Embed what has no vector yet, keeping each batch as it comes. Returns how many texts were embedded."""
        texts = {each.reuse_key: each.chunk.embedded_text for each in chunks}
        known = self.chunks.known_vectors(claim.key, list(texts))
        missing = [key for key in texts if key not in known]
        for start in range(0, len(missing), self.embedder.batch_size):
            if attempt.seconds_left() < SECONDS_FOR_A_BATCH:
                raise OutOfTime(f"{start} of {len(missing)} texts were embedded in time; another attempt goes on there")
            batch = missing[start : start + self.embedder.batch_size]
            vectors = self.embedder.embed([texts[key] for key in batch], TextKind.PASSAGE)
            self.chunks.keep_vectors(claim.key.tenant, generation, dict(zip(batch, vectors, strict=True)))
        return len(missing)


def _is_served(claim: Claim, head: ObjectHead, pipeline: str) -> bool:
    """Whether the look alone tells that nothing has changed. A version of which something is missing is read again,
    as an earlier release may have served it to everyone."""
    known = head.version_covers_metadata and not head.missing_metadata
    return known and (claim.served_version, claim.served_pipeline) == (head.version, pipeline)


def _completed(stated: Metadata, extracted: ExtractedText) -> Metadata:
    """What the object's metadata leaves open, as the document says it. Never its groups: they are no writer's."""
    return replace(
        stated,
        language=stated.language or extracted.language,
        effective_date=stated.effective_date or extracted.effective_date,
    )


def _search_language(stated: Metadata, extracted: ExtractedText) -> str:
    """The text decides before what it says of itself: many a German page is declared English by its template."""
    told = language_of(extracted.text)
    return named(stated.language) or (told if told != SIMPLE else named(extracted.language) or SIMPLE)


def _readers(head: ObjectHead) -> Metadata:
    """Whom the document is for, before anything else is known of it. Raises DocumentRejected when that isn't clear:
    among the values that are missing may be the groups."""
    if head.missing_metadata:
        problem = f"{head.missing_metadata} of the object's metadata values hold unprintable characters"
        raise DocumentRejected("bad_metadata", problem, stage="metadata")
    return Metadata(groups=groups_of(head.user_metadata))
