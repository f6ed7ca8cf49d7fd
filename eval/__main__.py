"""`python -m eval run`: score a retrieval set. `python -m eval gate`: fail when the handbook's recall has dropped."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from citewell.core.refusing import min_score_for
from citewell.errors import CitewellError
from citewell.ports import Embedder
from citewell.settings import Settings
from citewell.wiring import Wiring
from eval.dataset import Dataset, DatasetError, read_handbook, read_retrieval_set
from eval.embedding_cache import cached
from eval.gate import Baseline, passed, regressions
from eval.run import Scored, database, figures, index, misses, search

HERE = Path(__file__).parent
HANDBOOK = HERE / "handbook"
QUESTIONS = HERE / "questions"
BASELINE = HERE / "baseline.json"
MODEL_DIR = HERE.parent / "build/model/bge-small-en-v1.5"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m eval", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="score a set and list what was missed")
    run.add_argument("--dataset", type=Path, metavar="DIR", help="a retrieval set; default: the handbook's tuning half")
    run.add_argument("--json", type=Path, metavar="OUT", help="write the figures there")
    gate = commands.add_parser("gate", help="grade the handbook against the committed baseline")
    gate.add_argument("--write-baseline", action="store_true", help="make today's figures the baseline")
    options = parser.parse_args(arguments)
    try:
        return _gate(write=options.write_baseline) if options.command == "gate" else _run(options.dataset, options.json)
    except (CitewellError, DatasetError) as error:
        print(f"eval: {error}", file=sys.stderr)
        return 2


def _run(folder: Path | None, out: Path | None) -> int:
    dataset = read_retrieval_set(folder) if folder else read_handbook(HANDBOOK, QUESTIONS / "tuning.jsonl")
    scored, result = _score(dataset)
    for question_id, question, rank in misses(scored):
        print(f"missed {question_id} (first gold at {rank or 'none'}): {question}")
    print(_line(result))
    if out:
        out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0


def _gate(*, write: bool) -> int:
    scored, result = _score(read_handbook(HANDBOOK, QUESTIONS / "grading.jsonl"))
    print(_line(result), flush=True)  # so that the verdict is the last line of a log that takes stderr in as well
    today = Baseline.of(result, missed=[question_id for question_id, _, _ in misses(scored)])
    if write:
        BASELINE.write_text(today.to_json(), encoding="utf-8")
        print(f"baseline written: recall@5 {today.recall_at_5:.3f}")
        return 0
    baseline = Baseline.from_json(BASELINE.read_text(encoding="utf-8"))
    failures = regressions(baseline, today)
    for failure in failures:
        print(f"gate failed: {failure}", file=sys.stderr)
    if failures:
        return 1
    print(passed(baseline, today))
    return 0


def _score(dataset: Dataset) -> tuple[list[Scored], dict[str, Any]]:
    settings = Settings.from_environment()
    if settings.embedder == "local" and settings.model_dir is None:
        settings = dataclasses.replace(settings, model_dir=str(MODEL_DIR))
    started = time.monotonic()
    with cached(Wiring(settings).embedder) as embedder, database(embedder) as store:
        index(dataset, store=store, embedder=embedder, settings=settings)
        scored = search(dataset, store=store, embedder=embedder, settings=settings)
    min_score = min_score_for(embedder.model_id, settings.min_score)
    config = {**_config(settings, embedder), "dataset": dataset.name, "seconds": round(time.monotonic() - started, 1)}
    return scored, figures(scored, min_score=min_score, config=config)


def _config(settings: Settings, embedder: Embedder) -> dict[str, Any]:
    shaping = ("chunk_tokens", "overlap_tokens", "candidates", "rrf_k", "top_k")
    return {
        "embedder": embedder.model_id,
        "dimensions": embedder.dimensions,
        **{name: getattr(settings, name) for name in shaping},
    }


def _line(result: dict[str, Any]) -> str:
    shown = ("recall@3", "recall@5", "recall@10", "recall@30")
    parts = [f"{name}={result[name]:.2f}" for name in shown]
    parts += [f"mrr={result['mrr@10']:.2f}", f"ndcg@10={result['ndcg@10']:.3f}"]
    parts += [f"{arm}-ndcg@10={figures_['ndcg@10']:.3f}" for arm, figures_ in result["arms"].items()]
    if refusal := result.get("refusal"):
        parts += [
            f"false-refusal={refusal['false_refusal_rate']:.2f}",
            f"false-answer={refusal['false_answer_rate']:.2f}",
            f"auc={refusal['auc']:.3f}",
        ]
    return f"eval set: {result['queries']} questions   " + "   ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
