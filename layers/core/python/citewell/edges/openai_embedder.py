"""Embeddings from any server that speaks OpenAI's ``POST /embeddings``: OpenAI, Ollama, vLLM, TEI, DashScope, ..."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

from citewell.core.tokens import estimate_token_starts
from citewell.core.values import TextKind, Vector
from citewell.edges.retrying import EMBEDDING_PATIENCE, Retrying, TryAgain, parse_retry_after, retry_worthwhile
from citewell.edges.vectors import checked_vector
from citewell.errors import ConfigurationError, EmbedderUnavailable

if TYPE_CHECKING:
    import httpx

URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 5.0
REQUEST_SECONDS = 20.0
"""A single request's longest time; less when less is left."""

REQUEST_TOKENS = 90_000
"""The most that one request holds, as estimated here. OpenAI takes 300,000 tokens and Voyage, by model, 120,000 or
more; the estimate may be a quarter too low in scripts that take several tokens a character."""

_REDIRECTED = (300, 301, 302, 303, 307, 308)
_ADVICE = {
    **dict.fromkeys(_REDIRECTED, "set CITEWELL_EMBEDDER_URL to the address itself: no redirect is followed"),
    400: "check CITEWELL_EMBEDDER_MODEL, CITEWELL_EMBEDDER_DIMENSIONS and CITEWELL_EMBEDDER_MAX_TOKENS",
    401: "check the key in the secret CITEWELL_EMBEDDER_API_KEY_SECRET_ARN",
    403: "the key in the secret CITEWELL_EMBEDDER_API_KEY_SECRET_ARN may not use this model",
    404: "check CITEWELL_EMBEDDER_URL (it ends before /embeddings) and CITEWELL_EMBEDDER_MODEL",
    413: "lower CITEWELL_EMBEDDER_BATCH_SIZE",
}
_DEFAULT_ADVICE = "check the CITEWELL_EMBEDDER_* settings"
_ERROR_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class OpenAIEmbedder:
    """The embedder port over HTTP. Queries and passages are embedded alike: the API doesn't tell them apart.

    ``url`` is the base, such as ``https://api.openai.com/v1``. ``request_dimensions`` asks the server for vectors of
    ``dimensions``, which only some models can shorten theirs to. ``api_key`` is called at the first request,
    and again when the key is refused, since keys are rotated; None sends none. ``retrying`` bounds the whole of one
    request.
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
        self._endpoint = url.rstrip("/") + "/embeddings"
        self._shown_endpoint = _without_credentials(self._endpoint)
        self._model = model
        self._dimensions = dimensions
        self._request_dimensions = request_dimensions
        self._api_key = api_key
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
            return retrying.call(lambda seconds: self._vectors(self._post(body, retrying, seconds), count=len(texts)))
        except TryAgain as error:
            raise EmbedderUnavailable(f"{self._shown_endpoint} did not embed: {error}") from error

    def _post(self, body: bytes, retrying: Retrying, seconds: float) -> bytes:
        """The body of a successful response. Raises TryAgain or ConfigurationError for any other."""
        import httpx

        began = retrying.clock()
        client = self._client  # when it is the first time, the key is read now
        longest = min(seconds - (retrying.clock() - began), REQUEST_SECONDS)
        if longest <= 0:
            raise TryAgain("no time was left after the API key was read")
        deadline = retrying.clock() + longest
        timeout = httpx.Timeout(longest, connect=min(longest, CONNECT_SECONDS))
        try:
            with client.stream("POST", self._endpoint, content=body, timeout=timeout) as response:
                content = bytearray()
                for piece in response.iter_bytes():
                    content += piece
                    # httpx bounds the wait for each piece, not the sum of them.
                    if retrying.clock() > deadline:
                        raise TryAgain(f"the response was not complete after {longest:.0f} s")
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise ConfigurationError("CITEWELL_EMBEDDER_URL is not an http(s) URL") from error
        except httpx.HTTPError as error:
            # The type only: a message may quote what was sent.
            raise TryAgain(type(error).__name__) from error
        if response.status_code != 200:
            self._refused(response.status_code, response.headers, bytes(content))
        return bytes(content)

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        headers = {"content-type": "application/json", "accept": "application/json"}
        if self._api_key is not None:
            key = self._api_key().strip()
            if not (key.isascii() and key.isprintable() and key):
                raise ConfigurationError("the embedder's API key is empty or holds characters that no key has")
            headers["authorization"] = f"Bearer {key}"
        return httpx.Client(headers=headers, follow_redirects=False)

    def _key_was_changed(self) -> bool:
        """Whether another key than the refused one is to be used by now; the next attempt sends it."""
        refused = self._client.headers.get("authorization")
        self._client.close()
        del self._client
        return bool(self._client.headers.get("authorization") != refused)

    def _refused(self, status: int, headers: httpx.Headers, content: bytes) -> NoReturn:
        said = f"HTTP {status}{_error_code(content)}"
        if status == 401 and self._key_was_changed():
            raise TryAgain(said)
        if retry_worthwhile(status):
            raise TryAgain(said, retry_after=parse_retry_after(headers.get("retry-after")))
        advice = _ADVICE.get(status, _DEFAULT_ADVICE)
        raise ConfigurationError(f"{self._shown_endpoint} refused to embed with {self._model}: {said}; {advice}")

    def _vectors(self, content: bytes, *, count: int) -> list[Vector]:
        try:
            data = json.loads(content)["data"]
            by_index = {each["index"]: each["embedding"] for each in data}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise TryAgain("the response is not an embeddings object") from error
        if len(data) != count or by_index.keys() != set(range(count)):
            raise TryAgain(f"{len(data)} vectors came back for {count} texts, or not one for each")
        return [checked_vector(by_index[index], dimensions=self._dimensions) for index in range(count)]


def _error_code(content: bytes) -> str:
    """The error's code where the body has one. Its message isn't shown: it may quote a key or a text."""
    try:
        error = json.loads(content)["error"]
        code = error.get("code") or error.get("type")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""
    return f" ({code})" if isinstance(code, str) and _ERROR_CODE.fullmatch(code) else ""


def _without_credentials(url: str) -> str:
    """``url`` as it may be shown and logged. Raises ConfigurationError for one that can't be taken apart."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise ConfigurationError("CITEWELL_EMBEDDER_URL is not an http(s) URL") from error
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
