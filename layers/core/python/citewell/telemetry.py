"""What is logged and counted of questions and documents: one vocabulary for the functions and for the dashboard.

**Logs** are JSON, one object a line, made by Powertools. Each line of a function carries ``correlation_id``: API
Gateway's request id (which the caller is shown as ``requestId``), or the SQS message's id. Logged are ids, scores,
ranks, counts and times; never a document's text, and a question's only where the deployment asked for it.

**Metrics** are log lines too, in CloudWatch's Embedded Metric Format: no call, no permission. CloudWatch asks $0.30 a
month for each metric, counted by the hours in which data came (and nothing for an account's first ten), so there are
few, without dimensions but the function's name; what AWS counts for nothing isn't counted again. Requests, errors,
throttles and the time of a whole request stand in ``AWS/ApiGateway`` and ``AWS/Lambda``, messages in ``AWS/SQS``. An
idle deployment has none; all of them, around the clock, are $6, and $0.60 more with a reranker.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import MetricUnit

from citewell.core.refusing import MODEL_DECLINED, NOT_IN_THE_SOURCES
from citewell.core.values import Answer, IngestOutcome, IngestResult, Passage, Question, Usage
from citewell.settings import Settings

if TYPE_CHECKING:
    from aws_lambda_powertools import Metrics

    from citewell.usecases.ask_question import Asked, Found
    from citewell.usecases.rerank_passages import Reranking

NAMESPACE = "Citewell"
CORRELATION = "requestContext.requestId"
"""Where an event of API Gateway has the id that the caller is shown."""


class AskMetric(StrEnum):
    """Of the function ``ask``. A refused question is counted by the step that refused it as well."""

    QUESTIONS = "Questions"
    SEARCHES = "Searches"
    REFUSED_BY_SEARCH = "RefusedBySearch"  # nothing found that is near enough
    REFUSED_BY_MODEL = "RefusedByModel"  # the sources don't contain the answer, says the model
    REFUSED_BY_CHECK = "RefusedByCheck"  # the model's reply cites no source
    SEARCH_TIME = "SearchTime"  # milliseconds, from the question to its passages, embedding and reranking included
    RERANK_TIME = "RerankTime"  # milliseconds, of reading them again to put them in order; where that is on
    NOT_RERANKED = "NotReranked"  # searches whose reranker failed or was too slow
    MODEL_TIME = "ModelTime"  # milliseconds, of writing the answer
    INPUT_TOKENS = "InputTokens"
    OUTPUT_TOKENS = "OutputTokens"
    DOLLARS = "EstimatedDollars"  # at list prices, cached input as if it were not
    PROBLEMS = "Problems"  # requests that were told of a problem, their own or ours


class DocumentsMetric(StrEnum):
    """Of the function ``documents``."""

    READS = "Reads"
    PROBLEMS = "Problems"


class IngestMetric(StrEnum):
    """Of the function ``ingest``: documents by what became of them, FAILED being what no further attempt can mend."""

    MESSAGES = "MessagesReceived"
    INDEXED = "DocumentsIndexed"
    UPDATED = "DocumentsUpdated"
    UNCHANGED = "DocumentsUnchanged"
    DELETED = "DocumentsDeleted"
    FAILED = "DocumentsFailed"
    ATTEMPTS_FAILED = "AttemptsFailed"
    EMBEDDED = "ChunksEmbedded"
    INDEX_AGE = "IndexAge"  # seconds, from an object's upload to its first answer


_OF_RESULT = {
    IngestResult.INDEXED: IngestMetric.INDEXED,
    IngestResult.UPDATED: IngestMetric.UPDATED,
    IngestResult.UNCHANGED: IngestMetric.UNCHANGED,
    IngestResult.DELETED: IngestMetric.DELETED,
}
"""SUPERSEDED and IGNORED did nothing, and are only logged."""


def answer_fields(asked: Asked, question: Question, settings: Settings) -> dict[str, Any]:
    """What the log says of an answer. ``cited`` ties the numbers in its text to the ids of chunks."""
    answer = asked.answer
    return {
        **_question(question, settings),
        "reason": answer.reason,
        "passages": passage_fields(asked.passages),
        "cited": [{"n": each.n, "chunk": each.passage.chunk_id} for each in answer.citations],
        "invented_citations": answer.invented,
        "model": answer.model,
        "input_tokens": answer.usage.input_tokens,
        "output_tokens": answer.usage.output_tokens,
        "search_ms": _milliseconds(asked.search_seconds),
        **_reranked(asked.reranking),
        "model_ms": None if asked.model_seconds is None else _milliseconds(asked.model_seconds),
    }


def search_fields(found: Found, seconds: float, question: Question, settings: Settings) -> dict[str, Any]:
    """What the log says of a search without an answer."""
    return {
        **_question(question, settings),
        "passages": passage_fields(found.passages),
        "search_ms": _milliseconds(seconds),
        **_reranked(found.reranking),
    }


def passage_fields(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    """Ids, scores and ranks of what was found, best first."""
    return [
        {
            "chunk": each.chunk_id,
            "score": round(each.score, 4),
            "fused_score": round(each.fused_score, 6),
            "vector_rank": each.vector_rank,
            "keyword_rank": each.keyword_rank,
            **({} if each.rerank_score is None else {"rerank_score": round(each.rerank_score, 4)}),
        }
        for each in passages
    ]


def count_answer(metrics: Metrics, asked: Asked, settings: Settings) -> None:
    answer, usage = asked.answer, asked.answer.usage
    count_search(metrics, asked.search_seconds, asked.reranking)
    if answer.reason is not None:
        _count(metrics, _refused_by(answer))
    if asked.model_seconds is not None:
        _count_milliseconds(metrics, AskMetric.MODEL_TIME, asked.model_seconds)
    if usage != Usage():  # the extractive generator has no tokens to count
        _count(metrics, AskMetric.INPUT_TOKENS, usage.input_tokens)
        _count(metrics, AskMetric.OUTPUT_TOKENS, usage.output_tokens)
        if (dollars := estimated_dollars(usage, settings)) is not None:
            metrics.add_metric(name=AskMetric.DOLLARS, unit=MetricUnit.NoUnit, value=dollars)


def steps_of(asked: Asked) -> list[tuple[str, float]]:
    """The steps of an answer, by name and seconds, as a trace shows them."""
    steps = [("search", asked.search_seconds)]
    return steps if asked.model_seconds is None else [*steps, ("model", asked.model_seconds)]


def count_search(metrics: Metrics, seconds: float, reranking: Reranking | None) -> None:
    _count_milliseconds(metrics, AskMetric.SEARCH_TIME, seconds)
    if reranking is not None:
        _count_milliseconds(metrics, AskMetric.RERANK_TIME, reranking.seconds)
        if reranking.failure is not None:
            _count(metrics, AskMetric.NOT_RERANKED)


def estimated_dollars(usage: Usage, settings: Settings) -> float | None:
    """What ``usage`` costs at the settings' prices; None where they aren't known."""
    if settings.input_price is None or settings.output_price is None:
        return None
    return (usage.input_tokens * settings.input_price + usage.output_tokens * settings.output_price) / 1_000_000


def outcome_fields(outcome: IngestOutcome) -> dict[str, Any]:
    """What the log says of a document beside its key."""
    age = _index_age(outcome)
    return {
        "result": outcome.result,
        "chunks": outcome.chunks,
        "embedded": outcome.embedded,
        "index_age_seconds": None if age is None else round(age, 3),
    }


def count_outcome(metrics: Metrics, outcome: IngestOutcome) -> None:
    if outcome.result in _OF_RESULT:
        _count(metrics, _OF_RESULT[outcome.result])
    if outcome.embedded:
        _count(metrics, IngestMetric.EMBEDDED, outcome.embedded)
    if (age := _index_age(outcome)) is not None:
        metrics.add_metric(name=IngestMetric.INDEX_AGE, unit=MetricUnit.Seconds, value=age)


def _question(question: Question, settings: Settings) -> dict[str, str]:
    return {"question": question.text} if settings.log_questions == "yes" else {}


def _reranked(reranking: Reranking | None) -> dict[str, Any]:
    """Where a reranker is on, what came of it: a failure is of ours, so its message holds no text."""
    if reranking is None:
        return {}
    return {
        "reranked": 0 if reranking.failure else reranking.passages,
        "rerank_ms": _milliseconds(reranking.seconds),
        "not_reranked": str(reranking.failure) if reranking.failure else None,
    }


def _refused_by(answer: Answer) -> AskMetric:
    if answer.model is None:
        return AskMetric.REFUSED_BY_SEARCH
    if answer.reason in (NOT_IN_THE_SOURCES, MODEL_DECLINED):
        return AskMetric.REFUSED_BY_MODEL
    return AskMetric.REFUSED_BY_CHECK


def _index_age(outcome: IngestOutcome) -> float | None:
    """Seconds from the upload of a version until now, when it has begun to answer. S3 counts whole seconds."""
    return None if outcome.uploaded is None else max(0.0, time.time() - outcome.uploaded.timestamp())


def _count(metrics: Metrics, name: str, value: int = 1) -> None:
    metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)


def _count_milliseconds(metrics: Metrics, name: str, seconds: float) -> None:
    metrics.add_metric(name=name, unit=MetricUnit.Milliseconds, value=_milliseconds(seconds))


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)
