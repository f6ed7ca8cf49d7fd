"""Grade the handbook against the committed baseline; ends with 1 when retrieval got worse than its bounds."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from eval.commands.report import write_report
from eval.dataset import Half, read_dataset
from eval.gate import Baseline, passed, regressions
from eval.runs import keep, perform
from eval.scoring import missed
from eval.tables import eval_line

BASELINE = Path(__file__).parents[1] / "baseline.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--report", type=Path, metavar="FILE", help="draw the run as one HTML page there, too")
    parser.add_argument("--write-baseline", action="store_true", help="make today's figures the baseline")


def main(options: argparse.Namespace) -> int:
    run = perform(read_dataset(None, Half.GRADING))
    keep(run)
    if options.report:
        write_report([run], options.report)
    # Flushed, so that the verdict is the last line of a log that takes stderr in as well.
    print(eval_line(run.figures), flush=True)
    today = Baseline.of(run.figures, missed=[each.id for each in missed(run.outcomes)])
    if options.write_baseline:
        BASELINE.write_text(today.to_json(), encoding="utf-8")
        print(f"baseline written: recall@5 {today.recall_at_5:.3f}")
        return 0
    return _verdict(Baseline.from_json(BASELINE.read_text(encoding="utf-8")), today)


def _verdict(baseline: Baseline, today: Baseline) -> int:
    failures = regressions(baseline, today)
    for failure in failures:
        print(f"gate failed: {failure}", file=sys.stderr)
    if failures:
        return 1
    print(passed(baseline, today))
    return 0
