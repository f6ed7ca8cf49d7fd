"""Figures as a person reads them in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.outcomes import KEYWORD, VECTOR


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need be: the first to the left, the others to the right, but for an unnamed last one."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    return "\n".join(_line(row, widths, text_last=not head[-1]) for row in [head, *rows])


def _line(cells: Sequence[str], widths: Sequence[int], *, text_last: bool) -> str:
    shown = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
    shown[0] = cells[0].ljust(widths[0])
    if text_last:
        shown[-1] = cells[-1]
    return "  ".join(shown).rstrip()


def eval_line(figures: Mapping[str, Any]) -> str:
    """One line for a log."""
    shown = ("recall@3", "recall@5", "recall@10", "recall@30")
    parts = [f"{name}={figures[name]:.2f}" for name in shown]
    parts += [f"mrr={figures['mrr@10']:.2f}", f"ndcg@10={figures['ndcg@10']:.3f}"]
    parts += [f"{arm}-ndcg@10={figures['arms'][arm]['ndcg@10']:.3f}" for arm in (VECTOR, KEYWORD)]
    if refusal := figures.get("refusal"):
        parts += [
            f"false-refusal={refusal['false_refusal_rate']:.2f}",
            f"false-answer={refusal['false_answer_rate']:.2f}",
            f"auc={refusal['auc']:.3f}",
        ]
    return f"eval set: {figures['queries']} questions   " + "   ".join(parts)
