"""The network: nothing in it can be reached from outside, and leaving it costs nothing while idle."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2
from constructs import Construct


class Network(Construct):
    """A dual-stack VPC in two zones, without a public subnet and without a NAT gateway.

    Functions leave over IPv6 through the egress-only gateway, which is free and lets nothing in; S3 is reached
    through its gateway endpoint, also free. The database's subnets have no way out at all.

    Clients must therefore use endpoints that have IPv6 addresses: Secrets Manager's default one does, Lambda's
    and SQS's are asked for with ``use_dualstack_endpoint``; S3's must stay the default, to use the gateway endpoint.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        functions = ec2.SubnetConfiguration(
            # "With egress", because only such subnets get the ::/0 route to the egress-only gateway.
            name="Functions",
            subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS,
            cidr_mask=20,
        )
        database = ec2.SubnetConfiguration(name="Database", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=24)
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            ip_protocol=ec2.IpProtocol.DUAL_STACK,
            max_azs=2,
            nat_gateways=0,
            create_internet_gateway=False,
            subnet_configuration=[functions, database],
            gateway_endpoints={"S3": ec2.GatewayVpcEndpointOptions(service=ec2.GatewayVpcEndpointAwsService.S3)},
            # Emptying the default group takes a custom resource; nothing here is ever a member of it.
            restrict_default_security_group=False,
        )
        self.function_subnets = ec2.SubnetSelection(subnet_group_name="Functions")
        self.database_subnets = ec2.SubnetSelection(subnet_group_name="Database")
        # One group for all functions: a group each, named in the database's ingress, would make the template
        # circular as soon as functions wait for the migration.
        self.functions_group = ec2.SecurityGroup(
            self,
            "FunctionsGroup",
            vpc=self.vpc,
            description="functions: out to anywhere, in from nowhere",
            allow_all_outbound=True,
            allow_all_ipv6_outbound=True,
        )
