"""The custom resource that asks the stack's functions at the end of a deploy whether they work.

Properties: ``Functions`` names what is asked (``{"ask": {"Name": "...", ...}, ...}``); what else stands there, and
beside it, only makes CloudFormation call when a function has changed.

A problem fails the deploy, with its sentence in CloudFormation's events, and CloudFormation rolls back: it calls again
with the properties of before. Those passed once, which the resource's id remembers; that they fail now is no reason to
get stuck half-way, so it is only logged.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from citewell.errors import DeploymentBroken
from citewell.usecases.check_deployment import check_functions
from citewell.wiring import wiring

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

logger = Logger(service="verify")

# CloudFormation takes 4 kB for the whole of a custom resource's answer.
_MOST_CHARACTERS = 2000


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    if event["RequestType"] == "Delete":
        return {"PhysicalResourceId": event["PhysicalResourceId"]}
    properties = event["ResourceProperties"]
    verified = f"citewell-verified-{_digest(properties)}"
    found = check_functions(
        wiring().functions, {shown: each["Name"] for shown, each in properties["Functions"].items()}
    )
    for note in found.notes:
        logger.warning("to be done", extra={"note": note})
    for problem in found.problems:
        logger.error("the deployment doesn't work", extra={"problem": problem})
    if found.problems and event.get("PhysicalResourceId") != verified:
        raise DeploymentBroken("; ".join(found.problems)[:_MOST_CHARACTERS])
    return {"PhysicalResourceId": verified}


def _digest(properties: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(properties, sort_keys=True).encode()).hexdigest()[:16]
