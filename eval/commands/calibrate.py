"""Fit the refusal to answerable and unanswerable questions, and say how it will do on others.

The threshold is the highest one that refuses at most the allowed share of the answerable questions: no other with as
few false refusals has fewer false answers. The weight of coverage is the one that tells the two kinds apart best.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from citewell.core.refusing import RefusalFit
from eval.calibrating import (
    ALLOWED,
    Fit,
    auc_of,
    calibrated,
    cross_validated,
    curve,
    errors_of,
    fit_cosine,
    fit_signals,
    fit_support,
    support,
)
from eval.commands.run import add_dataset_arguments
from eval.dataset import DatasetError, Half, read_dataset
from eval.outcomes import Outcome
from eval.runs import Run, keep, perform
from eval.tables import table

FITS: dict[str, Fit] = {
    "best cosine alone": fit_cosine,
    "cosine and coverage": fit_support,
    "logistic regression over 5 signals": fit_signals,
}
"""The last is no choice of the product's: it shows what a freer fit would gain."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset_arguments(parser)
    parser.set_defaults(half=Half.TUNING)  # of every set: nothing is fitted on the questions that grade it
    parser.add_argument(
        "--false-refusals", type=_share, default=0.02, metavar="SHARE", help="allowed at most; default: 0.02"
    )
    parser.add_argument(
        "--folds", type=_folds, default=5, metavar="N", help="parts of the cross-validation; default: 5"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the fit there, as JSON")


def _folds(text: str) -> int:
    folds = int(text)
    if folds < 2:
        raise argparse.ArgumentTypeError("what is fitted on one part is judged on another: 2 at least")
    return folds


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share < 1:  # false for NaN, too
        raise argparse.ArgumentTypeError("a share lies between 0 and 1: 0.02 is 2%")
    return share


def main(options: argparse.Namespace) -> int:
    runs = [perform(read_dataset(folder, options.half)) for folder in options.dataset or [None]]
    outcomes = [each for run in runs for each in run.outcomes]
    _check(outcomes, options.folds)
    fit = calibrated(outcomes, model_id=runs[0].config["embedder"], false_refusals=options.false_refusals)
    print(_judged(outcomes, parts=options.folds, false_refusals=options.false_refusals), end="\n\n")
    print(_by_set(runs, fit), end="\n\n")
    print(_curve(outcomes, fit), end="\n\n")
    for run in runs:
        print(f"kept as {keep(run).stem}")
    print(_use(fit, options.out))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(fit.to_json() + "\n", encoding="utf-8")
    return 0


def _check(outcomes: Sequence[Outcome], parts: int) -> None:
    answerable = sum(each.answerable for each in outcomes)
    if min(answerable, len(outcomes) - answerable) < parts:
        raise DatasetError(
            f"{answerable} answerable and {len(outcomes) - answerable} unanswerable questions: "
            f"{parts} parts need as many of either kind (--half all takes both halves, --folds fewer parts)"
        )


def _judged(outcomes: Sequence[Outcome], *, parts: int, false_refusals: float) -> str:
    rows = []
    for name, fit in FITS.items():
        judged = cross_validated(outcomes, fit, parts=parts, false_refusals=false_refusals)
        rows.append([name, f"{judged.auc:.3f}", str(judged.false_refusals), str(judged.false_answers)])
    return (
        f"On questions that weren't fitted on ({parts}-fold cross-validation, 95% intervals), with at most "
        f"{false_refusals:.1%} false refusals where it was fitted:\n"
        + table(["", "AUC", "false refusals", "false answers"], rows)
    )


def _by_set(runs: Sequence[Run], fit: RefusalFit) -> str:
    rows = []
    for run in runs:
        refused, answered = errors_of(run.outcomes, lambda each: support(each, fit.coverage_weight), fit.threshold)
        auc = f"{auc_of(run.outcomes, fit):.3f}" if refused.of and answered.of else "-"
        rows.append([run.dataset_name, str(refused.of), str(answered.of), auc, str(refused), str(answered)])
    return f"The fit, set by set, on what it was fitted on: {fit.to_json()}\n" + table(
        ["", "answerable", "not", "AUC", "false refusals", "false answers"], rows
    )


def _curve(outcomes: Sequence[Outcome], fit: RefusalFit) -> str:
    cosine = curve(outcomes, lambda each: support(each, 0.0))
    fitted = curve(outcomes, lambda each: support(each, fit.coverage_weight))
    rows = [
        [
            f"{allowed:.1%}",
            f"{cosine[allowed][0]:.3f}",
            f"{cosine[allowed][1].rate:.3f}",
            f"{fitted[allowed][0]:.3f}",
            f"{fitted[allowed][1].rate:.3f}",
        ]
        for allowed in ALLOWED
    ]
    head = ["false refusals", "cosine threshold", "false answers", "fit's threshold", "false answers"]
    return "What fewer false answers cost:\n" + table(head, rows)


def _use(fit: RefusalFit, out: Path | None) -> str:
    """How a deployment takes it."""
    file = out or "FILE"
    return (
        f'A deployment refuses by it with -c refusalFit="$(cat {file})", which --out writes, and a process with '
        f"CITEWELL_REFUSAL_FIT='{fit.to_json()}'.\n"
        f"It is good for {fit.model_id} alone; with another embedder the functions refuse to start on it."
    )
