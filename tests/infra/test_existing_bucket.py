"""Documents in a bucket that was there before: it is told of, read, and otherwise left to its owner."""

from __future__ import annotations

import json

import pytest

from infra.options import Options, Removal
from tests.infra.conftest import Synthesise
from tests.infra.templates import Template

NAME = "documents-of-example"
ARN = f"arn:<AWS::Partition>:s3:::{NAME}"


@pytest.fixture(scope="module")
def deployed(synthesise: Synthesise) -> Template:
    return synthesise(Options(bucket_name=NAME, removal_policy=Removal.DESTROY))


def test_no_bucket_is_made_and_none_is_emptied_when_the_stack_goes(deployed: Template) -> None:
    for kind in ("AWS::S3::Bucket", "AWS::S3::BucketPolicy", "Custom::S3AutoDeleteObjects"):
        assert not deployed.of_type(kind)
    assert deployed.outputs["BucketName"]["Value"] == NAME


def test_its_changes_reach_the_queue_beside_whom_else_it_tells(deployed: Template) -> None:
    _, notifications = deployed.only("Custom::S3BucketNotifications")
    assert notifications["BucketName"] == NAME
    assert notifications["Managed"] is False  # those that are there are kept, and only these are taken away
    configured = notifications["NotificationConfiguration"]["QueueConfigurations"]
    assert {event for each in configured for event in each["Events"]} == {
        "s3:ObjectCreated:*",
        "s3:ObjectRemoved:*",
        "s3:LifecycleExpiration:*",
    }


def test_it_alone_may_send_to_the_queue(deployed: Template) -> None:
    [allowed] = [
        statement
        for policy in deployed.of_type("AWS::SQS::QueuePolicy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Allow"
    ]
    assert allowed["Principal"] == {"Service": "s3.amazonaws.com"}
    assert _spelt(allowed["Condition"]["ArnLike"]["aws:SourceArn"]) == ARN


def test_ingest_reads_it_and_nothing_else(deployed: Template) -> None:
    _, ingest = deployed.functions()["ingest"]
    assert ingest["Environment"]["Variables"]["CITEWELL_BUCKET"] == NAME
    statements = deployed.statements_of(ingest["Role"]["Fn::GetAtt"][0])
    readable = {_spelt(each["Resource"]) for each in statements if "s3:" in json.dumps(each["Action"])}
    assert readable == {ARN, f"{ARN}/*"}


def _spelt(arn: object) -> str:
    assert isinstance(arn, dict)
    separator, parts = arn["Fn::Join"]
    return str(separator).join(part if isinstance(part, str) else f"<{part['Ref']}>" for part in parts)
