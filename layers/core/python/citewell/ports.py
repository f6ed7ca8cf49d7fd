"""The edges of the product. Everything else is plain functions over :mod:`citewell.core.values`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from citewell.core.values import (
    Audience,
    Chunk,
    Document,
    DocumentKey,
    DocumentStatus,
    ExtractedText,
    Generation,
    IngestOutcome,
    Metadata,
    ObjectHead,
    Passage,
    Question,
    TextKind,
    Vector,
)


class ObjectStore(Protocol):
    """The bucket. Raises ObjectStoreUnavailable when it can't answer after its retries."""

    def head(self, key: str) -> ObjectHead | None:
        """What stands under ``key`` now; None when nothing does (a delete marker included)."""

    def read(self, head: ObjectHead) -> bytes:
        """The bytes of exactly that version. Raises ObjectVanished when that version is gone."""

    def keeps_versions(self) -> bool:
        """Whether what is overwritten or deleted stays readable as the version that it was."""


class Extractor(Protocol):
    """Reads documents, and outlives what any of them does to its reader."""

    @property
    def version(self) -> str:
        """Another one wherever the same bytes may give another text, so that they are read again."""

    def extract(self, data: bytes, *, content_type: str | None, seconds: float) -> ExtractedText:
        """The text of a document, whatever its format. ``content_type`` is asked for its charset only.

        Raises DocumentRejected with one of the documented codes, OutOfTime when ``seconds``, the worker's own, were
        up before the time that a document may take, and ExtractorUnavailable or ConfigurationError when nothing can
        be read here.
        """

    def check(self, *, seconds: float) -> None:
        """Raise ExtractorUnavailable or ConfigurationError unless documents of every format can be read here."""


class Embedder(Protocol):
    """Turns texts into vectors. ``model_id`` names model and revision; vectors of two ids are never compared."""

    @property
    def model_id(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """The longest text, in the tokens of :meth:`token_starts` plus special ones, that isn't cut by the model."""

    @property
    def batch_size(self) -> int:
        """How many texts one call of :meth:`embed` should hold, so that each batch can be kept as it comes."""

    def token_starts(self, text: str) -> Sequence[int]:
        """Offsets (code points, ascending) at which the model's tokens start: exact, or a cautious estimate."""

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[Vector]:
        """One vector a text, in order. Raises EmbedderUnavailable after its retries, ConfigurationError on 4xx."""


class Reranker(Protocol):
    """Scores what was found by reading question and passage together. ``model_id`` names model and revision."""

    @property
    def model_id(self) -> str: ...

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """One finite score a text, in order: higher is better, and comparable within one call only.

        Raises RerankerUnavailable after its retries or when its time is up, ConfigurationError on 4xx.
        """


class Generator(Protocol):
    """Writes an answer from numbered passages."""

    def generate(self, question: str, passages: Sequence[Passage], *, seconds: float) -> Generation:
        """Answer from ``passages`` (numbered from 1 in their order), citing ``[n]``, within ``seconds``.

        Raises GeneratorUnavailable after its retries or when the time is up.
        """

    def check(self, *, seconds: float) -> None:
        """Raise what :meth:`generate` would where the model can't be used, at the price of a token at most."""


@dataclass(frozen=True, slots=True)
class IndexGeneration:
    """One complete set of vectors: what built it. Only the live one answers."""

    generation: int
    model_id: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker's right to write a document: void as soon as another worker has claimed a higher number.

    The other fields say what answers now: None and zero where nothing does.
    """

    key: DocumentKey
    number: int
    served_version: str | None
    served_pipeline: str | None
    content_hash: bytes | None
    chunks: int


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """What a swap makes the served version of a document."""

    version: str
    pipeline: str
    content_hash: bytes
    title: str
    metadata: Metadata
    pages: int | None
    unread_pages: tuple[int, ...]
    embedded: int
    search_language: str
    """By which the keyword search takes endings off its words: one of :data:`citewell.core.languages.LANGUAGES`."""


@dataclass(frozen=True, slots=True)
class ChunkToStore:
    """``chunk_id`` is a UUID in text form; ``reuse_key`` the hash that names its vector."""

    chunk_id: str
    reuse_key: bytes
    chunk: Chunk


class ChunkStore(Protocol):
    """Documents, chunks and vectors. Every method takes the tenant; each is one short transaction.

    Raises DatabaseUnavailable when the database can't be reached.
    """

    def live_generation(self) -> IndexGeneration:
        """The generation that answers. Raises ConfigurationError when the schema was never migrated."""

    # --- ingest ---

    def claim(self, key: DocumentKey) -> Claim:
        """Take the next claim on a document. Shows nothing to readers yet: what stands in the bucket isn't known."""

    def begin(self, claim: Claim, metadata: Metadata | None, *, title: str, attempts: int, last: bool) -> None:
        """Show the document as PROCESSING; where nothing is served yet, under the new version's title and groups.

        What is served goes on answering those who may read the new version too, and from now on nobody else. Without
        ``metadata``, for a version that doesn't say clearly whom it is for, that is nobody at all.

        On its ``last`` attempt it is shown as FAILED with the code ``interrupted`` until the attempt has ended, so
        that a worker that dies leaves the truth behind. Does nothing when the claim is void.
        """

    def known_vectors(self, key: DocumentKey, reuse_keys: Sequence[bytes]) -> frozenset[bytes]:
        """Which of ``reuse_keys`` already have a vector in the tenant; those are safe until the next swap."""

    def keep_vectors(self, tenant: str, generation: IndexGeneration, vectors: Mapping[bytes, Vector]) -> None:
        """Keep a batch's vectors for the coming swap, or for the next attempt if this one dies."""

    def swap(
        self,
        claim: Claim,
        generation: IndexGeneration,
        version: DocumentVersion,
        chunks: Sequence[ChunkToStore],
    ) -> IngestOutcome:
        """Make ``version`` with ``chunks`` what answers, if the claim is still the newest; else SUPERSEDED.

        INDEXED when nothing was served before, else UPDATED. Raises VectorsMissing when a chunk's vector is gone.
        """

    def refresh(self, claim: Claim, version: str, pipeline: str) -> IngestOutcome:
        """The newest object version says what is served already: note its version. UNCHANGED or SUPERSEDED."""

    def remove(self, claim: Claim) -> IngestOutcome:
        """Remove the document, keeping its claim as a tombstone. DELETED or SUPERSEDED."""

    def fail(
        self, claim: Claim, *, code: str, stage: str, attempts: int, version: str | None, detail: str | None = None
    ) -> None:
        """Record that the newest version can't be indexed; what was served before goes on answering.

        ``detail`` is for who may read the document, and holds none of its text.
        """

    def documents_after(self, after: DocumentKey, *, limit: int) -> list[DocumentKey]:
        """Up to ``limit`` documents behind ``after``, of all tenants, in an order that stays the same."""

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
        """Up to ``limit`` passages an arm, each with its ranks and what both arms make of it; order doesn't matter."""

    def document(self, audience: Audience, source: str) -> Document | None:
        """The document as ``audience`` may see it; None when there is none for it."""

    def documents(
        self, audience: Audience, *, status: DocumentStatus | None, prefix: str, after: str, limit: int
    ) -> list[Document]:
        """Up to ``limit`` documents that ``audience`` may see, by source, from the first behind ``after`` on.

        Those of ``status`` alone where it is given, and whose source begins with ``prefix``.
        """

    def document_chunks(self, audience: Audience, source: str, *, offset: int, limit: int) -> list[Passage] | None:
        """A page of the chunks that answer, by ordinal; None when there is no such document for the audience."""

    def ping(self) -> None:
        """Raise DatabaseUnavailable unless the database answers."""

    # --- a deploy's check ---

    def try_reading(self) -> None:
        """Run every statement that asking and showing documents take, and find nothing. Raises what they would."""

    def try_writing(self) -> None:
        """Run every statement that ingest takes, and leave nothing behind. Raises what they would."""
