"""What Voyage is asked; all else it shares with the OpenAI-compatible embedder, whose tests hold for both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from citewell.core.values import TextKind
from citewell.edges.retrying import Retrying
from citewell.edges.voyage_embedder import URL, VoyageEmbedder
from citewell.errors import ConfigurationError, EmbedderUnavailable
from tests.servers import embeddings_server, embeds, fails, text_vector

Make = Callable[..., VoyageEmbedder]

KEY = "pa-test-0123456789"


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def make(pauses: list[float]) -> Make:
    def _make(url: str, **options: Any) -> VoyageEmbedder:
        retrying = dict.fromkeys(TextKind, Retrying(attempts=3, sleep=pauses.append))
        given = {"dimensions": 256, "api_key": lambda: KEY, "retrying": retrying, **options}
        return VoyageEmbedder(url, "voyage-4", **given)

    return _make


@pytest.mark.parametrize(("kind", "input_type"), [(TextKind.QUERY, "query"), (TextKind.PASSAGE, "document")])
def test_queries_and_passages_are_told_apart_and_nothing_is_cut(make: Make, kind: TextKind, input_type: str) -> None:
    with embeddings_server() as server:
        vectors = make(server.url).embed(["one", "two"], kind)
    assert [list(vector) for vector in vectors] == [text_vector("one", 256), text_vector("two", 256)]
    [request] = server.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "voyage-4",
        "input": ["one", "two"],
        "input_type": input_type,
        "truncation": False,
        "output_dimension": 256,
    }


def test_a_request_holds_no_more_tokens_than_every_model_takes(make: Make) -> None:
    texts = [f"{n} " + "word " * 20_000 for n in range(7)]  # over 20,000 tokens each
    with embeddings_server() as server:
        vectors = make(server.url, batch_size=100).embed(texts, TextKind.PASSAGE)
    assert [list(vector) for vector in vectors] == [text_vector(text, 256) for text in texts]
    assert [len(request.body["input"]) for request in server.requests] == [4, 3]


def test_a_text_over_the_limit_is_still_sent_and_refused_by_the_api(make: Make) -> None:
    with embeddings_server() as server:
        make(server.url).embed(["short", "word " * 100_000, "short"], TextKind.PASSAGE)
    assert [len(request.body["input"]) for request in server.requests] == [1, 1, 1]


def test_a_rate_limit_is_waited_out_as_long_as_it_asks(make: Make, pauses: list[float]) -> None:
    with embeddings_server([fails(429, retry_after="3"), embeds()]) as server:
        make(server.url).embed(["x"], TextKind.QUERY)
    assert (len(server.requests), pauses) == (2, [3.0])


def test_a_service_that_stays_away_is_unavailable(make: Make) -> None:
    with (
        embeddings_server([fails(503)]) as server,
        pytest.raises(EmbedderUnavailable, match="/v1/embeddings did not embed: HTTP 503"),
    ):
        make(server.url).embed(["x"], TextKind.QUERY)
    assert len(server.requests) == 3


def test_what_it_refuses_is_a_configuration_error_without_text_or_key(make: Make) -> None:
    with (
        embeddings_server([fails(400, message="input too long: SECRET")]) as server,
        pytest.raises(ConfigurationError, match=r"voyage-4.*HTTP 400.*CITEWELL_EMBEDDER_MAX_TOKENS") as caught,
    ):
        make(server.url).embed(["x"], TextKind.PASSAGE)
    assert len(server.requests) == 1
    assert "SECRET" not in str(caught.value)
    assert KEY not in str(caught.value)


def test_the_address_is_voyages_own() -> None:
    assert URL == "https://api.voyageai.com/v1"
