"""The embed function as it is called: the answers of AWS Lambda are canned by botocore's own stubber."""

from __future__ import annotations

import base64
import io
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError, IncompleteReadError, NoCredentialsError, ReadTimeoutError
from botocore.response import StreamingBody
from botocore.stub import Stubber

from citewell.core.values import TextKind
from citewell.edges.aws import client_config
from citewell.edges.function_embedder import FunctionEmbedder
from citewell.edges.retrying import Retrying
from citewell.errors import ConfigurationError, EmbedderMismatch, EmbedderUnavailable

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

MODEL = "bge@1"


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
def pauses() -> list[float]:
    return []


@pytest.fixture
def embedder(client: LambdaClient, pauses: list[float]) -> FunctionEmbedder:
    return FunctionEmbedder(
        "citewell-embed",
        model_id=MODEL,
        dimensions=2,
        tokenizer=Path("/nowhere/tokenizer.json"),
        batch_size=2,
        retrying=dict.fromkeys(TextKind, Retrying(attempts=3, sleep=pauses.append)),
        client=client,
    )


def result(*vectors: tuple[float, ...], model: str = MODEL, dimensions: int = 2) -> dict[str, Any]:
    encoded = [base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode() for vector in vectors]
    return {"model": model, "dimensions": dimensions, "vectors": encoded}


def answers(aws: Stubber, payload: object, *, error: str | None = None, texts: list[str] | None = None) -> None:
    """Lambda answers the next call with ``payload``; the call must hold ``texts`` where they are given."""
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    response: dict[str, Any] = {"StatusCode": 200, "Payload": StreamingBody(io.BytesIO(raw), len(raw))}
    if error is not None:
        response["FunctionError"] = error
    event = None if texts is None else json.dumps({"texts": texts, "input": "passage"}).encode()
    expected = None if event is None else {"FunctionName": "citewell-embed", "Payload": event}
    aws.add_response("invoke", response, expected)


def test_texts_go_in_batches_and_vectors_come_back_in_order(aws: Stubber, embedder: FunctionEmbedder) -> None:
    answers(aws, result((1.0, 0.5), (2.0, 0.5)), texts=["a", "b"])
    answers(aws, result((3.0, 0.5)), texts=["c"])
    vectors = embedder.embed(["a", "b", "c"], TextKind.PASSAGE)
    assert [list(vector) for vector in vectors] == [[1.0, 0.5], [2.0, 0.5], [3.0, 0.5]]


@pytest.mark.usefixtures("aws")
def test_no_text_makes_no_call(embedder: FunctionEmbedder) -> None:
    assert embedder.embed([], TextKind.QUERY) == []


@pytest.mark.parametrize(
    ("code", "status"),
    [("TooManyRequestsException", 429), ("ServiceException", 500), ("ResourceConflictException", 409)],
)
def test_throttling_and_server_errors_are_tried_again(
    aws: Stubber, embedder: FunctionEmbedder, pauses: list[float], code: str, status: int
) -> None:
    aws.add_client_error("invoke", code, http_status_code=status)
    answers(aws, result((1.0, 0.5)))
    assert [list(vector) for vector in embedder.embed(["a"], TextKind.PASSAGE)] == [[1.0, 0.5]]
    assert len(pauses) == 1


def test_a_function_that_crashed_is_tried_again(aws: Stubber, embedder: FunctionEmbedder) -> None:
    answers(aws, {"errorType": "Runtime.ExitError", "errorMessage": "signal: killed"}, error="Unhandled")
    answers(aws, result((1.0, 0.5)))
    assert len(embedder.embed(["a"], TextKind.PASSAGE)) == 1


def test_it_gives_up_after_its_attempts_and_says_why(aws: Stubber, embedder: FunctionEmbedder) -> None:
    for _ in range(3):
        answers(aws, {"errorType": "MemoryError", "errorMessage": "secret text"}, error="Unhandled")
    with pytest.raises(EmbedderUnavailable, match="citewell-embed did not embed: it failed with MemoryError") as caught:
        embedder.embed(["a"], TextKind.PASSAGE)
    assert "secret text" not in str(caught.value)


@pytest.mark.parametrize("kind", ["ConfigurationError", "InvalidRequest"])
def test_what_the_function_refuses_is_not_tried_again(aws: Stubber, embedder: FunctionEmbedder, kind: str) -> None:
    answers(aws, {"errorType": kind, "errorMessage": "the local model is missing"}, error="Unhandled")
    with pytest.raises(ConfigurationError, match="the local model is missing"):
        embedder.embed(["a"], TextKind.PASSAGE)


@pytest.mark.parametrize(
    ("code", "status"), [("AccessDeniedException", 403), ("ResourceNotFoundException", 404), ("InvalidParameter", 400)]
)
def test_a_call_that_is_not_allowed_says_what_to_check(
    aws: Stubber, embedder: FunctionEmbedder, code: str, status: int
) -> None:
    aws.add_client_error("invoke", code, http_status_code=status)
    with pytest.raises(ConfigurationError, match=rf"{code}.*CITEWELL_EMBED_FUNCTION"):
        embedder.embed(["a"], TextKind.PASSAGE)


@pytest.mark.parametrize(
    "payload",
    [
        b"<html>",
        b"",
        None,
        [],
        {},
        {"model": MODEL, "dimensions": 2, "vectors": ["%%%"]},
        {"model": MODEL, "dimensions": 2, "vectors": ["AAA="]},
        {"model": MODEL, "dimensions": 2, "vectors": [1]},
        result(),
        result((1.0, 0.5), (1.0, 0.5)),
        result((float("nan"), 0.5)),
        result((0.0, 0.0)),
    ],
    ids=lambda payload: repr(payload)[:60],
)
def test_a_result_that_is_none_is_tried_again_and_never_used(
    aws: Stubber, embedder: FunctionEmbedder, payload: object
) -> None:
    answers(aws, payload)
    answers(aws, result((1.0, 0.5)))
    assert [list(vector) for vector in embedder.embed(["a"], TextKind.PASSAGE)] == [[1.0, 0.5]]


@pytest.mark.parametrize("other", [{"model": "bge@2"}, {"dimensions": 3}])
def test_another_model_than_expected_is_a_mismatch(
    aws: Stubber, embedder: FunctionEmbedder, other: dict[str, Any]
) -> None:
    answers(aws, result((1.0, 0.5), **other))
    with pytest.raises(EmbedderMismatch, match=r"expects bge@1 \(2 dimensions\)"):
        embedder.embed(["a"], TextKind.PASSAGE)


def test_a_vector_of_another_length_than_the_result_says_is_a_configuration_error(
    aws: Stubber, embedder: FunctionEmbedder
) -> None:
    answers(aws, result((1.0, 0.5, 2.0)))
    with pytest.raises(ConfigurationError, match="3 dimensions"):
        embedder.embed(["a"], TextKind.PASSAGE)


@pytest.mark.parametrize(
    ("error", "raised", "calls"),
    [
        (EndpointConnectionError(endpoint_url="https://lambda"), EmbedderUnavailable, 3),
        (ReadTimeoutError(endpoint_url="https://lambda"), EmbedderUnavailable, 3),
        (IncompleteReadError(actual_bytes=1, expected_bytes=2), EmbedderUnavailable, 3),
        (NoCredentialsError(), ConfigurationError, 1),
    ],
    ids=["no connection", "time-out", "half an answer", "no credentials"],
)
def test_a_network_that_fails_is_tried_again_and_missing_credentials_are_not(
    embedder: FunctionEmbedder, client: LambdaClient, error: Exception, raised: type[Exception], calls: int
) -> None:
    called: list[str] = []

    def fail(**_: object) -> None:
        called.append("once")
        raise error

    client.meta.events.register("before-send.lambda.Invoke", fail)
    with pytest.raises(raised, match=type(error).__name__):
        embedder.embed(["a"], TextKind.PASSAGE)
    assert len(called) == calls


def test_a_missing_tokenizer_names_the_setting(embedder: FunctionEmbedder) -> None:
    with pytest.raises(ConfigurationError, match="CITEWELL_MODEL_DIR"):
        embedder.token_starts("a")


def test_what_the_port_promises_about_the_model(embedder: FunctionEmbedder) -> None:
    assert (embedder.model_id, embedder.dimensions) == (MODEL, 2)
    assert (embedder.max_tokens, embedder.batch_size) == (512, 2)
