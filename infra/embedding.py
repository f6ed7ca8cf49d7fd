"""How a function comes by vectors: from the embed function of this stack, from an API with a key, or from Bedrock."""

from __future__ import annotations

from aws_cdk import Duration
from constructs import Construct

from infra import memory
from infra.api_key import ApiKey
from infra.bedrock import allow_invoking
from infra.bundled_function import BundledFunction, Layers
from infra.bundling import MODEL_PATH, Bundles
from infra.options import EmbedderChoice, Options

TIMEOUT = Duration.seconds(30)
"""For the model's loading and a batch: a few seconds, and room. Callers give up on a call sooner and try again."""


class Embedding(Construct):
    """``embed`` is there with the local model, ``api_key`` with an API that asks for one."""

    def __init__(
        self, scope: Construct, construct_id: str, *, options: Options, bundles: Bundles, layers: Layers
    ) -> None:
        super().__init__(scope, construct_id)
        self._options = options
        self.embed: BundledFunction | None = None
        self.api_key: ApiKey | None = None
        if options.embedder is EmbedderChoice.LOCAL:
            self.embed = BundledFunction(
                self,
                "Embed",
                name="embed",
                bundles=bundles,
                layers=layers,
                settings={"embedder": "local", "model_dir": MODEL_PATH},
                memory_mib=memory.EMBED,
                timeout=TIMEOUT,
            )
        elif options.embedder is not EmbedderChoice.BEDROCK:
            self.api_key = ApiKey(self, "ApiKey", description="Citewell: key of the embedding API")

    def settings(self) -> dict[str, object]:
        """The settings of a function that embeds."""
        if self.embed is not None:
            return {
                "embedder": "function",
                "embed_function": self.embed.function.function_name,
                "embedder_model": self._options.embedder_id,
                "embedder_dimensions": self._options.vector_dimensions,
                "model_dir": MODEL_PATH,  # of its tokenizer, which only ingest has: nobody else counts tokens
            }
        options = self._options
        return {
            "embedder": options.embedder,
            "embedder_url": options.embedder_url,
            "embedder_model": options.embedder_model,
            "embedder_dimensions": options.embedder_dimensions,
            "embedder_send_dimensions": "yes" if options.embedder_send_dimensions else None,
            "embedder_batch_size": options.embedder_batch_size,
            "embedder_max_tokens": options.embedder_max_tokens,
            "embedder_api_key_secret_arn": self.api_key.secret.secret_arn if self.api_key else None,
        }

    def allow(self, function: BundledFunction) -> None:
        """Let ``function`` embed."""
        if self.embed is not None:
            function.allow("lambda:InvokeFunction", on=[self.embed.function.function_arn])
        if self.api_key is not None:
            function.allow("secretsmanager:GetSecretValue", on=[self.api_key.secret.secret_arn])
        if self._options.embedder is EmbedderChoice.BEDROCK:
            assert self._options.embedder_model is not None
            allow_invoking(function, self._options.embedder_model)
