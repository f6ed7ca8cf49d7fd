"""The rules of cdk-nag's AwsSolutions pack: what breaks one deliberately says so where it stands, with its reason."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Acknowledgment, Validations
from constructs import Construct

PACK = "AwsSolutions"


def acknowledge(construct: Construct, reasons: Mapping[str, str]) -> None:
    """Accept rules (``"L1"``, ``"IAM5[Resource::*]"``) for ``construct`` and what is in it. A reason is a sentence
    that somebody who approves deployments can follow."""
    Validations.of(construct).acknowledge(
        *(Acknowledgment(id=f"{PACK}::{PACK}-{rule}", reason=reason) for rule, reason in reasons.items())
    )
