"""The Claude generator, through the real `anthropic` package, against a server that speaks the Messages format."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from citewell.core.citing import check_answer
from citewell.core.prompting import build_prompt
from citewell.core.values import Generation, StopReason, Usage
from citewell.edges import claude_access
from citewell.edges.claude_access import AnthropicApi
from citewell.edges.claude_generator import ClaudeGenerator
from citewell.edges.retrying import Retrying
from citewell.errors import ConfigurationError, GeneratorUnavailable
from tests.passages import a_passage
from tests.servers import Reply, dripping, fails, late, messages_server, says

KEY = "sk-ant-test-0123456789"
MODEL = "claude-haiku-4-5"
PASSAGES = [a_passage("The daily meal limit is 60 EUR."), a_passage("Second class is the rule.")]

Make = Callable[..., ClaudeGenerator]


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def make(pauses: list[float]) -> Make:
    def _make(url: str, **options: Any) -> ClaudeGenerator:
        retrying = Retrying(attempts=options.pop("attempts", 4), sleep=pauses.append)
        access = AnthropicApi(api_key=options.pop("api_key", lambda: KEY), base_url=url)
        return ClaudeGenerator(MODEL, access, retrying=retrying, **options)

    return _make


def generate(generator: ClaudeGenerator, *, seconds: float = 60) -> Generation:
    return generator.generate("What is the meal limit?", PASSAGES, seconds=seconds)


def test_a_reply_comes_back_with_its_model_usage_and_stop_reason(make: Make) -> None:
    with messages_server([says("The limit is 60 EUR [1].")]) as server:
        generation = generate(make(server.url))
    assert generation == Generation(
        text="The limit is 60 EUR [1].",
        stop_reason=StopReason.END,
        usage=Usage(input_tokens=1120, output_tokens=64),
        model="claude-haiku-4-5-20251001",
    )


def test_the_request_holds_the_prompt_a_cacheable_system_block_and_no_sampling_parameter(make: Make) -> None:
    with messages_server([says("60 EUR [1].")]) as server:
        generate(make(server.url, contact="people@example.com", max_output_tokens=700))
    [request] = server.requests
    prompt = build_prompt("What is the meal limit?", PASSAGES, contact="people@example.com")
    assert request.path == "/v1/messages"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert "anthropic-version" in request.headers
    assert request.body == {
        "model": MODEL,
        "max_tokens": 700,
        "system": [{"type": "text", "text": prompt.system, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": prompt.user}],
    }


def test_the_key_is_fetched_once_and_only_when_it_is_needed(make: Make) -> None:
    fetched: list[str] = []

    def fetch() -> str:
        fetched.append("once")
        return f" {KEY}\n"

    with messages_server([says("60 EUR [1].")]) as server:
        generator = make(server.url, api_key=fetch)
        assert fetched == []
        generate(generator)
        generate(generator)
    assert fetched == ["once"]
    assert server.requests[1].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", StopReason.END),
        ("stop_sequence", StopReason.END),
        ("max_tokens", StopReason.MAX_TOKENS),
        ("model_context_window_exceeded", StopReason.MAX_TOKENS),
        ("refusal", StopReason.REFUSAL),
        ("tool_use", StopReason.OTHER),
        ("something_new", StopReason.OTHER),
        (None, StopReason.OTHER),
    ],
)
def test_stop_reasons_are_mapped(make: Make, reason: str | None, expected: StopReason) -> None:
    with messages_server([says("60 EUR [1].", stop_reason=reason)]) as server:
        assert generate(make(server.url)).stop_reason is expected


def test_text_blocks_are_joined_and_others_left_out(make: Make) -> None:
    message = json.loads(bytes(says("60 EUR", " [1].").body))  # type: ignore[arg-type] # it is bytes here
    message["content"].insert(0, {"type": "thinking", "thinking": "hm", "signature": "x"})
    with messages_server([Reply(body=json.dumps(message).encode())]) as server:
        assert generate(make(server.url)).text == "60 EUR [1]."


def test_an_empty_content_is_an_empty_reply(make: Make) -> None:
    with messages_server([says()]) as server:
        generation = generate(make(server.url))
    assert generation.text == ""
    assert check_answer(generation, PASSAGES).reason == "the model gave an empty reply"


def test_input_read_from_or_written_to_the_cache_counts_as_input(make: Make) -> None:
    usage = {
        "input_tokens": 100,
        "cache_creation_input_tokens": None,
        "cache_read_input_tokens": 2000,
        "output_tokens": 5,
    }
    with messages_server([says("60 EUR [1].", usage=usage)]) as server:
        assert generate(make(server.url)).usage == Usage(input_tokens=2100, output_tokens=5)


def test_invented_citations_do_not_reach_the_asker(make: Make) -> None:
    with messages_server([says("The limit is 60 EUR [1][7]. It was 50 EUR [12].")]) as server:
        answer = check_answer(generate(make(server.url)), PASSAGES)
    assert (answer.text, answer.invented) == ("The limit is 60 EUR [1]. It was 50 EUR.", 2)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_a_failure_that_may_pass_is_tried_again(make: Make, pauses: list[float], status: int) -> None:
    with messages_server([fails(status), says("60 EUR [1].")]) as server:
        assert generate(make(server.url)).text == "60 EUR [1]."
    assert len(server.requests) == 2
    assert len(pauses) == 1


def test_retry_after_is_honoured(make: Make, pauses: list[float]) -> None:
    with messages_server([fails(429, "rate_limit_error", retry_after="7"), says("60 EUR [1].")]) as server:
        generate(make(server.url))
    assert pauses == [7.0]


def test_a_wait_longer_than_the_time_left_is_not_begun(make: Make, pauses: list[float]) -> None:
    with (
        messages_server([fails(429, "rate_limit_error", retry_after="60")]) as server,
        pytest.raises(GeneratorUnavailable, match=r"HTTP 429 \(rate_limit_error\)"),
    ):
        generate(make(server.url), seconds=50)
    assert (len(server.requests), pauses) == (1, [])


def test_an_overloaded_api_is_given_up_after_the_attempts(make: Make) -> None:
    with (
        messages_server([fails(529, "overloaded_error")]) as server,
        pytest.raises(GeneratorUnavailable, match=r"HTTP 529 \(overloaded_error\)"),
    ):
        generate(make(server.url, attempts=3))
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "CITEWELL_MODEL"),
        (401, "CITEWELL_ANTHROPIC_API_KEY_SECRET_ARN"),
        (403, "CITEWELL_ANTHROPIC_API_KEY_SECRET_ARN"),
        (404, "CITEWELL_MODEL"),
        (413, "CITEWELL_TOP_K"),
        (422, "CITEWELL_MODEL"),
    ],
)
def test_a_refused_request_is_not_tried_again_and_says_what_to_do(make: Make, status: int, advice: str) -> None:
    with (
        messages_server([fails(status, "invalid_request_error", message=f"bad key {KEY}")]) as server,
        pytest.raises(ConfigurationError, match=advice) as caught,
    ):
        generate(make(server.url))
    assert len(server.requests) == 1
    assert f"HTTP {status} (invalid_request_error)" in str(caught.value)
    assert KEY not in str(caught.value)


def _message(*, text: object = "60 EUR [1].", model: object = MODEL, **usage: object) -> bytes:
    counts = {"input_tokens": 1120, "output_tokens": 64, **usage}
    content = [{"type": "text", "text": text}]
    return json.dumps({"content": content, "usage": counts, "stop_reason": "end_turn", "model": model}).encode()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<html>busy</html>", id="not JSON"),
        pytest.param(b'{"content": [', id="cut JSON"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"type": "message"}', id="no fields"),
        pytest.param(b'{"content": null, "usage": {}, "stop_reason": null, "model": "m"}', id="no content"),
        pytest.param(b'{"content": ["a"], "usage": {}, "stop_reason": null, "model": "m"}', id="no blocks"),
        *(
            pytest.param(_message(**{name: value}), id=f"{name} is {value!r}")
            for name, value in [
                ("text", None),
                ("text", 60),
                ("text", "60 EUR \ud83d"),
                ("model", None),
                ("model", "\udc00"),
                ("output_tokens", float("inf")),
                ("output_tokens", float("nan")),
                ("output_tokens", -1),
                ("output_tokens", "64"),
                ("output_tokens", 6.4),
                ("output_tokens", None),
                ("input_tokens", float("inf")),
                ("input_tokens", [1]),
            ]
        ),
        pytest.param(b'{"content": [], "usage": null, "stop_reason": null, "model": "m"}', id="no usage"),
    ],
)
def test_a_malformed_message_is_tried_again_and_never_used(make: Make, body: bytes) -> None:
    with messages_server([Reply(body=body), says("60 EUR [1].")]) as server:
        assert generate(make(server.url)).text == "60 EUR [1]."
    with messages_server([Reply(body=body)]) as server, pytest.raises(GeneratorUnavailable, match="not a message"):
        generate(make(server.url, attempts=2))


def test_a_server_that_never_answers_is_given_up_in_time(make: Make) -> None:
    with (
        messages_server([late(says("60 EUR [1]."), seconds=60)]) as server,
        pytest.raises(GeneratorUnavailable, match="APITimeoutError|no time was left"),
    ):
        generate(make(server.url), seconds=2)


def test_a_server_that_answers_byte_by_byte_is_given_up_in_time(make: Make) -> None:
    with (
        messages_server([dripping(says("60 EUR [1]."), seconds=0.05)]) as server,
        pytest.raises(GeneratorUnavailable, match="not complete in time|no time was left"),
    ):
        generate(make(server.url), seconds=2)


def test_without_time_nothing_is_sent(make: Make) -> None:
    with (
        messages_server([says("60 EUR [1].")]) as server,
        pytest.raises(GeneratorUnavailable, match="no time was left"),
    ):
        generate(make(server.url), seconds=-1)
    assert server.requests == []


def test_a_connection_that_fails_is_tried_again(make: Make, pauses: list[float]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        with pytest.raises(GeneratorUnavailable, match="APIConnectionError"):
            generate(make(f"http://127.0.0.1:{taken.getsockname()[1]}", attempts=3))
    assert len(pauses) == 2


@pytest.mark.parametrize("key", ["", " \n", "sk-\u00e4", "sk-1\nx-other: 2"])
def test_a_key_that_is_none_is_a_configuration_error_that_does_not_show_it(make: Make, key: str) -> None:
    with messages_server([says("60 EUR [1].")]) as server, pytest.raises(ConfigurationError) as caught:
        generate(make(server.url, api_key=lambda: key))
    assert server.requests == []
    assert not key.strip() or key.strip() not in str(caught.value)


def test_importing_and_building_it_does_not_load_the_client() -> None:
    program = """
import sys
from citewell.edges.claude_access import AnthropicApi, Bedrock
from citewell.edges.claude_generator import ClaudeGenerator
ClaudeGenerator("m", AnthropicApi(api_key=lambda: ""))
ClaudeGenerator("m", Bedrock())
print([name for name in ("anthropic", "httpx2", "boto3") if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_documents_follow_no_redirect_to_another_host(make: Make, status: int) -> None:
    with messages_server([says("60 EUR [1].")]) as other:
        redirect = Reply(status, headers={"location": f"{other.url}/v1/messages"})
        with messages_server([redirect]) as server:
            for ask in (generate, lambda generator: generator.check(seconds=60)):
                with pytest.raises(ConfigurationError, match=f"HTTP {status}; set CITEWELL_ANTHROPIC_BASE_URL"):
                    ask(make(server.url))
    assert other.requests == []


# --- the check before the first user ---


def test_anthropics_own_address_is_asked_for_the_model_alone(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = {"id": MODEL, "type": "model", "display_name": "Claude", "created_at": "2025-10-01T00:00:00Z"}
    with messages_server([fails(529), Reply(body=json.dumps(model).encode())]) as server:
        monkeypatch.setattr(claude_access, "BASE_URL", server.url)
        generator = ClaudeGenerator(MODEL, AnthropicApi(api_key=lambda: KEY), retrying=Retrying(sleep=pauses.append))
        generator.check(seconds=60)
    assert [(request.method, request.path) for request in server.requests] == [("GET", f"/v1/models/{MODEL}")] * 2
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_gateway_is_asked_for_one_token(make: Make) -> None:
    with messages_server([says("Hello", stop_reason="max_tokens")]) as server:
        make(server.url).check(seconds=60)
    [request] = server.requests
    assert (request.path, request.body["max_tokens"]) == ("/v1/messages", 1)


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "CITEWELL_ANTHROPIC_API_KEY_SECRET_ARN"), (404, "CITEWELL_MODEL")]
)
def test_a_check_says_what_is_wrong(make: Make, status: int, advice: str) -> None:
    with messages_server([fails(status)]) as server, pytest.raises(ConfigurationError, match=advice):
        make(server.url).check(seconds=60)


def test_a_check_gives_up_when_the_api_is_away(make: Make) -> None:
    with messages_server([fails(529)]) as server, pytest.raises(GeneratorUnavailable, match="HTTP 529"):
        make(server.url, attempts=2).check(seconds=60)
    assert len(server.requests) == 2


def test_a_key_that_was_changed_is_used_as_soon_as_the_old_one_is_refused(make: Make) -> None:
    keys = iter(["sk-ant-old", "sk-ant-new"])
    with messages_server([says("One [1]."), fails(401, "authentication_error"), says("Two [1].")]) as server:
        generator = make(server.url, api_key=lambda: next(keys))
        answers = [generate(generator).text, generate(generator).text]
    assert answers == ["One [1].", "Two [1]."]
    assert [request.headers["authorization"] for request in server.requests] == [
        "Bearer sk-ant-old",
        "Bearer sk-ant-old",
        "Bearer sk-ant-new",
    ]


def test_a_key_that_is_still_the_refused_one_is_not_tried_again(make: Make) -> None:
    with messages_server([fails(401, "authentication_error")]) as server, pytest.raises(ConfigurationError):
        generate(make(server.url))
    assert len(server.requests) == 1


def test_reading_the_key_takes_its_share_of_the_time() -> None:
    now = [0.0]

    def slow_key() -> str:
        now[0] += 11.0
        return KEY

    with messages_server([says("60 EUR [1].")]) as server:
        access = AnthropicApi(api_key=slow_key, base_url=server.url)
        generator = ClaudeGenerator(MODEL, access, retrying=Retrying(clock=lambda: now[0]))
        with pytest.raises(GeneratorUnavailable, match="no time was left"):
            generate(generator, seconds=10)
    assert server.requests == []
