"""Let anyone who may see a document see what became of it, and what was extracted from it."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.core.values import Audience, Document, DocumentStatus, Passage
from citewell.ports import ChunkStore


@dataclass(frozen=True, slots=True)
class ChunkPage:
    """``next_offset`` is where the following page starts; None on the last one."""

    source: str
    chunks: list[Passage]
    next_offset: int | None


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """``next_after`` is where the following page begins; None on the last one."""

    documents: list[Document]
    next_after: str | None


@dataclass(frozen=True, slots=True)
class ReadDocuments:
    chunks: ChunkStore

    def listing(
        self, audience: Audience, *, status: DocumentStatus | None, prefix: str, after: str, limit: int
    ) -> DocumentPage:
        """A page of the documents that the audience may see, by source: those behind ``after``."""
        found = self.chunks.documents(audience, status=status, prefix=prefix, after=after, limit=limit + 1)
        page = found[:limit]
        return DocumentPage(page, page[-1].key.source if len(found) > limit else None)

    def status(self, source: str, audience: Audience) -> Document | None:
        """None when there is no such document for the audience."""
        return self.chunks.document(audience, source)

    def passages(self, source: str, audience: Audience, *, offset: int, limit: int) -> ChunkPage | None:
        """A page of the document's chunks in their order; None when there is no such document for the audience."""
        found = self.chunks.document_chunks(audience, source, offset=offset, limit=limit + 1)
        if found is None:
            return None
        return ChunkPage(source, found[:limit], offset + limit if len(found) > limit else None)
