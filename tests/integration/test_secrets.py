"""Secrets read through the real client from a server that speaks Secrets Manager's wire format."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from citewell.edges.secrets import ATTEMPTS, NOT_SET, fetch_secret
from citewell.errors import CitewellError, ConfigurationError, SecretNotSet, SecretUnavailable
from tests.servers import Reply, ScriptedServer, late, scripted_server

ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:key-AbCdEf"


def holds(text: str) -> Reply:
    return Reply(body=json.dumps({"ARN": ARN, "SecretString": text}).encode())


def fails(status: int, code: str) -> Reply:
    return Reply(status, json.dumps({"__type": code, "message": "it holds hunter2"}).encode())


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with scripted_server([holds("a key")]) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", server.url)
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ASIAFUNCTION")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)  # between attempts
        yield server


def test_a_secret_is_fetched_as_it_is_now(manager: ScriptedServer) -> None:
    manager.follow(holds("a key"), holds("another"))
    assert [fetch_secret(ARN), fetch_secret(ARN)] == ["a key", "another"]
    assert [request.body for request in manager.requests] == [{"SecretId": ARN}, {"SecretId": ARN}]


@pytest.mark.parametrize("held", [NOT_SET, "", " \n"])
def test_a_secret_that_was_never_filled_says_how_to_fill_it(manager: ScriptedServer, held: str) -> None:
    manager.follow(holds(held))
    with pytest.raises(SecretNotSet, match=f"^the secret {ARN} was never filled: use `aws secretsmanager put-secret"):
        fetch_secret(ARN)
    manager.follow(holds("filled"))
    assert fetch_secret(ARN) == "filled", "what failed isn't remembered"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (fails(400, "ThrottlingException"), "ThrottlingException"),
        (fails(500, "InternalServiceError"), "InternalServiceError"),
        (fails(503, "ServiceUnavailable"), "ServiceUnavailable"),
    ],
)
def test_a_service_that_is_busy_or_broken_is_away_not_misconfigured(
    manager: ScriptedServer, reply: Reply, said: str
) -> None:
    manager.follow(reply)
    with pytest.raises(SecretUnavailable, match=f"^Secrets Manager did not answer: {said}$"):
        fetch_secret(ARN)
    assert len(manager.requests) == ATTEMPTS, "it was tried again"
    manager.follow(holds("a key"))
    assert fetch_secret(ARN) == "a key"


def test_who_can_do_without_the_secret_asks_once(manager: ScriptedServer) -> None:
    manager.follow(fails(503, "ServiceUnavailable"), holds("a key"))
    with pytest.raises(SecretUnavailable):
        fetch_secret(ARN, attempts=1)
    assert len(manager.requests) == 1


def test_a_service_that_cannot_be_reached_is_away(manager: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", "http://127.0.0.1:1")
    with pytest.raises(SecretUnavailable, match="EndpointConnectionError"):
        fetch_secret(ARN)
    assert manager.requests == []


def test_a_service_that_says_nothing_is_given_up(manager: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("citewell.edges.secrets.READ_SECONDS", 0.1)
    manager.follow(late(holds("a key"), seconds=60))
    with pytest.raises(SecretUnavailable, match="^Secrets Manager did not answer: ReadTimeoutError$"):
        fetch_secret(ARN)
    assert len(manager.requests) == ATTEMPTS


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (fails(400, "AccessDeniedException"), "AccessDeniedException"),
        (fails(400, "ResourceNotFoundException"), "ResourceNotFoundException"),
        (fails(400, "DecryptionFailure"), "DecryptionFailure"),
        (Reply(body=b'{"SecretBinary": "AAAA"}'), "KeyError"),
    ],
)
def test_what_waiting_cannot_mend_is_a_configuration_error(manager: ScriptedServer, reply: Reply, said: str) -> None:
    manager.follow(reply)
    with pytest.raises(ConfigurationError, match=f"^the secret {ARN} can't be read: {said}$"):
        fetch_secret(ARN)
    assert len(manager.requests) == 1


def test_no_message_quotes_what_the_service_said(manager: ScriptedServer) -> None:
    for reply in (fails(400, "AccessDeniedException"), fails(400, "ThrottlingException")):
        manager.follow(reply)
        with pytest.raises(CitewellError) as caught:
            fetch_secret(ARN)
        assert "hunter2" not in str(caught.value)
