"""The rerank function as it is called: the answers of AWS Lambda are canned by botocore's own stubber."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError
from botocore.response import StreamingBody
from botocore.stub import Stubber

from citewell.edges.aws import client_config
from citewell.edges.function_reranker import FunctionReranker
from citewell.errors import ConfigurationError, RerankerUnavailable

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


@pytest.fixture
def client() -> LambdaClient:
    return boto3.client(
        "lambda",
        region_name="eu-central-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        config=client_config(read_timeout=1, attempts=1),
    )


@pytest.fixture
def aws(client: LambdaClient) -> Iterator[Stubber]:
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


@pytest.fixture
def reranker(client: LambdaClient) -> FunctionReranker:
    return FunctionReranker("citewell-rerank", model_id="minilm@1", seconds=3.0, client=client)


def answers(aws: Stubber, payload: object, *, error: str | None = None, event: Any = None) -> None:
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    response: dict[str, Any] = {"StatusCode": 200, "Payload": StreamingBody(io.BytesIO(raw), len(raw))}
    if error is not None:
        response["FunctionError"] = error
    sent = None if event is None else json.dumps(event, ensure_ascii=False).encode()
    expected = None if sent is None else {"FunctionName": "citewell-rerank", "Payload": sent}
    aws.add_response("invoke", response, expected)


def test_texts_go_in_one_call_and_scores_come_back_in_order(aws: Stubber, reranker: FunctionReranker) -> None:
    answers(aws, {"scores": [8.5, -3, 0.0]}, event={"question": "¿Cuánto?", "texts": ["a", "b", "日本"]})
    assert reranker.rerank("¿Cuánto?", ["a", "b", "日本"]) == [8.5, -3.0, 0.0]
    assert reranker.model_id == "minilm@1"


@pytest.mark.usefixtures("aws")
def test_no_text_makes_no_call(reranker: FunctionReranker) -> None:
    assert reranker.rerank("?", []) == []


@pytest.mark.parametrize(("code", "status"), [("TooManyRequestsException", 429), ("ServiceException", 500)])
def test_throttling_is_not_waited_for(aws: Stubber, reranker: FunctionReranker, code: str, status: int) -> None:
    aws.add_client_error("invoke", code, http_status_code=status)
    with pytest.raises(RerankerUnavailable, match=f"citewell-rerank did not rerank: {code}"):
        reranker.rerank("?", ["a", "b"])


def test_a_function_that_ran_out_of_time_is_not_called_again(aws: Stubber, reranker: FunctionReranker) -> None:
    answers(aws, {"errorType": "RerankerUnavailable", "errorMessage": "3 of 20 were read"}, error="Unhandled")
    with pytest.raises(RerankerUnavailable, match="it failed with RerankerUnavailable"):
        reranker.rerank("?", ["a", "b"])


@pytest.mark.parametrize("kind", ["ConfigurationError", "InvalidRequest"])
def test_what_the_function_refuses_is_a_configuration_error(
    aws: Stubber, reranker: FunctionReranker, kind: str
) -> None:
    answers(aws, {"errorType": kind, "errorMessage": "the local model is missing"}, error="Unhandled")
    with pytest.raises(ConfigurationError, match="the local model is missing"):
        reranker.rerank("?", ["a", "b"])


def test_a_call_that_is_not_allowed_says_what_to_check(aws: Stubber, reranker: FunctionReranker) -> None:
    aws.add_client_error("invoke", "AccessDeniedException", http_status_code=403)
    with pytest.raises(ConfigurationError, match=r"AccessDeniedException.*CITEWELL_RERANK_FUNCTION"):
        reranker.rerank("?", ["a", "b"])


@pytest.mark.parametrize(
    "payload",
    [
        b"<html>",
        b"",
        None,
        [],
        {},
        {"scores": None},
        {"scores": [1.0]},
        {"scores": [1.0, 2.0, 3.0]},
        {"scores": [1.0, "high"]},
        {"scores": [1.0, None]},
        {"scores": [1.0, float("nan")]},
    ],
    ids=lambda payload: repr(payload)[:60],
)
def test_a_result_that_is_none_is_never_used(aws: Stubber, reranker: FunctionReranker, payload: object) -> None:
    answers(aws, payload)
    with pytest.raises(RerankerUnavailable):
        reranker.rerank("?", ["a", "b"])


@pytest.mark.parametrize(
    "error", [EndpointConnectionError(endpoint_url="https://lambda"), ReadTimeoutError(endpoint_url="https://lambda")]
)
def test_a_network_that_fails_is_tried_once(reranker: FunctionReranker, client: LambdaClient, error: Exception) -> None:
    called: list[str] = []

    def fail(**_: object) -> None:
        called.append("once")
        raise error

    client.meta.events.register("before-send.lambda.Invoke", fail)
    with pytest.raises(RerankerUnavailable, match=type(error).__name__):
        reranker.rerank("?", ["a", "b"])
    assert called == ["once"]
