"""How ask comes by a better order of what it found: from this stack's rerank function, or from an API with a key."""

from __future__ import annotations

from aws_cdk import Duration
from constructs import Construct

from infra import memory
from infra.api_key import ApiKey
from infra.bundled_function import BundledFunction, Layers
from infra.bundling import RERANKER_PATH, Bundles
from infra.options import Options, RerankerChoice

TIMEOUT = Duration.seconds(30)
"""For the model's loading and the passages that are read after it: the function's own limit ends it sooner."""


class Reranking(Construct):
    """``rerank`` is there with the local model, ``api_key`` with an API; neither where nothing reranks."""

    def __init__(
        self, scope: Construct, construct_id: str, *, options: Options, bundles: Bundles, layers: Layers
    ) -> None:
        super().__init__(scope, construct_id)
        self._options = options
        self.rerank: BundledFunction | None = None
        self.api_key: ApiKey | None = None
        if options.reranker is RerankerChoice.LOCAL:
            self.rerank = BundledFunction(
                self,
                "Rerank",
                name="rerank",
                bundles=bundles,
                layers=layers,
                settings={
                    "reranker": "local",
                    "reranker_model_dir": RERANKER_PATH,
                    "rerank_seconds": options.rerank_seconds,
                },
                memory_mib=memory.RERANK,
                timeout=TIMEOUT,
            )
        elif options.reranker is not RerankerChoice.NONE:
            self.api_key = ApiKey(self, "ApiKey", description="Citewell: key of the reranking API")

    def settings(self) -> dict[str, object]:
        """The settings of a function that searches."""
        options = self._options
        if options.reranker is RerankerChoice.NONE:
            return {}
        limits = {"rerank_seconds": options.rerank_seconds, "rerank_candidates": options.rerank_candidates}
        if self.rerank is not None:
            return {
                "reranker": "function",
                "rerank_function": self.rerank.function.function_name,
                "reranker_model": options.reranker_id,
                **limits,
            }
        return {
            "reranker": options.reranker,
            "reranker_url": options.reranker_url,
            "reranker_model": options.reranker_model,
            "reranker_api_key_secret_arn": self.api_key.secret.secret_arn if self.api_key else None,
            **limits,
        }

    def allow(self, function: BundledFunction) -> None:
        """Let ``function`` rerank."""
        if self.rerank is not None:
            function.allow("lambda:InvokeFunction", on=[self.rerank.function.function_arn])
        if self.api_key is not None:
            function.allow("secretsmanager:GetSecretValue", on=[self.api_key.secret.secret_arn])
