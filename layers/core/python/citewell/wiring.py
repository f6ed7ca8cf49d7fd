"""The one place where ports get their implementations: lazily, once per process."""

from __future__ import annotations

import time
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.keys import Tenancy
from citewell.core.ranking import fuse_ranks, fuse_scores
from citewell.core.refusing import RefusalFit, fit_for
from citewell.edges.secrets import fetch_secret
from citewell.settings import Settings, child_environment, trace_header, xray_daemon
from citewell.usecases.ask_question import AskQuestion, SearchPassages
from citewell.usecases.read_documents import ReadDocuments

if TYPE_CHECKING:
    from collections.abc import Callable

    from citewell.core.values import Passage

    # Imported where they are needed: a function doesn't pay for edges that it never uses.
    from citewell.edges.claude_access import ClaudeAccess
    from citewell.edges.postgres_login import Login
    from citewell.edges.sqs_queue import SqsQueue
    from citewell.edges.xray import XRay
    from citewell.ports import ChunkStore, Embedder, Extractor, Generator, ObjectStore, Reranker
    from citewell.usecases.check_deployment import CheckDeployment, Functions
    from citewell.usecases.ingest_object import IngestObject
    from citewell.usecases.migrate import Schema
    from citewell.usecases.rerank_passages import RerankPassages
    from citewell.usecases.sweep_index import SweepIndex


class Wiring:
    """Everything a process needs, built from ``settings`` at first use. Raises ConfigurationError then."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def ingest_object(self) -> IngestObject:
        from citewell.usecases.ingest_object import IngestObject

        settings = self.settings
        return IngestObject(
            objects=self.objects,
            extractor=self.extractor,
            chunks=self.chunks,
            embedder=self.embedder,
            tenancy=Tenancy(settings.tenancy),
            max_object_bytes=settings.max_object_bytes,
            chunk_tokens=settings.chunk_tokens,
            overlap_tokens=settings.overlap_tokens,
        )

    @cached_property
    def sweep_index(self) -> SweepIndex:
        from citewell.usecases.sweep_index import SweepIndex

        self.settings.require("queue_url")
        assert self.queue is not None
        return SweepIndex(
            documents=self.chunks,
            queue=self.queue,
            bucket=self.settings.require("bucket"),
            tenancy=Tenancy(self.settings.tenancy),
        )

    @cached_property
    def search_passages(self) -> SearchPassages:
        return SearchPassages(
            chunks=self.chunks,
            embedder=self.embedder,
            candidates=self.settings.candidates,
            fuse=self.fuse,
            rerank=self.rerank_passages,
        )

    @cached_property
    def rerank_passages(self) -> RerankPassages | None:
        """None where nothing reranks."""
        if self.reranker is None:
            return None
        from citewell.usecases.rerank_passages import RerankPassages

        return RerankPassages(self.reranker, candidates=self.settings.rerank_candidates, clock=time.monotonic)

    @cached_property
    def ask_question(self) -> AskQuestion:
        return AskQuestion(
            search=self.search_passages,
            generator=lambda: self.generator,
            refusal=self.refusal,
            clock=time.monotonic,
        )

    @cached_property
    def fuse(self) -> Callable[[list[Passage]], list[Passage]]:
        return fuse_scores if self.settings.fusion == "convex" else partial(fuse_ranks, k=self.settings.rrf_k)

    @cached_property
    def refusal(self) -> RefusalFit:
        given = self.settings.refusal_fit
        return fit_for(
            self.embedder.model_id,
            fit=RefusalFit.from_json(given) if given else None,
            min_score=self.settings.min_score,
        )

    @cached_property
    def read_documents(self) -> ReadDocuments:
        return ReadDocuments(self.chunks)

    @cached_property
    def xray(self) -> XRay | None:
        """Where the steps of a request are told; None unless the deployment is traced."""
        if self.settings.tracing == "no":
            return None
        from citewell.edges.xray import XRay

        return XRay(trace=trace_header, daemon=xray_daemon())

    @cached_property
    def check_asking(self) -> CheckDeployment:
        from citewell.usecases.check_deployment import CheckDeployment

        return CheckDeployment(
            use_case=lambda: self.ask_question,
            chunks=lambda: self.chunks,
            embedder=lambda: self.embedder,
            reranker=None if self.settings.reranker == "none" else lambda: self.reranker,
            generator=lambda: self.generator,
        )

    @cached_property
    def check_documents(self) -> CheckDeployment:
        from citewell.usecases.check_deployment import CheckDeployment

        return CheckDeployment(use_case=lambda: self.read_documents, chunks=lambda: self.chunks)

    @cached_property
    def check_ingest(self) -> CheckDeployment:
        from citewell.core.values import TextKind
        from citewell.edges.s3_object_store import HASTE, S3ObjectStore
        from citewell.usecases.check_deployment import CheckDeployment

        return CheckDeployment(
            use_case=lambda: self.ingest_object,
            chunks=lambda: self.chunks,
            embedder=lambda: self.embedder,
            kind=TextKind.PASSAGE,
            writes=True,
            objects=lambda: S3ObjectStore(self.settings.require("bucket"), patience=HASTE),
            extractor=lambda: self.extractor,
        )

    @cached_property
    def functions(self) -> Functions:
        from citewell.edges.deployed_functions import DeployedFunctions

        return DeployedFunctions()

    @cached_property
    def objects(self) -> ObjectStore:
        from citewell.edges.s3_object_store import S3ObjectStore

        return S3ObjectStore(self.settings.require("bucket"))

    @cached_property
    def extractor(self) -> Extractor:
        from citewell.edges.extractor_process import ExtractorProcess, Ocr, tesseract
        from citewell.extract.options import Limits

        settings = self.settings
        return ExtractorProcess(
            limits=Limits(
                pages=settings.extract_max_pages,
                characters=settings.extract_max_characters,
                unpacked_bytes=settings.extract_unpacked_mb * 1_000_000,
                ratio=settings.extract_ratio,
            ),
            seconds=settings.extract_seconds,
            memory_mb=settings.extract_memory_mb,
            environment=child_environment(),
            ocr=Ocr(tesseract(), settings.ocr_languages) if settings.ocr == "tesseract" else None,
        )

    @cached_property
    def queue(self) -> SqsQueue | None:
        from citewell.edges.sqs_queue import SqsQueue

        url = self.settings.queue_url
        return SqsQueue(url, dualstack=self.settings.dualstack_endpoints == "yes") if url else None

    @cached_property
    def database(self) -> Login:
        from citewell.edges.postgres_login import FixedLogin, SecretLogin, Server, TokenLogin

        settings = self.settings
        if settings.database_url:
            return FixedLogin(settings.database_url)
        server = Server(
            settings.require("database_host"), settings.database_port, settings.database_name, settings.database_ca
        )
        if settings.database_auth == "iam":
            return TokenLogin(
                server, user=settings.require("database_user"), region=settings.require("database_region")
            )
        return SecretLogin(server, secret=partial(fetch_secret, settings.require("database_secret_arn")))

    @cached_property
    def chunks(self) -> ChunkStore:
        from citewell.edges.postgres_chunk_store import PostgresChunkStore

        return PostgresChunkStore(self.database)

    @cached_property
    def schema(self) -> Schema:
        from citewell.edges.postgres_schema import PostgresSchema

        return PostgresSchema(self.database)

    @cached_property
    def embedder(self) -> Embedder:
        settings = self.settings
        if settings.embedder == "local":
            from citewell.edges.local_embedder import LocalEmbedder

            return LocalEmbedder(Path(settings.require("model_dir")))
        if settings.embedder == "function":
            from citewell.edges.function_embedder import FunctionEmbedder

            return FunctionEmbedder(
                settings.require("embed_function"),
                model_id=settings.require("embedder_model"),
                dimensions=settings.require_number("embedder_dimensions"),
                tokenizer=Path(settings.require("model_dir")) / "tokenizer.json",
                dualstack=settings.dualstack_endpoints == "yes",
            )
        return self._hosted_embedder()

    def _hosted_embedder(self) -> Embedder:
        settings = self.settings
        model = settings.require("embedder_model")
        dimensions = settings.require_number("embedder_dimensions")
        batch_size, max_tokens = settings.embedder_batch_size, settings.embedder_max_tokens
        if settings.embedder == "bedrock":
            from citewell.edges.bedrock_embedder import BedrockEmbedder

            return BedrockEmbedder(model, dimensions=dimensions, batch_size=batch_size, max_tokens=max_tokens)
        if settings.embedder == "voyage":
            from citewell.edges import voyage_embedder

            return voyage_embedder.VoyageEmbedder(
                settings.embedder_url or voyage_embedder.URL,
                model,
                dimensions=dimensions,
                api_key=partial(fetch_secret, settings.require("embedder_api_key_secret_arn")),
                batch_size=batch_size,
                max_tokens=max_tokens,
            )
        from citewell.edges import openai_embedder

        return openai_embedder.OpenAIEmbedder(
            settings.embedder_url or openai_embedder.URL,
            model,
            dimensions=dimensions,
            request_dimensions=settings.embedder_send_dimensions == "yes",
            api_key=partial(fetch_secret, key) if (key := settings.embedder_api_key_secret_arn) else None,
            batch_size=batch_size,
            max_tokens=max_tokens,
        )

    @cached_property
    def reranker(self) -> Reranker | None:
        settings = self.settings
        if settings.reranker == "none":
            return None
        if settings.reranker == "local":
            from citewell.edges.local_reranker import LocalReranker

            return LocalReranker(Path(settings.require("reranker_model_dir")), seconds=settings.rerank_seconds)
        if settings.reranker == "function":
            from citewell.edges.function_reranker import FunctionReranker

            return FunctionReranker(
                settings.require("rerank_function"),
                model_id=settings.require("reranker_model"),
                seconds=settings.rerank_seconds,
                dualstack=settings.dualstack_endpoints == "yes",
            )
        return self._hosted_reranker()

    def _hosted_reranker(self) -> Reranker:
        from citewell.edges import http_reranker

        settings = self.settings
        dialect = http_reranker.DIALECTS[settings.reranker]
        return http_reranker.HttpReranker(
            settings.reranker_url or dialect.url or settings.require("reranker_url"),
            settings.require("reranker_model"),
            dialect=dialect,
            # Once: there is an order already, and who asked waits.
            api_key=partial(fetch_secret, key, attempts=1) if (key := settings.reranker_api_key_secret_arn) else None,
            retrying=http_reranker.patience(settings.rerank_seconds),
        )

    @cached_property
    def generator(self) -> Generator:
        settings = self.settings
        if settings.generator == "extractive":
            from citewell.edges.extractive_generator import ExtractiveGenerator

            return ExtractiveGenerator(self.embedder, min_score=self.refusal.threshold)
        from citewell.edges.claude_generator import ClaudeGenerator

        return ClaudeGenerator(
            settings.model,
            self._claude_access(),
            max_output_tokens=settings.max_output_tokens,
            contact=settings.contact,
        )

    def _claude_access(self) -> ClaudeAccess:
        from citewell.edges.claude_access import AnthropicApi, Bedrock

        settings = self.settings
        if settings.generator == "bedrock":
            return Bedrock()
        return AnthropicApi(
            api_key=partial(fetch_secret, settings.require("anthropic_api_key_secret_arn")),
            base_url=settings.anthropic_base_url,
        )


@cache
def wiring() -> Wiring:
    """The process's own wiring, from its environment."""
    return Wiring(Settings.from_environment())
