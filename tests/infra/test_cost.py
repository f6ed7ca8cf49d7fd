"""What a deployment costs idle: told from the template, in full, and as the README says."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from infra import cost
from infra.cost import CostError, Line, Prices, idle_cost, report, total
from infra.options import Auth, DatabaseClass, Egress, GeneratorChoice, Options, RerankerChoice
from tests.infra.conftest import Synthesise
from tests.infra.pairwise import CLAUDE_ON_BEDROCK, OPENAI, TITAN, covering_rows, options_of
from tests.infra.templates import Template

README = Path(__file__).parents[2] / "README.md"
LIMIT = 25
"""Dollars a month that an idle deployment with the default options may cost in us-east-1."""

COMPARED: dict[str, Options] = {
    "the default": Options(),
    "`generator=extractive` (no key)": Options(generator=GeneratorChoice.EXTRACTIVE),
    "`reranker=local`": Options(reranker=RerankerChoice.LOCAL),
    "`auth=iam`": Options(auth=Auth.IAM),
    "`alarmEmail=...`": Options(alarm_email="operations@example.com"),
    "`databaseClass=t4g.small`": Options(database_class=DatabaseClass.T4G_SMALL),
    "`databaseClass=t4g.medium`": Options(database_class=DatabaseClass.T4G_MEDIUM),
    "`databaseMultiAz=true`": Options(database_multi_az=True),
    "`databaseClass=m7g.large`, `databaseMultiAz=true`, `databaseStorage=100`": Options(
        database_class=DatabaseClass.M7G_LARGE, database_multi_az=True, database_storage=100
    ),
    "`embedder=openai` (with its key), `egress=nat`": Options(**OPENAI, egress=Egress.NAT),
    "`egress=none`, `generator=bedrock`": Options(**CLAUDE_ON_BEDROCK, egress=Egress.NONE),
    "`egress=none`, `embedder=bedrock`, `generator=bedrock`": Options(**TITAN, **CLAUDE_ON_BEDROCK, egress=Egress.NONE),
}
"""The rows of the README's table."""


@pytest.fixture(scope="module")
def prices() -> Prices:
    return Prices.read()


def test_the_default_costs_no_more_than_it_may(template: Template, prices: Prices) -> None:
    assert total(_lines(template, prices)) <= LIMIT


def test_every_line_of_the_default_is_told(template: Template, prices: Prices) -> None:
    lines = {line.what: round(line.dollars, 2) for line in _lines(template, prices)}
    alarms = len(template.of_type("AWS::CloudWatch::Alarm"))
    assert lines == {
        "database db.t4g.micro": 11.68,
        "20 GiB of its storage": 2.30,
        "2 x secret": 0.80,  # the owner's password, which RDS keeps, and the key of the model's API
        "dashboard (an account's first three are free)": 3.00,
        f"{alarms} x alarm on one metric (an account's first ten are free)": round(alarms * 0.10, 2),
        "looking into an empty queue, 657,000 times (an account's first million requests are free)": 0.26,
    }


def test_the_last_line_is_the_sum(template: Template, prices: Prices) -> None:
    *lines, last = report(_lines(template, prices), prices)
    amounts = [float(match[1]) for line in lines if (match := re.match(r"\$ *(\d+\.\d\d)  \S", line))]
    assert len(amounts) == len(lines)
    assert amounts == sorted(amounts, reverse=True)
    match = re.fullmatch(r"idle cost: \$(\d+\.\d\d) a month \(us-east-1, list prices of (\d{4}-\d\d-\d\d)\)", last)
    assert match
    assert float(match[1]) == pytest.approx(sum(amounts), abs=0.005 * len(amounts))
    assert match[2] == prices.date


def test_a_nat_gateway_costs_its_hours_and_its_address(synthesise: Synthesise, prices: Prices) -> None:
    lines = {line.what: line.dollars for line in _lines(synthesise(Options(egress=Egress.NAT)), prices)}
    assert lines["NAT gateway"] == pytest.approx(32.85)
    assert lines["public IPv4 address"] == pytest.approx(3.65)


def test_interface_endpoints_cost_for_each_zone(prices: Prices) -> None:
    endpoint = {"VpcEndpointType": "Interface", "SubnetIds": ["one", "other"]}
    assert _cost("AWS::EC2::VPCEndpoint", endpoint, prices) == pytest.approx(14.60)
    assert _cost("AWS::EC2::VPCEndpoint", {"VpcEndpointType": "Gateway"}, prices) == 0


def test_a_standby_doubles_the_database_and_its_storage(synthesise: Synthesise, prices: Prices) -> None:
    one, two = (total(_lines(synthesise(Options(database_multi_az=each)), prices)) for each in (False, True))
    assert two - one == pytest.approx(11.68 + 2.30)


@pytest.mark.parametrize("kind", list(DatabaseClass))
def test_every_class_that_can_be_chosen_has_a_price(kind: DatabaseClass, prices: Prices) -> None:
    database = {"DBInstanceClass": f"db.{kind}", "StorageType": "gp3", "AllocatedStorage": "20"}
    assert _cost("AWS::RDS::DBInstance", database, prices) > 0


def test_an_alarm_costs_for_each_metric_that_it_looks_at(prices: Prices) -> None:
    metrics = [{"MetricStat": {}}, {"MetricStat": {}}, {"Expression": "a / b"}]
    assert _cost("AWS::CloudWatch::Alarm", {"Metrics": metrics}, prices) == pytest.approx(0.20)
    assert _cost("AWS::CloudWatch::Alarm", {"MetricName": "Errors"}, prices) == pytest.approx(0.10)


@pytest.mark.parametrize(
    ("kind", "properties", "named"),
    [
        ("AWS::OpenSearchServerless::Collection", {}, "AWS::OpenSearchServerless::Collection"),
        ("AWS::Lambda::Function", {"SnapStart": {"ApplyOn": "PublishedVersions"}}, "SnapStart"),
        ("AWS::RDS::DBInstance", {"Iops": 12000}, "Iops"),
        ("AWS::RDS::DBInstance", {"DatabaseInsightsMode": "advanced"}, "DatabaseInsightsMode"),
        ("AWS::RDS::DBInstance", {"DedicatedLogVolume": True}, "DedicatedLogVolume"),
        ("AWS::RDS::DBInstance", {"AutomaticBackupReplicationRegion": "us-west-2"}, "AutomaticBackupReplicationRegion"),
        (
            "AWS::RDS::DBInstance",
            {"EngineLifecycleSupport": "open-source-rds-extended-support"},
            "EngineLifecycleSupport",
        ),
        ("AWS::CloudWatch::Alarm", {"MetricName": "Errors", "Period": 10}, "less than 60 seconds"),
        ("AWS::CloudWatch::Alarm", {"Metrics": [{"MetricStat": {"Period": 30}}]}, "less than 60 seconds"),
        (
            "AWS::CloudWatch::Alarm",
            {"Metrics": [{"Expression": "ANOMALY_DETECTION_BAND(m)"}], "ThresholdMetricId": "band"},
            "ThresholdMetricId",
        ),
        (
            "AWS::Lambda::EventSourceMapping",
            {"ProvisionedPollerConfig": {"MinimumPollers": 2}},
            "ProvisionedPollerConfig",
        ),
        ("AWS::S3::Bucket", {"MetricsConfigurations": [{"Id": "all"}]}, "MetricsConfigurations"),
        ("AWS::S3::Bucket", {"InventoryConfigurations": [{"Id": "all"}]}, "InventoryConfigurations"),
        ("AWS::S3::Bucket", {"AnalyticsConfigurations": [{"Id": "all"}]}, "AnalyticsConfigurations"),
        ("AWS::EC2::VPC", {"InstanceTenancy": "dedicated"}, "InstanceTenancy"),
        ("AWS::EC2::VPC", {"InstanceTenancy": {"Ref": "Tenancy"}}, "InstanceTenancy"),
        ("Custom::AWS", {}, "Custom::AWS"),
        ("AWS::RDS::DBInstance", {"DBInstanceClass": "db.r8g.24xlarge", "StorageType": "gp3"}, "db.r8g.24xlarge"),
        ("AWS::RDS::DBInstance", {"DBInstanceClass": "db.t4g.micro", "StorageType": "io2"}, "io2"),
    ],
)
def test_what_has_no_price_is_an_error(kind: str, properties: dict[str, Any], named: str, prices: Prices) -> None:
    with pytest.raises(CostError, match=re.escape(named)):
        _cost(kind, properties, prices)


@pytest.mark.parametrize(
    ("kind", "properties"),
    [
        ("AWS::EC2::VPC", {}),
        ("AWS::EC2::VPC", {"InstanceTenancy": "default"}),
        ("AWS::S3::Bucket", {"MetricsConfigurations": []}),
    ],
)
def test_what_is_billed_only_with_some_values_is_free_with_others(
    kind: str, properties: dict[str, Any], prices: Prices
) -> None:
    assert _cost(kind, properties, prices) == 0


@pytest.mark.parametrize("row", list(covering_rows()), ids=lambda row: row["embedder"])
def test_whatever_is_chosen_has_a_price(row: dict[str, str], synthesise: Synthesise, prices: Prices) -> None:
    assert total(_lines(synthesise(options_of(row)), prices)) > 0


def test_every_price_has_a_source_and_the_date_is_the_oldest_ones(prices: Prices) -> None:
    table = json.loads(cost.PRICES.read_text(encoding="utf-8"))
    assert sorted(price for source in table["sources"] for price in source["of"]) == sorted(table["dollars"])
    read = [date.fromisoformat(source["read"]) for source in table["sources"]]
    assert prices.date == min(read).isoformat()


def test_the_readme_compares_options_at_these_prices(synthesise: Synthesise, prices: Prices) -> None:
    rows = re.findall(r"^\| (.+) \| \$(\d+\.\d\d) \|$", README.read_text(encoding="utf-8"), re.MULTILINE)
    computed = {what: f"{total(_lines(synthesise(options), prices)):.2f}" for what, options in COMPARED.items()}
    assert dict(rows) == computed
    assert f"list prices of {prices.date}" in README.read_text(encoding="utf-8")


def test_the_command_prints_the_lines_of_a_template(template: Template, capsys: pytest.CaptureFixture[str]) -> None:
    assert cost.main([str(template.path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("idle cost: $")


def test_the_command_says_what_has_no_price(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = tmp_path / "template.json"
    template.write_text('{"Resources": {"Cache": {"Type": "AWS::ElastiCache::CacheCluster"}}}', encoding="utf-8")
    assert cost.main([str(template)]) == 1
    assert "Cache: AWS::ElastiCache::CacheCluster has no rule" in capsys.readouterr().err


def _lines(template: Template, prices: Prices) -> list[Line]:
    return idle_cost({"Resources": template.resources}, prices)


def _cost(kind: str, properties: dict[str, Any], prices: Prices) -> float:
    return total(idle_cost({"Resources": {"It": {"Type": kind, "Properties": properties}}}, prices))
