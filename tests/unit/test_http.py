from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.values import Answer, Citation, DocumentStatus, Passage, Question, Usage
from citewell.errors import (
    CitewellError,
    ConfigurationError,
    DatabaseUnavailable,
    EmbedderMismatch,
    EmbedderUnavailable,
    GeneratorUnavailable,
    InvalidRequest,
    NoTenant,
    ObjectStoreUnavailable,
    RequestTooLarge,
    SecretUnavailable,
)
from citewell.http import (
    MAX_BODY_BYTES,
    SECURITY_HEADERS,
    Listing,
    answer_body,
    not_found,
    parse_listing,
    parse_page,
    parse_question,
    problem,
    respond,
    search_body,
    unrouted,
    with_problems,
)
from tests.passages import a_passage


class SilentLog:
    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, object]]] = []

    def info(self, message: str, /, *, extra: Any) -> None:
        self.lines.append((message, dict(extra)))

    error = info


def _event(body: object) -> dict[str, Any]:
    return {"body": body if isinstance(body, str) else json.dumps(body), "requestContext": {"requestId": "r-1"}}


def test_a_question_alone_takes_the_defaults() -> None:
    assert parse_question(_event({"question": " How late is late? "}), top_k=5) == Question(
        "How late is late?", top_k=5
    )


def test_all_fields_are_read() -> None:
    asked = {"question": "Q", "collections": ["hr", "hr"], "sources": ["a/", "b/"], "top_k": 20}
    assert parse_question(_event(asked), top_k=5) == Question("Q", ("hr",), ("a/", "b/"), 20)


def test_a_base64_body_is_decoded() -> None:
    body = base64.b64encode(b'{"question": "Wie hoch?"}').decode()
    assert parse_question({"body": body, "isBase64Encoded": True}, top_k=5).text == "Wie hoch?"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "the body is not valid JSON in UTF-8"),
        ("{", "the body is not valid JSON in UTF-8"),
        ("[" * 10_000, "the body is not valid JSON in UTF-8"),
        ([], "the body must be a JSON object"),
        ({}, "'question' must be a string"),
        ({"question": 7}, "'question' must be a string"),
        ({"question": ""}, "'question' is empty"),
        ({"question": " \n\u0000 "}, "'question' is empty"),
        ({"question": "\u200b \u2060"}, "'question' is empty"),
        ({"question": "x" * 501}, "'question' is longer than 500 characters"),
        ({"question": "\ud800"}, "'question' is not valid Unicode"),
        ({"question": "q", "tenant": "other"}, "unknown field 'tenant'"),
        ({"question": "q", "groups": ["hr"]}, "unknown field 'groups'"),
        ({"question": "q", "top_k": 0}, "'top_k' must be a whole number from 1 to 20"),
        ({"question": "q", "top_k": 21}, "'top_k' must be a whole number from 1 to 20"),
        ({"question": "q", "top_k": True}, "'top_k' must be a whole number from 1 to 20"),
        ({"question": "q", "top_k": 2.5}, "'top_k' must be a whole number from 1 to 20"),
        ({"question": "q", "sources": "a/"}, "'sources' must be a list of non-empty strings"),
        ({"question": "q", "collections": [""]}, "'collections' must be a list of non-empty strings"),
        (
            {"question": "q", "sources": ["a"] * 51},
            "'sources' holds more than 50 values or one over 1024 characters",
        ),
    ],
)
def test_a_request_that_breaks_the_contract_says_how(body: object, message: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_question(_event(body), top_k=5)
    assert str(refused.value) == message


def test_a_body_that_is_no_base64_or_no_utf8_is_refused() -> None:
    for body in ("%%%", base64.b64encode(b'{"question": "\xff"}').decode()):
        with pytest.raises(InvalidRequest):
            parse_question({"body": body, "isBase64Encoded": True}, top_k=5)


def test_a_missing_body_is_refused() -> None:
    with pytest.raises(InvalidRequest):
        parse_question({}, top_k=5)


@pytest.mark.parametrize("encoded", [False, True])
def test_a_huge_body_is_too_large(encoded: bool) -> None:
    text = json.dumps({"question": "x" * MAX_BODY_BYTES})
    event = {"body": base64.b64encode(text.encode()).decode() if encoded else text, "isBase64Encoded": encoded}
    with pytest.raises(RequestTooLarge):
        parse_question(event, top_k=5)


def test_control_characters_in_a_question_become_spaces() -> None:
    assert parse_question(_event({"question": "late\u0000fee\tnow"}), top_k=5).text == "late fee now"


@given(st.text())
def test_any_body_is_a_question_or_a_clear_refusal(body: str) -> None:
    try:
        question = parse_question({"body": body}, top_k=5)
    except InvalidRequest as refused:
        message = str(refused)
        assert message
    else:
        assert question.text.strip()


@pytest.mark.parametrize(
    ("error", "status", "retry"),
    [
        (InvalidRequest("no"), 400, None),
        (RequestTooLarge("no"), 413, None),
        (NoTenant("no"), 403, None),
        (ConfigurationError("secret arn:x was never filled"), 500, None),
        (EmbedderMismatch("bge 384"), 500, None),
        (EmbedderUnavailable("10.0.0.1 refused"), 502, None),
        (GeneratorUnavailable("overloaded"), 502, None),
        (DatabaseUnavailable("password authentication failed for user"), 503, "5"),
        (SecretUnavailable("ThrottlingException"), 503, "5"),
        (ObjectStoreUnavailable("bucket"), 503, "5"),
        (CitewellError("?"), 500, None),
        (KeyError("secret"), 500, None),
    ],
)
def test_an_error_is_a_problem_document_without_internals(error: Exception, status: int, retry: str | None) -> None:
    response = problem(error, request_id="r-1")
    body = json.loads(response["body"])
    assert (response["statusCode"], body["status"], body["requestId"]) == (status, status, "r-1")
    assert response["headers"]["content-type"] == "application/problem+json"
    assert response["headers"].get("retry-after") == retry
    if status >= 500:
        assert str(error).strip("'") not in response["body"]


def test_an_unexpected_error_is_answered_and_logged_without_its_message() -> None:
    log = SilentLog()

    counted: list[int] = []

    @with_problems(log, count=lambda: counted.append(1))
    def handler(_event: dict[str, Any], _context: Any) -> dict[str, Any]:
        raise ValueError("a document's text")

    assert handler(_event({}), None)["statusCode"] == 500
    assert counted == [1]
    [(message, fields)] = log.lines
    assert (message, fields["error"], fields["request_id"]) == ("request failed", "ValueError", "r-1")
    assert "document's text" not in json.dumps(fields)


def test_a_wrong_request_is_logged_without_what_it_said() -> None:
    log = SilentLog()

    @with_problems(log, count=lambda: None)
    def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
        parse_question(event, top_k=5)
        return {}

    response = handler(_event({"What does my colleague earn?": ""}), None)
    assert (response["statusCode"], "my colleague" in response["body"]) == (400, True)
    [(message, fields)] = log.lines
    assert (message, fields) == ("invalid request", {"problem": "InvalidRequest", "request_id": "r-1"})


def test_an_answer_has_the_shape_of_the_contract() -> None:
    passage = Passage(
        "id", "handbook/expenses.md", "Expenses", ("Expenses", "Meals"), None, 2, 812, 1480, "The limit ...", 0.83126
    )
    answer = Answer("60 EUR [1].", (Citation(1, passage),), None, Usage(1120, 64), "claude-haiku-4-5")
    assert answer_body(answer, request_id="r-1") == {
        "answer": "60 EUR [1].",
        "citations": [
            {
                "n": 1,
                "source": "handbook/expenses.md",
                "title": "Expenses",
                "section": "Expenses > Meals",
                "page": None,
                "chunk": 2,
                "score": 0.8313,
                "text": "The limit ...",
                "start": 812,
                "end": 1480,
            }
        ],
        "usage": {"inputTokens": 1120, "outputTokens": 64},
        "model": "claude-haiku-4-5",
        "requestId": "r-1",
    }


def test_what_is_found_says_how_each_step_saw_it() -> None:
    found = a_passage("60 EUR", vector_rank=1, fused_score=0.0163934, score=0.83126)
    ranked = replace(found, keyword_rank=3, keyword_score=4.21046, coverage=0.71239, rerank_score=-2.50004)
    plain, reranked = search_body([found, ranked], request_id="r-1")["passages"]
    assert (plain["rank"], plain["score"], plain["vectorRank"], plain["fusedScore"]) == (1, 0.8313, 1, 0.016393)
    assert (plain["keywordRank"], plain["keywordScore"], plain["rerankScore"]) == (None, None, None)
    assert (reranked["rank"], reranked["score"], reranked["coverage"]) == (2, 0.8313, 0.7124)
    assert (reranked["keywordRank"], reranked["keywordScore"], reranked["rerankScore"]) == (3, 4.2105, -2.5)


def test_a_refusal_carries_its_reason() -> None:
    refusal = Answer("I don't know.", (), "best score 0.31 below threshold 0.55", Usage(), None)
    assert answer_body(refusal, request_id="r-1")["reason"] == "best score 0.31 below threshold 0.55"


def test_pages_default_to_the_first() -> None:
    assert parse_page({}) == (0, 50)
    assert parse_page({"queryStringParameters": {"offset": "100", "limit": "100"}}) == (100, 100)


@pytest.mark.parametrize(
    "given_",
    [{"offset": "-1"}, {"offset": "x"}, {"limit": "0"}, {"limit": "101"}, {"limit": "٣"}, {"offset": "9" * 5000},
     {"page": "1"}, {"limit": ""}],
)  # fmt: skip
def test_a_wrong_page_is_refused(given_: dict[str, str]) -> None:
    with pytest.raises(InvalidRequest):
        parse_page({"queryStringParameters": given_})


def test_a_listing_begins_with_everything() -> None:
    assert parse_listing({}) == Listing(None, "", "", 50)
    asked = {"status": "FAILED", "prefix": "hr/", "after": "hr/a b.pdf", "limit": "10"}
    assert parse_listing({"queryStringParameters": asked}) == Listing(DocumentStatus.FAILED, "hr/", "hr/a b.pdf", 10)


@pytest.mark.parametrize(
    "given_",
    [{"status": "failed"}, {"status": ""}, {"limit": "101"}, {"offset": "1"}, {"prefix": "x" * 1025}, {"after": "\0"},
     {"prefix": "\ud800"}],
)  # fmt: skip
def test_a_wrong_listing_is_refused(given_: dict[str, str]) -> None:
    with pytest.raises(InvalidRequest):
        parse_listing({"queryStringParameters": given_})


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", "/ask", 405, "POST"),
        ("DELETE", "/search", 405, "POST"),
        ("POST", "/health", 405, "GET"),
        ("PUT", "/documents/handbook/expenses.md", 405, "GET"),
        ("POST", "/documents", 405, "GET"),
        ("GET", "/documents/", 404, None),
        ("GET", "/ask/", 404, None),
        ("POST", "/Ask", 404, None),
        ("GET", "/.env", 404, None),
        ("GET", "/\u202e\n{path}", 404, None),
    ],
)
def test_what_fits_no_route_is_a_problem_document(method: str, path: str, status: int, allow: str | None) -> None:
    event = {"rawPath": path, "routeKey": f"{method} /{{proxy+}}", "requestContext": {"requestId": "r-1"}}
    response = unrouted(event)
    body = json.loads(response["body"])
    assert (response["statusCode"], body["status"], body["requestId"]) == (status, status, "r-1")
    assert response["headers"]["content-type"] == "application/problem+json"
    assert response["headers"].get("allow") == allow
    assert path not in body["detail"]


def test_every_response_says_how_it_may_be_treated() -> None:
    responses = [
        respond({}),
        problem(KeyError("x"), request_id=""),
        problem(DatabaseUnavailable("x"), request_id=""),
        not_found(request_id=""),
        unrouted({"rawPath": "/ask"}),
    ]
    for response in responses:
        assert SECURITY_HEADERS.items() <= response["headers"].items()
    assert SECURITY_HEADERS["x-content-type-options"] == "nosniff"
    assert SECURITY_HEADERS["cache-control"] == "no-store"
    assert SECURITY_HEADERS["strict-transport-security"].startswith("max-age=")
    assert SECURITY_HEADERS["content-security-policy"].startswith("default-src 'none'")
