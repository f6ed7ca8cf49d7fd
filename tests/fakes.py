"""Stand-ins at the ports: a bucket in memory, an embedder whose vectors follow from its texts alone, and so on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from citewell.core.values import ExtractedText, ObjectHead, TextKind, Vector
from citewell.errors import ObjectVanished
from citewell.extract import EXTRACTOR_VERSION, extract
from citewell.extract.options import ReadOptions


@dataclass
class MemoryBucket:
    """A bucket. ``before_read`` runs between a look and the read that follows it."""

    before_read: Callable[[], None] = lambda: None
    versioned: bool = True
    reads: int = 0
    _current: dict[str, ObjectHead] = field(default_factory=dict)
    _bodies: dict[str, bytes] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def put(self, key: str, body: str | bytes, *, content_type: str | None = None, **metadata: str) -> str:
        """Returns the new version. ``metadata`` is user metadata; write `effective_date` for `effective-date`."""
        data = body.encode() if isinstance(body, str) else body
        version = f"v{next(self._numbers)}" if self.versioned else f"etag:{hashlib.sha256(data).hexdigest()}"
        named = tuple(sorted((name.replace("_", "-"), value) for name, value in metadata.items()))
        self._current[key] = ObjectHead(
            key, version, len(data), content_type, named, version_covers_metadata=self.versioned
        )
        self._bodies[version] = data
        return version

    def hide_metadata(self, key: str) -> None:
        """As if S3 couldn't send one value of what stands under ``key``."""
        self._current[key] = replace(self._current[key], missing_metadata=1)

    def delete(self, key: str) -> None:
        self._current.pop(key, None)

    def restore(self, head: ObjectHead) -> None:
        """Make an old version the current one, as if every newer one had been deleted for good."""
        self._current[head.key] = head

    def erase_versions(self) -> None:
        """Remove every version that isn't current, for good."""
        current = {head.version for head in self._current.values()}
        self._bodies = {version: body for version, body in self._bodies.items() if version in current}

    def head(self, key: str) -> ObjectHead | None:
        return self._current.get(key)

    def read(self, head: ObjectHead) -> bytes:
        self.before_read()
        self.reads += 1
        if head.version not in self._bodies:
            raise ObjectVanished(head.version)
        return self._bodies[head.version]

    def keeps_versions(self) -> bool:
        return self.versioned


@dataclass
class InProcessExtractor:
    """Reads documents here: quicker to start than a process, and no safer than the documents are."""

    version: str = EXTRACTOR_VERSION

    def extract(self, data: bytes, *, content_type: str | None, seconds: float) -> ExtractedText:
        assert seconds > 0
        return extract(data, ReadOptions(content_type=content_type))

    def check(self, *, seconds: float) -> None:
        assert seconds > 0


@dataclass
class HashEmbedder:
    """Equal texts have equal vectors, others hardly ever. ``on_embed`` runs before each call and may raise."""

    model_id: str = "hash-embedder"
    dimensions: int = 8
    max_tokens: int = 512
    batch_size: int = 4
    on_embed: Callable[[Sequence[str]], None] = lambda _: None
    embedded: list[str] = field(default_factory=list)

    def token_starts(self, text: str) -> Sequence[int]:
        return [
            at for at, character in enumerate(text) if not character.isspace() and (not at or text[at - 1].isspace())
        ]

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[Vector]:
        assert len(texts) <= self.batch_size or kind is TextKind.QUERY
        self.on_embed(texts)
        self.embedded.extend(texts)
        return [
            [byte / 255 + 0.01 for byte in hashlib.sha256(text.encode()).digest()[: self.dimensions]] for text in texts
        ]
