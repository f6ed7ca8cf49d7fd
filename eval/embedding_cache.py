"""Vectors kept between runs, so that a second run over a set embeds nothing.

Only hashes of texts are kept, never the texts. A vector counts for the code that made it, too: the embedder's own
module and the runtime's version are part of its key, since both change vectors without changing the model's id.
"""

from __future__ import annotations

import hashlib
import inspect
import sqlite3
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from citewell.core.values import TextKind, Vector
from citewell.ports import Embedder

CACHE = Path(__file__).parents[1] / "build/eval-cache/embeddings.sqlite"

_CREATE = """
CREATE TABLE IF NOT EXISTS embedding (
    model_id TEXT, dimensions INTEGER, made_by TEXT, kind TEXT, text_sha256 BLOB, vector BLOB NOT NULL,
    PRIMARY KEY (model_id, dimensions, made_by, kind, text_sha256)
) WITHOUT ROWID
"""
_READ = """
SELECT vector FROM embedding
WHERE model_id = ? AND dimensions = ? AND made_by = ? AND kind = ? AND text_sha256 = ?
"""
_KEEP = "INSERT OR IGNORE INTO embedding VALUES (?, ?, ?, ?, ?, ?)"

_SECONDS_FOR_A_LOCK = 60.0


@dataclass(frozen=True, slots=True)
class CachingEmbedder:
    """``inner`` with its vectors kept in ``database``: 32-bit floats exactly as it gave them.

    Texts that aren't there yet go to ``inner`` one a call, so that no vector depends on what else was asked for.
    """

    inner: Embedder
    database: sqlite3.Connection
    made_by: str

    @property
    def model_id(self) -> str:
        return self.inner.model_id

    @property
    def dimensions(self) -> int:
        return self.inner.dimensions

    @property
    def max_tokens(self) -> int:
        return self.inner.max_tokens

    @property
    def batch_size(self) -> int:
        return self.inner.batch_size

    def token_starts(self, text: str) -> Sequence[int]:
        return self.inner.token_starts(text)

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[Vector]:
        """One vector a text, in order. Raises what ``inner`` does; what it gave before that is kept."""
        known: dict[str, Vector] = {}
        for text in dict.fromkeys(texts):
            kept = self._kept(text, kind)
            known[text] = kept if kept is not None else self._embed(text, kind)
        return [known[text] for text in texts]

    def _kept(self, text: str, kind: TextKind) -> Vector | None:
        row = self.database.execute(_READ, self._key(text, kind)).fetchone()
        return None if row is None else _floats(row[0])

    def _embed(self, text: str, kind: TextKind) -> Vector:
        [vector] = self.inner.embed([text], kind)
        kept = _bytes(vector)
        with self.database:
            self.database.execute(_KEEP, (*self._key(text, kind), kept))
        return _floats(kept)

    def _key(self, text: str, kind: TextKind) -> tuple[str, int, str, str, bytes]:
        # A lone surrogate can't be encoded otherwise, and a question may hold one.
        digest = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
        return (self.model_id, self.dimensions, self.made_by, kind.value, digest)


@contextmanager
def cached(
    embedder: Embedder, *, file: Path | None = None, runtime: Iterable[str] = ("onnxruntime",)
) -> Iterator[Embedder]:
    """``embedder`` with the cache in ``file``, which several processes may use at once.

    ``runtime`` names the packages whose versions shape vectors.
    """
    where = file or CACHE
    where.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(where, timeout=_SECONDS_FOR_A_LOCK)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = OFF")  # a cache that a power cut breaks is deleted
        with database:
            database.execute(_CREATE)
        yield CachingEmbedder(embedder, database, made_by(embedder, runtime))


def made_by(embedder: Embedder, runtime: Iterable[str] = ()) -> str:
    """What names the code behind ``embedder``: a hash of its module's source, and the versions of ``runtime``."""
    source = inspect.getsource(sys.modules[type(embedder).__module__])
    versions = [f"{package} {_version(package)}" for package in sorted(runtime)]
    return hashlib.sha256("\n".join([source, *versions]).encode()).hexdigest()[:16]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def _bytes(vector: Vector) -> bytes:
    floats = array("f", vector)
    if sys.byteorder == "big":
        floats.byteswap()
    return floats.tobytes()


def _floats(kept: bytes) -> Vector:
    floats = array("f", kept)
    if sys.byteorder == "big":
        floats.byteswap()
    return floats
