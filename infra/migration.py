"""Brings the database's schema up to date during a deploy, before the code that needs it serves."""

from __future__ import annotations

from aws_cdk import CustomResource, Duration
from constructs import Construct, IDependable

from infra import memory
from infra.bundled_function import BundledFunction, Layers
from infra.bundling import Bundles
from infra.database import Database, DatabaseRole
from infra.network import Network
from infra.options import Options
from infra.provider import Provider

TIMEOUT = Duration.minutes(14)
"""Building an index over a large table is what takes long; the Provider framework waits 15 minutes for a function."""


class Migration(Construct):
    """``done`` is complete when the schema is; whatever depends on it serves only then.

    It runs when its properties change: ``Migrations`` (digest of the migrate function's bundle, which holds the SQL
    files), ``Release`` (digest of citewell itself, which holds the roles' rights), ``Database`` (the instance, which a
    restored snapshot makes another), ``Tenancy``, ``EmbedderModel``, ``EmbedderDimensions``, ``ReplaceIndex`` ("true"
    or "false"); all text.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        options: Options,
        bundles: Bundles,
        layers: Layers,
        network: Network,
        database: Database,
    ) -> None:
        super().__init__(scope, construct_id)
        self.migrate = BundledFunction(
            self,
            "Migrate",
            name="migrate",
            bundles=bundles,
            layers=layers,
            settings=database.settings(DatabaseRole.OWNER),
            memory_mib=memory.MIGRATE,
            timeout=TIMEOUT,
            network=network,
        )
        database.allow(self.migrate, DatabaseRole.OWNER)
        provider = Provider(self, "Provider", function=self.migrate)
        resource = CustomResource(
            self,
            "Schema",
            resource_type="Custom::CitewellSchema",
            service_token=provider.token,
            service_timeout=TIMEOUT.plus(Duration.minutes(1)),
            properties={
                "Migrations": bundles.functions["migrate"].digest,
                "Release": bundles.layers["core"].digest,
                "Database": database.resource_id,
                "Tenancy": options.tenancy,
                "EmbedderModel": options.embedder_id,
                "EmbedderDimensions": str(options.vector_dimensions),
                "ReplaceIndex": str(options.replace_index).lower(),
            },
        )
        # The function is called as soon as the resource is made: its way out and the way in must stand by then.
        resource.node.add_dependency(network, database)
        self.done: IDependable = resource
