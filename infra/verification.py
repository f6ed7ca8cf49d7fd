"""The last step of a deploy: the functions are asked whether they work, so that the deploy fails and not a user."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from aws_cdk import CustomResource, Duration
from constructs import Construct, IDependable

from infra import memory
from infra.bundled_function import BundledFunction, Layers
from infra.bundling import ROOT, Bundles
from infra.options import Options
from infra.provider import Provider

TIMEOUT = Duration.minutes(13)
"""For three functions, each given 50 seconds to answer four times at worst, and the pauses between."""

INFRASTRUCTURE = (*sorted(Path(__file__).parent.glob("*.py")), ROOT / "requirements.lock")
"""What the template is made with: roles, policies and routes follow from it, the options and the bundles."""


class Verification(Construct):
    """It runs when anything changes that a function's work may depend on: what the whole deployment is made from, or
    a setting that is known only when it is deployed.

    A function is asked by its name ``asked`` here; those ``called`` are tried by the ones that call them.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        options: Options,
        bundles: Bundles,
        layers: Layers,
        asked: Mapping[str, BundledFunction],
        called: Mapping[str, BundledFunction],
    ) -> None:
        super().__init__(scope, construct_id)
        self.verify = BundledFunction(
            self,
            "Verify",
            name="verify",
            bundles=bundles,
            layers=layers,
            settings={},
            memory_mib=memory.VERIFY,
            timeout=TIMEOUT,
        )
        self.verify.allow("lambda:InvokeFunction", on=[each.function.function_arn for each in asked.values()])
        provider = Provider(self, "Provider", function=self.verify)
        self._works = CustomResource(
            self,
            "Works",
            resource_type="Custom::CitewellVerification",
            service_token=provider.token,
            service_timeout=TIMEOUT.plus(Duration.minutes(1)),
            properties={
                "Functions": _functions(asked),
                "Called": _functions(called),
                "MadeFrom": made_from(options, bundles),
            },
        )

    def comes_after(self, *everything: IDependable) -> None:
        """``everything`` stands before the functions are asked: roles' policies too, which a function alone doesn't
        wait for, and whatever else could fail, so that nothing is rolled back that was found to work."""
        self._works.node.add_dependency(*everything)


def made_from(options: Options, bundles: Bundles) -> str:
    """Another one for any change of an option, a bundle or the infrastructure's own code (64 hex digits)."""
    digest = hashlib.sha256(json.dumps(asdict(options), sort_keys=True).encode())
    for kind in (bundles.layers, bundles.functions):
        for name, bundle in sorted(kind.items()):
            digest.update(f"\0{name} {bundle.digest}".encode())
    for path in INFRASTRUCTURE:
        digest.update(f"\0{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}".encode())
    return digest.hexdigest()


def _functions(functions: Mapping[str, BundledFunction]) -> dict[str, object]:
    return {
        name: {"Name": function.function.function_name, "Settings": function.environment}
        for name, function in functions.items()
    }
