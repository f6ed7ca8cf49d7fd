"""The deployed functions call models over the wire: here servers on this machine that speak their formats."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.conftest import LocalCloud
from tests.servers import ScriptedServer, fails, messages_server, says

QUESTION = "What is the meal limit when travelling?"
KEY = "sk-ant-of-the-test"


@pytest.fixture(scope="module")
def claude(cloud: LocalCloud) -> Iterator[ScriptedServer]:
    """The stack redeployed with a key; the model is this server."""
    with messages_server([says("The handbook names a limit [1].")]) as server:
        cloud.up({"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url})
        yield server


def test_claude_is_asked_with_the_key_from_the_secret_and_the_sources_as_data(
    cloud: LocalCloud, claude: ScriptedServer
) -> None:
    claude.follow(says("Meals are paid up to a limit [1]."))

    answer = cloud.api.ask(QUESTION)

    assert answer["answer"] == "Meals are paid up to a limit [1]."
    assert [citation["n"] for citation in answer["citations"]] == [1]
    assert answer["usage"] == {"inputTokens": 1120, "outputTokens": 64}
    (request,) = claude.requests
    assert request.path == "/v1/messages"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert answer["citations"][0]["text"] in request.body["messages"][0]["content"]
    assert answer["citations"][0]["text"] not in str(request.body["system"])


def test_the_key_is_in_no_file(cloud: LocalCloud, claude: ScriptedServer) -> None:
    del claude
    holding = [
        path
        for path in cloud.folder.rglob("*")
        if path.is_file() and "postgres" not in path.parts and KEY.encode() in path.read_bytes()
    ]
    assert holding == []


def test_numbers_of_sources_that_do_not_exist_are_removed(cloud: LocalCloud, claude: ScriptedServer) -> None:
    claude.follow(says("Meals are paid up to a limit [1]. The moon is far [77]."))

    answer = cloud.api.ask(QUESTION)

    assert "[77]" not in answer["answer"]
    assert [citation["n"] for citation in answer["citations"]] == [1]


def test_an_answer_that_cites_only_invented_sources_is_not_passed_on(cloud: LocalCloud, claude: ScriptedServer) -> None:
    claude.follow(says("It is 99 euros [42]."))

    answer = cloud.api.ask(QUESTION)

    assert answer["answer"].startswith("I don't know based on the available documents.")
    assert answer["reason"] == "the answer cited no source"
    assert answer["citations"] == []


def test_a_rate_limited_model_is_asked_again(cloud: LocalCloud, claude: ScriptedServer) -> None:
    claude.follow(fails(429, "rate_limit_error", retry_after="0"), says("Meals are paid up to a limit [1]."))

    assert cloud.api.ask(QUESTION)["answer"] == "Meals are paid up to a limit [1]."
    assert len(claude.requests) == 2


def test_a_model_that_stays_overloaded_is_a_502_without_internals(cloud: LocalCloud, claude: ScriptedServer) -> None:
    claude.follow(fails(529, "overloaded_error", retry_after="0"))

    response = cloud.post("/ask", {"question": QUESTION})

    assert response.status_code == 502
    assert response.headers["content-type"].startswith("application/problem+json")
    assert "overloaded_error" not in response.text


def test_a_refused_question_calls_no_model(cloud: LocalCloud, claude: ScriptedServer) -> None:
    claude.follow(says("Nobody was to ask me [1]."))

    answer = cloud.api.ask("Who won the 2018 World Cup?")

    assert "below threshold" in answer["reason"]
    assert claude.requests == []


def test_another_key_is_used_from_the_next_up_on(cloud: LocalCloud, claude: ScriptedServer) -> None:
    claude.follow(says("Meals are paid up to a limit [1]."))

    printed = cloud.up({"ANTHROPIC_API_KEY": "sk-ant-another", "ANTHROPIC_BASE_URL": claude.url})

    assert "The stack is deployed as it should be." in printed
    assert {request.headers["authorization"] for request in claude.requests} == {"Bearer sk-ant-another"}


def test_a_key_that_the_model_refuses_is_said_last_after_the_lines_to_go_on_with(
    cloud: LocalCloud, claude: ScriptedServer
) -> None:
    claude.follow(fails(401, "authentication_error", message="invalid x-api-key"))

    done = cloud.run("up", {"ANTHROPIC_API_KEY": "sk-ant-revoked", "ANTHROPIC_BASE_URL": claude.url})

    assert done.returncode == 1
    assert f"{cloud.stack.api_url}/ask" in done.stdout
    assert "The stack is up, but the question was not answered" in done.stderr
    assert done.stderr.rstrip().endswith(f"Log: {cloud.state.functions_log}")
    assert "sk-ant-revoked" not in done.stdout + done.stderr


def test_a_deploy_whose_functions_would_not_work_fails_with_the_reason_and_the_old_one_goes_on_answering(
    cloud: LocalCloud, claude: ScriptedServer
) -> None:
    claude.follow(says("Meals are paid up to a limit [1]."))
    cloud.up({"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": claude.url})

    with messages_server([fails(401, "authentication_error", message="invalid x-api-key")]) as refusing:
        done = cloud.run("up", {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": refusing.url})

    assert done.returncode == 1
    assert "ask: model: the Messages API refused" in done.stdout + done.stderr
    assert cloud.api.ask(QUESTION)["answer"] == "Meals are paid up to a limit [1]."
