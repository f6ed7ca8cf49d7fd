"""`python -m eval run` from a folder to figures, with the real model, ingest, search and database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.__main__ import main
from eval.runs import RUNS, kept
from infra.local.throwaway_postgres import VARIABLE, Server

TEXTS = {
    "meals": "The daily meal limit while travelling is 60 EUR. Breakfast in the hotel takes 12 EUR off it.",
    "leave": "Annual leave is 28 days. What isn't taken by the end of March is lost.",
    "visitors": "Visitors wear a yellow badge and are met at the gate on Harbour Street.",
}
QUESTIONS = [
    {"id": "q-meals", "question": "How much may I spend on food when I travel?"},
    {"id": "q-badge", "question": "Which badge do visitors wear?"},
    {"id": "q-moon", "question": "How far away is the moon?", "answerable": False, "kind": "off-topic"},
]
CONTRACT = {"queries", "recall@3", "recall@5", "recall@10", "recall@30", "mrr@10", "ndcg@10", "arms", "config"}


@pytest.fixture
def folder(tmp_path: Path, database_server: Server, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, database_server.url)
    monkeypatch.setattr("eval.runs.RUNS", tmp_path / "runs")
    folder = tmp_path / "tiny"
    folder.mkdir()
    corpus = [{"id": name, "title": name.title(), "text": text} for name, text in TEXTS.items()]
    _write(folder / "corpus.jsonl", [json.dumps(each) for each in corpus])
    _write(folder / "queries.jsonl", [json.dumps(each) for each in QUESTIONS])
    _write(folder / "qrels.tsv", ["q-meals\tmeals", "q-badge\tvisitors"])
    return folder


def _write(file: Path, lines: list[str]) -> None:
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_a_folder_becomes_the_figures_of_the_contract_and_a_kept_run(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--dataset", str(folder), "--json", str(tmp_path / "out.json")]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1].startswith("eval set: 2 questions   recall@3=1.00   recall@5=1.00")
    figures = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert figures.keys() >= CONTRACT
    assert (figures["queries"], figures["recall@5"], figures["mrr@10"]) == (2, 1.0, 1.0)
    assert figures["arms"]["vector"]["recall@5"] == figures["arms"]["keyword"]["recall@5"] == 1.0
    assert figures["refusal"]["kinds"]["off-topic"]["auc"] == 1.0
    [file] = (tmp_path / "runs").iterdir()
    run = kept(str(file))
    assert run.contract() == figures
    assert [each.final[0] for each in run.outcomes if each.answerable] == ["meals", "visitors"]


def test_a_configuration_tells_what_shaped_the_run_and_not_where_it_ran(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEWELL_CHUNK_TOKENS", "200")
    monkeypatch.setenv("CITEWELL_CONTACT", "somebody@example.com")
    assert main(["run", "--dataset", str(folder), "--json", str(tmp_path / "out.json")]) == 0
    config = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["config"]
    assert (config["chunk_tokens"], config["overlap_tokens"]) == (200, 48)
    assert config["embedder"].startswith("bge-small-en-v1.5-int8@")
    assert config["dataset"]["name"] == "tiny"
    assert config["versions"]["chunker"]
    assert config["refusal"]["model_id"] == config["embedder"]
    said = json.dumps(config)
    assert "somebody" not in said
    assert str(RUNS.parents[1]) not in said


def test_two_runs_of_one_state_find_the_same(folder: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert main(["run", "--dataset", str(folder)]) == 0
    rankings = {
        json.dumps([each.rankings for each in kept(str(file)).outcomes]) for file in (tmp_path / "runs").iterdir()
    }
    assert len(rankings) == 1


def test_several_sets_have_their_own_figures_and_a_mean(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = folder.with_name("other")
    folder.rename(other)
    folder.mkdir()
    for file in other.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    _write(folder / "qrels.tsv", ["q-meals\tleave", "q-badge\tleave"])
    arguments = ["run", "--dataset", str(folder), "--dataset", str(other), "--json", str(tmp_path / "out.json")]
    assert main(arguments) == 0
    figures = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert figures["sets"].keys() == {"tiny", "other"}
    assert figures["sets"]["other"]["mrr@10"] == 1.0
    assert figures["mean"]["mrr@10"] == pytest.approx((1.0 + figures["sets"]["tiny"]["mrr@10"]) / 2, abs=1e-4)
    assert capsys.readouterr().out.splitlines()[-1].startswith("other: eval set: 2 questions")


def test_a_reranker_is_measured_beside_the_fused_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--dataset", str(folder), "--rerank"]) == 0
    out = capsys.readouterr().out
    assert "A fused, B reranked by ms-marco-MiniLM-L-12-v2-int8@" in out
    assert "it failed for 0 of 3" in out
    assert out.count("not told from chance: the interval holds 0") == 3


def test_a_half_without_questions_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(folder / "queries.jsonl", [json.dumps({"id": "nw-000", "question": "Whose?", "answerable": False})])
    _write(folder / "qrels.tsv", [])
    assert main(["run", "--dataset", str(folder), "--half", "grading"]) == 2
    assert "tiny: no question to ask (grading)" in capsys.readouterr().err
