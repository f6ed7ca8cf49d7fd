"""One page that shows how questions, documents and the database do. CloudWatch gives three dashboards of up to 50
metrics for nothing; a fourth is $3 a month."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_cloudwatch as cloudwatch

from citewell.telemetry import AskMetric, IngestMetric
from infra.alarms import Watched
from infra.measures import (
    MAXIMUM,
    MEDIAN,
    MINIMUM,
    P95,
    SUM,
    of_api,
    of_database,
    of_function,
    of_ours,
    of_queue,
)

MOST_METRICS = 50
_WIDTH = 24  # of a dashboard, in its own units

Row = Sequence[cloudwatch.IWidget]


def rows(watched: Watched, alarms: Sequence[cloudwatch.IAlarm], *, copies: int, reranks: bool) -> list[Row]:
    """From what an asker notices down to what lies beneath it. ``copies`` of functions may be connected at once;
    ``reranks``: a reranker was chosen."""
    return [
        [cloudwatch.AlarmStatusWidget(title="Alarms", alarms=list(alarms), width=_WIDTH, height=3)],
        _questions(watched, reranks=reranks),
        _answers(reranks=reranks),
        _documents(watched),
        _functions(watched),
        _database(watched, copies=copies),
    ]


def _questions(watched: Watched, *, reranks: bool) -> Row:
    api = watched.api
    counted = [AskMetric.QUESTIONS, AskMetric.SEARCHES, *([AskMetric.NOT_RERANKED] if reranks else [])]
    refused = [AskMetric.REFUSED_BY_SEARCH, AskMetric.REFUSED_BY_MODEL, AskMetric.REFUSED_BY_CHECK]
    return [
        _graph("Questions and refusals", [of_ours("ask", each) for each in [*counted, *refused]], of=3),
        _graph("API: time (ms)", [of_api(api, "Latency", each, label=each) for each in (MEDIAN, P95)], of=3),
        _graph("API: requests and errors", [of_api(api, each) for each in ("Count", "4xx", "5xx")], of=3),
    ]


def _answers(*, reranks: bool) -> Row:
    steps = [AskMetric.SEARCH_TIME, *([AskMetric.RERANK_TIME] if reranks else []), AskMetric.MODEL_TIME]
    # With a step more, only the slow ones: fifty metrics are free.
    statistics = [P95] if reranks else [MEDIAN, P95]
    times = [
        of_ours("ask", metric, statistic, label=f"{metric} {statistic}") for metric in steps for statistic in statistics
    ]
    return [
        _graph("Retrieval and model (ms)", times, of=3),
        _graph("Tokens", [of_ours("ask", each) for each in (AskMetric.INPUT_TOKENS, AskMetric.OUTPUT_TOKENS)], of=3),
        _graph("Estimated dollars for the model", [of_ours("ask", AskMetric.DOLLARS)], of=3),
    ]


def _documents(watched: Watched) -> Row:
    results = [
        IngestMetric.INDEXED,
        IngestMetric.UPDATED,
        IngestMetric.UNCHANGED,
        IngestMetric.DELETED,
        IngestMetric.FAILED,
        IngestMetric.ATTEMPTS_FAILED,
    ]
    waiting = [
        of_queue(watched.queue, "ApproximateNumberOfMessagesVisible", label="waiting"),
        of_queue(watched.queue, "ApproximateNumberOfMessagesNotVisible", label="being worked on"),
        of_queue(watched.dead_letters, "ApproximateNumberOfMessagesVisible", label="dead letters"),
    ]
    ages = [
        of_ours("ingest", IngestMetric.INDEX_AGE, MEDIAN, label="index age p50"),
        of_ours("ingest", IngestMetric.INDEX_AGE, MAXIMUM, label="index age, longest"),
        of_queue(watched.queue, "ApproximateAgeOfOldestMessage", label="oldest message"),
    ]
    return [
        _graph("Documents", [of_ours("ingest", each) for each in results], of=4),
        _graph("Chunks embedded", [of_ours("ingest", IngestMetric.EMBEDDED)], of=4),
        _graph("Messages", waiting, of=4),
        _graph("From upload to answer (s)", ages, of=4),
    ]


def _functions(watched: Watched) -> Row:
    # Not rerank: ask counts how long it takes, and how often in vain.
    shown = {name: each for name, each in watched.functions.items() if name in ("ask", "documents", "ingest", "embed")}

    def each_of(metric: str, statistic: str) -> list[cloudwatch.Metric]:
        return [of_function(deployed, metric, statistic, label=name) for name, deployed in shown.items()]

    return [
        _graph("Functions: errors", each_of("Errors", SUM), of=4),
        _graph("Functions: throttles", each_of("Throttles", SUM), of=4),
        _graph("Functions: time p95 (ms)", each_of("Duration", P95), of=4),
        _graph("Functions: copies", each_of("ConcurrentExecutions", MAXIMUM), of=4),
    ]


def _database(watched: Watched, *, copies: int) -> Row:
    database = watched.database
    budget = cloudwatch.HorizontalAnnotation(value=copies, label="all copies of the functions")
    return [
        _graph("Database: connections", [of_database(database, "DatabaseConnections", MAXIMUM)], of=4, line=budget),
        _graph("Database: processor (%)", [of_database(database, "CPUUtilization", MAXIMUM)], of=4),
        _graph("Database: CPU credits left", [of_database(database, "CPUCreditBalance", MINIMUM)], of=4),
        _graph("Database: free storage (bytes)", [of_database(database, "FreeStorageSpace", MINIMUM)], of=4),
    ]


def _graph(
    title: str,
    metrics: Sequence[cloudwatch.IMetric],
    *,
    of: int,
    line: cloudwatch.HorizontalAnnotation | None = None,
) -> cloudwatch.GraphWidget:
    """One of ``of`` graphs that stand side by side."""
    return cloudwatch.GraphWidget(
        title=title,
        left=list(metrics),
        left_annotations=[line] if line else None,
        left_y_axis=cloudwatch.YAxisProps(min=0, show_units=False),
        width=_WIDTH // of,
    )
