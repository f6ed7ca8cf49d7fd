"""Score a set, list what was missed, and keep the run.

Settings are the product's own: CITEWELL_CHUNK_TOKENS=256 python -m eval run ... runs with smaller passages.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.commands.compare import COMPARED, compared
from eval.comparing import compare
from eval.configuration import eval_settings
from eval.dataset import Half, read_dataset
from eval.metrics import mean
from eval.outcomes import FUSED, RERANKED, Outcome
from eval.runs import Run, keep, perform
from eval.scoring import first_ranks, missed, question_figures
from eval.tables import eval_line, table

SHOWN = ("recall@3", "recall@5", "recall@10", "recall@30", "mrr@10", "ndcg@10")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset_arguments(parser)
    parser.add_argument("--rerank", action="store_true", help="rerank too, and say what that buys and costs")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures there")


def add_dataset_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dataset",
        type=Path,
        metavar="DIR",
        action="append",
        help="a folder with corpus.jsonl, queries.jsonl and qrels.tsv, or several of them; default: the handbook",
    )
    parser.add_argument(
        "--half",
        type=Half,
        choices=list(Half),
        help="which half of the questions; default: all of a set, the tuning half of the handbook; calibrate: tuning",
    )


def main(options: argparse.Namespace) -> int:
    settings = eval_settings(rerank=options.rerank)
    runs = []
    for folder in options.dataset or [None]:
        run = perform(read_dataset(folder, options.half), settings=settings)
        print(described(run), end=f"\nkept as {keep(run).stem}\n\n", flush=True)
        runs.append(run)
    for run in runs:
        print(f"{run.dataset_name}: " if len(runs) > 1 else "", eval_line(run.figures), sep="")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(_contract(runs), indent=2) + "\n", encoding="utf-8")
    return 0


def _contract(runs: Sequence[Run]) -> dict[str, Any]:
    """One set's figures as they are; several under their sets' names, with the mean of each."""
    if len(runs) == 1:
        return runs[0].contract()
    means = {name: round(mean([run.figures[name] for run in runs]), 4) for name in SHOWN}
    return {"mean": means, "sets": {run.dataset_name: run.contract() for run in runs}}


def described(run: Run) -> str:
    """The run's figures by ranking, its times, and what it missed."""
    rows = [[name, *(f"{figures[shown]:.3f}" for shown in SHOWN)] for name, figures in run.figures["arms"].items()]
    lines = [table([run.dataset_name, *SHOWN], rows)]
    lines.append("   ".join(f"{name} {value}" for name, value in run.figures["time"].items()))
    if kinds := run.figures.get("refusal", {}).get("kinds"):
        said = [f"{kind}: auc {each['auc']:.3f} of {each['unanswerable']}" for kind, each in kinds.items()]
        lines.append("unanswerable   " + "   ".join(said))
    if RERANKED in run.figures["arms"]:
        lines.append(_bought(run))
    if misses := missed(run.outcomes):
        lines.append(f"not wholly among the first 5: {len(misses)} of {run.figures['queries']}; rank of the first gold")
        arms = list(misses[0].rankings)
        lines.append(table(["question", *arms, ""], [_miss(outcome, arms) for outcome in misses]))
    return "\n".join(lines)


def _bought(run: Run) -> str:
    """What the reranker buys over the fused order, and costs."""
    answerable = [each for each in run.outcomes if each.answerable]
    fused, reranked = (
        [question_figures(each.rankings[name], each.gold) for each in answerable] for name in (FUSED, RERANKED)
    )
    differences = {name: compare([row[name] for row in fused], [row[name] for row in reranked]) for name in COMPARED}
    failures = sum(each.rerank_failure is not None for each in run.outcomes)
    cost = f"{run.figures['time']['rerank_p50_ms']} ms a question; it failed for {failures} of {len(run.outcomes)}"
    return f"A fused, B reranked by {run.config['reranker']}: {cost}\n{compared(differences)}"


def _miss(outcome: Outcome, arms: Sequence[str]) -> list[str]:
    ranks = first_ranks(outcome)
    return [outcome.id, *(str(ranks[arm] or "-") for arm in arms), outcome.question[:100]]
