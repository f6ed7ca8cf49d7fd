"""Claude on Amazon Bedrock, through the real `anthropic` package, against a server that speaks the runtime's format.

All else it shares with Anthropic's own API, whose tests hold for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest

from citewell.core.prompting import build_prompt
from citewell.core.values import Generation, StopReason, Usage
from citewell.edges.claude_access import Bedrock
from citewell.edges.claude_generator import ClaudeGenerator
from citewell.edges.retrying import Retrying
from citewell.errors import ConfigurationError, GeneratorUnavailable
from tests.passages import a_passage
from tests.servers import Reply, ScriptedServer, bedrock_fails, dripping, messages_server, says

MODEL = "eu.anthropic.claude-haiku-4-5-20251001-v1:0"
PASSAGES = [a_passage("The daily meal limit is 60 EUR.")]

Make = Callable[..., ClaudeGenerator]


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with messages_server([says("The limit is 60 EUR [1].")]) as server:
        yield server


@pytest.fixture
def make(server: ScriptedServer, pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> Make:
    """A generator that finds server, region and credentials as a function does: in its environment."""
    for name in ("AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_BEDROCK_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # it remembers credentials
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token-of-the-test")
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)

    def _make(**options: Any) -> ClaudeGenerator:
        retrying = Retrying(attempts=options.pop("attempts", 3), sleep=pauses.append)
        return ClaudeGenerator(MODEL, Bedrock(), retrying=retrying, **options)

    return _make


def generate(generator: ClaudeGenerator, *, seconds: float = 60) -> Generation:
    return generator.generate("What is the meal limit?", PASSAGES, seconds=seconds)


def test_the_model_is_invoked_with_the_prompt_signed_with_the_functions_credentials(
    make: Make, server: ScriptedServer
) -> None:
    generation = generate(make(contact="people@example.com", max_output_tokens=700))
    assert generation == Generation(
        text="The limit is 60 EUR [1].",
        stop_reason=StopReason.END,
        usage=Usage(input_tokens=1120, output_tokens=64),
        model="claude-haiku-4-5-20251001",
    )
    [request] = server.requests
    prompt = build_prompt("What is the meal limit?", PASSAGES, contact="people@example.com")
    assert (request.method, request.path) == ("POST", f"/model/{MODEL}/invoke")
    assert request.body.pop("anthropic_version"), "the client knows which"
    assert request.body == {
        "max_tokens": 700,
        "system": [{"type": "text", "text": prompt.system, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": prompt.user}],
    }
    signature = request.headers["authorization"]
    assert signature.startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-central-1/bedrock/aws4_request" in signature
    assert request.headers["x-amz-security-token"] == "token-of-the-test"
    assert "x-api-key" not in request.headers


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, "ThrottlingException"),
        (408, "ModelTimeoutException"),
        (424, "ModelErrorException"),
        (500, "InternalServerException"),
        (503, "ServiceUnavailableException"),
    ],
)
def test_a_failure_that_may_pass_is_tried_again(
    make: Make, server: ScriptedServer, pauses: list[float], status: int, kind: str
) -> None:
    server.follow(bedrock_fails(status, kind), says("60 EUR [1]."))
    assert generate(make()).text == "60 EUR [1]."
    assert (len(server.requests), len(pauses)) == (2, 1)


def test_retry_after_is_honoured(make: Make, server: ScriptedServer, pauses: list[float]) -> None:
    server.follow(bedrock_fails(429, "ThrottlingException", retry_after="7"), says("60 EUR [1]."))
    generate(make())
    assert pauses == [7.0]


def test_a_throttled_model_is_given_up_after_the_attempts(make: Make, server: ScriptedServer) -> None:
    server.follow(bedrock_fails(429, "ThrottlingException"))
    with pytest.raises(GeneratorUnavailable, match=rf"^{MODEL} did not answer: HTTP 429 \(ThrottlingException\)$"):
        generate(make())
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "kind", "advice"),
    [
        (400, "ValidationException", r"CITEWELL_MODEL .*inference profile"),
        (403, "AccessDeniedException", r"enable access to the model.*bedrock:InvokeModel"),
        (404, "ResourceNotFoundException", r"CITEWELL_MODEL, and whether this region offers it"),
    ],
)
def test_a_refused_request_is_not_tried_again_and_says_what_to_do(
    make: Make, server: ScriptedServer, status: int, kind: str, advice: str
) -> None:
    server.follow(bedrock_fails(status, kind, message="SECRET"))
    with pytest.raises(ConfigurationError, match=rf"Bedrock refused.*HTTP {status} \({kind}\); .*{advice}") as caught:
        generate(make())
    assert len(server.requests) == 1
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("body", [b"<html>busy</html>", b'{"content": [', b"", b"[]", b'{"message": "no"}'])
def test_a_malformed_message_is_tried_again_and_never_used(make: Make, server: ScriptedServer, body: bytes) -> None:
    server.follow(Reply(body=body), says("60 EUR [1]."))
    assert generate(make()).text == "60 EUR [1]."


def test_a_server_that_answers_byte_by_byte_is_given_up_in_time(make: Make, server: ScriptedServer) -> None:
    server.follow(dripping(says("60 EUR [1]."), seconds=0.05))
    with pytest.raises(GeneratorUnavailable, match="not complete in time|no time was left"):
        generate(make(), seconds=2)


def test_a_check_asks_for_one_token(make: Make, server: ScriptedServer) -> None:
    make().check(seconds=60)
    [request] = server.requests
    assert request.path == f"/model/{MODEL}/invoke"
    assert request.body["max_tokens"] == 1


def test_missing_credentials_are_a_configuration_error(
    make: Make, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    with pytest.raises(ConfigurationError, match="no AWS credentials"):
        generate(make())
    assert server.requests == []


def test_a_missing_region_is_a_configuration_error(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    with pytest.raises(ConfigurationError, match="NoRegionError"):
        generate(make())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_documents_follow_no_redirect_to_another_host(make: Make, server: ScriptedServer, status: int) -> None:
    with messages_server([says("60 EUR [1].")]) as other:
        server.follow(Reply(status, headers={"location": f"{other.url}/"}))
        with pytest.raises(ConfigurationError, match=f"HTTP {status}; check AWS_ENDPOINT_URL_BEDROCK_RUNTIME"):
            generate(make())
    assert other.requests == []
