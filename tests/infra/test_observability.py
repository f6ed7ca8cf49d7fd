"""What is watched, who is told, and what it costs to know."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from citewell.settings import Settings
from citewell.telemetry import AskMetric, DocumentsMetric, IngestMetric
from infra.capacity import capacity_of
from infra.dashboard import MOST_METRICS
from infra.model_prices import DEFAULT_MODEL, prices_of
from infra.options import DatabaseClass, EmbedderChoice, GeneratorChoice, Options, RerankerChoice
from tests.infra.conftest import Synthesise
from tests.infra.templates import Json, Template, as_list, references

RUNBOOK = Path(__file__).parents[2] / "docs/operating.md"
EVERYTHING = Options(alarm_email="operations@example.com", tracing=True, log_questions=True)
RERANKED = Options(reranker=RerankerChoice.LOCAL)
RERANKING = {AskMetric.RERANK_TIME, AskMetric.NOT_RERANKED}
ALARMS = {
    "dead-letters": ("AWS/SQS", "ApproximateNumberOfMessagesVisible"),
    "queue-age": ("AWS/SQS", "ApproximateAgeOfOldestMessage"),
    "ingest-errors": ("AWS/Lambda", "Errors"),
    "ask-errors": ("AWS/Lambda", "Errors"),
    "documents-errors": ("AWS/Lambda", "Errors"),
    "ask-throttles": ("AWS/Lambda", "Throttles"),
    "documents-throttles": ("AWS/Lambda", "Throttles"),
    "api-errors": ("AWS/ApiGateway", "5xx"),
    "api-latency": ("AWS/ApiGateway", "Latency"),
    "database-connections": ("AWS/RDS", "DatabaseConnections"),
    "database-storage": ("AWS/RDS", "FreeStorageSpace"),
    "database-credits": ("AWS/RDS", "CPUCreditBalance"),
}


def alarms(template: Template) -> dict[str, Json]:
    """The alarms' properties by their names without the stack's."""
    found = (each["Properties"] for each in template.of_type("AWS::CloudWatch::Alarm").values())
    return {each["AlarmName"].removeprefix("Citewell-"): each for each in found}


def widgets(template: Template) -> list[Json]:
    """The dashboard's, each reference in them standing for itself as ``<LogicalId>``."""
    _, dashboard = template.only("AWS::CloudWatch::Dashboard")
    return list(json.loads(_text(dashboard["DashboardBody"]))["widgets"])


def metrics(template: Template) -> list[list[Any]]:
    return [metric for widget in widgets(template) for metric in widget["properties"].get("metrics", [])]


# --- alarms ---


def test_each_alarm_watches_what_it_says(template: Template) -> None:
    assert {name: (each["Namespace"], each["MetricName"]) for name, each in alarms(template).items()} == ALARMS


def test_the_alarms_look_at_this_deployments_own_resources(template: Template) -> None:
    queues = template.of_type("AWS::SQS::Queue")
    [dead_letters] = [name for name, each in queues.items() if "RedrivePolicy" not in each["Properties"]]
    [queue] = queues.keys() - {dead_letters}
    functions = template.functions()
    [api], [database] = template.of_type("AWS::ApiGatewayV2::Api"), template.of_type("AWS::RDS::DBInstance")
    expected = {"dead-letters": dead_letters, "queue-age": queue}
    expected |= {
        name: functions[name.split("-")[0]][0]
        for name in ALARMS
        if name.endswith(("-errors", "-throttles")) and not name.startswith("api")
    }
    expected |= {name: api for name in ALARMS if name.startswith("api-")}
    expected |= {name: database for name in ALARMS if name.startswith("database-")}
    watched = {name: [*references(each["Dimensions"])] for name, each in alarms(template).items()}
    assert watched == {name: [resource] for name, resource in expected.items()}


def test_a_reranker_has_an_alarm_of_its_own_since_nobody_else_is_told(synthesise: Synthesise) -> None:
    found = alarms(synthesise(RERANKED))
    assert found.keys() == ALARMS.keys() | {"not-reranked"}
    alarm = found["not-reranked"]
    assert (alarm["Namespace"], alarm["MetricName"]) == ("Citewell", "NotReranked")
    assert alarm["Dimensions"] == [{"Name": "service", "Value": "ask"}]
    assert (alarm["Threshold"], alarm["EvaluationPeriods"], alarm["TreatMissingData"]) == (5, 3, "notBreaching")


def test_an_alarm_says_what_it_means_and_where_it_is_written_what_to_do(synthesise: Synthesise) -> None:
    for name, alarm in alarms(synthesise(RERANKED)).items():
        meaning, _, where = alarm["AlarmDescription"].partition(" What to do: ")
        assert len(meaning) > 40
        assert where == f"docs/operating.md#alarm-{name}"
        assert f"\n### alarm-{name}\n" in RUNBOOK.read_text(encoding="utf-8")


def test_no_data_is_no_news_but_from_a_database_it_is_an_outage(template: Template) -> None:
    treated = {name: alarm["TreatMissingData"] for name, alarm in alarms(template).items()}
    assert treated.pop("database-connections") == "breaching"
    assert treated.pop("database-storage") == treated.pop("database-credits") == "ignore"
    assert set(treated.values()) == {"notBreaching"}


def test_an_alarm_looks_back_no_further_than_cloudwatch_does(template: Template) -> None:
    for alarm in alarms(template).values():
        assert alarm["Period"] * alarm["EvaluationPeriods"] <= 86_400


def test_one_dead_letter_and_one_crash_are_enough(template: Template) -> None:
    for name in ("dead-letters", "ingest-errors", "ask-errors", "documents-errors"):
        alarm = alarms(template)[name]
        assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanOrEqualToThreshold", 1)
        assert alarm["EvaluationPeriods"] == 1


def test_the_connections_alarm_goes_off_before_the_server_refuses_and_after_the_budget_is_used(
    template: Template,
) -> None:
    capacity = capacity_of(DatabaseClass.T4G_MICRO)
    threshold = alarms(template)["database-connections"]["Threshold"]
    assert threshold == capacity.copies < capacity.connections


@pytest.mark.parametrize("gibibytes", [20, 400])
def test_the_storage_alarm_comes_after_rds_should_have_enlarged_it_and_before_it_is_full(
    gibibytes: int, synthesise: Synthesise
) -> None:
    alarm = alarms(synthesise(Options(database_storage=gibibytes)))["database-storage"]
    assert alarm["ComparisonOperator"] == "LessThanOrEqualToThreshold"
    assert 0 < alarm["Threshold"] < 0.1 * gibibytes * 1024**3


def test_the_latency_alarm_ignores_the_slowest_of_a_handful(template: Template) -> None:
    alarm = alarms(template)["api-latency"]
    assert (alarm["ExtendedStatistic"], alarm["EvaluateLowSampleCountPercentile"]) == ("p95", "ignore")


def test_the_credits_alarm_outlasts_the_first_hours_of_a_new_database(template: Template) -> None:
    alarm = alarms(template)["database-credits"]
    assert alarm["ComparisonOperator"] == "LessThanOrEqualToThreshold"
    earned_an_hour = 12
    assert alarm["Threshold"] < earned_an_hour * alarm["Period"] * alarm["EvaluationPeriods"] / 3600 / 2


def test_only_burstable_classes_have_credits(synthesise: Synthesise) -> None:
    assert alarms(synthesise(Options(database_class=DatabaseClass.R7G_LARGE))).keys() == ALARMS.keys() - {
        "database-credits"
    }


# --- who is told ---


def test_without_an_address_nobody_is_told_and_nothing_is_made_for_it(template: Template) -> None:
    for kind in ("AWS::SNS::Topic", "AWS::SNS::Subscription", "AWS::KMS::Key"):
        assert not template.of_type(kind)
    assert not any("AlarmActions" in each or "OKActions" in each for each in alarms(template).values())


def test_with_an_address_every_alarm_is_sent_when_it_begins_and_ends(synthesise: Synthesise) -> None:
    template = synthesise(EVERYTHING)
    topic, _ = template.only("AWS::SNS::Topic")
    _, subscription = template.only("AWS::SNS::Subscription")
    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "operations@example.com")
    assert subscription["TopicArn"] == {"Ref": topic}
    assert alarms(template).keys() == ALARMS.keys()
    for alarm in alarms(template).values():
        assert alarm["AlarmActions"] == alarm["OKActions"] == [{"Ref": topic}]


def test_only_this_accounts_alarms_publish_and_over_tls(synthesise: Synthesise) -> None:
    template = synthesise(EVERYTHING)
    _, policy = template.only("AWS::SNS::TopicPolicy")
    statements = policy["PolicyDocument"]["Statement"]
    [refused] = [each for each in statements if each["Effect"] == "Deny"]
    assert refused["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    [allowed] = [each for each in statements if each["Effect"] == "Allow"]
    assert allowed["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert allowed["Action"] == "sns:Publish"
    assert allowed["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


def test_alarms_are_encrypted_on_their_way_with_a_key_that_cloudwatch_may_use(synthesise: Synthesise) -> None:
    template = synthesise(EVERYTHING)
    key, properties = template.only("AWS::KMS::Key")
    _, topic = template.only("AWS::SNS::Topic")
    assert [*references(topic["KmsMasterKeyId"])] == [key]
    assert properties["EnableKeyRotation"] is True
    users = [
        each
        for each in properties["KeyPolicy"]["Statement"]
        if each["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    ]
    assert [set(each["Action"]) for each in users] == [{"kms:Decrypt", "kms:GenerateDataKey*"}]


# --- the dashboard ---


def test_the_dashboard_is_free_of_charge(synthesise: Synthesise) -> None:
    for options in (Options(), RERANKED):
        assert len(metrics(synthesise(options))) <= MOST_METRICS


def test_the_dashboard_shows_every_alarm(template: Template) -> None:
    [status] = [widget for widget in widgets(template) if widget["type"] == "alarm"]
    shown = {re.search(r"<(\w+)>", arn)[1] for arn in status["properties"]["alarms"]}  # type: ignore[index]  # each has one
    assert shown == template.of_type("AWS::CloudWatch::Alarm").keys()


@pytest.mark.parametrize(("options", "unused"), [(Options(), RERANKING), (RERANKED, set())], ids=["default", "ranked"])
def test_the_dashboard_shows_what_the_functions_count(
    options: Options, unused: set[AskMetric], synthesise: Synthesise
) -> None:
    ours = {(metric[3], metric[1]) for metric in metrics(synthesise(options)) if metric[0] == "Citewell"}
    # What isn't shown is shown better: the API's own 4xx and 5xx, the queue's own counts.
    expected: set[tuple[str, str]] = {("ask", name) for name in set(AskMetric) - {AskMetric.PROBLEMS} - unused}
    expected |= {("ingest", name) for name in set(IngestMetric) - {IngestMetric.MESSAGES}}
    assert ours == expected
    assert set(DocumentsMetric) == {DocumentsMetric.READS, DocumentsMetric.PROBLEMS}


def test_the_dashboard_needs_no_embed_function(synthesise: Synthesise) -> None:
    hosted = Options(
        embedder=EmbedderChoice.OPENAI, embedder_model="m", embedder_dimensions=8, min_score=0.5, egress=None
    )
    template = synthesise(hosted)
    shown = {metric[3] for metric in metrics(template) if metric[0] == "AWS/Lambda"}
    assert shown == {f"<{template.functions()[name][0]}>" for name in ("ask", "documents", "ingest")}


# --- tracing, questions, prices ---


def test_nothing_is_traced_unless_it_was_chosen(template: Template) -> None:
    for _, function in template.functions().values():
        assert "TracingConfig" not in function
        assert "CITEWELL_TRACING" not in function.get("Environment", {}).get("Variables", {})
    assert not [each for each in _actions(template) if each.startswith("xray:")]


def test_where_it_was_chosen_every_function_is_traced(synthesise: Synthesise) -> None:
    template = synthesise(EVERYTHING)
    for name, (_, function) in template.functions().items():
        assert function["TracingConfig"] == {"Mode": "Active"}
        assert function["Environment"]["Variables"]["CITEWELL_TRACING"] == "yes"
        role = str(function["Role"]["Fn::GetAtt"][0])
        may = {action for each in template.statements_of(role) for action in as_list(each["Action"])}
        assert {"xray:PutTelemetryRecords", "xray:PutTraceSegments"} <= may, name


@pytest.mark.parametrize(("options", "logged"), [(Options(), "no"), (EVERYTHING, "yes")], ids=["default", "chosen"])
def test_questions_are_logged_only_where_it_was_chosen(options: Options, logged: str, synthesise: Synthesise) -> None:
    variables = synthesise(options).functions()["ask"][1]["Environment"]["Variables"]
    assert variables.get("CITEWELL_LOG_QUESTIONS", "no") == logged


@pytest.mark.parametrize(
    ("options", "prices"),
    [
        (Options(), (1.0, 5.0)),
        (Options(model="claude-sonnet-4-5-20250929"), (3.0, 15.0)),
        (Options(model="claude-of-tomorrow"), None),
        (Options(anthropic_base_url="https://gateway.example.com"), None),
        (Options(generator=GeneratorChoice.EXTRACTIVE), None),
        (
            Options(generator=GeneratorChoice.BEDROCK, model="eu.anthropic.claude-haiku-4-5-20251001-v1:0"),
            (1.0, 5.0),
        ),
    ],
    ids=["default", "dated", "unknown", "gateway", "no model", "bedrock"],
)
def test_dollars_are_estimated_where_the_price_is_known(options: Options, prices: tuple[float, float] | None) -> None:
    known = prices_of(options)
    assert known == ({} if prices is None else {"input_price": prices[0], "output_price": prices[1]})


def test_the_prices_reach_the_function_that_asks(template: Template) -> None:
    variables = template.functions()["ask"][1]["Environment"]["Variables"]
    assert (variables["CITEWELL_INPUT_PRICE"], variables["CITEWELL_OUTPUT_PRICE"]) == ("1.0", "5.0")


def test_the_default_model_is_the_settings_own() -> None:
    assert Settings().model == DEFAULT_MODEL


def _text(value: object) -> str:
    """A template's string with its references written as ``<LogicalId>``."""
    if isinstance(value, str):
        return value
    assert isinstance(value, dict)
    if "Fn::Join" in value:
        separator, parts = value["Fn::Join"]
        return str(separator).join(map(_text, parts))
    return "".join(f"<{name}>" for name in references(value))


def _actions(template: Template) -> Iterator[str]:
    for role in template.of_type("AWS::IAM::Role"):
        for statement in template.statements_of(role):
            yield from as_list(statement["Action"])
