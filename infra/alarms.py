"""The alarms: each one says that somebody should look, what it means, and where it is written what to do.

They watch what AWS counts for nothing, but for the reranker's; an alarm itself is $0.10 a month. Where no data means
that nothing happened (no error, no message), its absence is fine. A database always has data, so there one alarm takes
silence for the outage that it is, and the others keep the state they had.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from aws_cdk import aws_cloudwatch as cloudwatch

from citewell.telemetry import AskMetric
from infra.capacity import capacity_of
from infra.measures import HOUR, MAXIMUM, MINIMUM, P95, of_api, of_database, of_function, of_ours, of_queue
from infra.options import Options, RerankerChoice

RUNBOOK = "docs/operating.md"

NOTHING_HAPPENED = cloudwatch.TreatMissingData.NOT_BREACHING
OUTAGE = cloudwatch.TreatMissingData.BREACHING
AS_BEFORE = cloudwatch.TreatMissingData.IGNORE

OLDEST_MESSAGE_SECONDS = 3600
"""A queue that five workers can't empty within the hour. One bad document doesn't raise this alarm: SQS leaves what was
received three times out of the oldest's age."""

SLOW_MILLISECONDS = 12_000
"""An answer takes 2 to 6 seconds, 10 with a cold start, and is given up after 29."""

UNRANKED_SEARCHES = 5
"""In each of three periods of five minutes: a cold start is too slow for one search or two."""

SPENT_CREDITS = 10
HOURS_OF_SPENT_CREDITS = 6
"""A credit is a minute of a whole processor, and a t4g.micro earns 12 an hour. RDS never slows a burstable class down
that has none left: what it spends beyond a day's earnings it bills. A new database begins with none, too, but has more
than these after two hours, and a large upload is over in less than six."""

STORAGE_SHARE = 0.07
"""RDS enlarges the storage by itself when less than a tenth is free; below this it hasn't."""


@dataclass(frozen=True, slots=True)
class Watch:
    """One alarm: ``name`` is also its heading in the runbook. It goes off when ``metric`` is at ``threshold`` or beyond
    in ``periods`` periods in a row; beyond is below where ``below`` is set."""

    name: str
    metric: cloudwatch.Metric
    threshold: float
    means: str
    no_data: cloudwatch.TreatMissingData
    periods: int = 1
    below: bool = False

    @property
    def description(self) -> str:
        return f"{self.means} What to do: {RUNBOOK}#{self.name}"

    @property
    def comparison(self) -> cloudwatch.ComparisonOperator:
        operators = cloudwatch.ComparisonOperator
        return operators.LESS_THAN_OR_EQUAL_TO_THRESHOLD if self.below else operators.GREATER_THAN_OR_EQUAL_TO_THRESHOLD


@dataclass(frozen=True, slots=True)
class Watched:
    """Names and ids, as deployed, of what is watched. ``functions`` maps Citewell's names to the deployed ones."""

    functions: dict[str, str]
    queue: str
    dead_letters: str
    api: str
    database: str


def watches(watched: Watched, options: Options) -> Iterator[Watch]:
    """Every alarm of a deployment with ``options``."""
    yield from _of_documents(watched)
    yield from _of_functions(watched)
    if options.reranker is not RerankerChoice.NONE:
        yield _of_reranking()
    yield from _of_api(watched)
    yield from _of_database(watched, options)


def _of_documents(watched: Watched) -> Iterator[Watch]:
    yield Watch(
        "alarm-dead-letters",
        of_queue(watched.dead_letters, "ApproximateNumberOfMessagesVisible", MAXIMUM),
        threshold=1,
        means="A document could not be indexed in five attempts, so its newest version does not answer.",
        no_data=NOTHING_HAPPENED,
    )
    yield Watch(
        "alarm-queue-age",
        of_queue(watched.queue, "ApproximateAgeOfOldestMessage", MAXIMUM),
        threshold=OLDEST_MESSAGE_SECONDS,
        means="The oldest change of a document has waited over an hour: ingest does not keep up, or stands still.",
        no_data=NOTHING_HAPPENED,
    )


def _of_functions(watched: Watched) -> Iterator[Watch]:
    crashes = {
        "ingest": "Its messages are tried again.",
        "ask": "Someone asked and got no answer.",
        "documents": "Someone looked at a document and got no answer.",
    }
    for function, harm in crashes.items():
        yield Watch(
            f"alarm-{function}-errors",
            of_function(watched.functions[function], "Errors"),
            threshold=1,
            means=f"The function {function} crashed, ran out of memory or ran out of time. {harm}",
            no_data=NOTHING_HAPPENED,
        )
    for function in ("ask", "documents"):
        yield Watch(
            f"alarm-{function}-throttles",
            of_function(watched.functions[function], "Throttles"),
            threshold=5,
            means=f"Requests to {function} were turned away: all copies that the database's connections allow were "
            "busy, or the account's limit was reached.",
            no_data=NOTHING_HAPPENED,
        )


def _of_reranking() -> Watch:
    return Watch(
        "alarm-not-reranked",
        of_ours("ask", AskMetric.NOT_RERANKED),
        threshold=UNRANKED_SEARCHES,
        periods=3,
        means="For 15 minutes questions have been answered without the reranker: it is away, too slow, or its key is "
        "refused. Nobody else is told, as answers go on in the order without it.",
        no_data=NOTHING_HAPPENED,
    )


def _of_api(watched: Watched) -> Iterator[Watch]:
    yield Watch(
        "alarm-api-errors",
        of_api(watched.api, "5xx"),
        threshold=5,
        means="Five requests within five minutes were told that something is wrong here: the database, the embedder "
        "or the model is away, or a setting is wrong.",
        no_data=NOTHING_HAPPENED,
    )
    yield Watch(
        "alarm-api-latency",
        of_api(watched.api, "Latency", P95),
        threshold=SLOW_MILLISECONDS,
        periods=3,
        means="For 15 minutes one request in twenty has taken longer than 12 seconds.",
        no_data=NOTHING_HAPPENED,
    )


def _of_database(watched: Watched, options: Options) -> Iterator[Watch]:
    yield Watch(
        "alarm-database-connections",
        of_database(watched.database, "DatabaseConnections", MAXIMUM),
        threshold=capacity_of(options.database_class).copies,
        periods=15,
        means="For 15 minutes the database has had as many connections as all copies of the functions may hold, or "
        "gave no sign of life at all.",
        no_data=OUTAGE,
    )
    yield Watch(
        "alarm-database-storage",
        of_database(watched.database, "FreeStorageSpace", MINIMUM),
        threshold=STORAGE_SHARE * options.database_storage * 1024**3,
        periods=15,
        below=True,
        means="The database's storage is nearly full and was not enlarged. A full database stops answering.",
        no_data=AS_BEFORE,
    )
    if options.database_class.startswith("t"):
        yield Watch(
            "alarm-database-credits",
            of_database(watched.database, "CPUCreditBalance", MAXIMUM, period=HOUR),
            threshold=SPENT_CREDITS,
            periods=HOURS_OF_SPENT_CREDITS,
            below=True,
            means="For six hours the database has had no CPU credits left: it works more than its class earns, and "
            "AWS bills each further hour of a processor.",
            no_data=AS_BEFORE,
        )
