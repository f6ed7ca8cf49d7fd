"""The index: Postgres with pgvector."""

from __future__ import annotations

from enum import StrEnum

from aws_cdk import ArnFormat, Aws, Duration, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_rds as rds
from constructs import Construct

from citewell.edges import postgres_roles
from infra.bundled_function import BundledFunction
from infra.bundling import RDS_CA_PATH
from infra.network import Network
from infra.options import Options, Removal
from infra.rules import acknowledge

NAME = "citewell"
PORT = 5432
MOST_STORAGE_GIB = 65_536
"""RDS's own limit for gp3."""

# Nothing of a document or a question may stand in the server's log: no value that a statement was given, and no
# detail of an error, which would show the row that it is about. A statement that took longer than two seconds is
# logged without its values. As CSV, because there each line has the application's name, which is the request's id
# (citewell.correlation); RDS keeps that out of the lines of its other log.
PARAMETERS = {
    "rds.force_ssl": "1",
    "log_destination": "csvlog",
    "log_statement": "none",
    "log_min_duration_statement": "2000",
    "log_parameter_max_length": "0",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}


class DatabaseRole(StrEnum):
    """Whom a function logs in as. :mod:`citewell.edges.postgres_roles` says what each may do."""

    OWNER = "citewell"
    READER = postgres_roles.READER
    WRITER = postgres_roles.WRITER


class Database(Construct):
    """One encrypted Postgres 17 that only the functions' security group reaches, over TLS alone.

    The owner's password is chosen, kept and rotated by RDS, in a secret of its own; the other roles have none and log
    in with IAM tokens. Its log stays on the instance for three days, where it costs nothing.
    """

    def __init__(self, scope: Construct, construct_id: str, *, options: Options, network: Network) -> None:
        super().__init__(scope, construct_id)
        # The major version alone: RDS brings the newest minor one, and with it the newest pgvector.
        engine = rds.DatabaseInstanceEngine.postgres(version=rds.PostgresEngineVersion.VER_17)
        keep = options.removal_policy is Removal.RETAIN
        self._instance = rds.DatabaseInstance(
            self,
            "Instance",
            engine=engine,
            instance_type=ec2.InstanceType(options.database_class),
            multi_az=options.database_multi_az,
            vpc=network.vpc,
            vpc_subnets=network.database_subnets,
            security_groups=[network.database_group],
            publicly_accessible=False,
            port=PORT,
            credentials=rds.Credentials.from_username(DatabaseRole.OWNER),
            manage_master_user_password=True,
            iam_authentication=True,
            database_name=NAME,
            storage_type=rds.StorageType.GP3,
            allocated_storage=options.database_storage,
            # Grown into, and paid for, only when it is needed.
            max_allocated_storage=min(5 * options.database_storage, MOST_STORAGE_GIB),
            storage_encrypted=True,
            parameters=PARAMETERS,
            backup_retention=Duration.days(7),
            copy_tags_to_snapshot=True,
            auto_minor_version_upgrade=True,
            deletion_protection=keep,
            removal_policy=RemovalPolicy.SNAPSHOT if keep else RemovalPolicy.DESTROY,
            delete_automated_backups=not keep,
        )
        reasons = {"RDS11": "only the functions' security group reaches the port, whatever its number"}
        if not options.database_multi_az:
            reasons["RDS3"] = (
                "databaseMultiAz=true keeps a standby in another zone, at twice the price; without it the index is "
                "restored from a backup, or built anew from the bucket"
            )
        if not keep:
            reasons["RDS10"] = "removalPolicy=destroy asks for a stack that goes without a trace"
        acknowledge(self._instance, reasons)
        if options.database_snapshot:
            self._restore(options.database_snapshot)

    def _restore(self, snapshot: str) -> None:
        """CloudFormation makes another instance, from ``snapshot``, and then takes the present one away."""
        resource = self._instance.node.default_child
        assert isinstance(resource, rds.CfnDBInstance)
        resource.db_snapshot_identifier = snapshot
        for known_by_the_snapshot in ("DBName", "MasterUsername", "StorageEncrypted"):
            resource.add_property_deletion_override(known_by_the_snapshot)

    @property
    def identifier(self) -> str:
        """What CloudWatch calls the instance."""
        return self._instance.instance_identifier

    @property
    def secret_arn(self) -> str:
        """Of the secret with the owner's name and password."""
        secret = self._instance.secret
        assert secret is not None  # RDS makes one
        return secret.secret_arn

    def settings(self, role: DatabaseRole) -> dict[str, object]:
        """The settings of a function that logs in as ``role``."""
        server: dict[str, object] = {
            "database_host": self._instance.db_instance_endpoint_address,
            "database_port": self._instance.db_instance_endpoint_port,
            "database_name": NAME,
            "database_ca": RDS_CA_PATH,
        }
        if role is DatabaseRole.OWNER:
            return {**server, "database_auth": "secret", "database_secret_arn": self.secret_arn}
        return {**server, "database_auth": "iam", "database_user": role, "database_region": Aws.REGION}

    def allow(self, function: BundledFunction, role: DatabaseRole) -> None:
        """Let ``function`` log in as ``role``, and as nobody else."""
        if role is DatabaseRole.OWNER:
            function.allow("secretsmanager:GetSecretValue", on=[self.secret_arn])
            return
        login = Stack.of(self).format_arn(
            service="rds-db",
            resource="dbuser",
            resource_name=f"{self.resource_id}/{role}",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        function.allow("rds-db:connect", on=[login])

    @property
    def resource_id(self) -> str:
        """What RDS calls this very instance; one that is restored from a snapshot has another."""
        resource_id = self._instance.instance_resource_id
        assert resource_id is not None  # only an imported instance may have none
        return resource_id
