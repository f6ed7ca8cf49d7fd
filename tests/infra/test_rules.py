"""What holds whatever was chosen: the rules of cdk-nag and cfn-lint, and nobody may do more than is written here.

Looked at in deployments that hold every possible pair of options between them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from cfnlint.api import lint
from cfnlint.config import ManualArgs

from tests.infra.conftest import RULES_ARE_REPORTED, Synthesise, check_rules, violations
from tests.infra.pairwise import Row, covering_rows, label, options_of, pairs_of, possible_pairs
from tests.infra.templates import Json, Template, as_list, references

ROWS = list(covering_rows())

IGNORED_BY_LINT = {
    "W3005": "a dependency that is also a reference: the CDK writes both",
    "W3691": "Postgres 17 without a minor version is what RDS resolves to its newest one",
}

WITHOUT_RESOURCE = {
    "ec2:AssignPrivateIpAddresses": "Lambda puts a function into the network with its role",
    "ec2:CreateNetworkInterface": "the same",
    "ec2:DeleteNetworkInterface": "the same",
    "ec2:DescribeNetworkInterfaces": "the same",
    "ec2:DescribeSubnets": "the same",
    "ec2:UnassignPrivateIpAddresses": "the same",
    "xray:PutTelemetryRecords": "traces belong to nothing that has a name",
    "xray:PutTraceSegments": "the same",
}
"""Actions that a role may take on ``*``, each because AWS offers nothing narrower, and what for."""

WILDCARDS = {
    r"<Ingestion\w*Bucket\w*\.Arn>/\*": "every object of the bucket is a document",
    r"arn:<AWS::Partition>:s3:::documents-of-example/\*": "the same, of a bucket that was there before",
    r"<\w+Function\w+\.Arn>:\*": "the versions of a function that a deploy runs, by the CDK's framework",
    r"arn:<AWS::Partition>:bedrock:\*::foundation-model/[\w.:-]+": "one model, in the regions of its inference profile",
}
"""Resources with a wildcard in them that a role may act on, spelt with references in angle brackets, and why."""


@pytest.fixture(scope="module", params=ROWS, ids=label)
def deployed(request: pytest.FixtureRequest, synthesise: Synthesise) -> Template:
    row: Row = request.param
    return synthesise(options_of(row))


def test_the_selection_holds_every_possible_pair_of_values_and_is_small() -> None:
    assert possible_pairs() == {pair for row in ROWS for pair in pairs_of(row)}
    assert len(ROWS) <= 24


def test_no_rule_of_aws_solutions_is_broken_without_a_reason(deployed: Template) -> None:
    assert deployed.violations == []


def test_a_broken_rule_is_noticed(tmp_path: Path) -> None:
    app = App(context=RULES_ARE_REPORTED, outdir=str(tmp_path), analytics_reporting=False)
    stack = Stack(app, "Open")
    vpc = ec2.Vpc(stack, "Vpc", restrict_default_security_group=False)
    ec2.SecurityGroup(stack, "Group", vpc=vpc).add_ingress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(5432))
    check_rules(app)
    app.synth()
    assert {"AwsSolutions-EC23 Open/Group/Resource", "AwsSolutions-VPC7 Open/Vpc/Resource"} <= set(violations(tmp_path))


def test_cfn_lint_has_nothing_to_say(deployed: Template) -> None:
    configuration = ManualArgs(regions=["us-east-1"], ignore_checks=list(IGNORED_BY_LINT))
    assert lint(deployed.path.read_text(encoding="utf-8"), config=configuration) == []


def test_the_template_is_not_circular(deployed: Template) -> None:
    # Synth doesn't notice; CloudFormation does, at the start of a deploy.
    for name in deployed.resources:
        assert name not in deployed.waits_for(name)


def test_no_role_may_take_every_action_of_a_kind(deployed: Template) -> None:
    for role, statement in _granted(deployed):
        assert not [action for action in as_list(statement["Action"]) if "*" in action], role


def test_a_role_acts_on_everything_only_where_it_is_written_why(deployed: Template) -> None:
    for role, statement in _granted(deployed):
        if "*" in as_list(statement["Resource"]):
            assert set(as_list(statement["Action"])) <= WITHOUT_RESOURCE.keys(), role


def test_a_resource_with_a_wildcard_is_one_of_those_that_are_written_down(deployed: Template) -> None:
    for role, statement in _granted(deployed):
        for resource in as_list(statement["Resource"]):
            spelt = _spelt(resource)
            if "*" in spelt.removesuffix("*") or (spelt.endswith("*") and spelt != "*"):
                assert any(re.fullmatch(each, spelt) for each in WILDCARDS), f"{role}: {spelt}"


def test_the_code_of_a_function_may_not_use_its_roles_network_actions(deployed: Template) -> None:
    for name, (_, function) in deployed.functions().items():
        statements = deployed.statements_of(function["Role"]["Fn::GetAtt"][0])
        ours = [each for each in statements if any(action.startswith("ec2:") for action in as_list(each["Action"]))]
        assert bool(ours) == ("VpcConfig" in function), name
        if ours:
            allowed, denied = ours
            assert (allowed["Effect"], denied["Effect"]) == ("Allow", "Deny")
            assert allowed["Action"] == denied["Action"]
            assert denied["Condition"] == {"Null": {"lambda:SourceFunctionArn": "false"}}


def test_every_function_has_a_role_of_its_own(deployed: Template) -> None:
    functions = deployed.of_type("AWS::Lambda::Function").values()
    roles = [json.dumps(function["Properties"]["Role"]) for function in functions]
    assert len(set(roles)) == len(roles)


def test_every_function_writes_to_a_log_of_its_own_that_expires(deployed: Template) -> None:
    groups = deployed.of_type("AWS::Logs::LogGroup")
    assert {group["Properties"]["RetentionInDays"] for group in groups.values()} == {30}
    functions = deployed.of_type("AWS::Lambda::Function").values()
    written = [function["Properties"]["LoggingConfig"]["LogGroup"]["Ref"] for function in functions]
    assert len(set(written)) == len(written)
    assert set(written) <= groups.keys()


def test_nobody_is_let_in_by_a_resources_policy_without_a_condition(deployed: Template) -> None:
    for name, resource in deployed.resources.items():
        for policy in _resource_policies(resource):
            for statement in policy["Statement"]:
                principals = statement["Principal"] if isinstance(statement["Principal"], dict) else {"AWS": "*"}
                anybody = "*" in [each for kind in principals.values() for each in as_list(kind)]
                assert statement["Effect"] == "Deny" or not anybody or statement["Condition"], name


def test_the_database_is_private_encrypted_and_backed_up(deployed: Template) -> None:
    _, database = deployed.only("AWS::RDS::DBInstance")
    assert database["PubliclyAccessible"] is False
    # A snapshot is as encrypted as the instance was that it is of, and the property may not say so again.
    assert database.get("StorageEncrypted") is (True if deployed.options.database_snapshot is None else None)
    assert database["BackupRetentionPeriod"] >= 7
    _, parameters = deployed.only("AWS::RDS::DBParameterGroup")
    assert parameters["Parameters"]["rds.force_ssl"] == "1"


def test_what_the_removal_option_promises_is_kept_or_gone(deployed: Template) -> None:
    keeps = deployed.options.removal_policy == "retain"
    _, database = deployed.only("AWS::RDS::DBInstance")
    assert database["DeletionProtection"] is keeps
    [instance] = deployed.of_type("AWS::RDS::DBInstance").values()
    assert instance["DeletionPolicy"] == ("Snapshot" if keeps else "Delete")
    for bucket in deployed.of_type("AWS::S3::Bucket").values():
        assert bucket["DeletionPolicy"] == ("Retain" if keeps else "Delete")


def test_functions_that_speak_to_the_database_are_capped(deployed: Template) -> None:
    functions = deployed.functions()
    for name in ("ask", "documents"):
        assert functions[name][1]["ReservedConcurrentExecutions"] > 0
    _, mapping = deployed.only("AWS::Lambda::EventSourceMapping")
    assert mapping["ScalingConfig"]["MaximumConcurrency"] > 0


def _granted(template: Template) -> Iterator[tuple[str, Json]]:
    """Each statement that allows a role something, with the role's logical id."""
    for role in template.of_type("AWS::IAM::Role"):
        for statement in template.statements_of(role):
            if statement["Effect"] == "Allow":
                yield role, statement
    for policy in template.of_type("AWS::IAM::Policy").values():
        assert not policy["Properties"].get("Users")
        assert not policy["Properties"].get("Groups")


def _resource_policies(resource: Json) -> Iterator[Json]:
    properties = resource.get("Properties", {})
    for key in ("PolicyDocument", "KeyPolicy", "ResourcePolicy"):
        policy = properties.get(key)
        if policy and resource["Type"] != "AWS::IAM::Policy":
            yield policy


def _spelt(value: object) -> str:
    """An ARN in one piece, references in angle brackets."""
    match value:
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(map(_spelt, parts))
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Fn::Sub": str() as text}:
            return re.sub(r"\$\{(.+?)\}", r"<\1>", text)
        case {"Ref": name}:
            return f"<{name}>"
    assert isinstance(value, str), list(references(value))
    return value
