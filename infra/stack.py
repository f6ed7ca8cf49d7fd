"""The whole deployment, composed; each part stands in a module of its own."""

from __future__ import annotations

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from infra.alarms import Watched
from infra.answering import Answering
from infra.bundled_function import Layers
from infra.bundling import Bundles
from infra.cdk_functions import keep_like_our_own
from infra.database import Database
from infra.embedding import Embedding
from infra.ingestion import Ingestion
from infra.migration import Migration
from infra.network import Network
from infra.observability import Observability
from infra.options import Options
from infra.reranking import Reranking
from infra.verification import Verification


class CitewellStack(Stack):
    def __init__(self, scope: Construct, construct_id: str, *, options: Options, bundles: Bundles) -> None:
        super().__init__(
            scope, construct_id, description="Citewell: answers from your own documents, with every sentence cited"
        )
        network = Network(self, "Network", options=options)
        database = Database(self, "Database", options=options, network=network)
        layers = Layers(self, "Layers", bundles=bundles)
        embedding = Embedding(self, "Embedding", options=options, bundles=bundles, layers=layers)
        reranking = Reranking(self, "Reranking", options=options, bundles=bundles, layers=layers)
        migration = Migration(
            self, "Migration", options=options, bundles=bundles, layers=layers, network=network, database=database
        )
        ingestion = Ingestion(
            self,
            "Ingestion",
            options=options,
            bundles=bundles,
            layers=layers,
            network=network,
            database=database,
            embedding=embedding,
            after=migration.done,
        )
        answering = Answering(
            self,
            "Answering",
            options=options,
            bundles=bundles,
            layers=layers,
            network=network,
            database=database,
            embedding=embedding,
            reranking=reranking,
            after=migration.done,
        )
        models = {"embed": embedding.embed, "rerank": reranking.rerank}
        called = {name: function for name, function in models.items() if function}
        verification = Verification(
            self,
            "Verification",
            options=options,
            bundles=bundles,
            layers=layers,
            asked={"ask": answering.ask, "documents": answering.documents, "ingest": ingestion.ingest},
            called=called,
        )
        functions = {
            "ask": answering.ask,
            "documents": answering.documents,
            "ingest": ingestion.ingest,
            "migrate": migration.migrate,
            "verify": verification.verify,
            **called,
        }
        observability = Observability(
            self,
            "Observability",
            options=options,
            functions=functions,
            watched=Watched(
                functions={name: each.function.function_name for name, each in functions.items()},
                queue=ingestion.queues.queue.queue_name,
                dead_letters=ingestion.queues.dead_letters.queue_name,
                api=answering.api.api_id,
                database=database.identifier,
            ),
        )
        verification.comes_after(network, migration, embedding, reranking, ingestion, answering, observability)
        CfnOutput(self, "ApiUrl", value=answering.api.url, description="POST /ask here")
        if users := answering.users:
            CfnOutput(self, "UserPoolId", value=users.pool.user_pool_id, description="add people and groups here")
            CfnOutput(self, "UserPoolClientId", value=users.client.user_pool_client_id)
        CfnOutput(
            self, "BucketName", value=ingestion.documents.bucket.bucket_name, description="drop documents in here"
        )
        CfnOutput(self, "QueueUrl", value=ingestion.queues.queue.queue_url)
        CfnOutput(self, "DatabaseInstance", value=database.identifier)
        CfnOutput(self, "DeadLetterQueueUrl", value=ingestion.queues.dead_letters.queue_url)
        CfnOutput(self, "DatabaseSecretArn", value=database.secret_arn)
        if key := answering.anthropic_api_key:
            CfnOutput(self, "AnthropicApiKeySecretArn", value=key.secret.secret_arn)
        if key := embedding.api_key:
            CfnOutput(self, "EmbedderApiKeySecretArn", value=key.secret.secret_arn)
        if key := reranking.api_key:
            CfnOutput(self, "RerankerApiKeySecretArn", value=key.secret.secret_arn)
        keep_like_our_own(self)
