"""Draw kept runs as one HTML page that needs nothing else."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from eval.reporting import page
from eval.runs import Run, kept

DEFAULT = Path("build/eval/report.html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="+", help="a kept run: its file, its name or a beginning of it")
    parser.add_argument("--out", type=Path, default=DEFAULT, metavar="FILE", help=f"default: {DEFAULT}")


def main(options: argparse.Namespace) -> int:
    write_report([kept(name) for name in options.runs], options.out)
    print(f"report: {options.out}")
    return 0


def write_report(runs: Sequence[Run], file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page(runs), encoding="utf-8")
