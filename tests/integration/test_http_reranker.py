"""Rerankers over HTTP against real servers, each in its own wire format."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

import pytest

from citewell.edges.http_reranker import DIALECTS, HttpReranker
from citewell.edges.retrying import Retrying
from citewell.errors import ConfigurationError, RerankerUnavailable
from tests.servers import (
    Reply,
    cohere_reranks,
    dripping,
    fails,
    jina_reranks,
    late,
    length_score,
    scripted_server,
    tei_reranks,
)

Make = Callable[..., HttpReranker]

KEY = "key-0123456789"
QUESTION = "What is the limit?"
TEXTS = ["Meals: 60 EUR.", "Trains come first.", "Hotels: 140 EUR a night."]
SCORES = [length_score(text) for text in TEXTS]
REPLIES = {"cohere": cohere_reranks, "jina": jina_reranks, "tei": tei_reranks}


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def make(pauses: list[float]) -> Make:
    def _make(url: str, dialect: str = "cohere", **options: Any) -> HttpReranker:
        retrying = Retrying(attempts=2, seconds=options.pop("seconds", 30.0), longest_pause=0.5, sleep=pauses.append)
        given = {"dialect": DIALECTS[dialect], "retrying": retrying, "api_key": lambda: KEY, **options}
        return HttpReranker(url, "rerank-v3.5", **given)

    return _make


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_one_score_a_text_in_the_order_of_the_texts(make: Make, dialect: str) -> None:
    with scripted_server([REPLIES[dialect]()]) as server:
        assert make(server.url, dialect).rerank(QUESTION, TEXTS) == SCORES
    assert sorted(SCORES, reverse=True) != SCORES, "the servers answer in another order"


@pytest.mark.parametrize(
    ("dialect", "base", "path", "body"),
    [
        (
            "cohere",
            "/v2",
            "/v2/rerank",
            {"model": "rerank-v3.5", "query": QUESTION, "documents": TEXTS},
        ),
        (
            "jina",
            "/v1/",
            "/v1/rerank",
            {"model": "rerank-v3.5", "query": QUESTION, "documents": TEXTS, "return_documents": False},
        ),
        (
            "tei",
            "",
            "/rerank",
            {"query": QUESTION, "texts": TEXTS, "truncate": True, "raw_scores": True, "return_text": False},
        ),
    ],
)
def test_each_api_is_asked_in_its_own_words(make: Make, dialect: str, base: str, path: str, body: Any) -> None:
    with scripted_server([REPLIES[dialect]()]) as server:
        make(server.url + base, dialect).rerank(QUESTION, TEXTS)
    [request] = server.requests
    assert (request.path, request.body) == (path, body)
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_the_hosted_apis_have_addresses_of_their_own() -> None:
    assert {name: dialect.url for name, dialect in DIALECTS.items()} == {
        "cohere": "https://api.cohere.com/v2",
        "jina": "https://api.jina.ai/v1",
        "tei": None,
    }


def test_a_server_without_keys_gets_none(make: Make) -> None:
    with scripted_server([tei_reranks()]) as server:
        make(server.url, "tei", api_key=None).rerank(QUESTION, TEXTS)
    assert "authorization" not in server.requests[0].headers


def test_no_text_makes_no_request(make: Make) -> None:
    with scripted_server([cohere_reranks()]) as server:
        assert make(server.url).rerank(QUESTION, []) == []
    assert server.requests == []


@pytest.mark.parametrize("status", [408, 424, 429, 500, 503])
def test_a_failure_that_may_pass_is_tried_once_more(make: Make, pauses: list[float], status: int) -> None:
    with scripted_server([fails(status), cohere_reranks()]) as server:
        assert make(server.url).rerank(QUESTION, TEXTS) == SCORES
    assert len(server.requests) == 2
    assert [0 <= pause <= 0.5 for pause in pauses] == [True]


def test_it_gives_up_after_the_second_attempt_and_says_why(make: Make) -> None:
    with (
        scripted_server([fails(500, "server_error")]) as server,
        pytest.raises(RerankerUnavailable, match=r"/rerank did not rerank: HTTP 500 \(server_error\)"),
    ):
        make(server.url).rerank(QUESTION, TEXTS)
    assert len(server.requests) == 2


def test_a_wait_longer_than_the_time_left_is_not_begun(make: Make, pauses: list[float]) -> None:
    with (
        scripted_server([fails(429, retry_after="20")]) as server,
        pytest.raises(RerankerUnavailable, match="HTTP 429"),
    ):
        make(server.url, seconds=3.0).rerank(QUESTION, TEXTS)
    assert (len(server.requests), pauses) == (1, [])


@pytest.mark.parametrize(
    "slow",
    [late(cohere_reranks(), seconds=60), dripping(cohere_reranks(), seconds=0.05)],
    ids=["never", "byte by byte"],
)
def test_a_server_that_is_too_slow_is_given_up_in_time(make: Make, slow: Reply) -> None:
    with (
        scripted_server([slow]) as server,
        pytest.raises(RerankerUnavailable, match="ReadTimeout|not complete|no time was left"),
    ):
        make(server.url, seconds=0.3).rerank(QUESTION, TEXTS)


def test_a_server_that_is_away_is_given_up(make: Make) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        with pytest.raises(RerankerUnavailable, match="ConnectError"):
            make(f"http://127.0.0.1:{taken.getsockname()[1]}").rerank(QUESTION, TEXTS)


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "CITEWELL_RERANKER_MODEL"),
        (401, "CITEWELL_RERANKER_API_KEY_SECRET_ARN"),
        (403, "CITEWELL_RERANKER_API_KEY_SECRET_ARN"),
        (404, r"CITEWELL_RERANKER_URL \(it ends before /rerank\)"),
        (413, "CITEWELL_RERANK_CANDIDATES"),
        (422, "CITEWELL_RERANKER_"),
        (307, "CITEWELL_RERANKER_URL to the address itself"),
    ],
)
def test_a_refusal_is_not_tried_again_and_says_what_to_do_without_key_or_text(
    make: Make, status: int, advice: str
) -> None:
    with (
        scripted_server([fails(status, "invalid_request", message=f"{KEY}: {TEXTS[0]}")]) as server,
        pytest.raises(ConfigurationError, match=advice) as caught,
    ):
        make(server.url.replace("//", "//user:hidden@")).rerank(QUESTION, TEXTS)
    assert len(server.requests) == 1
    assert f"refused to rerank with rerank-v3.5: HTTP {status} (invalid_request)" in str(caught.value)
    for secret in (KEY, "hidden", *TEXTS):
        assert secret not in str(caught.value)


def _results(*pairs: tuple[object, object]) -> dict[str, Any]:
    return {"results": [{"index": index, "relevance_score": score} for index, score in pairs]}


@pytest.mark.parametrize(
    "body",
    [
        b"<html>busy</html>",
        b'{"results": [',
        b"[" * 100_000,
        b"\xff\xfe",
        [],
        {},
        {"results": None},
        {"results": [1, 2, 3]},
        {"results": [{"index": 0}] * 3},
        _results((0, 0.1), (1, 0.2)),
        _results((0, 0.1), (1, 0.2), (2, 0.3), (3, 0.4)),
        _results((0, 0.1), (1, 0.2), (1, 0.3)),
        _results((0, 0.1), (1, 0.2), (2, 0.3), (2, 0.3)),
        _results((1, 0.1), (2, 0.2), (3, 0.3)),
        _results((0, 0.1), (1, 0.2), ([2], 0.3)),
        _results((0, 0.1), (1, 0.2), (2, float("nan"))),
        _results((0, 0.1), (1, 0.2), (2, float("inf"))),
        _results((0, 0.1), (1, 0.2), (2, "high")),
        _results((0, 0.1), (1, 0.2), (2, None)),
        _results((0, 0.1), (1, 0.2), (2, 10**400)),
    ],
    ids=lambda body: repr(body)[:70],
)
def test_an_answer_that_is_none_is_tried_again_and_never_used(make: Make, body: object) -> None:
    reply = Reply(body=body if isinstance(body, bytes) else json.dumps(body).encode())
    with scripted_server([reply, cohere_reranks()]) as server:
        assert make(server.url).rerank(QUESTION, TEXTS) == SCORES
    with scripted_server([reply]) as server, pytest.raises(RerankerUnavailable):
        make(server.url).rerank(QUESTION, TEXTS)


def test_another_apis_answer_is_none(make: Make) -> None:
    ranks = Reply(body=json.dumps([{"index": index, "score": 0.5} for index in range(3)]).encode())
    with scripted_server([ranks]) as server, pytest.raises(RerankerUnavailable, match="not the one expected"):
        make(server.url, "cohere").rerank(QUESTION, TEXTS)


def test_a_key_that_was_changed_is_used_as_soon_as_the_old_one_is_refused(make: Make) -> None:
    keys = iter(["old", "new"])
    with scripted_server([fails(401), cohere_reranks()]) as server:
        assert make(server.url, api_key=lambda: next(keys)).rerank(QUESTION, TEXTS) == SCORES
    assert [request.headers["authorization"] for request in server.requests] == ["Bearer old", "Bearer new"]


@pytest.mark.parametrize("url", ["ftp://example.com/v1", "example.com/v1", "http://[::1/v1"])
def test_a_url_that_is_none_is_a_configuration_error(make: Make, url: str) -> None:
    with pytest.raises(ConfigurationError, match="CITEWELL_RERANKER_URL"):
        make(url).rerank(QUESTION, TEXTS)


def test_odd_text_arrives_as_it_is(make: Make) -> None:
    texts = ["", "\u0000", "日本語 ☃ \U0001f600", "a" * 100_000]
    with scripted_server([tei_reranks()]) as server:
        assert make(server.url, "tei").rerank("ʻAʻole?", texts) == [length_score(text) for text in texts]
    assert (server.requests[0].body["query"], server.requests[0].body["texts"]) == ("ʻAʻole?", texts)
