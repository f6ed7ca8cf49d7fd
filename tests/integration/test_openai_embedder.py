"""The OpenAI-compatible embedder against a real server."""

from __future__ import annotations

import email.utils
import json
import socket
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from citewell.core.values import TextKind
from citewell.edges.openai_embedder import OpenAIEmbedder
from citewell.edges.retrying import Retrying
from citewell.errors import ConfigurationError, EmbedderUnavailable
from tests.servers import Reply, dripping, embeddings_server, embeds, fails, late, text_vector

Make = Callable[..., OpenAIEmbedder]

KEY = "sk-test-0123456789"


class Pauses(list[float]):
    """Stands in for sleeping: a test waits for nothing, and sees how long it would have been."""


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def make(pauses: Pauses) -> Make:
    def _make(url: str, **options: Any) -> OpenAIEmbedder:
        seconds = options.pop("seconds", 30.0)
        attempts = options.pop("attempts", 4)
        retrying = Retrying(attempts=attempts, seconds=seconds, sleep=pauses.append)
        given = {
            "dimensions": 8,
            "api_key": lambda: KEY,
            "retrying": dict.fromkeys(TextKind, retrying),
            **options,
        }
        return OpenAIEmbedder(url, "text-embedding-3-small", **given)

    return _make


def expected(texts: Sequence[str], dimensions: int = 8) -> list[list[float]]:
    return [text_vector(text, dimensions) for text in texts]


def embedded(embedder: OpenAIEmbedder, texts: Sequence[str]) -> list[list[float]]:
    return [list(vector) for vector in embedder.embed(texts, TextKind.PASSAGE)]


def test_one_vector_a_text_in_order_whatever_order_the_server_answers_in(make: Make) -> None:
    texts = ["one", "two", "three"]
    with embeddings_server([embeds(shuffled=True)]) as server:
        assert embedded(make(server.url), texts) == expected(texts)
    [request] = server.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {"model": "text-embedding-3-small", "input": texts}


def test_texts_are_sent_in_batches_of_the_configured_size(make: Make) -> None:
    texts = [f"text {n}" for n in range(7)]
    with embeddings_server() as server:
        assert embedded(make(server.url, batch_size=3), texts) == expected(texts)
    assert [len(request.body["input"]) for request in server.requests] == [3, 3, 1]


def test_no_text_makes_no_request(make: Make) -> None:
    with embeddings_server() as server:
        assert make(server.url).embed([], TextKind.QUERY) == []
    assert server.requests == []


def test_dimensions_are_asked_for_only_where_that_is_wanted(make: Make) -> None:
    with embeddings_server() as server:
        assert embedded(make(server.url, dimensions=4, request_dimensions=True), ["x"]) == expected(["x"], 4)
    assert server.requests[0].body["dimensions"] == 4


def test_a_server_without_keys_gets_none(make: Make) -> None:
    with embeddings_server() as server:
        make(server.url + "/", api_key=None).embed(["x"], TextKind.PASSAGE)
    assert server.requests[0].path == "/v1/embeddings"
    assert "authorization" not in server.requests[0].headers


def test_the_key_is_fetched_once_and_only_when_it_is_needed(make: Make) -> None:
    fetched: list[str] = []

    def fetch() -> str:
        fetched.append("once")
        return f"{KEY}\n"

    with embeddings_server() as server:
        embedder = make(server.url, api_key=fetch)
        assert fetched == []
        embedder.embed(["x"], TextKind.PASSAGE)
        embedder.embed(["y"], TextKind.PASSAGE)
    assert fetched == ["once"]
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_a_failure_that_may_pass_is_tried_again(make: Make, pauses: Pauses, status: int) -> None:
    with embeddings_server([fails(status), fails(status), embeds()]) as server:
        assert embedded(make(server.url), ["x"]) == expected(["x"])
    assert len(server.requests) == 3
    assert len(pauses) == 2


def test_retry_after_in_seconds_is_waited_for(make: Make, pauses: Pauses) -> None:
    with embeddings_server([fails(429, retry_after="7"), embeds()]) as server:
        make(server.url).embed(["x"], TextKind.PASSAGE)
    assert pauses == [7.0]


def test_retry_after_as_a_date_is_waited_for(make: Make, pauses: Pauses) -> None:
    when = email.utils.format_datetime(datetime.now(UTC) + timedelta(seconds=12), usegmt=True)
    with embeddings_server([fails(503, retry_after=when), embeds()]) as server:
        make(server.url).embed(["x"], TextKind.PASSAGE)
    [pause] = pauses
    assert 8 < pause <= 12


def test_a_wait_longer_than_the_time_left_is_not_begun(make: Make, pauses: Pauses) -> None:
    with (
        embeddings_server([fails(429, retry_after="120")]) as server,
        pytest.raises(EmbedderUnavailable, match="HTTP 429"),
    ):
        make(server.url).embed(["x"], TextKind.PASSAGE)
    assert (len(server.requests), pauses) == (1, [])


def test_it_gives_up_after_its_attempts_and_says_why(make: Make) -> None:
    with (
        embeddings_server([fails(500, "server_error")]) as server,
        pytest.raises(EmbedderUnavailable, match=r"/v1/embeddings did not embed: HTTP 500 \(server_error\)"),
    ):
        make(server.url, attempts=3).embed(["x"], TextKind.PASSAGE)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "CITEWELL_EMBEDDER_MODEL"),
        (401, "CITEWELL_EMBEDDER_API_KEY_SECRET_ARN"),
        (403, "CITEWELL_EMBEDDER_API_KEY_SECRET_ARN"),
        (404, "CITEWELL_EMBEDDER_URL"),
        (413, "CITEWELL_EMBEDDER_BATCH_SIZE"),
        (422, "CITEWELL_EMBEDDER_"),
        (301, "CITEWELL_EMBEDDER_"),
    ],
)
def test_a_refusal_is_not_tried_again_and_says_what_to_do_without_the_key(make: Make, status: int, advice: str) -> None:
    with (
        embeddings_server([fails(status, "invalid_request_error", message=f"Incorrect key: {KEY}")]) as server,
        pytest.raises(ConfigurationError, match=advice) as caught,
    ):
        make(server.url.replace("//", "//user:hidden@")).embed(["x"], TextKind.PASSAGE)
    assert len(server.requests) == 1
    assert f"HTTP {status} (invalid_request_error)" in str(caught.value)
    assert KEY not in str(caught.value)
    assert "hidden" not in str(caught.value)


def _data(*vectors: object, indices: Sequence[object] | None = None) -> Reply:
    numbers = indices or range(len(vectors))
    data = [{"index": index, "embedding": vector} for index, vector in zip(numbers, vectors, strict=True)]
    return Reply(body=json.dumps({"data": data}).encode())


GOOD = [0.5] * 8


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(body=b"<html>busy</html>"), id="not JSON"),
        pytest.param(Reply(body=b'{"data": ['), id="cut JSON"),
        pytest.param(Reply(body=b"[" * 100_000), id="deep JSON"),
        pytest.param(Reply(body=b"\xff\xfe"), id="not UTF-8"),
        pytest.param(Reply(body=b"[]"), id="a list"),
        pytest.param(Reply(body=b'{"data": null}'), id="no data"),
        pytest.param(Reply(body=b'{"data": [1, 2]}'), id="no objects"),
        pytest.param(_data(GOOD), id="one too few"),
        pytest.param(_data(GOOD, GOOD, GOOD), id="one too many"),
        pytest.param(_data(GOOD, GOOD, indices=[0, 0]), id="an index twice"),
        pytest.param(_data(GOOD, GOOD, indices=[1, 2]), id="an index out of range"),
        pytest.param(_data(GOOD, GOOD, indices=[0, [1]]), id="an index that is none"),
        pytest.param(_data(GOOD, [float("nan")] * 8), id="NaN"),
        pytest.param(_data(GOOD, [1e39] * 8), id="over 32 bits"),
        pytest.param(_data(GOOD, [0.0] * 8), id="all zero"),
        pytest.param(_data(GOOD, ["a"] * 8), id="words"),
        pytest.param(_data(GOOD, "AAAA"), id="base64"),
        pytest.param(_data(GOOD, None), id="null"),
    ],
)
def test_an_answer_that_is_none_is_tried_again_and_never_used(make: Make, reply: Reply) -> None:
    with embeddings_server([reply, embeds()]) as server:
        assert embedded(make(server.url), ["x", "y"]) == expected(["x", "y"])
    with embeddings_server([reply]) as server, pytest.raises(EmbedderUnavailable):
        make(server.url, attempts=2).embed(["x", "y"], TextKind.PASSAGE)


def test_another_dimension_than_configured_names_the_setting(make: Make) -> None:
    with (
        embeddings_server([embeds(dimensions=4)]) as server,
        pytest.raises(ConfigurationError, match=r"4 dimensions, but 8.*CITEWELL_EMBEDDER_DIMENSIONS"),
    ):
        make(server.url).embed(["x"], TextKind.PASSAGE)


def test_a_server_that_never_answers_is_given_up_in_time(make: Make) -> None:
    with (
        embeddings_server([late(embeds(), seconds=60)]) as server,
        pytest.raises(EmbedderUnavailable, match="ReadTimeout|no time was left"),
    ):
        make(server.url, seconds=0.3).embed(["x"], TextKind.PASSAGE)


def test_a_server_that_answers_byte_by_byte_is_given_up_in_time(make: Make) -> None:
    with (
        embeddings_server([dripping(embeds(), seconds=0.05)]) as server,
        pytest.raises(EmbedderUnavailable, match="not complete|no time was left"),
    ):
        make(server.url, seconds=0.3).embed(["x"], TextKind.PASSAGE)


def test_a_connection_that_fails_is_tried_again(make: Make, pauses: Pauses) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        with pytest.raises(EmbedderUnavailable, match="ConnectError"):
            make(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", attempts=3).embed(["x"], TextKind.PASSAGE)
    assert len(pauses) == 2


@pytest.mark.parametrize(
    "url", ["ftp://example.com/v1", "example.com/v1", "http://exa mple.com:x/v1", "http://[::1/v1"]
)
def test_a_url_that_is_none_is_a_configuration_error(make: Make, url: str) -> None:
    with pytest.raises(ConfigurationError, match="CITEWELL_EMBEDDER_URL"):
        make(url).embed(["x"], TextKind.PASSAGE)


@pytest.mark.parametrize("key", ["", " \n", "sk-\u00e4", "sk-1\nx-other: 2"])
def test_a_key_that_is_none_is_a_configuration_error_that_does_not_show_it(make: Make, key: str) -> None:
    with embeddings_server() as server, pytest.raises(ConfigurationError) as caught:
        make(server.url, api_key=lambda: key).embed(["x"], TextKind.PASSAGE)
    assert server.requests == []
    assert not key.strip() or key.strip() not in str(caught.value)


def test_odd_text_arrives_as_it_is(make: Make) -> None:
    texts = ["", "\u0000", "日本語 ☃ \U0001f600", "a" * 100_000]
    with embeddings_server() as server:
        assert embedded(make(server.url), texts) == expected(texts)
    assert server.requests[0].body["input"] == texts


def test_what_the_port_promises_about_the_model(make: Make) -> None:
    embedder = make("http://127.0.0.1:1/v1", max_tokens=100, batch_size=3)
    assert (embedder.model_id, embedder.dimensions) == ("text-embedding-3-small", 8)
    assert (embedder.max_tokens, embedder.batch_size) == (100, 3)
    starts = list(embedder.token_starts("A sentence of six words here."))
    assert starts == sorted(starts)
    assert starts[0] == 0


def test_a_key_that_was_changed_is_used_as_soon_as_the_old_one_is_refused(make: Make) -> None:
    keys = iter(["sk-old", "sk-new"])
    with embeddings_server([fails(401), embeds()]) as server:
        vectors = embedded(make(server.url, api_key=lambda: next(keys)), ["one"])
    assert vectors == expected(["one"])
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer sk-old", "Bearer sk-new"]


def test_reading_the_key_takes_its_share_of_the_time(make: Make) -> None:
    now = [0.0]

    def slow_key() -> str:
        now[0] += 9.0
        return KEY

    patience = dict.fromkeys(TextKind, Retrying(seconds=8.0, clock=lambda: now[0]))
    with (
        embeddings_server([embeds()]) as server,
        pytest.raises(EmbedderUnavailable, match="no time was left after the API key was read"),
    ):
        make(server.url, api_key=slow_key, retrying=patience).embed(["one"], TextKind.QUERY)
    assert server.requests == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_documents_follow_no_redirect_to_another_host(make: Make, status: int) -> None:
    with embeddings_server() as other, embeddings_server([Reply(status, headers={"location": other.url})]) as server:
        with pytest.raises(ConfigurationError, match=f"HTTP {status}; set CITEWELL_EMBEDDER_URL"):
            make(server.url).embed(["one"], TextKind.PASSAGE)
        assert other.requests == []
