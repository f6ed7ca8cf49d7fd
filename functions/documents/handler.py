"""GET /documents, GET /documents/{source}, GET /documents/{source}/chunks, GET /health, and whatever fits no route."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from citewell.checks import answering_checks
from citewell.correlation import correlate
from citewell.http import (
    Response,
    chunks_body,
    document_body,
    listing_body,
    not_found,
    parse_listing,
    parse_page,
    request_id,
    respond,
    unrouted,
    with_problems,
)
from citewell.identity import audience
from citewell.telemetry import CORRELATION, NAMESPACE, DocumentsMetric
from citewell.wiring import wiring

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

logger = Logger(service="documents")
metrics = Metrics(namespace=NAMESPACE, service="documents")

_CHUNKS = "/chunks"


@logger.inject_lambda_context(correlation_id_path=CORRELATION, log_event=False)
@answering_checks(logger, lambda: wiring().check_documents)
@metrics.log_metrics
@with_problems(logger, count=lambda: metrics.add_metric(name=DocumentsMetric.PROBLEMS, unit=MetricUnit.Count, value=1))
def handler(event: dict[str, Any], _context: LambdaContext) -> Response:
    correlate(request_id(event))
    if event["routeKey"] == "GET /health":
        wiring().chunks.ping()
        response = respond({"status": "ok"})
    elif event["routeKey"] == "GET /documents":
        response = _list(event)
    elif event["routeKey"] == "GET /documents/{source+}":
        response = _read(event)
    else:
        metrics.add_metric(name=DocumentsMetric.PROBLEMS, unit=MetricUnit.Count, value=1)
        return unrouted(event)
    metrics.add_metric(name=DocumentsMetric.READS, unit=MetricUnit.Count, value=1)
    return response


def _list(event: dict[str, Any]) -> Response:
    asked = parse_listing(event)
    page = wiring().read_documents.listing(
        audience(event, wiring().settings),
        status=asked.status,
        prefix=asked.prefix,
        after=asked.after,
        limit=asked.limit,
    )
    return respond(listing_body(page.documents, next_after=page.next_after))


def _read(event: dict[str, Any]) -> Response:
    asker = audience(event, wiring().settings)
    # An HTTP API hands a path over decoded, but for this one escape.
    source = event["pathParameters"]["source"].replace("%25", "%")
    # A document may itself be named ".../chunks": the whole path is tried as a name first.
    document = wiring().read_documents.status(source, asker)
    if document is not None:
        return respond(document_body(document))
    if source.endswith(_CHUNKS):
        offset, limit = parse_page(event)
        page = wiring().read_documents.passages(source.removesuffix(_CHUNKS), asker, offset=offset, limit=limit)
        if page is not None:
            return respond(chunks_body(page.source, page.chunks, next_offset=page.next_offset))
    return not_found(request_id=request_id(event))
