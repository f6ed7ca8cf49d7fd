"""Rerankers behind ``POST /rerank``: Cohere, Jina, Text Embeddings Inference, and the servers that speak like them.

Sources: https://docs.cohere.com/reference/rerank (v2), https://api.jina.ai/redoc (v1),
https://huggingface.github.io/text-embeddings-inference
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from citewell.edges.model_api import ModelApi
from citewell.edges.relevance import checked_scores
from citewell.edges.retrying import Retrying, TryAgain
from citewell.errors import RerankerUnavailable

_ADVICE = {
    400: "check CITEWELL_RERANKER_MODEL",
    413: "lower CITEWELL_RERANK_CANDIDATES, or raise the server's limit (--max-client-batch-size)",
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How an API is asked (model, question, texts) and how it answers: with what, and as pairs of index and score.

    ``url`` is the API's own base; None where everybody runs their own.
    """

    url: str | None
    request: Callable[[str, str, Sequence[str]], dict[str, Any]]
    pairs: Callable[[Any], list[tuple[Any, Any]]]


def _cohere_request(model: str, question: str, texts: Sequence[str]) -> dict[str, Any]:
    return {"model": model, "query": question, "documents": list(texts)}


def _jina_request(model: str, question: str, texts: Sequence[str]) -> dict[str, Any]:
    return {**_cohere_request(model, question, texts), "return_documents": False}


def _tei_request(_model: str, question: str, texts: Sequence[str]) -> dict[str, Any]:
    # Raw scores: squeezed between 0 and 1, the best ones become equal. Without "truncate" a long text is refused.
    return {"query": question, "texts": list(texts), "truncate": True, "raw_scores": True, "return_text": False}


def _results(answer: Any) -> list[tuple[Any, Any]]:
    return [(each["index"], each["relevance_score"]) for each in answer["results"]]


def _ranks(answer: Any) -> list[tuple[Any, Any]]:
    return [(each["index"], each["score"]) for each in answer]


COHERE = Dialect("https://api.cohere.com/v2", _cohere_request, _results)
JINA = Dialect("https://api.jina.ai/v1", _jina_request, _results)
TEI = Dialect(None, _tei_request, _ranks)
DIALECTS = {"cohere": COHERE, "jina": JINA, "tei": TEI}


def patience(seconds: float) -> Retrying:
    """A second attempt where the first failed soon: there is an order already, and someone waits."""
    return Retrying(attempts=2, seconds=seconds, longest_pause=0.5)


class HttpReranker:
    """The reranker port over HTTP, in the API's ``dialect``. ``url`` is the base that ``/rerank`` is appended to.

    ``api_key`` is that of :class:`ModelApi`; ``retrying`` bounds the whole of a call.
    """

    def __init__(
        self, url: str, model: str, *, dialect: Dialect, retrying: Retrying, api_key: Callable[[], str] | None = None
    ) -> None:
        self._api = ModelApi(
            url,
            "rerank",
            task=f"rerank with {model}",
            settings="CITEWELL_RERANKER",
            advice=_ADVICE,
            api_key=api_key,
        )
        self._model = model
        self._dialect = dialect
        self._retrying = retrying

    @property
    def model_id(self) -> str:
        return self._model

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        body = json.dumps(self._dialect.request(self._model, question, texts)).encode()
        try:
            return self._retrying.call(
                lambda seconds: self._scores(self._api.post(body, self._retrying, seconds), count=len(texts))
            )
        except TryAgain as error:
            raise RerankerUnavailable(f"{self._api.shown} did not rerank: {error}") from error

    def _scores(self, content: bytes, *, count: int) -> list[float]:
        try:
            pairs = self._dialect.pairs(json.loads(content))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise TryAgain("the response is not the one expected") from error
        return checked_scores(pairs, count=count)
