"""The report's plots, as SVG to stand inside an HTML page: the same bytes for the same figures."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOURS = {
    "vector": "#0072b2",
    "keyword": "#e69f00",
    "rrf": "#999999",
    "fused": "#000000",
    "reranked": "#cc79a7",
    "answerable": "#009e73",
    "unanswerable": "#d55e00",
}
"""Okabe and Ito's, which the colour-blind can tell apart."""

_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))

_BINS = 40


def recall_curves(by_ranking: Mapping[str, Sequence[float]]) -> str:
    """``by_ranking`` gives recall@1, recall@2, ... of each ranking."""
    with _styled():
        figure, axes = _figure("how many passages down", "recall")
        for name, recalls in by_ranking.items():
            wide = 2.5 if name in ("fused", "reranked") else 1.5
            axes.plot(range(1, len(recalls) + 1), recalls, color=COLOURS[name], label=name, linewidth=wide)
        axes.axvline(5, color="#bbbbbb", linestyle=":", linewidth=1)
        axes.set_ylim(0, 1.02)
        axes.legend(frameon=False, loc="lower right")
        return _svg(figure)


def score_histogram(answerable: Sequence[float], unanswerable: Sequence[float], threshold: float) -> str:
    """Shares, so that the kinds can be compared however many questions each has."""
    with _styled():
        figure, axes = _figure(
            "score of the best passage: its cosine, less for what it lacks", "share of the questions"
        )
        everything = [*answerable, *unanswerable, threshold]
        low, high = min(everything), max(everything)
        bins = [low + (high - low) * step / _BINS for step in range(_BINS + 1)]
        for name, scores in (("answerable", answerable), ("unanswerable", unanswerable)):
            weights = [1 / len(scores)] * len(scores)
            axes.hist(
                scores, bins=bins, weights=weights, alpha=0.6, color=COLOURS[name], label=f"{name} ({len(scores)})"
            )
        axes.axvline(threshold, color="black", linewidth=1.5, label=f"threshold {threshold:.3f}")
        axes.legend(frameon=False)
        return _svg(figure)


def error_curves(curves: Mapping[str, Sequence[tuple[float, float]]], in_force: tuple[float, float]) -> str:
    """``curves`` are (false refusals, false answers) over all thresholds, by what the score is made of."""
    with _styled():
        figure, axes = _figure("false refusals: answerable questions that are refused", "false answers")
        for (name, points), style in zip(curves.items(), ("-", "--"), strict=False):
            axes.plot(*zip(*points, strict=True), drawstyle="steps-post", color="black", linestyle=style, label=name)
        axes.plot(*in_force, marker="o", color=COLOURS["unanswerable"], linestyle="", label="in force")
        axes.set_xlim(-0.01, 0.51)
        axes.set_ylim(-0.02, 1.02)
        axes.legend(frameon=False)
        return _svg(figure)


def _styled() -> AbstractContextManager[None]:
    return mpl.rc_context(
        {
            "svg.fonttype": "none",  # text stays text
            "svg.hashsalt": "citewell",  # ids are random otherwise
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )


def _figure(across: str, up: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.2, 3.4), layout="tight")
    axes = figure.add_subplot()
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    return figure, axes


def _svg(figure: Figure) -> str:
    """The element alone: inside of HTML it needs no declaration, and no name of a namespace."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata=_NO_METADATA)
    svg = file.getvalue()
    return re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg[svg.index("<svg") :])
