"""The index: Postgres with pgvector."""

from __future__ import annotations

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_rds as rds
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.network import Network
from infra.options import Removal

NAME = "citewell"
OWNER = "citewell"
STORAGE_GIB = 20


class Database(Construct):
    """One small encrypted Postgres 17 that only the functions' security group reaches, over TLS alone.

    ``secret`` holds host, port, dbname, username and password, as RDS writes it.
    """

    def __init__(self, scope: Construct, construct_id: str, *, network: Network, removal: Removal) -> None:
        super().__init__(scope, construct_id)
        # The major version alone: RDS brings the newest minor one, and with it the newest pgvector.
        engine = rds.DatabaseInstanceEngine.postgres(version=rds.PostgresEngineVersion.VER_17)
        keep = removal is Removal.RETAIN
        self._instance = rds.DatabaseInstance(
            self,
            "Instance",
            engine=engine,
            instance_type=ec2.InstanceType.of(ec2.InstanceClass.BURSTABLE4_GRAVITON, ec2.InstanceSize.MICRO),
            vpc=network.vpc,
            vpc_subnets=network.database_subnets,
            security_groups=[network.database_group],
            publicly_accessible=False,
            credentials=rds.Credentials.from_generated_secret(OWNER),
            database_name=NAME,
            storage_type=rds.StorageType.GP3,
            allocated_storage=STORAGE_GIB,
            max_allocated_storage=5 * STORAGE_GIB,
            storage_encrypted=True,
            parameters={"rds.force_ssl": "1"},
            backup_retention=Duration.days(7),
            copy_tags_to_snapshot=True,
            auto_minor_version_upgrade=True,
            deletion_protection=keep,
            removal_policy=RemovalPolicy.SNAPSHOT if keep else RemovalPolicy.DESTROY,
            delete_automated_backups=not keep,
        )

    @property
    def identifier(self) -> str:
        """What CloudWatch calls the instance."""
        return self._instance.instance_identifier

    @property
    def secret(self) -> secretsmanager.ISecret:
        """Attached to the instance: who depends on it finds the host in it."""
        secret = self._instance.secret
        assert secret is not None  # from_generated_secret makes one
        return secret
