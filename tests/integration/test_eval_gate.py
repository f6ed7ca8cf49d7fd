"""The recall gate as CI runs it: it passes, and it fails when somebody breaks a part of the retrieval.

Not everything shows in the fusion's recall@5: what a broken keyword arm doesn't find, the vectors find as a rule, and
a missing header costs it less than the gate's tolerance. So the gate bounds the nDCG@10 of either arm, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from citewell.core import ranking
from citewell.core.chunking import split_chunks
from citewell.core.values import Chunk, Passage
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.wiring import Wiring
from eval.__main__ import main
from infra.local.throwaway_postgres import VARIABLE, Server

Break = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture(autouse=True)
def _on_the_tests_server(database_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, database_server.url)
    monkeypatch.setattr("eval.runs.RUNS", tmp_path)


def _chunks_become(monkeypatch: pytest.MonkeyPatch, change: Callable[[Chunk], Chunk]) -> None:
    monkeypatch.setattr(
        "citewell.usecases.ingest_object.split_chunks",
        lambda *arguments, **options: [change(chunk) for chunk in split_chunks(*arguments, **options)],
    )


def _chunker_loses_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_half(chunk: Chunk) -> Chunk:
        length = len(chunk.text) // 2
        return replace(chunk, text=chunk.text[:length], end=chunk.start + length)

    _chunks_become(monkeypatch, first_half)


def _header_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    _chunks_become(monkeypatch, lambda chunk: replace(chunk, header=""))


def _keyword_arm_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates = PostgresChunkStore.candidates

    def without_keywords(*arguments: Any, **options: Any) -> list[Passage]:
        found = candidates(*arguments, **options)
        return [replace(each, keyword_rank=None) for each in found if each.vector_rank is not None]

    monkeypatch.setattr(PostgresChunkStore, "candidates", without_keywords)


def _rank_fusion_is_upside_down(monkeypatch: pytest.MonkeyPatch) -> None:
    fusion = ranking.reciprocal_rank_fusion

    def upside_down(rankings: Sequence[Sequence[str]], **options: Any) -> Mapping[str, float]:
        return fusion([list(reversed(each)) for each in rankings], **options)

    monkeypatch.setattr(ranking, "reciprocal_rank_fusion", upside_down)


def _fusion_is_upside_down(monkeypatch: pytest.MonkeyPatch) -> None:
    wired = vars(Wiring)["fuse"].func
    monkeypatch.setattr(Wiring, "fuse", property(lambda product: lambda found: wired(product)(found)[::-1]))


def test_the_gate_passes_on_what_is_committed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate"]) == 0
    line, verdict = capsys.readouterr().out.splitlines()
    assert line.startswith("eval set: 75 questions   recall@3=0.")
    assert verdict.startswith("gate passed: recall@5 0.")


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (_chunker_loses_text, "gate failed: recall@5 fell from "),
        (_fusion_is_upside_down, "gate failed: recall@5 fell from "),
        (_rank_fusion_is_upside_down, "gate failed: ndcg@10 of the rrf ranking fell from "),
        (_keyword_arm_finds_nothing, "gate failed: ndcg@10 of the keyword ranking fell from "),
        (_header_is_left_out, "gate failed: ndcg@10 of the vector ranking fell from "),
    ],
    ids=["chunker", "fusion", "rank fusion", "keyword arm", "header"],
)
def test_the_gate_fails_when_a_part_is_broken(
    broken: Break, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken(monkeypatch)
    assert main(["gate"]) == 1
    assert said in capsys.readouterr().err
