"""A function made of a bundle: with a role, a log group and nothing else of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.bundling import LAYERS_OF, X86_FUNCTIONS, Bundle, Bundles
from infra.network import Network
from infra.rules import acknowledge

RUNTIME = lambda_.Runtime.PYTHON_3_13
LOG_RETENTION = logs.RetentionDays.ONE_MONTH


def code_of(bundle: Bundle) -> lambda_.AssetCode:
    """Named by the bundle's inputs, not by its bytes: the same inputs deploy nothing new, whatever built them."""
    return lambda_.Code.from_asset(str(bundle.path), asset_hash=bundle.digest)


def log_group(scope: Construct) -> logs.LogGroup:
    return logs.LogGroup(scope, "Logs", retention=LOG_RETENTION, removal_policy=RemovalPolicy.DESTROY)


class Layers(Construct):
    """Every layer that was bundled, each for the architectures of the functions that use it."""

    def __init__(self, scope: Construct, construct_id: str, *, bundles: Bundles) -> None:
        super().__init__(scope, construct_id)
        self._versions = {
            name: lambda_.LayerVersion(
                self,
                name.capitalize(),
                code=code_of(bundle),
                compatible_runtimes=[RUNTIME],
                compatible_architectures=_architectures(name),
                description=f"Citewell: {name}",
            )
            for name, bundle in bundles.layers.items()
        }

    def of(self, function: str) -> Sequence[lambda_.ILayerVersion]:
        return [self._versions[name] for name in LAYERS_OF[function] if name in self._versions]


def architecture(function: str) -> lambda_.Architecture:
    return lambda_.Architecture.X86_64 if function in X86_FUNCTIONS else lambda_.Architecture.ARM_64


def _architectures(layer: str) -> list[lambda_.Architecture]:
    users = [function for function, layers in LAYERS_OF.items() if layer in layers]
    return list({chosen.name: chosen for chosen in map(architecture, users)}.values())


class BundledFunction(Construct):
    """``functions/<name>`` with its layers. ``settings`` become its ``CITEWELL_*`` variables, unset ones left out.

    With a ``network`` it runs in the functions' subnets and group, without one outside of the VPC.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        bundles: Bundles,
        layers: Layers,
        settings: Mapping[str, object],
        memory_mib: int,
        timeout: Duration,
        network: Network | None = None,
        reserved_copies: int | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.environment = environment({**settings, **_endpoints(network)})
        logs_ = log_group(self)
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description=f"the {name} function",
            inline_policies={"Network": _network_interfaces()} if network else None,
        )
        logs_.grant_write(self.role)
        self.function = lambda_.Function(
            self,
            "Function",
            description=f"Citewell: {name}",
            runtime=RUNTIME,
            architecture=architecture(name),
            handler=f"functions.{name}.handler.handler",
            code=code_of(bundles.functions[name]),
            layers=layers.of(name),
            role=self.role,
            log_group=logs_,
            memory_size=memory_mib,
            timeout=timeout,
            environment=self.environment,
            reserved_concurrent_executions=reserved_copies,
            vpc=network.vpc if network else None,
            vpc_subnets=network.function_subnets if network else None,
            security_groups=[network.functions_group] if network else None,
            ipv6_allowed_for_dual_stack=True if network and network.dualstack else None,
        )
        acknowledge(
            self,
            {
                "L1": "the lock's wheels and the compiled modules are for this Python, which AWS patches until 2029",
                "IAM5[Resource::*]": "network interfaces and traces, for which AWS offers no narrower resource; a test "
                "holds the list of these actions, and the function's own code may not use those on the network",
            },
        )

    def allow(self, *actions: str, on: Sequence[str]) -> None:
        self.role.add_to_policy(iam.PolicyStatement(actions=list(actions), resources=list(on)))


def environment(settings: Mapping[str, object]) -> dict[str, str]:
    """``{"top_k": 5}`` as a function sees it: ``{"CITEWELL_TOP_K": "5"}``."""
    return {f"CITEWELL_{name.upper()}": str(value) for name, value in settings.items() if value is not None}


def _endpoints(network: Network | None) -> dict[str, str]:
    """Where a function in the network finds AWS. Never the SDK's own switch: it would lead S3 past its endpoint."""
    return {"dualstack_endpoints": "yes"} if network and network.dualstack else {}


def _network_interfaces() -> iam.PolicyDocument:
    """What Lambda itself does with the role to put a function into a VPC; AWS offers no narrower resource.

    The function's code has no use for it, and is denied it: its requests alone carry the key of the condition. Source:
    the Lambda developer guide, "Giving Lambda functions access to resources in an Amazon VPC", security best practices.
    """
    actions = [
        "ec2:AssignPrivateIpAddresses",
        "ec2:CreateNetworkInterface",
        "ec2:DeleteNetworkInterface",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSubnets",
        "ec2:UnassignPrivateIpAddresses",
    ]
    from_code = {"Null": {"lambda:SourceFunctionArn": "false"}}
    return iam.PolicyDocument(
        statements=[
            iam.PolicyStatement(actions=actions, resources=["*"]),
            iam.PolicyStatement(effect=iam.Effect.DENY, actions=actions, resources=["*"], conditions=from_code),
        ]
    )
