"""Vectors kept between runs, so that a second run over a set embeds nothing.

Only hashes of texts are kept, never the texts. A model's id doesn't tell everything that shapes its vectors (a prefix,
the tokenizer, the runtime's version and the processor do, too), so each process embeds two probes first, and takes
kept vectors only from those that were made by an embedder that gave the probes the same ones.
"""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from array import array
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from citewell.core.values import TextKind, Vector
from citewell.ports import Embedder

CACHE = Path(__file__).parents[1] / "build/eval-cache/vectors.sqlite"

_CREATE = """
CREATE TABLE IF NOT EXISTS maker (
    id INTEGER PRIMARY KEY, model_id TEXT NOT NULL, dimensions INTEGER NOT NULL, probes BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS embedding (
    maker INTEGER, kind TEXT, text_sha256 BLOB, vector BLOB NOT NULL, PRIMARY KEY (maker, kind, text_sha256)
) WITHOUT ROWID;
"""
_MAKERS = "SELECT id, probes FROM maker WHERE model_id = ? AND dimensions = ? ORDER BY id"
_NEW_MAKER = "INSERT INTO maker (model_id, dimensions, probes) VALUES (?, ?, ?)"
_READ = "SELECT vector FROM embedding WHERE maker = ? AND kind = ? AND text_sha256 = ?"
_KEEP = "INSERT OR IGNORE INTO embedding VALUES (?, ?, ?, ?)"

_PROBE = (
    "Article 7: up to 1,250 EUR (tax included) are reimbursed within thirty days; Größe und 高度 are naïve examples."
)

_SAME = 1e-4
"""How far two numbers of the probes' vectors may lie apart: a hosted model's last digits vary from call to call."""

_SECONDS_FOR_A_LOCK = 60.0


@dataclass(frozen=True, slots=True)
class CachingEmbedder:
    """``inner`` with its vectors kept in ``database``: 32-bit floats exactly as it gave them.

    Texts that aren't there yet go to ``inner`` one a call, so that no vector depends on what else was asked for.
    """

    inner: Embedder
    database: sqlite3.Connection
    maker: int

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

    def _key(self, text: str, kind: TextKind) -> tuple[int, str, bytes]:
        # A lone surrogate can't be encoded otherwise, and a question may hold one.
        digest = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
        return (self.maker, kind.value, digest)


@contextmanager
def cached(embedder: Embedder, *, file: Path | None = None) -> Iterator[Embedder]:
    """``embedder`` with the cache in ``file``, which several processes may use at once."""
    where = file or CACHE
    where.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(where, timeout=_SECONDS_FOR_A_LOCK)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = OFF")  # a cache that a power cut breaks is deleted
        database.executescript(_CREATE)
        yield CachingEmbedder(embedder, database, _maker(embedder, database))


def _maker(embedder: Embedder, database: sqlite3.Connection) -> int:
    """The id that the vectors of ``embedder``, as it is today, are kept under."""
    [passage] = embedder.embed([_PROBE], TextKind.PASSAGE)
    [query] = embedder.embed([_PROBE], TextKind.QUERY)
    probes = _bytes([*passage, *query])
    for maker, known in database.execute(_MAKERS, (embedder.model_id, embedder.dimensions)):
        if all(abs(one - other) < _SAME for one, other in zip(_floats(known), _floats(probes), strict=True)):
            return int(maker)
    with database:
        made = database.execute(_NEW_MAKER, (embedder.model_id, embedder.dimensions, probes))
    assert made.lastrowid is not None
    return made.lastrowid


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
