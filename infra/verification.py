"""The last step of a deploy: the functions are asked whether they work, so that the deploy fails and not a user."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from aws_cdk import CustomResource, Duration
from constructs import Construct, IDependable

from infra import memory
from infra.bundled_function import BundledFunction, Layers
from infra.bundling import LAYERS_OF, Bundles
from infra.provider import Provider

TIMEOUT = Duration.minutes(10)
"""For three functions, asked four times at worst, each of which is given 40 seconds to answer."""


class Verification(Construct):
    """It runs when what it looks at changes: ``Functions`` holds each one's name, code and settings.

    A function is asked by its name ``asked`` here, and is ready to answer when everything ``after`` stands.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bundles: Bundles,
        layers: Layers,
        asked: Mapping[str, BundledFunction],
        after: IDependable,
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
        resource = CustomResource(
            self,
            "Works",
            resource_type="Custom::CitewellVerification",
            service_token=provider.token,
            service_timeout=TIMEOUT.plus(Duration.minutes(1)),
            properties={
                "Functions": {
                    name: {
                        "Name": function.function.function_name,
                        "Code": version_of(name, bundles),
                        "Settings": function.environment,
                    }
                    for name, function in asked.items()
                }
            },
        )
        # With their roles' policies, which a function alone doesn't wait for.
        resource.node.add_dependency(after, *asked.values())


def version_of(function: str, bundles: Bundles) -> str:
    """Another one for any change of the function's own bundle or of a layer (64 hex digits)."""
    layers = [bundles.layers[name].digest for name in LAYERS_OF[function] if name in bundles.layers]
    return hashlib.sha256(" ".join((bundles.functions[function].digest, *layers)).encode()).hexdigest()
