"""An SQS batch of S3 object events: each message stands or falls alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response

from citewell.checks import answering_checks
from citewell.correlation import correlate
from citewell.errors import DocumentRejected, InvalidRequest, log_fields
from citewell.events import Sweep, object_keys, sweep_of
from citewell.telemetry import NAMESPACE, IngestMetric, count_outcome, outcome_fields
from citewell.usecases.ingest_object import Attempt
from citewell.wiring import wiring

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
    from aws_lambda_powertools.utilities.typing import LambdaContext

logger = Logger(service="ingest")
metrics = Metrics(namespace=NAMESPACE, service="ingest")


@logger.inject_lambda_context(log_event=False)
@answering_checks(logger, lambda: wiring().check_ingest)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    def ingest_message(record: SQSRecord) -> None:
        logger.set_correlation_id(record.message_id)
        correlate(record.message_id)
        metrics.add_metric(name=IngestMetric.MESSAGES, unit=MetricUnit.Count, value=1)
        settings = wiring().settings
        received = int(record.attributes.approximate_receive_count)
        attempt = Attempt(
            number=received,
            last=received >= settings.max_receives,
            seconds_left=lambda: context.get_remaining_time_in_millis() / 1000,
        )
        failures = list(_failures(record, attempt, bucket=settings.require("bucket")))
        if failures:
            if not attempt.last and (queue := wiring().queue):
                queue.give_back(record.receipt_handle, attempt=attempt.number)
            raise failures[0]

    return process_partial_response(
        event=event,
        record_handler=ingest_message,
        processor=BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False),
        context=context,
    )


def _failures(record: SQSRecord, attempt: Attempt, *, bucket: str) -> Iterator[Exception]:
    if sweep := sweep_of(record.body):
        if (failure := _sweep(sweep, attempt)) is not None:
            yield failure
        return
    try:
        keys = object_keys(record.body, bucket=bucket)
    except InvalidRequest as error:
        logger.error("message refused", extra={"problem": str(error)})
        yield error  # it ends in the dead-letter queue, where somebody can look at it
        return
    for key in keys:
        if (failure := _ingest(key, attempt)) is not None:
            yield failure


def _sweep(sweep: Sweep, attempt: Attempt) -> Exception | None:
    """What another attempt may mend."""
    try:
        count = wiring().sweep_index(sweep)
    except Exception as error:
        logger.error("sweep failed", extra={"attempt": attempt.number, **log_fields(error)})
        return error
    logger.info("index swept", extra={"prefix": sweep.prefix, "keys": count})
    return None


def _ingest(key: str, attempt: Attempt) -> Exception | None:
    """What another attempt may mend, so that one key's failure doesn't keep its message's other keys waiting."""
    try:
        outcome = wiring().ingest_object(key, attempt)
    except DocumentRejected as error:
        logger.warning(
            "document failed",
            extra={
                "key": key,
                "code": error.code,
                "stage": error.stage,
                "problem": str(error),
                "attempt": attempt.number,
            },
        )
        metrics.add_metric(name=IngestMetric.FAILED, unit=MetricUnit.Count, value=1)
    except Exception as error:
        logger.error("attempt failed", extra={"key": key, "attempt": attempt.number, **log_fields(error)})
        metrics.add_metric(name=IngestMetric.ATTEMPTS_FAILED, unit=MetricUnit.Count, value=1)
        return error
    else:
        logger.info("document ingested", extra={"key": key, "attempt": attempt.number, **outcome_fields(outcome)})
        count_outcome(metrics, outcome)
    return None
