"""The hashes that say whether something is the same as before, and the names derived from them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import uuid
from collections.abc import Sequence

from citewell.core.values import DocumentKey, ExtractedText, Metadata, TextKind

_CHUNK_NAMESPACE = uuid.UUID("6f0c2f0e-3f0a-5d52-9d6e-5b8f3c1f7a11")


def content_hash(extracted: ExtractedText, title: str, metadata: Metadata, pipeline: str) -> bytes:
    """32 bytes over everything that decides what a document answers, what its citations say, and to whom."""
    blocks = [(each.kind, each.start, each.end, each.headings, each.page) for each in extracted.blocks]
    shape = (blocks, extracted.pages, extracted.unread_pages)
    return _digest("content", extracted.text, shape, title, dataclasses.asdict(metadata), pipeline)


def reuse_key(model_id: str, dimensions: int, kind: TextKind, embedded_text: str) -> bytes:
    """32 bytes that name a vector: the same for the same string, embedded the same way."""
    return _digest("vector", model_id, dimensions, kind.value, embedded_text)


def chunk_id(key: DocumentKey, section: Sequence[str], occurrence: int, part: int) -> str:
    """A UUID that stays the same for as long as the chunk keeps its place in its document's outline."""
    name = _canonical((key.tenant, key.source, tuple(section), occurrence, part))
    return str(uuid.UUID(bytes=hashlib.sha256(_CHUNK_NAMESPACE.bytes + name).digest()[:16], version=5))


def pipeline_version(
    *, extractor: str, chunker: str, header: str, keywords: str, generation: str, max_tokens: int, overlap_tokens: int
) -> str:
    """One short string for everything that shapes an index; a document built by another one is stale."""
    return f"e{extractor}.c{chunker}.h{header}.k{keywords}.g{generation}.{max_tokens}-{overlap_tokens}"


def _digest(*parts: object) -> bytes:
    return hashlib.sha256(_canonical(parts)).digest()


def _canonical(parts: Sequence[object]) -> bytes:
    # JSON, because it marks where one value ends and the next begins; ASCII, so that any string can be encoded.
    return json.dumps(parts, ensure_ascii=True, separators=(",", ":"), sort_keys=True, allow_nan=False).encode()
