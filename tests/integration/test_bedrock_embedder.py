"""The Bedrock embedder through the real boto3 client, against a server that speaks the runtime's wire format."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.chunking import split_chunks
from citewell.core.values import TextKind
from citewell.edges import bedrock_embedder
from citewell.edges.bedrock_embedder import BedrockEmbedder
from citewell.edges.retrying import Retrying
from citewell.errors import ConfigurationError, EmbedderUnavailable
from citewell.extract import extract
from tests.servers import (
    Reply,
    ScriptedServer,
    bedrock_fails,
    cohere_embeds,
    late,
    scripted_server,
    text_vector,
    titan_embeds,
)

TITAN = "amazon.titan-embed-text-v2:0"
COHERE = "cohere.embed-multilingual-v3"
COHERE_V4 = "cohere.embed-v4:0"
DIMENSIONS = {TITAN: 256, COHERE: 1024, COHERE_V4: 512}

Make = Callable[..., BedrockEmbedder]


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def make(pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> Make:
    """An embedder that finds server, region and credentials as a function does: in its environment."""
    for name in ("AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # it remembers credentials
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token-of-the-test")

    def _make(server: ScriptedServer | str, model: str = TITAN, **options: Any) -> BedrockEmbedder:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server if isinstance(server, str) else server.url)
        retrying = Retrying(attempts=options.pop("attempts", 3), sleep=pauses.append)
        known = {"dimensions": DIMENSIONS.get(model), "retrying": dict.fromkeys(TextKind, retrying)}
        return BedrockEmbedder(model, **{**known, **options})

    return _make


def embedded(embedder: BedrockEmbedder, texts: list[str]) -> list[list[float]]:
    return [list(vector) for vector in embedder.embed(texts, TextKind.PASSAGE)]


# --- what is asked ---


def test_titan_is_asked_for_one_text_a_call_signed_with_the_functions_credentials(make: Make) -> None:
    texts = [f"text {n}" for n in range(10)]
    with scripted_server([titan_embeds()]) as server:
        assert embedded(make(server), texts) == [text_vector(text, 256) for text in texts]
    assert [request.body for request in server.requests] == [
        {"inputText": text, "dimensions": 256, "normalize": True} for text in texts
    ]
    request = server.requests[0]
    assert (request.method, request.path) == ("POST", "/model/amazon.titan-embed-text-v2%3A0/invoke")
    assert request.headers["content-type"] == "application/json"
    assert request.headers["x-amz-security-token"] == "token-of-the-test"
    signature = request.headers["authorization"]
    assert signature.startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-central-1/bedrock/aws4_request" in signature


@pytest.mark.parametrize(
    ("kind", "input_type"), [(TextKind.QUERY, "search_query"), (TextKind.PASSAGE, "search_document")]
)
def test_cohere_v3_tells_queries_from_passages_and_cuts_nothing(make: Make, kind: TextKind, input_type: str) -> None:
    with scripted_server([cohere_embeds()]) as server:
        vectors = make(server, COHERE).embed(["one", "two"], kind)
    assert [list(vector) for vector in vectors] == [text_vector("one", 1024), text_vector("two", 1024)]
    [request] = server.requests
    assert request.path == "/model/cohere.embed-multilingual-v3/invoke"
    assert request.body == {
        "texts": ["one", "two"],
        "input_type": input_type,
        "truncate": "NONE",
        "embedding_types": ["float"],
    }


def test_cohere_v4_is_asked_for_its_dimensions_through_the_profile(make: Make) -> None:
    with scripted_server([cohere_embeds()]) as server:
        embedder = make(server, "us.cohere.embed-v4:0", dimensions=512)
        assert embedded(embedder, ["one"]) == [text_vector("one", 512)]
    [request] = server.requests
    assert request.path == "/model/us.cohere.embed-v4%3A0/invoke"
    assert request.body == {
        "texts": ["one"],
        "input_type": "search_document",
        "truncate": "NONE",
        "embedding_types": ["float"],
        "output_dimension": 512,
    }


def test_cohere_gets_at_most_96_texts_a_call(make: Make) -> None:
    texts = [f"text {n}" for n in range(200)]
    with scripted_server([cohere_embeds()]) as server:
        assert embedded(make(server, COHERE_V4, batch_size=2000), texts) == [text_vector(text, 512) for text in texts]
    assert [len(request.body["texts"]) for request in server.requests] == [96, 96, 8]


def test_a_smaller_batch_than_the_model_takes_is_kept_to(make: Make) -> None:
    with scripted_server([cohere_embeds()]) as server:
        embedded(make(server, COHERE, batch_size=2), ["a", "b", "c"])
    assert [len(request.body["texts"]) for request in server.requests] == [2, 1]


def test_no_text_makes_no_call(make: Make) -> None:
    with scripted_server([titan_embeds()]) as server:
        assert make(server).embed([], TextKind.QUERY) == []
    assert server.requests == []


def test_odd_text_arrives_as_it_is(make: Make) -> None:
    texts = ["\u0000", "日本語 ☃ \U0001f600", 'quote " and \\ and \n', "a" * 40_000]
    with scripted_server([titan_embeds()]) as server:
        assert embedded(make(server), texts) == [text_vector(text, 256) for text in texts]


# --- what may fail ---


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, "ThrottlingException"),
        (429, "ModelNotReadyException"),
        (408, "ModelTimeoutException"),
        (424, "ModelErrorException"),
        (500, "InternalServerException"),
        (503, "ServiceUnavailableException"),
    ],
)
def test_a_failure_that_may_pass_is_tried_again_once_a_pause(
    make: Make, pauses: list[float], status: int, kind: str
) -> None:
    # One request a failure: botocore's own retries don't multiply ours.
    with scripted_server([bedrock_fails(status, kind), bedrock_fails(status, kind), titan_embeds()]) as server:
        assert embedded(make(server), ["x"]) == [text_vector("x", 256)]
    assert (len(server.requests), len(pauses)) == (3, 2)


def test_retry_after_is_waited_for(make: Make, pauses: list[float]) -> None:
    with scripted_server([bedrock_fails(429, "ThrottlingException", retry_after="5"), titan_embeds()]) as server:
        embedded(make(server), ["x"])
    assert pauses == [5.0]


def test_it_gives_up_after_its_attempts_and_says_why(make: Make) -> None:
    with (
        scripted_server([bedrock_fails(429, "ThrottlingException", message="SECRET")]) as server,
        pytest.raises(EmbedderUnavailable, match=f"^{TITAN} did not embed: ThrottlingException$"),
    ):
        make(server).embed(["x"], TextKind.QUERY)
    assert len(server.requests) == 3


def test_the_time_is_bounded_for_a_whole_batch(make: Make) -> None:
    with scripted_server([titan_embeds()]) as server:
        a_second_each = Retrying(seconds=3.5, clock=lambda: float(len(server.requests)))
        embedder = make(server, retrying=dict.fromkeys(TextKind, a_second_each))
        with pytest.raises(EmbedderUnavailable, match="no time was left"):
            embedder.embed([f"text {n}" for n in range(8)], TextKind.PASSAGE)
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("status", "kind", "advice"),
    [
        (403, "AccessDeniedException", r"enable access to the model.*bedrock:InvokeModel"),
        (400, "ValidationException", r"CITEWELL_EMBEDDER_MODEL .*inference profile.*CITEWELL_EMBEDDER_MAX_TOKENS"),
        (404, "ResourceNotFoundException", r"CITEWELL_EMBEDDER_MODEL, and whether this region offers it"),
        (400, "ServiceQuotaExceededException", r"quota"),
        (403, "UnrecognizedClientException", r"check the function's role"),
    ],
)
def test_a_refusal_is_not_tried_again_and_says_what_to_do(make: Make, status: int, kind: str, advice: str) -> None:
    with (
        scripted_server([bedrock_fails(status, kind, message="the text SECRET is too long")]) as server,
        pytest.raises(ConfigurationError, match=rf"with {TITAN}: {kind}; .*{advice}") as caught,
    ):
        make(server).embed(["x"], TextKind.PASSAGE)
    assert len(server.requests) == 1
    assert "SECRET" not in str(caught.value)


GOOD = [0.5] * 256


def _json(response: object) -> Reply:
    return Reply(body=json.dumps(response).encode())


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(body=b"<html>busy</html>"), id="not JSON"),
        pytest.param(Reply(body=b'{"embedding": ['), id="cut JSON"),
        pytest.param(Reply(body=b"[" * 100_000), id="deep JSON"),
        pytest.param(Reply(body=b"\xff\xfe"), id="not UTF-8"),
        pytest.param(_json([GOOD]), id="a list"),
        pytest.param(_json({"embeddings": {"float": [GOOD]}}), id="another model's"),
        pytest.param(_json({"embedding": None}), id="null"),
        pytest.param(_json({"embedding": [0.0] * 256}), id="all zero"),
        pytest.param(_json({"embedding": [float("nan")] * 256}), id="NaN"),
        pytest.param(_json({"embedding": ["a"] * 256}), id="words"),
    ],
)
def test_an_answer_that_is_none_is_tried_again_and_never_used(make: Make, reply: Reply) -> None:
    with scripted_server([reply, titan_embeds()]) as server:
        assert embedded(make(server), ["x"]) == [text_vector("x", 256)]
    with scripted_server([reply]) as server, pytest.raises(EmbedderUnavailable):
        make(server, attempts=2).embed(["x"], TextKind.PASSAGE)


@pytest.mark.parametrize(
    "embeddings", [{"float": [[0.5] * 1024]}, {"float": None}, {"int8": []}, [[0.5] * 1024] * 2, None]
)
def test_coheres_answer_must_hold_one_vector_a_text(make: Make, embeddings: object) -> None:
    with scripted_server([_json({"embeddings": embeddings}), cohere_embeds()]) as server:
        assert len(embedded(make(server, COHERE), ["x", "y"])) == 2
    assert len(server.requests) == 2


def test_another_dimension_than_configured_names_the_setting(make: Make) -> None:
    with (
        scripted_server([_json({"embedding": [0.5] * 1024})]) as server,
        pytest.raises(ConfigurationError, match=r"1024 dimensions, but 256.*CITEWELL_EMBEDDER_DIMENSIONS"),
    ):
        make(server).embed(["x"], TextKind.PASSAGE)


def test_a_server_that_never_answers_is_given_up(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bedrock_embedder, "READ_SECONDS", 0.2)
    with (
        scripted_server([late(titan_embeds(), seconds=60)]) as server,
        pytest.raises(EmbedderUnavailable, match="ReadTimeoutError"),
    ):
        make(server, attempts=2).embed(["x"], TextKind.QUERY)
    assert len(server.requests) == 2


def test_a_connection_that_fails_is_tried_again(make: Make, pauses: list[float]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        with pytest.raises(EmbedderUnavailable, match="EndpointConnectionError"):
            make(f"http://127.0.0.1:{taken.getsockname()[1]}").embed(["x"], TextKind.QUERY)
    assert len(pauses) == 2


def test_missing_credentials_are_a_configuration_error(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_server([titan_embeds()]) as server:
        embedder = make(server)
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
            monkeypatch.delenv(name)
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
        monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
        with pytest.raises(ConfigurationError, match="NoCredentialsError"):
            embedder.embed(["x"], TextKind.QUERY)
    assert server.requests == []


# --- what the port promises ---


@pytest.mark.parametrize(
    ("model", "dimensions", "model_id", "batch", "tokens"),
    [
        (TITAN, 1024, TITAN, 8, 6301),
        (COHERE, 1024, COHERE, 96, 339),
        ("cohere.embed-english-v3", 1024, "cohere.embed-english-v3", 96, 339),
        (COHERE_V4, 1536, COHERE_V4, 96, 8191),
        ("eu.cohere.embed-v4:0", 256, COHERE_V4, 96, 8191),
        ("us-gov.amazon.titan-embed-text-v2:0", 512, TITAN, 8, 6301),
    ],
)
def test_each_model_has_its_own_limits_and_a_profile_is_the_same_model(
    model: str, dimensions: int, model_id: str, batch: int, tokens: int
) -> None:
    embedder = BedrockEmbedder(model, dimensions=dimensions)
    assert (embedder.model_id, embedder.dimensions) == (model_id, dimensions)
    assert (embedder.batch_size, embedder.max_tokens) == (batch, tokens)


def test_settings_only_lower_the_limits() -> None:
    embedder = BedrockEmbedder(COHERE, dimensions=1024, batch_size=10, max_tokens=200)
    assert (embedder.batch_size, embedder.max_tokens) == (10, 200)


@pytest.mark.parametrize(
    "model",
    [
        "",
        "titan",
        "amazon.titan-text-express-v1",
        "amazon.titan-embed-text-v1",
        "anthropic.claude-haiku-4-5-20251001-v1:0",
        "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc",
        "cohere.embed-v4:0/../../x",
    ],
)
def test_another_model_is_a_configuration_error(model: str) -> None:
    with pytest.raises(ConfigurationError, match="known here"):
        BedrockEmbedder(model, dimensions=1024)


@pytest.mark.parametrize(("model", "dimensions"), [(TITAN, 384), (COHERE, 512), (COHERE_V4, 2000)])
def test_a_dimension_that_the_model_does_not_make_is_a_configuration_error(model: str, dimensions: int) -> None:
    with pytest.raises(ConfigurationError, match=f"{model} makes vectors of .* dimensions, not {dimensions}"):
        BedrockEmbedder(model, dimensions=dimensions)


_COHERE = BedrockEmbedder(COHERE, dimensions=1024)


@given(st.text(max_size=300) | st.text(alphabet="ab \n\t.", max_size=300))
def test_no_token_is_longer_than_six_characters_white_space_included(text: str) -> None:
    starts = list(_COHERE.token_starts(text))
    assert starts == sorted(set(starts))
    assert all(end - start <= 6 for start, end in pairwise([*starts, len(text)]))


@pytest.mark.parametrize(
    "text",
    [
        "Annual leave is 25 days, and more after ten years of service. " * 300,
        "a       " * 3000,
        "word\n\n\n\n\n\n\n\n\n\n\n\n" * 1000,
        "W" * 9000,
        "Donaudampfschifffahrtsgesellschaftskapitän " * 300,
        "年假二十五天。" * 1500,
        "\U0001f600 " * 3000,
    ],
    ids=["prose", "wide", "tall", "one word", "compounds", "Chinese", "emoji"],
)
def test_no_chunk_has_more_characters_than_cohere_takes(text: str) -> None:
    document = extract(text.encode())
    chunks = split_chunks(
        document,
        title="A title of some length, as people give them",
        max_tokens=_COHERE.max_tokens - 2,
        overlap_tokens=48,
        token_starts=_COHERE.token_starts,
    )
    assert chunks
    assert max(len(chunk.embedded_text) for chunk in chunks) <= 2048
