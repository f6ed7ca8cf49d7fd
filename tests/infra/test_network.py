"""The network for each way out: what stands in it calls what it needs, and nothing calls in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.options import Egress, EmbedderChoice, GeneratorChoice, Options, Target
from tests.infra.conftest import Synthesise
from tests.infra.pairwise import CLAUDE_ON_BEDROCK, OPENAI, TITAN
from tests.infra.templates import Json, Template, as_list, references

IPV6 = Options(egress=Egress.IPV6)
NAT = Options(egress=Egress.NAT)
NONE = Options(egress=Egress.NONE, generator=GeneratorChoice.EXTRACTIVE)
EVERY_WAY_OUT = pytest.mark.parametrize("options", [IPV6, NAT, NONE], ids=["ipv6", "nat", "none"])

PUBLIC = ("InternetGateway", "VPCGatewayAttachment", "NatGateway", "EIP")


# --- each way out ---


def test_by_default_functions_leave_over_ipv6_alone(template: Template) -> None:
    for kind in PUBLIC:
        assert not template.of_type(f"AWS::EC2::{kind}")
    [gateway] = template.of_type("AWS::EC2::EgressOnlyInternetGateway")
    for route in _routes(template):
        assert route["DestinationIpv6CidrBlock"] == "::/0"
        assert list(references(route["EgressOnlyInternetGatewayId"])) == [gateway]
    tables = [route["RouteTableId"]["Ref"] for route in _routes(template)]
    assert len(tables) == 2
    assert all("FunctionsSubnet" in table for table in tables)
    assert _ipv6_allowed(template) == {True}
    assert _variable(template, "DUALSTACK_ENDPOINTS") == {"yes"}


def test_with_nat_functions_leave_over_ipv4_from_one_address(synthesise: Synthesise) -> None:
    template = synthesise(NAT)
    [(gateway, nat)] = template.of_type("AWS::EC2::NatGateway").items()
    [address] = template.of_type("AWS::EC2::EIP")
    assert list(references(nat["Properties"]["AllocationId"])) == [address]
    ways_out = [route for route in _routes(template) if "FunctionsSubnet" in route["RouteTableId"]["Ref"]]
    assert [(way["DestinationCidrBlock"], way["NatGatewayId"]) for way in ways_out] == [
        ("0.0.0.0/0", {"Ref": gateway}),
        ("0.0.0.0/0", {"Ref": gateway}),
    ]
    assert not template.of_type("AWS::EC2::VPCCidrBlock")
    assert _ipv6_allowed(template) == {None}
    assert _variable(template, "DUALSTACK_ENDPOINTS") == {None}


def test_with_none_nothing_leaves(synthesise: Synthesise) -> None:
    template = synthesise(NONE)
    for kind in (*PUBLIC, "EgressOnlyInternetGateway", "Route"):
        assert not template.of_type(f"AWS::EC2::{kind}")
    assert _ipv6_allowed(template) == {None}
    assert _variable(template, "DUALSTACK_ENDPOINTS") == {None}


@pytest.mark.parametrize(
    ("chosen", "services"),
    [
        ({"generator": GeneratorChoice.EXTRACTIVE}, {"secretsmanager", "sqs", "lambda"}),
        (CLAUDE_ON_BEDROCK, {"secretsmanager", "sqs", "lambda", "bedrock-runtime"}),
        ({**TITAN, "generator": GeneratorChoice.EXTRACTIVE}, {"secretsmanager", "sqs", "bedrock-runtime"}),
        ({**TITAN, **CLAUDE_ON_BEDROCK}, {"secretsmanager", "sqs", "bedrock-runtime"}),
    ],
    ids=["local, extractive", "local, bedrock", "titan, extractive", "titan, bedrock"],
)
def test_with_none_exactly_the_services_that_are_called_have_endpoints_in_one_zone(
    chosen: dict[str, Any], services: set[str], synthesise: Synthesise
) -> None:
    template = synthesise(Options(egress=Egress.NONE, **chosen))
    endpoints = _endpoints(template, "Interface")
    assert {json.dumps(each["ServiceName"]).rsplit(".", 1)[1].rstrip('"]}') for each in endpoints} == services
    functions = template.functions()["ask"][1]["VpcConfig"]["SecurityGroupIds"]
    for endpoint in endpoints:
        assert endpoint["PrivateDnsEnabled"] is True
        [subnet] = endpoint["SubnetIds"]
        assert "FunctionsSubnet1" in subnet["Ref"]
        [group] = references(endpoint["SecurityGroupIds"])
        assert _callers(template, group) == {(json.dumps(functions[0]), 443)}
        _only_this_account(endpoint["PolicyDocument"])


def test_the_way_out_can_be_changed_without_making_a_subnet_anew(synthesise: Synthesise) -> None:
    def subnets(options: Options) -> dict[str, Json]:
        found = synthesise(options).of_type("AWS::EC2::Subnet")
        return {name: each["Properties"]["CidrBlock"] for name, each in found.items() if "NatSubnet" not in name}

    assert subnets(IPV6) == subnets(NAT) == subnets(NONE)
    assert len(subnets(IPV6)) == 4


# --- whatever the way out ---


@EVERY_WAY_OUT
def test_the_databases_subnets_have_no_way_out_and_nobody_else_is_in_them(
    options: Options, synthesise: Synthesise
) -> None:
    template = synthesise(options)
    assert not [route for route in _routes(template) if "DatabaseSubnet" in route["RouteTableId"]["Ref"]]
    _, subnets = template.only("AWS::RDS::DBSubnetGroup")
    assert all("DatabaseSubnet" in each["Ref"] for each in subnets["SubnetIds"])
    for name, (_, function) in template.functions().items():
        inside = function.get("VpcConfig", {}).get("SubnetIds", [])
        assert all("FunctionsSubnet" in each["Ref"] for each in inside)
        assert bool(inside) == (name not in ("embed", "rerank", "verify")), name


@EVERY_WAY_OUT
def test_no_address_is_public_and_no_group_lets_an_address_in(options: Options, synthesise: Synthesise) -> None:
    template = synthesise(options)
    for subnet in template.of_type("AWS::EC2::Subnet").values():
        assert subnet["Properties"]["MapPublicIpOnLaunch"] is False
    for name in template.of_type("AWS::EC2::SecurityGroup"):
        assert all(not caller.startswith("address") for caller, _ in _callers(template, name)), name


@EVERY_WAY_OUT
def test_only_the_functions_reach_the_database_and_it_calls_nobody(options: Options, synthesise: Synthesise) -> None:
    template = synthesise(options)
    _, instance = template.only("AWS::RDS::DBInstance")
    [group] = references(instance["VPCSecurityGroups"])
    functions = template.functions()["ask"][1]["VpcConfig"]["SecurityGroupIds"]
    assert _callers(template, group) == {(json.dumps(functions[0]), 5432)}
    assert _called(template, group) == set()


@EVERY_WAY_OUT
def test_functions_call_nothing_but_postgres_and_https(options: Options, synthesise: Synthesise) -> None:
    template = synthesise(options)
    [group] = references(template.functions()["ask"][1]["VpcConfig"]["SecurityGroupIds"])
    over_ipv6 = {("::/0", 443)} if options is IPV6 else set()
    assert _called(template, group) == {("group", 5432), ("0.0.0.0/0", 443)} | over_ipv6


def test_a_provider_at_another_port_is_reached(synthesise: Synthesise) -> None:
    template = synthesise(Options(**OPENAI, egress=Egress.NAT, anthropic_base_url="http://gateway.example.com"))
    [group] = references(template.functions()["ask"][1]["VpcConfig"]["SecurityGroupIds"])
    assert {port for _, port in _called(template, group)} == {5432, 443, 8080, 80}
    assert template.options.embedder is EmbedderChoice.OPENAI


@EVERY_WAY_OUT
def test_s3_is_reached_through_a_free_endpoint_that_lets_only_documents_be_read(
    options: Options, synthesise: Synthesise
) -> None:
    template = synthesise(options)
    [endpoint] = _endpoints(template, "Gateway")
    assert "s3" in json.dumps(endpoint["ServiceName"])
    assert all("FunctionsSubnet" in each["Ref"] for each in endpoint["RouteTableIds"])
    [statement] = endpoint["PolicyDocument"]["Statement"]
    assert set(statement["Action"]) == {
        *("s3:GetObject", "s3:GetObjectVersion", "s3:ListBucket"),
        "s3:GetBucketVersioning",
    }
    [bucket] = template.of_type("AWS::S3::Bucket")
    assert set(references(statement["Resource"])) == {bucket}
    _only_this_account(endpoint["PolicyDocument"])


@EVERY_WAY_OUT
def test_who_spoke_to_whom_is_logged_for_a_month(options: Options, synthesise: Synthesise) -> None:
    template = synthesise(options)
    [vpc] = template.of_type("AWS::EC2::VPC")
    _, flows = template.only("AWS::EC2::FlowLog")
    assert flows["ResourceId"] == {"Ref": vpc}
    assert flows["TrafficType"] == "ALL"
    [group] = references(flows["LogGroupName"])
    assert template.resources[group]["Properties"]["RetentionInDays"] == 30


def test_the_default_group_lets_nothing_through_in_aws(synthesise: Synthesise) -> None:
    _, emptied = synthesise(Options()).only("Custom::VpcRestrictDefaultSG")
    [vpc] = synthesise(Options()).of_type("AWS::EC2::VPC")
    assert emptied["DefaultSecurityGroupId"] == {"Fn::GetAtt": [vpc, "DefaultSecurityGroup"]}
    assert not synthesise(Options(target=Target.LOCAL)).of_type("Custom::VpcRestrictDefaultSG")


def _routes(template: Template) -> list[Json]:
    return [each["Properties"] for each in template.of_type("AWS::EC2::Route").values()]


def _ipv6_allowed(template: Template) -> set[object]:
    inside = [each for _, each in template.functions().values() if "VpcConfig" in each]
    return {each["VpcConfig"].get("Ipv6AllowedForDualStack") for each in inside}


def _variable(template: Template, name: str) -> set[object]:
    """Values of a setting in the functions that stand in the network."""
    inside = [each for _, each in template.functions().values() if "VpcConfig" in each]
    return {each["Environment"]["Variables"].get(f"CITEWELL_{name}") for each in inside}


def _endpoints(template: Template, kind: str) -> list[Json]:
    every = [each["Properties"] for each in template.of_type("AWS::EC2::VPCEndpoint").values()]
    return [each for each in every if each["VpcEndpointType"] == kind]


def _rules(template: Template, group: str, direction: str) -> list[Json]:
    """Of a group, those written in it and those that stand beside it, without the CDK's mark of an empty list."""
    inline = template.resources[group]["Properties"].get(f"SecurityGroup{direction}", [])
    beside = [
        rule["Properties"]
        for rule in template.of_type(f"AWS::EC2::SecurityGroup{direction}").values()
        if group in references(rule["Properties"]["GroupId"])
    ]
    return [rule for rule in [*inline, *beside] if rule.get("CidrIp") != "255.255.255.255/32"]


def _callers(template: Template, group: str) -> set[tuple[str, int]]:
    rules = _rules(template, group, "Ingress")
    assert all(rule["FromPort"] == rule["ToPort"] and rule["IpProtocol"] == "tcp" for rule in rules)
    return {(json.dumps(rule.get("SourceSecurityGroupId", "address")).strip('"'), rule["FromPort"]) for rule in rules}


def _called(template: Template, group: str) -> set[tuple[str, int]]:
    rules = _rules(template, group, "Egress")
    assert all(rule["FromPort"] == rule["ToPort"] and rule["IpProtocol"] == "tcp" for rule in rules)
    return {(str(rule.get("CidrIp", rule.get("CidrIpv6", "group"))), rule["FromPort"]) for rule in rules}


def _only_this_account(policy: Json) -> None:
    for statement in policy["Statement"]:
        assert as_list(statement["Condition"]["StringEquals"]["aws:PrincipalAccount"]) == [{"Ref": "AWS::AccountId"}]
