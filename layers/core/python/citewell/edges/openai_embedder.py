"""Embeddings from any server that speaks OpenAI's ``POST /embeddings``: OpenAI, Ollama, vLLM, TEI, DashScope, ..."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from citewell.core.tokens import estimate_token_starts
from citewell.core.values import TextKind, Vector
from citewell.edges.model_api import ModelApi
from citewell.edges.retrying import EMBEDDING_PATIENCE, Retrying, TryAgain
from citewell.edges.vectors import checked_vector
from citewell.errors import EmbedderUnavailable

URL = "https://api.openai.com/v1"

REQUEST_TOKENS = 90_000
"""The most that one request holds, as estimated here. OpenAI takes 300,000 tokens and Voyage, by model, 120,000 or
more; the estimate may be a quarter too low in scripts that take several tokens a character."""

_ADVICE = {
    400: "check CITEWELL_EMBEDDER_MODEL, CITEWELL_EMBEDDER_DIMENSIONS and CITEWELL_EMBEDDER_MAX_TOKENS",
    413: "lower CITEWELL_EMBEDDER_BATCH_SIZE",
}


class OpenAIEmbedder:
    """The embedder port over HTTP. Queries and passages are embedded alike: the API doesn't tell them apart.

    ``url`` is the base, such as ``https://api.openai.com/v1``. ``request_dimensions`` asks the server for vectors of
    ``dimensions``, which only some models can shorten theirs to. ``api_key`` is that of
    :class:`ModelApi`. ``retrying`` bounds the whole of one request.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        dimensions: int,
        request_dimensions: bool = False,
        api_key: Callable[[], str] | None = None,
        batch_size: int = 32,
        max_tokens: int = 8191,
        retrying: Mapping[TextKind, Retrying] = EMBEDDING_PATIENCE,
    ) -> None:
        self._api = ModelApi(
            url,
            "embeddings",
            task=f"embed with {model}",
            settings="CITEWELL_EMBEDDER",
            advice=_ADVICE,
            api_key=api_key,
        )
        self._model = model
        self._dimensions = dimensions
        self._request_dimensions = request_dimensions
        self._batch_size = batch_size
        self._max_tokens = max_tokens
        self._retrying = retrying

    @property
    def model_id(self) -> str:
        return self._model

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
        return estimate_token_starts(text)

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[Vector]:
        vectors: list[Vector] = []
        for batch in self._batches(texts):
            vectors += self._embed_batch(batch, kind)
        return vectors

    def _request(self, texts: Sequence[str], kind: TextKind) -> dict[str, Any]:  # noqa: ARG002 - the API has no kinds
        request: dict[str, Any] = {"model": self._model, "input": list(texts)}
        if self._request_dimensions:
            request["dimensions"] = self._dimensions
        return request

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """``texts`` in order, in as few requests as size and tokens allow."""
        batch: list[str] = []
        tokens = 0
        for text in texts:
            size = len(estimate_token_starts(text))
            if batch and (len(batch) == self._batch_size or tokens + size > REQUEST_TOKENS):
                yield batch
                batch, tokens = [], 0
            batch.append(text)
            tokens += size
        if batch:
            yield batch

    def _embed_batch(self, texts: Sequence[str], kind: TextKind) -> list[Vector]:
        body = json.dumps(self._request(texts, kind)).encode()
        retrying = self._retrying[kind]
        try:
            return retrying.call(
                lambda seconds: self._vectors(self._api.post(body, retrying, seconds), count=len(texts))
            )
        except TryAgain as error:
            raise EmbedderUnavailable(f"{self._api.shown} did not embed: {error}") from error

    def _vectors(self, content: bytes, *, count: int) -> list[Vector]:
        try:
            data = json.loads(content)["data"]
            by_index = {each["index"]: each["embedding"] for each in data}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise TryAgain("the response is not an embeddings object") from error
        if len(data) != count or by_index.keys() != set(range(count)):
            raise TryAgain(f"{len(data)} vectors came back for {count} texts, or not one for each")
        return [checked_vector(by_index[index], dimensions=self._dimensions) for index in range(count)]
