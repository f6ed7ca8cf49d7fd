"""The custom resource that asks the stack's functions at the end of a deploy whether they work.

Properties: ``Functions`` names what is asked (``{"ask": {"Name": "...", "Settings": {...}}, ...}``). What else stands
there, and beside it, makes CloudFormation call when something has changed that a function's work may depend on.

A problem fails the deploy, with its sentence in CloudFormation's events, and CloudFormation rolls back. Then it calls
again with the properties of before: after a check that failed, or after one that passed when something else failed
later. Those of before passed once, and that they fail now is no reason to get stuck half-way, so it is only logged.
The resource's id remembers what passed: ``citewell-verified-<digest>``, and after an update also the one before it,
``citewell-verified-<digest>-<digest before>``.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from citewell.core.checking import overdue
from citewell.errors import DeploymentBroken
from citewell.usecases.check_deployment import check_functions
from citewell.wiring import wiring

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

logger = Logger(service="verify")

# CloudFormation takes 4 kB for the whole of a custom resource's answer.
_MOST_CHARACTERS = 2000


_VERIFIED = "citewell-verified-"


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    known = event.get("PhysicalResourceId", "")
    if event["RequestType"] == "Delete":
        return {"PhysicalResourceId": known}
    properties = event["ResourceProperties"]
    found = check_functions(
        wiring().functions, {shown: each["Name"] for shown, each in properties["Functions"].items()}
    )
    # A secret can't be filled before the deploy that makes it.
    found = overdue(found, _secrets(event.get("OldResourceProperties", {})))
    for note in found.notes:
        logger.warning("to be done", extra={"note": note})
    for problem in found.problems:
        logger.error("the deployment doesn't work", extra={"problem": problem})
    passed = known.removeprefix(_VERIFIED).split("-") if known.startswith(_VERIFIED) else []
    digest = _digest(properties)
    if found.problems and digest not in passed:
        raise DeploymentBroken("; ".join(found.problems)[:_MOST_CHARACTERS])
    # Gone back to, the one before stands alone: whoever tries the newer one again has it checked again.
    remembered = [digest] if digest in passed else [digest, *passed[:1]]
    return {"PhysicalResourceId": _VERIFIED + "-".join(remembered)}


def _digest(properties: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(properties, sort_keys=True).encode()).hexdigest()[:16]


def _secrets(properties: dict[str, Any]) -> frozenset[str]:
    """The ARNs of the secrets that the functions of these properties were told."""
    settings = [function.get("Settings", {}) for function in properties.get("Functions", {}).values()]
    return frozenset(arn for each in settings for name, arn in each.items() if name.endswith("_SECRET_ARN"))
