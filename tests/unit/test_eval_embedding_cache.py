from __future__ import annotations

import math
import sqlite3
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.values import TextKind, Vector
from citewell.errors import EmbedderUnavailable
from eval.embedding_cache import cached
from tests.fakes import HashEmbedder

PROBES = 2
"""Texts that are embedded first, to tell whether the embedder is the one whose vectors were kept."""


@dataclass
class Thirds(HashEmbedder):
    """Numbers that no 32-bit float holds exactly."""

    shift: float = 0.0

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[Vector]:
        super().embed(texts, kind)
        return [[(len(text) + (kind is TextKind.QUERY)) / 3 + self.shift] * self.dimensions for text in texts]


def test_a_second_run_embeds_nothing_but_the_probes_and_gives_the_same_floats(tmp_path: Path) -> None:
    first, second = Thirds(), Thirds()
    texts = ["one", "three", "one"]
    with cached(first, file=tmp_path / "made/for it/cache.sqlite") as embedder:
        fresh = embedder.embed(texts, TextKind.PASSAGE)
    with cached(second, file=tmp_path / "made/for it/cache.sqlite") as embedder:
        again = embedder.embed(texts, TextKind.PASSAGE)
    assert (first.embedded[PROBES:], second.embedded[PROBES:]) == (["one", "three"], [])
    assert fresh == again == [array("f", [len(text) / 3] * 8) for text in texts]


def test_questions_and_passages_are_told_apart(tmp_path: Path) -> None:
    with cached(Thirds(), file=tmp_path / "c") as embedder:
        [passage] = embedder.embed(["same"], TextKind.PASSAGE)
        [query] = embedder.embed(["same"], TextKind.QUERY)
    assert [passage[0], query[0]] == pytest.approx([4 / 3, 5 / 3])


@pytest.mark.parametrize(
    "other", [Thirds(model_id="another"), Thirds(dimensions=4), HashEmbedder()], ids=["model", "dimensions", "code"]
)
def test_vectors_of_another_embedder_are_not_taken(tmp_path: Path, other: HashEmbedder) -> None:
    with cached(Thirds(), file=tmp_path / "c") as embedder:
        embedder.embed(["text"], TextKind.PASSAGE)
    with cached(other, file=tmp_path / "c") as embedder:
        embedder.embed(["text"], TextKind.PASSAGE)
    assert other.embedded[PROBES:] == ["text"]


def test_the_last_digits_of_a_hosted_model_may_vary(tmp_path: Path) -> None:
    with cached(Thirds(), file=tmp_path / "c") as embedder:
        embedder.embed(["text"], TextKind.PASSAGE)
    other = Thirds(shift=1e-5)
    with cached(other, file=tmp_path / "c") as embedder:
        embedder.embed(["text"], TextKind.PASSAGE)
    assert other.embedded[PROBES:] == []


def test_no_text_is_kept(tmp_path: Path) -> None:
    with cached(HashEmbedder(), file=tmp_path / "c") as embedder:
        embedder.embed(["a rather secret sentence"], TextKind.QUERY)
        kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"secret" not in kept


def test_what_was_embedded_before_a_failure_is_kept(tmp_path: Path) -> None:
    def fail(texts: Sequence[str]) -> None:
        if texts == ["bad"]:
            raise EmbedderUnavailable("away")

    broken, healthy = HashEmbedder(on_embed=fail), HashEmbedder()
    with (
        cached(broken, file=tmp_path / "c") as embedder,
        pytest.raises(EmbedderUnavailable),
    ):
        embedder.embed(["good", "bad"], TextKind.PASSAGE)
    with cached(healthy, file=tmp_path / "c") as embedder:
        embedder.embed(["good", "bad"], TextKind.PASSAGE)
    assert healthy.embedded[PROBES:] == ["bad"]


def test_two_processes_may_write_the_same_vector(tmp_path: Path) -> None:
    with cached(Thirds(), file=tmp_path / "c") as one, cached(Thirds(), file=tmp_path / "c") as two:
        assert one.embed(["a", "b"], TextKind.PASSAGE) == two.embed(["b", "a"], TextKind.PASSAGE)[::-1]
    with sqlite3.connect(tmp_path / "c") as database:
        assert database.execute("SELECT count(*) FROM embedding").fetchone() == (2,)
    database.close()


@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_any_text_can_be_cached(text: str) -> None:
    embedder = HashEmbedder()
    object.__setattr__(embedder, "embed", lambda texts, _: [[math.pi] * 8 for _ in texts])
    with cached(embedder, file=Path(":memory:")) as caching:
        assert caching.embed([text], TextKind.QUERY) == caching.embed([text], TextKind.QUERY)


def test_what_else_an_embedder_says_is_passed_on(tmp_path: Path) -> None:
    inner = HashEmbedder(max_tokens=99, batch_size=3)
    with cached(inner, file=tmp_path / "c") as embedder:
        assert (embedder.max_tokens, embedder.batch_size, embedder.token_starts("a b")) == (99, 3, [0, 2])
