"""What a deployment costs in a month in which nobody uses it: ``python -m infra.cost [TEMPLATE]``.

The template is read resource by resource. A resource type has a rule here or stands among those that cost nothing
while idle; any other is an error, as is a property that costs extra and has no rule: what is deployed can't cost more
than was said because somebody forgot to say it.

List prices, without tax, discounts and free tiers: AWS gives each account three dashboards, ten alarms and a million
queue requests for nothing, and those are counted here all the same. Use comes on top (requests, tokens, the time that
functions run, logs, stored documents, metrics of the hours in which there is something to measure); see the README.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

PRICES = Path(__file__).with_name("prices.json")
TEMPLATE = Path(__file__).resolve().parents[1] / "cdk.out" / "Citewell.template.json"

QUEUE_POLLS_AN_HOUR = 5 * 3600 // 20
"""Lambda keeps five connections to an event source's queue, each of which waits up to 20 s for messages."""

FREE_WHILE_IDLE = frozenset(
    f"AWS::{name}"
    for service, names in {
        # Billed by request or by active user.
        "ApiGatewayV2": "Api Authorizer Integration Route Stage",
        "Cognito": "UserPool UserPoolClient",
        "Lambda": "Function LayerVersion Permission",
        "SNS": "Subscription Topic TopicPolicy",
        "SQS": "Queue QueuePolicy",
        # Billed by what is in it.
        "Logs": "LogGroup",
        "S3": "Bucket BucketPolicy",
        # Never billed: what is attached to it may be.
        "CDK": "Metadata",
        "EC2": "EgressOnlyInternetGateway FlowLog InternetGateway Route RouteTable SecurityGroup SecurityGroupEgress "
        "SecurityGroupIngress Subnet SubnetRouteTableAssociation VPC VPCCidrBlock VPCGatewayAttachment",
        "IAM": "Policy Role",
        "RDS": "DBParameterGroup DBSubnetGroup",
        "SecretsManager": "SecretTargetAttachment",
    }.items()
    for name in (f"{service}::{each}" for each in names.split())
)

FREE_CUSTOM_RESOURCES = frozenset(
    f"Custom::{name}"
    for name in (
        *("CitewellSchema", "CitewellVerification"),
        *("S3AutoDeleteObjects", "S3BucketNotifications", "VpcRestrictDefaultSG"),
    )
)
"""What their functions make or change costs nothing."""

COSTS_EXTRA: Mapping[str, tuple[str, ...]] = {
    "AWS::CloudWatch::Alarm": ("ThresholdMetricId",),  # watches a band of anomalies: three metrics' price
    "AWS::Lambda::EventSourceMapping": ("ProvisionedPollerConfig",),
    "AWS::Lambda::Function": ("SnapStart",),
    "AWS::RDS::DBInstance": (
        *("AutomaticBackupReplicationRegion", "DedicatedLogVolume", "Iops", "MonitoringInterval", "StorageThroughput"),
        "PerformanceInsightsRetentionPeriod",
    ),
    "AWS::S3::Bucket": ("AnalyticsConfigurations", "InventoryConfigurations", "MetricsConfigurations"),
    "AWS::SecretsManager::Secret": ("ReplicaRegions",),
}
"""Properties that are billed even while idle, or may be, and that no deployment has chosen so far."""

FREE_VALUES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "AWS::EC2::VPC": {"InstanceTenancy": ("default",)},
    "AWS::RDS::DBInstance": {
        "DatabaseInsightsMode": ("standard",),
        # Left out it may cost as well, but only when the major version isn't supported any more.
        "EngineLifecycleSupport": ("open-source-rds-extended-support-disabled",),
    },
}
"""Properties that are billed unless they are left out or have one of these values."""

LEAST_PERIOD = 60
"""Seconds. An alarm that looks more often watches with high resolution, at a price of its own."""

Json = Mapping[str, Any]


class CostError(Exception):
    """The cost can't be told; the message says of which resource."""


@dataclass(frozen=True, slots=True)
class Line:
    """Dollars a month for ``what``."""

    what: str
    dollars: float


@dataclass(frozen=True, slots=True)
class Prices:
    """List prices in dollars, and the oldest day on which one of them was read."""

    dollars: Json
    hours: float
    region: str
    date: str

    @classmethod
    def read(cls, path: Path = PRICES) -> Self:
        table = json.loads(path.read_text(encoding="utf-8"))
        date = min(source["read"] for source in table["sources"])
        return cls(table["dollars"], table["hours_a_month"], table["region"], date)

    def __getitem__(self, what: str) -> float:
        return float(self.dollars[what])

    def hourly(self, what: str) -> float:
        """Dollars a month for what is billed by the hour."""
        return self[f"{what} hour"] * self.hours


def _database(properties: Json, prices: Prices) -> Iterator[Line]:
    kind, copies = properties["DBInstanceClass"], 2 if properties.get("MultiAZ") else 1
    if kind not in prices.dollars["database hour"]:
        raise CostError(f"{kind} has no price in {PRICES.name}")
    if properties.get("StorageType") != "gp3":
        raise CostError(f"storage of type {properties.get('StorageType')} has no price in {PRICES.name}")
    standby = " and its standby" if copies == 2 else ""
    size = int(properties["AllocatedStorage"])
    yield Line(f"database {kind}{standby}", copies * prices.dollars["database hour"][kind] * prices.hours)
    yield Line(f"{size} GiB of its storage{standby and ', twice'}", copies * size * prices["database GiB"])
    if properties.get("ManageMasterUserPassword"):
        yield Line("secret", prices["secret"])


def _alarm(properties: Json, prices: Prices) -> Iterator[Line]:
    metrics = properties.get("Metrics", [])
    periods = [each["MetricStat"].get("Period", LEAST_PERIOD) for each in metrics if "MetricStat" in each]
    if min([properties.get("Period", LEAST_PERIOD), *periods]) < LEAST_PERIOD:
        raise CostError(f"an alarm with a period of less than {LEAST_PERIOD} seconds has no price in {PRICES.name}")
    for _ in [each for each in metrics if "MetricStat" in each] or [properties]:
        yield Line("alarm on one metric (an account's first ten are free)", prices["alarm metric"])


def _endpoint(properties: Json, prices: Prices) -> Iterator[Line]:
    if properties.get("VpcEndpointType", "Gateway") != "Gateway":
        for _ in properties["SubnetIds"]:
            yield Line("interface endpoint in one zone", prices.hourly("interface endpoint"))


def _event_source(_: Json, prices: Prices) -> Iterator[Line]:
    requests = QUEUE_POLLS_AN_HOUR * prices.hours
    what = f"looking into an empty queue, {requests:,.0f} times (an account's first million requests are free)"
    yield Line(what, requests / 1e6 * prices["million queue requests"])


Rule = Callable[[Json, Prices], Iterator[Line]]
RULES: Mapping[str, Rule] = {
    "AWS::CloudWatch::Alarm": _alarm,
    "AWS::CloudWatch::Dashboard": lambda _, prices: iter(
        [Line("dashboard (an account's first three are free)", prices["dashboard"])]
    ),
    "AWS::EC2::EIP": lambda _, prices: iter([Line("public IPv4 address", prices.hourly("public IPv4 address"))]),
    "AWS::EC2::NatGateway": lambda _, prices: iter([Line("NAT gateway", prices.hourly("NAT gateway"))]),
    "AWS::EC2::VPCEndpoint": _endpoint,
    "AWS::KMS::Key": lambda _, prices: iter([Line("encryption key", prices["key"])]),
    "AWS::Lambda::EventSourceMapping": _event_source,
    "AWS::RDS::DBInstance": _database,
    "AWS::SecretsManager::Secret": lambda _, prices: iter([Line("secret", prices["secret"])]),
}


def idle_cost(template: Json, prices: Prices) -> list[Line]:
    """What the resources of ``template`` cost idle, like with like, dearest first. Raises CostError."""
    each = [line for name, one in template["Resources"].items() for line in _lines(name, one, prices)]
    merged = [
        Line(f"{count} x {what}" if count > 1 else what, sum(line.dollars for line in each if line.what == what))
        for what, count in Counter(line.what for line in each).items()
    ]
    return sorted(merged, key=lambda line: -line.dollars)


def total(lines: list[Line]) -> float:
    return sum(line.dollars for line in lines)


def report(lines: list[Line], prices: Prices) -> Iterator[str]:
    """One line each, and the sum of them as the last."""
    for line in lines:
        yield f"${line.dollars:>7.2f}  {line.what}"
    yield f"idle cost: ${total(lines):.2f} a month ({prices.region}, list prices of {prices.date})"


def _lines(name: str, resource: Json, prices: Prices) -> Iterator[Line]:
    kind, properties = resource["Type"], resource.get("Properties", {})
    for extra in COSTS_EXTRA.get(kind, ()):
        if properties.get(extra):
            raise CostError(f"{name}: {extra} of {kind} has no rule in {Path(__file__).name}")
    for chosen, free in FREE_VALUES.get(kind, {}).items():
        if properties.get(chosen, free[0]) not in free:
            raise CostError(f"{name}: {chosen} of {kind} has no rule in {Path(__file__).name}")
    if rule := RULES.get(kind):
        yield from rule(properties, prices)
    elif kind not in FREE_WHILE_IDLE | FREE_CUSTOM_RESOURCES:
        raise CostError(f"{name}: {kind} has no rule in {Path(__file__).name}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.cost", description="Tell what a template costs idle.")
    parser.add_argument("template", type=Path, nargs="?", default=TEMPLATE, help="default: what make synth wrote")
    given = parser.parse_args(arguments)
    prices = Prices.read()
    try:
        lines = idle_cost(json.loads(given.template.read_text(encoding="utf-8")), prices)
    except (OSError, ValueError, CostError) as error:
        sys.stderr.write(f"citewell: {error}\n")
        return 1
    sys.stdout.write("".join(f"{line}\n" for line in report(lines, prices)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
