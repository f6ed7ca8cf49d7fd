"""The rules of cdk-nag's AwsSolutions pack: what breaks one deliberately says so where it stands, with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import Acknowledgment, Stack, Validations
from constructs import Construct

PACK = "AwsSolutions"

OF_THE_CDK = {
    "L1": "the CDK's own code, on the runtime it was released for",
    "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]": (
        "the CDK's own role: this policy lets it write logs, and nothing else"
    ),
}
"""What every function that the CDK itself adds to a stack breaks."""


def acknowledge(construct: Construct, reasons: Mapping[str, str]) -> None:
    """Accept rules (``"L1"``, ``"IAM5[Resource::*]"``) for ``construct`` and what is in it. A reason is a sentence
    that somebody who approves deployments can follow."""
    Validations.of(construct).acknowledge(
        *(Acknowledgment(id=f"{PACK}::{PACK}-{rule}", reason=reason) for rule, reason in reasons.items())
    )


def wildcard_in(arn: str, *, scope: Construct) -> str:
    """The rule that an IAM statement on ``arn``, which ends in a wildcard, breaks: spelt as cdk-nag reports it."""
    return f"IAM5[Resource::{_spelt(Stack.of(scope).resolve(arn))}]"


def _spelt(value: Any) -> str:
    match value:
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(map(_spelt, parts))
    return str(value)
