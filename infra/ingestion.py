"""The path in: bucket -> queue -> ingest."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as event_sources
from constructs import Construct, IDependable

from infra import memory
from infra.bundled_function import BundledFunction, Layers
from infra.bundling import Bundles
from infra.capacity import capacity_of
from infra.database import Database, DatabaseRole
from infra.document_bucket import DocumentBucket
from infra.embedding import Embedding
from infra.ingestion_queue import MAX_RECEIVES, IngestionQueue
from infra.network import Network
from infra.options import Options
from infra.rules import acknowledge, wildcard_in

TIMEOUT = Duration.seconds(300)
"""An ordinary document takes about a second. One that takes longer than this loses nothing: the vectors of each
finished batch are kept, so each of its five receives goes on where the last one stopped, about 7,000 passages further
with the local model. A longer time-out would lengthen the wait after a worker's death, which is the queue's visibility
time-out and six times as long; a worker that only fails gives its message back sooner."""

VISIBILITY_TIMEOUT = Duration.seconds(6 * 300)

BATCH_SIZE = 5
"""Messages an invocation; each stands or falls alone. Small, so that a document that kills its worker (each kill
counts as a receive for the whole batch) takes few others along, and so that five of them fit the time-out."""


class Ingestion(Construct):
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
        embedding: Embedding,
        after: IDependable,
    ) -> None:
        super().__init__(scope, construct_id)
        self.queues = IngestionQueue(self, "Queues", visibility_timeout=VISIBILITY_TIMEOUT)
        self.documents = DocumentBucket(self, "Documents", queue=self.queues.queue, options=options)
        bucket = self.documents.bucket
        network.allow_reading(bucket)
        self.ingest = BundledFunction(
            self,
            "Ingest",
            name="ingest",
            bundles=bundles,
            layers=layers,
            settings={
                **database.settings(DatabaseRole.WRITER),
                "bucket": bucket.bucket_name,
                "tenancy": options.tenancy,
                "queue_url": self.queues.queue.queue_url,
                "max_receives": MAX_RECEIVES,
                "extract_seconds": options.extract_seconds,
                "extract_memory_mb": options.ingest_memory - memory.INGEST_ITSELF,
                "ocr": options.ocr,
                "ocr_languages": options.ocr_languages,
                **embedding.settings(),
            },
            memory_mib=options.ingest_memory,
            timeout=TIMEOUT,
            network=network,
        )
        if options.ocr_layer is not None:
            ocr = lambda_.LayerVersion.from_layer_version_arn(self, "Tesseract", options.ocr_layer)
            self.ingest.function.add_layers(ocr)
        database.allow(self.ingest, DatabaseRole.WRITER)
        self.ingest.allow("s3:GetObject", "s3:GetObjectVersion", on=[bucket.arn_for_objects("*")])
        acknowledge(
            self.ingest,
            {wildcard_in(bucket.arn_for_objects("*"), scope=self): "every object of this one bucket is a document"},
        )
        # Without the first, a missing key is 403, not 404; the other is for the look that ends a deploy.
        self.ingest.allow("s3:ListBucket", "s3:GetBucketVersioning", on=[bucket.bucket_arn])
        # A sweep of the index puts each key that it finds there on the queue.
        self.ingest.allow("sqs:SendMessage", on=[self.queues.queue.queue_arn])
        embedding.allow(self.ingest)
        self.ingest.function.add_event_source(
            event_sources.SqsEventSource(
                self.queues.queue,
                batch_size=BATCH_SIZE,
                max_concurrency=capacity_of(options.database_class).ingest,
                report_batch_item_failures=True,
            )
        )
        self.ingest.node.add_dependency(after)
