"""The functions that the CDK itself adds to a stack, for what CloudFormation can't do: kept like the product's own."""

from __future__ import annotations

from aws_cdk import CfnResource, Stack
from constructs import Construct, IConstruct

from infra.bundled_function import log_group
from infra.rules import OF_THE_CDK, acknowledge


def keep_like_our_own(stack: Stack) -> None:
    """Give each of the CDK's functions a log group that expires; by itself it logs to one that never does.

    Call this when the stack is complete: the CDK adds the functions along with whatever needs them.
    """
    for function in [node for node in stack.node.find_all() if _logs_anywhere(node)]:
        provider = function.node.scope
        assert isinstance(function, CfnResource)
        assert isinstance(provider, Construct)
        function.add_property_override("LoggingConfig.LogGroup", log_group(provider).log_group_name)
        acknowledge(provider, OF_THE_CDK)


def _logs_anywhere(node: IConstruct) -> bool:
    if not CfnResource.is_cfn_resource(node):
        return False
    assert isinstance(node, CfnResource)
    return node.cfn_resource_type == "AWS::Lambda::Function" and not hasattr(node, "logging_config")
