"""The local model behind a Lambda function of its own: its runtime would fill the others' deployment packages.

Tokens are counted here, with the model's own tokenizer, because a call per document would be slow and some documents
are larger than Lambda's payloads.
"""

from __future__ import annotations

import base64
import json
import sys
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.values import TextKind, Vector
from citewell.edges.invoked_function import InvokedFunction
from citewell.edges.local_embedder import BATCH_SIZE, MAX_TOKENS
from citewell.edges.retrying import Retrying, TryAgain
from citewell.edges.vectors import checked_vector
from citewell.edges.word_pieces import WordPieces
from citewell.errors import EmbedderMismatch, EmbedderUnavailable

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

READ_SECONDS = 10.0
"""Enough for a cold start and a batch of the longest texts."""

PATIENCE: Mapping[TextKind, Retrying] = {
    TextKind.QUERY: Retrying(attempts=3, seconds=4.0, longest_pause=2.0),
    TextKind.PASSAGE: Retrying(attempts=4, seconds=12.0),
}
"""The last attempt may begin at the end of this time, and then takes its own. Someone waits for a question's vector."""


class FunctionEmbedder:
    """The embedder port over ``lambda:InvokeFunction``.

    ``model_id`` and ``dimensions`` are what the deployed function must run, ``tokenizer`` its ``tokenizer.json``. The
    event and the result are described in ``functions/embed/handler.py``. ``retrying`` is for one batch; ``dualstack``
    is that of :class:`InvokedFunction`.
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
        self._function = InvokedFunction(
            function, setting="CITEWELL_EMBED_FUNCTION", read_seconds=READ_SECONDS, dualstack=dualstack, client=client
        )
        self._model_id = model_id
        self._dimensions = dimensions
        self._word_pieces = WordPieces(tokenizer)
        self._batch_size = batch_size
        self._retrying = retrying

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
            return self._retrying[kind].call(lambda _: self._vectors(self._function.result_of(event), count=len(texts)))
        except TryAgain as error:
            raise EmbedderUnavailable(f"the function {self._function.name} did not embed: {error}") from error

    def _vectors(self, result: Any, *, count: int) -> list[Vector]:
        try:
            runs, dimensions, encoded = result["model"], result["dimensions"], result["vectors"]
            vectors = [_floats(each) for each in encoded]
        except (KeyError, TypeError, ValueError) as error:
            raise TryAgain("its result is not the one expected") from error
        if (runs, dimensions) != (self._model_id, self._dimensions):
            raise EmbedderMismatch(
                f"the function {self._function.name} runs {runs} ({dimensions} dimensions), but this deployment "
                f"expects {self._model_id} ({self._dimensions} dimensions): deploy the whole stack again"
            )
        if len(vectors) != count:
            raise TryAgain(f"{len(vectors)} vectors came back for {count} texts")
        return [checked_vector(each, dimensions=self._dimensions) for each in vectors]


def _floats(encoded: str) -> array[float]:
    floats = array("f", base64.b64decode(encoded, validate=True))
    if sys.byteorder == "big":
        floats.byteswap()
    return floats
