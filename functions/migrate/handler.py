"""The custom resource that brings the database in step with a deploy, behind CDK's Provider framework.

Properties, all text: ``EmbedderModel`` and ``EmbedderDimensions`` name the embedder, ``ReplaceIndex`` ("true") allows
to replace the index of another one, or of another ``Tenancy``.
What else stands there only makes CloudFormation call when the files have changed, or the database is another.

An error fails the deploy, with its message in CloudFormation's events, and CloudFormation rolls back: it calls again
with the properties of before. So a database that is newer than this release counts as success, and after a deploy that
was allowed to replace the index the rollback is allowed to, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from citewell.core.keys import Tenancy
from citewell.errors import SchemaNewer
from citewell.telemetry import NAMESPACE
from citewell.usecases.migrate import admit_roles, ensure_generation, ensure_tenancy, migrate
from citewell.wiring import wiring

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

logger = Logger(service="migrate")
metrics = Metrics(namespace=NAMESPACE, service="migrate")

# Beside this package in the repository, and so in the function's bundle.
MIGRATIONS = Path(__file__).parents[2] / "migrations"

# One database has one schema; another id would make CloudFormation delete the old resource.
_RESOURCE = {"PhysicalResourceId": "citewell-schema"}


@metrics.log_metrics
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    metrics.add_metric(name="Migrations", unit=MetricUnit.Count, value=1)
    if event["RequestType"] == "Delete":
        return _RESOURCE  # what becomes of the data is decided where the database is
    wanted, before = event["ResourceProperties"], event.get("OldResourceProperties", {})
    schema = wiring().schema
    try:
        migrated = migrate(schema, MIGRATIONS)
    except SchemaNewer as newer:
        logger.warning("the database is newer than this release", extra={"reason": str(newer)})
    else:
        for warning in migrated.warnings:
            logger.warning("the database should be upgraded", extra={"reason": warning})
        logger.info("schema is up to date", extra={"applied": migrated.applied})
        for warning in admit_roles(schema):
            logger.warning("a role was tampered with", extra={"reason": warning})
    replace = "true" in (wanted.get("ReplaceIndex"), before.get("ReplaceIndex"))
    if tenancy := wanted.get("Tenancy"):  # a rollback may be to a release that didn't say
        ensure_tenancy(schema, Tenancy(tenancy), replace=replace)
    generation = ensure_generation(
        schema,
        model_id=wanted["EmbedderModel"],
        dimensions=int(wanted["EmbedderDimensions"]),
        replace=replace,
    )
    logger.info("index generation is live", extra={"generation": generation.generation, "model": generation.model_id})
    return _RESOURCE
