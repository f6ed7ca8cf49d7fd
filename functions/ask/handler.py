"""POST /ask and POST /search."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from citewell.checks import answering_checks
from citewell.correlation import correlate
from citewell.http import (
    Response,
    answer_body,
    parse_question,
    request_id,
    respond,
    search_body,
    with_problems,
)
from citewell.identity import audience
from citewell.telemetry import (
    CORRELATION,
    NAMESPACE,
    AskMetric,
    answer_fields,
    count_answer,
    count_search,
    search_fields,
    steps_of,
)
from citewell.wiring import wiring

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

    from citewell.core.values import Audience, Question
    from citewell.usecases.ask_question import Found

logger = Logger(service="ask")
metrics = Metrics(namespace=NAMESPACE, service="ask")

# What API Gateway's 30 seconds leave to send the answer back.
_SECONDS_TO_RESPOND = 1.5


@logger.inject_lambda_context(correlation_id_path=CORRELATION, log_event=False)
@answering_checks(logger, lambda: wiring().check_asking)
@metrics.log_metrics
@with_problems(logger, count=lambda: metrics.add_metric(name=AskMetric.PROBLEMS, unit=MetricUnit.Count, value=1))
def handler(event: dict[str, Any], context: LambdaContext) -> Response:
    correlate(request_id(event))
    settings = wiring().settings
    asker = audience(event, settings)
    question = parse_question(event, top_k=settings.top_k)
    if event["routeKey"] == "POST /search":
        return respond(search_body(_search(question, asker).passages, request_id=request_id(event)))
    metrics.add_metric(name=AskMetric.QUESTIONS, unit=MetricUnit.Count, value=1)
    asked = wiring().ask_question(
        question, asker, seconds_left=lambda: context.get_remaining_time_in_millis() / 1000 - _SECONDS_TO_RESPOND
    )
    logger.info("question answered", extra=answer_fields(asked, question, settings))
    count_answer(metrics, asked, settings)
    if xray := wiring().xray:
        xray.record(steps_of(asked), {"correlation_id": request_id(event), "refused": asked.answer.reason is not None})
    return respond(answer_body(asked.answer, request_id=request_id(event)))


def _search(question: Question, asker: Audience) -> Found:
    metrics.add_metric(name=AskMetric.SEARCHES, unit=MetricUnit.Count, value=1)
    began = time.monotonic()
    found = wiring().search_passages(question, asker)
    seconds = time.monotonic() - began
    logger.info("passages found", extra=search_fields(found, seconds, question, wiring().settings))
    count_search(metrics, seconds, found.reranking)
    return found
