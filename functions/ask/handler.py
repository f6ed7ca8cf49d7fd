"""POST /ask and POST /search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from citewell.http import (
    Response,
    answer_body,
    audience,
    parse_question,
    request_id,
    respond,
    search_body,
    with_problems,
)
from citewell.wiring import wiring

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

logger = Logger(service="ask")
metrics = Metrics(namespace="Citewell", service="ask")

# What API Gateway's 30 seconds leave to send the answer back.
_SECONDS_TO_RESPOND = 1.5


@metrics.log_metrics
@with_problems(logger, count=lambda: metrics.add_metric(name="Problems", unit=MetricUnit.Count, value=1))
def handler(event: dict[str, Any], context: LambdaContext) -> Response:
    settings = wiring().settings
    question = parse_question(event, top_k=settings.top_k)
    asker = audience(event, tenancy=settings.tenancy)
    if event["routeKey"] == "POST /search":
        passages = wiring().search_passages(question, asker)
        metrics.add_metric(name="Searches", unit=MetricUnit.Count, value=1)
        return respond(search_body(passages, request_id=request_id(event)))
    answer = wiring().ask_question(
        question, asker, seconds_left=lambda: context.get_remaining_time_in_millis() / 1000 - _SECONDS_TO_RESPOND
    )
    logger.info(
        "question answered",
        extra={
            "reason": answer.reason,
            "cited": [citation.passage.chunk_id for citation in answer.citations],
            "invented_citations": answer.invented,
            "model": answer.model,
            "input_tokens": answer.usage.input_tokens,
            "output_tokens": answer.usage.output_tokens,
        },
    )
    metrics.add_metric(name="Refusals" if answer.reason else "Answers", unit=MetricUnit.Count, value=1)
    return respond(answer_body(answer, request_id=request_id(event)))
