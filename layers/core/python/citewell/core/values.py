"""The values that travel between the stages, in the order in which they come to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

Vector = Sequence[float]
"""One embedding: finite 32-bit floats of one embedder's dimension. Edges may use ``array('f')``."""


class TextKind(StrEnum):
    """What a text is embedded as: some models want a prefix or an input type for one of them."""

    QUERY = "query"
    PASSAGE = "passage"


class BlockKind(StrEnum):
    """METADATA is what a document says of itself before it begins, such as a Markdown file's front matter."""

    METADATA = "metadata"
    PARAGRAPH = "paragraph"
    HEADING = "heading"
    LIST = "list"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of extracted text that belongs together.

    ``start`` and ``end`` are offsets in code points into the extracted text, end exclusive. Blocks are in
    order, don't overlap, and all text outside of them is white space. ``headings`` is the path of headings the
    block stands under, outermost first; a HEADING block's path ends in the heading itself.
    ``page`` is 1-based: a page, a slide or a sheet. None where the format has none of these. No block spans two.
    """

    kind: BlockKind
    start: int
    end: int
    headings: tuple[str, ...] = ()
    page: int | None = None


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """What an extractor makes of an object's bytes, whatever their format.

    ``text`` has ``\\n`` line ends, is NFC, and holds no NUL; every span anywhere is a span of it.
    ``title`` is the document's own title where it has one. ``pages`` is None where the format has no pages.
    ``unread_pages`` are those on which a person sees something and this text has nothing of it, such as scans.
    ``language`` (a tag such as ``de`` or ``pt-BR``) and ``effective_date`` (ISO 8601) are what it says of itself.
    """

    text: str
    blocks: tuple[Block, ...]
    title: str | None = None
    pages: int | None = None
    unread_pages: tuple[int, ...] = ()
    language: str | None = None
    effective_date: str | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage to be searched and cited.

    ``text`` is what a person is shown: ``extracted.text[start:end]``, and before it, where that is a further part of a
    table that was cut, the table's head. ``header`` is the contextual header;
    what is embedded is :attr:`embedded_text`. ``(section, occurrence, part)`` names the chunk within its document:
    ``section`` is the heading path, ``occurrence`` tells apart sections with the same path (from 0), ``part`` counts
    the pieces of one section (from 0). ``ordinal`` counts the document's chunks from 0.
    """

    ordinal: int
    section: tuple[str, ...]
    occurrence: int
    part: int
    start: int
    end: int
    text: str
    header: str
    page: int | None = None

    @property
    def embedded_text(self) -> str:
        return f"{self.header}\n\n{self.text}" if self.header else self.text


@dataclass(frozen=True, slots=True)
class DocumentKey:
    """Which document is meant, wherever one is named: ``source`` is unique within a tenant only."""

    tenant: str
    source: str


@dataclass(frozen=True, slots=True)
class Metadata:
    """What an object's user metadata says of a document. Part of its content hash.

    ``groups`` is sorted; empty means everyone in the tenant. ``effective_date`` is an ISO 8601 date.
    """

    title: str | None = None
    collection: str = ""
    groups: tuple[str, ...] = ()
    effective_date: str | None = None
    series: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class ObjectHead:
    """What stands in the bucket under a key. ``version`` is the S3 version id (the ETag where versioning is off).

    ``uploaded`` is when that version was put there, None where it isn't known. ``missing_metadata`` counts the values
    that S3 holds but can't send, without telling whose they are. ``version_covers_metadata`` is False for an ETag: the
    same bytes may be put there again with other metadata.
    """

    key: str
    version: str
    size: int
    content_type: str | None
    user_metadata: tuple[tuple[str, str], ...]
    uploaded: datetime | None = None
    missing_metadata: int = 0
    version_covers_metadata: bool = True


class IngestResult(StrEnum):
    """SUPERSEDED and IGNORED stand in no document's row: another worker writes it, or the key names no document."""

    INDEXED = "INDEXED"
    UPDATED = "UPDATED"
    UNCHANGED = "UNCHANGED"
    DELETED = "DELETED"
    SUPERSEDED = "SUPERSEDED"
    IGNORED = "IGNORED"


class DocumentStatus(StrEnum):
    PROCESSING = "PROCESSING"
    READY = "READY"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class IngestOutcome:
    """``chunks`` is how many the document now has, ``embedded`` how many texts were sent to the embedder.

    ``uploaded`` is when the version was uploaded that began to answer with this; None when none did.
    """

    result: IngestResult
    chunks: int
    embedded: int
    uploaded: datetime | None = None


@dataclass(frozen=True, slots=True)
class DocumentError:
    """Why the newest version of a document isn't indexed. ``code`` is one of the documented codes.

    ``detail`` says more where there is more to say, such as which pages, and holds none of the document's text.
    """

    code: str
    stage: str
    attempts: int
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A document as its reader sees it: the state of its newest version, and of what answers.

    ``unread_pages`` of what answers show something that couldn't be read, such as scans.
    """

    key: DocumentKey
    title: str
    status: DocumentStatus
    result: IngestResult | None
    chunks: int
    embedded: int
    pages: int | None
    unread_pages: tuple[int, ...]
    version: str | None
    updated_at: str
    error: DocumentError | None


@dataclass(frozen=True, slots=True)
class Audience:
    """Who asks: every query is bound to one. ``groups`` are the caller's, from a verified token only."""

    tenant: str
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A validated request. ``collections`` and ``sources`` (prefixes) narrow the search; empty means everything."""

    text: str
    collections: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    top_k: int = 5


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one document, found for a question. ``score`` is the cosine similarity to the question.

    ``vector_rank`` and ``keyword_rank`` count from 1; None where that arm didn't find it. ``keyword_score`` is
    the keyword arm's own, without a unit, and ``coverage`` the share of the question's words that the passage holds,
    each counted by how rare it is: from 0 to 1. ``fused_score`` is the fusion's, ``rerank_score`` the reranker's: None
    where it read no such passage, and comparable among the passages of one question only.
    """

    chunk_id: str
    source: str
    title: str
    section: tuple[str, ...]
    page: int | None
    ordinal: int
    start: int
    end: int
    text: str
    score: float
    vector_rank: int | None = None
    keyword_rank: int | None = None
    keyword_score: float | None = None
    coverage: float = 0.0
    fused_score: float = 0.0
    rerank_score: float | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the model's provider counts them; zero where no model was called."""

    input_tokens: int = 0
    output_tokens: int = 0


class StopReason(StrEnum):
    """Why a generator stopped; other reasons of a provider map to OTHER."""

    END = "end"
    MAX_TOKENS = "max_tokens"
    REFUSAL = "refusal"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Generation:
    """A generator's reply before its citations are checked."""

    text: str
    stop_reason: StopReason
    usage: Usage
    model: str


@dataclass(frozen=True, slots=True)
class Citation:
    """``n`` is the number that stands in the answer's text."""

    n: int
    passage: Passage


@dataclass(frozen=True, slots=True)
class Answer:
    """What the asker gets. A refusal has a ``reason`` and no citations.

    ``model`` is None when no model was called. ``invented`` counts citation numbers that named no source and
    were removed.
    """

    text: str
    citations: tuple[Citation, ...]
    reason: str | None
    usage: Usage
    model: str | None
    invented: int = 0
