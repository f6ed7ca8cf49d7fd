"""How a deploy runs one of the product's functions as a step of its own: the CDK's provider framework before it."""

from __future__ import annotations

from aws_cdk import custom_resources
from constructs import Construct

from infra.bundled_function import BundledFunction, log_group
from infra.rules import OF_THE_CDK, acknowledge, wildcard_in


class Provider(Construct):
    """CloudFormation calls the framework's function (``token``), and that calls ``function`` and answers for it."""

    def __init__(self, scope: Construct, construct_id: str, *, function: BundledFunction) -> None:
        super().__init__(scope, construct_id)
        framework = custom_resources.Provider(
            self, "Framework", on_event_handler=function.function, log_group=log_group(self)
        )
        acknowledge(
            framework,
            {
                **OF_THE_CDK,
                wildcard_in(f"{function.function.function_arn}:*", scope=self): "the versions of this one function",
            },
        )
        self.token = framework.service_token
