"""Turn each knob of retrieval by itself and print what it is worth, as the table of docs/retrieval.md.

Settings are chosen by the tuning halves; the grading halves are printed beside them to show what is left of a gain.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from eval.dataset import Half, read_dataset
from eval.knobs import Turned, turned


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", type=Path, metavar="DIR", action="append", required=True, help="one or several")


def main(options: argparse.Namespace) -> int:
    rows: dict[str, dict[tuple[str, Half], Turned]] = defaultdict(dict)
    sets = [read_dataset(folder, Half.ALL) for folder in options.dataset]
    for dataset in sets:
        for each in turned(dataset):
            rows[each.knob][dataset.name, each.half] = each
    columns = [(dataset.name, half) for dataset in sets for half in (Half.TUNING, Half.GRADING)]
    print("| nDCG@10 / recall@5 | " + " | ".join(f"{name}, {half}" for name, half in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for knob, found in rows.items():
        cells = [f"{found[column].ndcg_at_10:.3f} / {found[column].recall_at_5:.3f}" for column in columns]
        print(f"| {knob} | " + " | ".join(cells) + " |")
    return 0
