"""Seeing it run: alarms, where they are sent, one dashboard, and tracing where it was chosen."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.alarms import Watch, Watched, watches
from infra.bundled_function import BundledFunction
from infra.capacity import capacity_of
from infra.dashboard import rows
from infra.options import Options, RerankerChoice


class Observability(Construct):
    """``functions`` are Citewell's, by name."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        options: Options,
        functions: dict[str, BundledFunction],
        watched: Watched,
    ) -> None:
        super().__init__(scope, construct_id)
        stack = Stack.of(self)
        alarms = [self._alarm(watch, prefix=stack.stack_name) for watch in watches(watched, options)]
        if options.alarm_email:
            _notify(alarms, AlarmTopic(self, "AlarmTopic", email=options.alarm_email).topic)
        dashboard = cloudwatch.Dashboard(
            self,
            "Dashboard",
            # Dashboards belong to an account, not to a region.
            dashboard_name=f"{stack.stack_name}-{stack.region}",
        )
        copies = capacity_of(options.database_class).copies
        reranks = options.reranker is not RerankerChoice.NONE
        for row in rows(watched, alarms, copies=copies, reranks=reranks):
            dashboard.add_widgets(*row)
        if options.tracing:
            for function in functions.values():
                _trace(function)

    def _alarm(self, watch: Watch, *, prefix: str) -> cloudwatch.Alarm:
        return cloudwatch.Alarm(
            self,
            watch.name,
            alarm_name=f"{prefix}-{watch.name.removeprefix('alarm-')}",
            alarm_description=watch.description,
            metric=watch.metric,
            threshold=watch.threshold,
            comparison_operator=watch.comparison,
            evaluation_periods=watch.periods,
            treat_missing_data=watch.no_data,
            # A percentile of a handful of requests is but the slowest of them.
            evaluate_low_sample_count_percentile="ignore" if watch.metric.statistic.startswith("p") else None,
        )


class AlarmTopic(Construct):
    """Where alarms are sent to: encrypted, and published to by this account's alarms alone, over TLS.

    The key is $1 a month. AWS' own, which costs nothing, can't be used by alarms.
    """

    def __init__(self, scope: Construct, construct_id: str, *, email: str) -> None:
        super().__init__(scope, construct_id)
        key = kms.Key(
            self,
            "Key",
            description="Citewell: alarms on their way",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.DESTROY,  # it keeps nothing that lasts
        )
        self.topic = sns.Topic(self, "Topic", display_name="Citewell", master_key=key, enforce_ssl=True)
        self.topic.add_subscription(subscriptions.EmailSubscription(email))
        alarms = iam.ServicePrincipal("cloudwatch.amazonaws.com")
        ours = {"StringEquals": {"aws:SourceAccount": Stack.of(self).account}}
        key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[alarms], actions=["kms:Decrypt", "kms:GenerateDataKey*"], resources=["*"], conditions=ours
            )
        )
        # A topic's own policy replaces the one that lets the account's services publish.
        self.topic.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[alarms], actions=["sns:Publish"], resources=[self.topic.topic_arn], conditions=ours
            )
        )


def _notify(alarms: Iterable[cloudwatch.Alarm], topic: sns.ITopic) -> None:
    """Of each alarm's beginning and its end."""
    for alarm in alarms:
        alarm.add_alarm_action(actions.SnsAction(topic))
        alarm.add_ok_action(actions.SnsAction(topic))


def _trace(function: BundledFunction) -> None:
    """Lambda times the function by itself; what happens within is sent by :mod:`citewell.edges.xray`."""
    resource = function.function.node.default_child
    assert isinstance(resource, lambda_.CfnFunction)
    resource.tracing_config = lambda_.CfnFunction.TracingConfigProperty(mode="Active")
    function.function.add_environment("CITEWELL_TRACING", "yes")
    # X-Ray knows no resources.
    function.allow("xray:PutTelemetryRecords", "xray:PutTraceSegments", on=["*"])
