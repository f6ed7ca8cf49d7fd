"""Embeddings from Amazon Bedrock: Titan Text Embeddings v2 and Cohere Embed, by ``bedrock:InvokeModel``.

Sources: the Bedrock user guide's "Amazon Titan Embeddings" and "Cohere Embed v3" and "v4", inference parameters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NoReturn

from citewell.core.tokens import estimate_token_starts, spaced
from citewell.core.values import TextKind, Vector
from citewell.edges.aws import client_config
from citewell.edges.bedrock import ACCESS_ADVICE, bedrock_model
from citewell.edges.retrying import EMBEDDING_PATIENCE, Retrying, TryAgain, parse_retry_after, retry_worthwhile
from citewell.edges.vectors import checked_vector
from citewell.errors import ConfigurationError, EmbedderUnavailable

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

READ_SECONDS = 6.0
"""A query's vector takes a few tenths of a second, a batch of Cohere's one or two."""

_LONGEST_TOKEN = 6
_UNDERCOUNT = 1.3  # tokens that a model may find where one was estimated

_ADVICE = {
    "AccessDeniedException": ACCESS_ADVICE,
    "ValidationException": "check CITEWELL_EMBEDDER_MODEL (some models are called by an inference profile's id alone, "
    "such as us.cohere.embed-v4:0), CITEWELL_EMBEDDER_DIMENSIONS and CITEWELL_EMBEDDER_MAX_TOKENS",
    "ResourceNotFoundException": "check CITEWELL_EMBEDDER_MODEL, and whether this region offers it",
    "ServiceQuotaExceededException": "raise the account's quota for the model",
}
_DEFAULT_ADVICE = "check the function's role and the CITEWELL_EMBEDDER_* settings"


@dataclass(frozen=True, slots=True)
class Family:
    """What models of one kind take. ``texts`` is a call's, ``batch`` what one :meth:`BedrockEmbedder.embed` should
    hold; ``tokens`` and ``characters`` are one text's."""

    texts: int
    batch: int
    tokens: int
    characters: int | None
    dimensions: tuple[int, ...]
    request: Callable[[Sequence[str], TextKind, int], dict[str, Any]]
    embeddings: Callable[[Any], list[Any]]

    @property
    def max_tokens(self) -> int:
        """The longest text in estimated tokens, no longer than :data:`_LONGEST_TOKEN` characters each."""
        most = int(self.tokens / _UNDERCOUNT)
        # Each text that is counted may begin with white space that no token covers.
        return most if self.characters is None else min(most, self.characters // _LONGEST_TOKEN - 2)


def _titan_request(texts: Sequence[str], kind: TextKind, dimensions: int) -> dict[str, Any]:  # noqa: ARG001
    # Titan embeds queries and passages alike, and has no truncation to turn off.
    [text] = texts
    return {"inputText": text, "dimensions": dimensions, "normalize": True}


_INPUT_TYPES = {TextKind.QUERY: "search_query", TextKind.PASSAGE: "search_document"}


def _cohere_request(texts: Sequence[str], kind: TextKind, dimensions: int) -> dict[str, Any]:  # noqa: ARG001
    return {
        "texts": list(texts),
        "input_type": _INPUT_TYPES[kind],
        "truncate": "NONE",
        "embedding_types": ["float"],
    }


def _cohere_v4_request(texts: Sequence[str], kind: TextKind, dimensions: int) -> dict[str, Any]:
    return {**_cohere_request(texts, kind, dimensions), "output_dimension": dimensions}


def _cohere_embeddings(response: Any) -> list[Any]:
    return list(response["embeddings"]["float"])


_TITAN = Family(
    texts=1,
    # One text a call, one call after another: more at once, in each copy of ingest, would only run into the quota.
    batch=8,
    tokens=8192,
    characters=50_000,
    dimensions=(256, 512, 1024),
    request=_titan_request,
    embeddings=lambda response: [response["embedding"]],
)
_COHERE_V3 = Family(
    texts=96,
    batch=96,
    tokens=512,
    characters=2048,
    dimensions=(1024,),
    request=_cohere_request,
    embeddings=_cohere_embeddings,
)
FAMILIES = {
    "amazon.titan-embed-text-v2": _TITAN,
    "cohere.embed-english-v3": _COHERE_V3,
    "cohere.embed-multilingual-v3": _COHERE_V3,
    "cohere.embed-v4": replace(
        _COHERE_V3,
        tokens=128_000,
        characters=None,
        dimensions=(256, 512, 1024, 1536),
        request=_cohere_v4_request,
    ),
}


def family_of(model: str, *, dimensions: int) -> Family:
    """Raises ConfigurationError for a model that isn't one of the families', or doesn't make ``dimensions``."""
    name = bedrock_model(model).foundation.partition(":")[0]
    if name not in FAMILIES:
        raise ConfigurationError(f"{model} is no embedding model that is known here: there are {', '.join(FAMILIES)}")
    family = FAMILIES[name]
    if dimensions not in family.dimensions:
        raise ConfigurationError(
            f"{model} makes vectors of {' or '.join(map(str, family.dimensions))} dimensions, not {dimensions}"
        )
    return family


class BedrockEmbedder:
    """The embedder port over Bedrock's runtime, in the function's own region and with its own role.

    ``model`` is a model's id or a cross-region inference profile's. ``batch_size`` and ``max_tokens`` only lower what
    the model takes. ``retrying`` bounds the whole of one batch but the last attempt, which takes its own time. Raises
    ConfigurationError for a model or a dimension that isn't known.
    """

    def __init__(
        self,
        model: str,
        *,
        dimensions: int,
        batch_size: int = 96,
        max_tokens: int = 8191,
        retrying: Mapping[TextKind, Retrying] = EMBEDDING_PATIENCE,
    ) -> None:
        self._model = bedrock_model(model)
        self._family = family_of(model, dimensions=dimensions)
        self._dimensions = dimensions
        self._batch_size = min(batch_size, self._family.batch)
        self._max_tokens = min(max_tokens, self._family.max_tokens)
        self._retrying = retrying

    @property
    def model_id(self) -> str:
        """The foundation model's: its vectors are the same through any profile."""
        return self._model.foundation

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    @property
    def batch_size(self) -> int:
        return self._batch_size

    def token_starts(self, text: str) -> Sequence[int]:
        # So closely that the limit in tokens keeps that in characters too.
        return list(spaced([*estimate_token_starts(text), len(text)], longest=_LONGEST_TOKEN))[:-1]

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), self._batch_size):
            vectors += self._embed_batch(texts[start : start + self._batch_size], kind)
        return vectors

    def _embed_batch(self, texts: Sequence[str], kind: TextKind) -> list[Vector]:
        retrying = self._retrying[kind]
        deadline = retrying.clock() + retrying.seconds
        size = self._family.texts
        vectors: list[Vector] = []
        try:
            for start in range(0, len(texts), size):
                some = texts[start : start + size]
                left = replace(retrying, seconds=deadline - retrying.clock())
                vectors += left.call(partial(self._attempt, some, kind))
        except TryAgain as error:
            raise EmbedderUnavailable(f"{self._model.identifier} did not embed: {error}") from error
        return vectors

    def _attempt(self, texts: Sequence[str], kind: TextKind, _seconds: float) -> list[Vector]:
        return self._vectors(self._invoke(texts, kind), count=len(texts))

    def _invoke(self, texts: Sequence[str], kind: TextKind) -> bytes:
        """The response's body. Raises TryAgain or ConfigurationError."""
        from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
        from botocore.exceptions import ConnectionError as NoConnection

        body = json.dumps(self._family.request(texts, kind, self._dimensions)).encode()
        try:
            response = self._client.invoke_model(
                modelId=self._model.identifier, body=body, contentType="application/json", accept="application/json"
            )
            return response["body"].read()
        except ClientError as error:
            self._refused(error)
        except (HTTPClientError, NoConnection, IncompleteReadError) as error:
            raise TryAgain(type(error).__name__) from error
        except BotoCoreError as error:
            raise ConfigurationError(f"no call to Amazon Bedrock can be made: {type(error).__name__}") from error

    def _refused(self, error: ClientError) -> NoReturn:
        code = error.response["Error"]["Code"]
        metadata = error.response["ResponseMetadata"]
        if retry_worthwhile(metadata["HTTPStatusCode"]):
            raise TryAgain(code, retry_after=parse_retry_after(metadata["HTTPHeaders"].get("retry-after"))) from error
        advice = _ADVICE.get(code, _DEFAULT_ADVICE)
        # Bedrock's message isn't shown: it may quote a text.
        raise ConfigurationError(
            f"Amazon Bedrock refused to embed with {self._model.identifier}: {code}; {advice}"
        ) from error

    def _vectors(self, body: bytes, *, count: int) -> list[Vector]:
        try:
            embeddings = self._family.embeddings(json.loads(body))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise TryAgain("the response holds no embeddings") from error
        if len(embeddings) != count:
            raise TryAgain(f"{len(embeddings)} vectors came back for {count} texts")
        return [checked_vector(each, dimensions=self._dimensions) for each in embeddings]

    @cached_property
    def _client(self) -> BedrockRuntimeClient:
        import boto3

        # One attempt: the retries are this class's own, within one bound of time.
        return boto3.client("bedrock-runtime", config=client_config(read_timeout=READ_SECONDS, attempts=1))
