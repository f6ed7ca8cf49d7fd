"""A run as one HTML page that needs nothing else: no link, no script, no font, no picture from anywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape

from eval.calibrating import support
from eval.fitting import errors_at
from eval.metrics import mean, recall_at_k
from eval.outcomes import Outcome
from eval.plots import error_curves, recall_curves, score_histogram
from eval.runs import Run
from eval.scoring import first_ranks, missed

DEPTH = 30
SHOWN = ("recall@3", "recall@5", "recall@10", "recall@30", "mrr@10", "ndcg@10")

_NEIGHBOURS = 5
"""Questions on either side of the threshold that are shown."""

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a }
table { border-collapse: collapse; margin: 1rem 0; font-size: 14px }
th, td { text-align: left; vertical-align: top; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid #ddd }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
svg { max-width: 100%; height: auto }
pre { background: #f6f6f6; padding: 1rem; overflow-x: auto }
"""


def page(runs: Sequence[Run]) -> str:
    """The report of ``runs``, one after the other. The same runs always give the same page."""
    titles = ", ".join(title(run) for run in runs)
    parts = [f"<h1>Retrieval: {escape(titles)}</h1>", _overview(runs) if len(runs) > 1 else ""]
    parts += [_section(run) for run in runs]
    head = f'<meta charset="utf-8"><title>Retrieval: {escape(titles)}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(parts) + "\n</body></html>\n"


def title(run: Run) -> str:
    return f"{run.dataset_name} ({run.config['dataset']['half']})"


def _overview(runs: Sequence[Run]) -> str:
    rows = [[title(run), *(f"{run.figures[name]:.3f}" for name in SHOWN)] for run in runs]
    return html_table(["set", *SHOWN], rows)


def _section(run: Run) -> str:
    rows = [[name, *(f"{each[shown]:.3f}" for shown in SHOWN)] for name, each in run.figures["arms"].items()]
    return "\n".join(
        [
            f"<h2>{escape(title(run))}: {run.figures['queries']} answerable questions</h2>",
            html_table(["ranking", *SHOWN], rows),
            "<h3>How far down one has to look</h3>",
            recall_curves(recall_by_depth(run.outcomes)),
            _refusal(run) if "refusal" in run.figures else "",
            _misses(run.outcomes),
            f"<h3>What produced it</h3><p>Run {escape(run.name)}</p>",
            f"<pre>{escape(json.dumps(run.config, indent=2, ensure_ascii=False))}</pre>",
        ]
    )


def recall_by_depth(outcomes: Sequence[Outcome]) -> dict[str, list[float]]:
    answerable = [each for each in outcomes if each.answerable]
    return {
        name: [
            mean([recall_at_k(each.rankings[name], set(each.gold), k=k) for each in answerable])
            for k in range(1, DEPTH + 1)
        ]
        for name in dict.fromkeys(name for each in answerable for name in each.rankings)
    }


def _refusal(run: Run) -> str:
    kept, refused = scores(run.outcomes)
    false_refusals, false_answers = errors_at(run.threshold, kept, refused)
    cosines = [[support(each, 0.0) for each in run.outcomes if each.answerable is kind] for kind in (True, False)]
    curves = {"score": error_curve(kept, refused), "best cosine alone": error_curve(*cosines)}
    by_kind = [
        [kind, str(each["unanswerable"]), f"{each['false_answer_rate']:.3f}", f"{each['auc']:.3f}"]
        for kind, each in run.figures["refusal"]["kinds"].items()
    ]
    return "\n".join(
        [
            "<h3>When it refuses</h3>",
            f"<p>A question is refused when the score of its best passage is under {run.threshold:.3f}. With that, "
            f"{escape(str(false_refusals))} of the answerable questions are refused, and {escape(str(false_answers))} "
            "of the unanswerable ones are answered (95% intervals). A higher threshold, further to the right in the "
            "first picture, has more of the first error and less of the second; the second picture shows every trade "
            "that can be had.</p>",
            score_histogram(kept, refused, run.threshold),
            error_curves(curves, (false_refusals.rate, false_answers.rate)),
            _trades(kept, refused, run.threshold),
            html_table(["unanswerable because", "questions", "false answers", "AUC"], by_kind) if by_kind else "",
            "<h3>Questions next to the threshold</h3>",
            html_table(["score", "question", "", ""], _neighbours(run)),
        ]
    )


def scores(outcomes: Sequence[Outcome]) -> tuple[list[float], list[float]]:
    """Of the answerable and of the unanswerable questions."""
    return (
        [each.score for each in outcomes if each.answerable],
        [each.score for each in outcomes if not each.answerable],
    )


def error_curve(kept: Sequence[float], refused: Sequence[float]) -> list[tuple[float, float]]:
    """(false refusals, false answers) at every threshold that makes a difference, from the lowest up."""
    thresholds = sorted({*kept, *refused})
    found = [errors_at(threshold, kept, refused) for threshold in thresholds]
    return [*((one.rate, other.rate) for one, other in found), (1.0, 0.0)]


def _trades(kept: Sequence[float], refused: Sequence[float], in_force: float) -> str:
    """The errors at thresholds around the one in force."""
    thresholds = sorted({in_force, *(in_force + step / 50 for step in range(-6, 7))})
    rows = []
    for threshold in thresholds:
        shares = errors_at(threshold, kept, refused)
        mark = "in force" if threshold == in_force else ""
        rows.append([f"{threshold:.3f}", *(str(share) for share in shares), mark])
    return html_table(["threshold", "false refusals", "false answers", ""], rows)


def _neighbours(run: Run) -> list[list[str]]:
    ordered = sorted(run.outcomes, key=lambda each: (each.score, each.id))
    under = [each for each in ordered if each.score < run.threshold][-_NEIGHBOURS:]
    over = [each for each in ordered if each.score >= run.threshold][:_NEIGHBOURS]
    return [
        [
            f"{each.score:.3f}",
            each.question,
            "answerable" if each.answerable else each.kind or "unanswerable",
            "refused" if each.score < run.threshold else "answered",
        ]
        for each in [*under, *over]
    ]


def _misses(outcomes: Sequence[Outcome]) -> str:
    rows = [
        [each.id, each.question, _ranks(first_ranks(each)), "\n".join(each.gold), _found(each)]
        for each in missed(outcomes)
    ]
    said = f"<h3>Not wholly among the first five: {len(rows)}</h3>"
    head = ["question", "", "first gold's rank", "expected", "sent instead (cosine)"]
    return said + (html_table(head, rows) if rows else "")


def _ranks(ranks: Mapping[str, int | None]) -> str:
    return "\n".join(f"{name}: {rank or '-'}" for name, rank in ranks.items())


def _found(outcome: Outcome) -> str:
    return "\n".join(f"{' > '.join([each.source, *each.section])} ({each.score:.2f})" for each in outcome.found)


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells are text; a line end in one is a line end on the page. Numbers stand to the right."""
    cells = ["".join(_cell("th", text) for text in head)]
    cells += ["".join(_cell("td", text) for text in row) for row in rows]
    return "<table>" + "\n".join(f"<tr>{row}</tr>" for row in cells) + "</table>"


def _cell(tag: str, text: str) -> str:
    number = text.replace(".", "", 1).lstrip("-").isdigit()
    shown = escape(text).replace("\n", "<br>")
    return f'<{tag} class="n">{shown}</{tag}>' if number else f"<{tag}>{shown}</{tag}>"
