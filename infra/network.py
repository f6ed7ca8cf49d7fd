"""The network: nothing in it can be reached from outside, and by default leaving it costs nothing while idle."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.options import Egress, EmbedderChoice, GeneratorChoice, Options, RerankerChoice, Target

POSTGRES = ec2.Port.tcp(5432)
HTTPS = 443
READING = ("s3:GetBucketVersioning", "s3:GetObject", "s3:GetObjectVersion", "s3:ListBucket")
"""All that anything in the network does with S3."""


class Network(Construct):
    """A VPC in two zones. What stands in it only ever calls out, and ``egress`` says how far:

    - ``ipv6``: over IPv6 through the egress-only gateway, which is free and lets nothing in. Clients must use
      endpoints that have IPv6 addresses: Secrets Manager's default one does, those of Lambda and SQS are asked for
      (the setting ``dualstack_endpoints``).
    - ``nat``: over IPv4 through one NAT gateway, from one address that others can allow.
    - ``none``: nowhere. The AWS services that the chosen functions call have endpoints here, in one zone: the other
      zone reaches them too, and each further zone would double their price.

    S3 is reached through its free gateway endpoint in each of them, by IPv4 and with the default endpoint's name; the
    endpoint lets through reads of the documents alone. The database's subnets have no way out at all.

    Subnets keep their order, names and addresses whatever ``egress`` is, so that it can be changed on a standing stack.
    """

    def __init__(self, scope: Construct, construct_id: str, *, options: Options) -> None:
        super().__init__(scope, construct_id)
        egress = options.resolved_egress
        self.dualstack = egress is Egress.IPV6
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            ip_protocol=ec2.IpProtocol.DUAL_STACK if self.dualstack else ec2.IpProtocol.IPV4_ONLY,
            max_azs=2,
            nat_gateways=1 if egress is Egress.NAT else 0,
            create_internet_gateway=egress is Egress.NAT,
            subnet_configuration=list(_subnets(egress)),
            # Security Hub demands that the default group, which nothing here is ever a member of, lets nothing
            # through. The CDK's function for it needs the AWS SDK of Lambda's Node.js, which no emulator has.
            restrict_default_security_group=options.target is Target.AWS,
        )
        self.function_subnets = ec2.SubnetSelection(subnet_group_name="Functions")
        self.database_subnets = ec2.SubnetSelection(subnet_group_name="Database")
        # One group for all functions: a group each, named in the database's ingress, would make the template
        # circular as soon as functions wait for the migration.
        self.functions_group = self._group("Functions", "functions: nothing comes in")
        self.database_group = self._group("Database", "database: from the functions alone")
        self.database_group.add_ingress_rule(self.functions_group, POSTGRES, "Postgres, from the functions")
        self.functions_group.add_egress_rule(self.database_group, POSTGRES, "Postgres")
        for port in sorted(_ports(options)):
            # To any address: where that leads is the route tables' to say.
            self.functions_group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(port), "APIs")
            if self.dualstack:
                self.functions_group.add_egress_rule(ec2.Peer.any_ipv6(), ec2.Port.tcp(port), "APIs over IPv6")
        self._s3 = self.vpc.add_gateway_endpoint(
            "S3", service=ec2.GatewayVpcEndpointAwsService.S3, subnets=[self.function_subnets]
        )
        if egress is Egress.NONE:
            self._add_interface_endpoints(options)
        self._log_flows()

    def allow_reading(self, bucket: s3.IBucket) -> None:
        """Let the S3 endpoint through to ``bucket``, for callers of this account. To other buckets there is no way."""
        self._s3.add_to_policy(_from_this_account(*READING, on=[bucket.bucket_arn, bucket.arn_for_objects("*")]))

    def _group(self, name: str, description: str) -> ec2.SecurityGroup:
        return ec2.SecurityGroup(
            self,
            f"{name}Group",
            vpc=self.vpc,
            description=description,
            allow_all_outbound=False,
            allow_all_ipv6_outbound=False,
        )

    def _add_interface_endpoints(self, options: Options) -> None:
        group = self._group("Endpoints", "endpoints of AWS services: from the functions alone")
        group.add_ingress_rule(self.functions_group, ec2.Port.tcp(HTTPS), "HTTPS, from the functions")
        one_zone = ec2.SubnetSelection(subnets=self.vpc.select_subnets(subnet_group_name="Functions").subnets[:1])
        for name, service in _services(options):
            endpoint = self.vpc.add_interface_endpoint(
                name, service=service, subnets=one_zone, security_groups=[group], open=False
            )
            # Without this, whoever got in could carry documents out to an account of their own.
            endpoint.add_to_policy(_from_this_account("*", on=["*"]))

    def _log_flows(self) -> None:
        """Who spoke to whom, kept for a month. Free while nobody does; a million connections are about 8 cents."""
        group = logs.LogGroup(
            self, "FlowLogs", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY
        )
        self.vpc.add_flow_log(
            "Flows",
            destination=ec2.FlowLogDestination.to_cloud_watch_logs(group),
            traffic_type=ec2.FlowLogTrafficType.ALL,
            max_aggregation_interval=ec2.FlowLogMaxAggregationInterval.TEN_MINUTES,
        )


def _subnets(egress: Egress) -> Iterator[ec2.SubnetConfiguration]:
    yield ec2.SubnetConfiguration(
        name="Functions",
        # Only a subnet "with egress" gets the route to a gateway.
        subnet_type=ec2.SubnetType.PRIVATE_ISOLATED if egress is Egress.NONE else ec2.SubnetType.PRIVATE_WITH_EGRESS,
        cidr_mask=20,
    )
    yield ec2.SubnetConfiguration(name="Database", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=24)
    if egress is Egress.NAT:
        yield ec2.SubnetConfiguration(
            name="Nat", subnet_type=ec2.SubnetType.PUBLIC, cidr_mask=24, map_public_ip_on_launch=False
        )


def _ports(options: Options) -> set[int]:
    """What functions call others at: HTTPS, and the ports of the addresses that were chosen."""
    chosen = (options.embedder_url, options.reranker_url, options.anthropic_base_url)
    parts = [urlsplit(url) for url in chosen if url]
    return {HTTPS} | {each.port or (80 if each.scheme == "http" else HTTPS) for each in parts}


def _services(options: Options) -> Iterator[tuple[str, ec2.InterfaceVpcEndpointAwsService]]:
    yield "SecretsManager", ec2.InterfaceVpcEndpointAwsService.SECRETS_MANAGER  # migrate: the owner's password
    yield "Sqs", ec2.InterfaceVpcEndpointAwsService.SQS  # ingest: gives failed messages back early
    if options.embedder is EmbedderChoice.LOCAL or options.reranker is RerankerChoice.LOCAL:
        yield "Lambda", ec2.InterfaceVpcEndpointAwsService.LAMBDA_  # the functions embed and rerank
    if options.embedder is EmbedderChoice.BEDROCK or options.generator is GeneratorChoice.BEDROCK:
        yield "Bedrock", ec2.InterfaceVpcEndpointAwsService.BEDROCK_RUNTIME


def _from_this_account(*actions: str, on: list[str]) -> iam.PolicyStatement:
    """An endpoint's policy grants nothing by itself: the caller's own role must allow the call as well."""
    return iam.PolicyStatement(
        actions=list(actions),
        resources=on,
        principals=[iam.AnyPrincipal()],
        conditions={"StringEquals": {"aws:PrincipalAccount": Aws.ACCOUNT_ID}},
    )
