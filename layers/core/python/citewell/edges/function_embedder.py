"""The local model behind a Lambda function of its own: its runtime would fill the others' deployment packages.

Tokens are counted here, with the model's own tokenizer, because a call per document would be slow and some documents
are larger than Lambda's payloads.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from citewell.core.values import TextKind, Vector
from citewell.edges.aws import client_config
from citewell.edges.local_embedder import BATCH_SIZE, MAX_TOKENS
from citewell.edges.retrying import Retrying, TryAgain, retry_worthwhile
from citewell.edges.vectors import checked_vector
from citewell.edges.word_pieces import WordPieces
from citewell.errors import ConfigurationError, EmbedderMismatch, EmbedderUnavailable

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

READ_SECONDS = 10.0
"""Enough for a cold start and a batch of the longest texts."""

PATIENCE: Mapping[TextKind, Retrying] = {
    TextKind.QUERY: Retrying(attempts=3, seconds=4.0, longest_pause=2.0),
    TextKind.PASSAGE: Retrying(attempts=4, seconds=12.0),
}
"""The last attempt may begin at the end of this time, and then takes its own. Someone waits for a question's vector."""

_NOT_TO_BE_RETRIED = ("ConfigurationError", "InvalidRequest")
_ERROR_TYPE = re.compile(r"[\w.]{1,64}")


class FunctionEmbedder:
    """The embedder port over ``lambda:InvokeFunction``.

    ``model_id`` and ``dimensions`` are what the deployed function must run, ``tokenizer`` its ``tokenizer.json``. The
    event and the result are described in ``functions/embed/handler.py``. ``retrying`` is for one batch;
    ``dualstack``: call Lambda where it has IPv6 addresses too, for a network whose only way out is IPv6.
    """

    def __init__(
        self,
        function: str,
        *,
        model_id: str,
        dimensions: int,
        tokenizer: Path,
        batch_size: int = BATCH_SIZE,
        retrying: Mapping[TextKind, Retrying] = PATIENCE,
        dualstack: bool = False,
        client: LambdaClient | None = None,
    ) -> None:
        self._function = function
        self._model_id = model_id
        self._dimensions = dimensions
        self._word_pieces = WordPieces(tokenizer)
        self._batch_size = batch_size
        self._retrying = retrying
        self._dualstack = dualstack
        self._given_client = client

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        return MAX_TOKENS

    @property
    def batch_size(self) -> int:
        return self._batch_size

    def token_starts(self, text: str) -> Sequence[int]:
        return self._word_pieces.starts(text)

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), self._batch_size):
            vectors += self._embed_batch(texts[start : start + self._batch_size], kind)
        return vectors

    def _embed_batch(self, texts: Sequence[str], kind: TextKind) -> list[Vector]:
        event = json.dumps({"texts": list(texts), "input": kind.value}).encode()
        try:
            return self._retrying[kind].call(lambda _: self._vectors(self._invoke(event), count=len(texts)))
        except TryAgain as error:
            raise EmbedderUnavailable(f"the function {self._function} did not embed: {error}") from error

    def _invoke(self, event: bytes) -> Any:
        """The function's result, whatever it is. Raises TryAgain or ConfigurationError."""
        from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
        from botocore.exceptions import ConnectionError as NoConnection

        try:
            response = self._client.invoke(FunctionName=self._function, Payload=event)
            payload = response["Payload"].read()
        except ClientError as error:
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            code = error.response["Error"]["Code"]
            if retry_worthwhile(status):
                raise TryAgain(code) from error
            raise ConfigurationError(
                f"the function {self._function} can't be invoked: {code}; check CITEWELL_EMBED_FUNCTION and the role's "
                "permission lambda:InvokeFunction"
            ) from error
        except (HTTPClientError, NoConnection, IncompleteReadError) as error:
            raise TryAgain(type(error).__name__) from error
        except BotoCoreError as error:
            raise ConfigurationError(f"no call to AWS Lambda can be made: {type(error).__name__}") from error
        result = _parsed(payload)
        if "FunctionError" in response:
            self._failed(result)
        return result

    def _failed(self, error: Any) -> NoReturn:
        kind = str(error.get("errorType")) if isinstance(error, Mapping) else "an unknown error"
        if kind in _NOT_TO_BE_RETRIED:
            raise ConfigurationError(f"the function {self._function} refused: {error.get('errorMessage')}")
        raise TryAgain(f"it failed with {kind if _ERROR_TYPE.fullmatch(kind) else 'an unknown error'}")

    def _vectors(self, result: Any, *, count: int) -> list[Vector]:
        try:
            runs, dimensions, encoded = result["model"], result["dimensions"], result["vectors"]
            vectors = [_floats(each) for each in encoded]
        except (KeyError, TypeError, ValueError) as error:
            raise TryAgain("its result is not the one expected") from error
        if (runs, dimensions) != (self._model_id, self._dimensions):
            raise EmbedderMismatch(
                f"the function {self._function} runs {runs} ({dimensions} dimensions), but this deployment expects "
                f"{self._model_id} ({self._dimensions} dimensions): deploy the whole stack again"
            )
        if len(vectors) != count:
            raise TryAgain(f"{len(vectors)} vectors came back for {count} texts")
        return [checked_vector(each, dimensions=self._dimensions) for each in vectors]

    @cached_property
    def _client(self) -> LambdaClient:
        if self._given_client is not None:
            return self._given_client
        import boto3

        # One attempt: the retries are this class's own, within one bound of time.
        config = client_config(read_timeout=READ_SECONDS, attempts=1, use_dualstack_endpoint=self._dualstack)
        return boto3.client("lambda", config=config)


def _parsed(payload: bytes) -> Any:
    try:
        return json.loads(payload)
    except ValueError as error:
        raise TryAgain("its result is not JSON") from error


def _floats(encoded: str) -> array[float]:
    floats = array("f", base64.b64decode(encoded, validate=True))
    if sys.byteorder == "big":
        floats.byteswap()
    return floats
