"""What CloudWatch knows of the deployment: AWS' own metrics, which cost nothing, and those that the functions count."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from citewell.telemetry import NAMESPACE

MINUTE = Duration.minutes(1)
FIVE_MINUTES = Duration.minutes(5)
HOUR = Duration.hours(1)

SUM = "Sum"
AVERAGE = "Average"
MAXIMUM = "Maximum"
MINIMUM = "Minimum"
MEDIAN = "p50"
P95 = "p95"


def of_function(function: str, metric: str, statistic: str = SUM, *, label: str | None = None) -> cloudwatch.Metric:
    """``function`` is its name as deployed."""
    return _metric("AWS/Lambda", metric, statistic, {"FunctionName": function}, label=label)


def of_queue(queue: str, metric: str, statistic: str = MAXIMUM, *, label: str | None = None) -> cloudwatch.Metric:
    """``queue`` is its name as deployed."""
    return _metric("AWS/SQS", metric, statistic, {"QueueName": queue}, label=label)


def of_api(api: str, metric: str, statistic: str = SUM, *, label: str | None = None) -> cloudwatch.Metric:
    """``api`` is its id."""
    return _metric("AWS/ApiGateway", metric, statistic, {"ApiId": api}, label=label)


def of_database(
    instance: str, metric: str, statistic: str = AVERAGE, *, label: str | None = None, period: Duration = MINUTE
) -> cloudwatch.Metric:
    """``instance`` is its identifier."""
    return _metric("AWS/RDS", metric, statistic, {"DBInstanceIdentifier": instance}, label=label, period=period)


def of_ours(function: str, metric: str, statistic: str = SUM, *, label: str | None = None) -> cloudwatch.Metric:
    """A metric of :mod:`citewell.telemetry`, counted by the function ``function``."""
    return _metric(NAMESPACE, metric, statistic, {"service": function}, label=label)


def _metric(
    namespace: str,
    name: str,
    statistic: str,
    dimensions: Mapping[str, str],
    *,
    label: str | None,
    period: Duration = FIVE_MINUTES,
) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=namespace,
        metric_name=name,
        statistic=statistic,
        dimensions_map=dict(dimensions),
        label=label,
        period=period,
    )
