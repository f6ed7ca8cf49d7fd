"""The local reranker behind a Lambda function of its own: its runtime would fill the others' deployment packages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from citewell.edges.invoked_function import InvokedFunction
from citewell.edges.relevance import checked_scores
from citewell.edges.retrying import TryAgain
from citewell.errors import RerankerUnavailable

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

CONNECT_SECONDS = 1.0
"""To an address in the same region."""


class FunctionReranker:
    """The reranker port over ``lambda:InvokeFunction``: one call, within ``seconds`` (and one more to connect).

    It isn't called a second time: whoever waits for the answer is better served by the order there is. The event and
    the result are described in ``functions/rerank/handler.py``. ``dualstack`` is that of :class:`InvokedFunction`.
    """

    def __init__(
        self,
        function: str,
        *,
        model_id: str,
        seconds: float,
        dualstack: bool = False,
        client: LambdaClient | None = None,
    ) -> None:
        self._model_id = model_id
        self._function = InvokedFunction(
            function,
            setting="CITEWELL_RERANK_FUNCTION",
            read_seconds=seconds,
            connect_seconds=min(CONNECT_SECONDS, seconds),
            dualstack=dualstack,
            client=client,
        )

    @property
    def model_id(self) -> str:
        return self._model_id

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        event = json.dumps({"question": question, "texts": list(texts)}, ensure_ascii=False).encode()
        try:
            return _scores(self._function.result_of(event), count=len(texts))
        except TryAgain as error:
            raise RerankerUnavailable(f"the function {self._function.name} did not rerank: {error}") from error


def _scores(result: Any, *, count: int) -> list[float]:
    try:
        return checked_scores(list(enumerate(result["scores"])), count=count)
    except (KeyError, TypeError) as error:
        raise TryAgain("its result is not the one expected") from error
