"""Compare two kept runs question by question, so that noise isn't called progress.

A run is named by its file, its name under eval/runs or a beginning of it; `RUN:keyword` takes another of its rankings
than the one that an asker gets (vector, keyword, fused, reranked).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from eval.comparing import Difference, compare
from eval.runs import Run, RunError, kept
from eval.scoring import question_figures
from eval.tables import table

COMPARED = ("recall@5", "ndcg@10", "mrr@10")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="A", help="a kept run")
    parser.add_argument("after", metavar="B", help="another over the same questions")


def main(options: argparse.Namespace) -> int:
    before, after = by_question(options.before), by_question(options.after)
    if before.keys() != after.keys():
        raise RunError(f"{options.before} and {options.after} asked different questions: there is nothing to pair")
    if not before:
        raise RunError(f"{options.before} has no answerable question: there is nothing to compare")
    questions = sorted(before)
    differences = {
        name: compare([before[each][name] for each in questions], [after[each][name] for each in questions])
        for name in COMPARED
    }
    print(f"{len(questions)} questions; A {options.before}; B {options.after}")
    print(compared(differences))
    return 0


Question = tuple[str, tuple[str, ...]]
"""What makes two questions the same one: its id, its text among the gold that is expected of it."""


def by_question(name: str) -> Mapping[Question, Mapping[str, float]]:
    """The answerable questions of the run ``name``, each with its share in every figure. Raises RunError."""
    run, ranking = _named(name)
    rows = {}
    for each in run.outcomes:
        if each.answerable:
            found = each.rankings[ranking] if ranking else each.final
            rows[each.id, (each.question, *each.gold)] = question_figures(found, each.gold)
    return rows


def _named(name: str) -> tuple[Run, str | None]:
    file, colon, ranking = name.rpartition(":")
    run = kept(file if colon else name)
    if colon and ranking not in run.figures["arms"]:
        raise RunError(f"{file} has no ranking {ranking}, but {', '.join(run.figures['arms'])}")
    return run, ranking if colon else None


def compared(differences: Mapping[str, Difference]) -> str:
    rows = [
        [
            name,
            f"{each.before:.3f}",
            f"{each.after:.3f}",
            f"{each.difference:+.3f}",
            f"{each.low:+.3f} .. {each.high:+.3f}",
            str(each.better),
            str(each.worse),
            _verdict(each),
        ]
        for name, each in differences.items()
    ]
    return table(["", "A", "B", "B - A", "95% interval", "better", "worse", ""], rows)


def _verdict(difference: Difference) -> str:
    if difference.low <= 0 <= difference.high:
        return "not told from chance: the interval holds 0"
    return "B is better" if difference.low > 0 else "B is worse"
