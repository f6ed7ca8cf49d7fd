"""What a deploy learns from its functions, and what it makes of that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

import functions.verify.handler
from citewell.checks import CHECK_SECONDS, answering_checks
from citewell.core.checking import CHECK_EVENT, Findings
from citewell.errors import (
    ConfigurationError,
    DatabaseUnavailable,
    DeploymentBroken,
    EmbedderUnavailable,
    ExtractorUnavailable,
    FunctionBusy,
    ObjectStoreUnavailable,
    RerankerUnavailable,
    SecretNotSet,
    Unavailable,
)
from citewell.ports import IndexGeneration
from citewell.usecases.check_deployment import (
    ATTEMPTS,
    BUSY_ATTEMPTS,
    LOOK_SECONDS,
    NOT_ASKED,
    PAUSE_SECONDS,
    SAMPLE,
    CheckDeployment,
    check_functions,
)
from tests.fakes import HashEmbedder, MemoryBucket


@dataclass
class OneGeneration:
    """A store that knows the live generation, or why it doesn't."""

    generation: IndexGeneration | Exception = field(default_factory=lambda: IndexGeneration(1, "hash-embedder", 8))
    tried: list[str] = field(default_factory=list)

    def live_generation(self) -> IndexGeneration:
        if isinstance(self.generation, Exception):
            raise self.generation
        return self.generation

    def try_reading(self) -> None:
        self.live_generation()
        self.tried.append("reading")

    def try_writing(self) -> None:
        self.live_generation()
        self.tried.append("writing")


@dataclass
class Model:
    refusal: Exception | None = None
    seconds: float | None = None

    def check(self, *, seconds: float) -> None:
        self.seconds = seconds
        if self.refusal:
            raise self.refusal


@dataclass
class Ranks:
    """A reranker that has nothing against anything, or that is away."""

    failure: Exception | None = None
    model_id: str = "ranks@1"
    read: list[tuple[str, int]] = field(default_factory=list)

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        self.read.append((question, len(texts)))
        if self.failure:
            raise self.failure
        return [0.0 for _ in texts]


def raising(error: Exception) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise error

    return fail


def look(**parts: Any) -> Findings:
    """What a function finds whose parts are in order but for ``parts``."""
    good: dict[str, Callable[[], Any]] = {
        "use_case": lambda: None,
        "chunks": OneGeneration,
        "embedder": HashEmbedder,
        "reranker": Ranks,
        "generator": Model,
        "objects": MemoryBucket,
    }
    return CheckDeployment(**{**good, **parts})(seconds_left=lambda: 17.0)


# --- one function -----------------------------------------------------------------------------------------------------


def test_where_everything_is_there_nothing_is_found() -> None:
    model, embedder, reranker = Model(), HashEmbedder(), Ranks()
    assert look(generator=lambda: model, embedder=lambda: embedder, reranker=lambda: reranker) == Findings()
    assert reranker.read == [(SAMPLE, 2)]
    assert model.seconds == 17.0
    assert len(embedder.embedded) == 1


def test_a_function_looks_at_no_more_than_it_needs() -> None:
    assert CheckDeployment(use_case=lambda: None, chunks=lambda: OneGeneration())(seconds_left=lambda: 20) == Findings()  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(("writes", "tried"), [(False, ["reading"]), (True, ["writing"])])
def test_a_function_tries_the_statements_of_its_own_work(writes: bool, tried: list[str]) -> None:
    store = OneGeneration()
    assert look(chunks=lambda: store, writes=writes) == Findings()
    assert store.tried == tried


def test_a_key_that_was_never_filled_is_a_note() -> None:
    unset = SecretNotSet("the secret arn:x was never filled")
    assert look(generator=lambda: Model(unset)) == Findings(notes=("model: the secret arn:x was never filled",))
    assert look(embedder=lambda: HashEmbedder(on_embed=raising(unset))).notes == (f"embedder: {unset}",)
    assert look(reranker=lambda: Ranks(unset)).notes == (f"reranker: {unset}",)


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"use_case": raising(ConfigurationError("set X"))}, "settings: set X"),
        ({"generator": lambda: Model(ConfigurationError("HTTP 401; check the key"))}, "model: HTTP 401; check the key"),
        ({"generator": raising(ConfigurationError("X is not set"))}, "model: X is not set"),
        ({"embedder": lambda: HashEmbedder(on_embed=raising(EmbedderUnavailable("away")))}, "embedder: away"),
        (
            {"embedder": lambda: HashEmbedder(dimensions=9)},
            "embedder: the index is of hash-embedder (8 dimensions), and this function embeds with hash-embedder "
            "(9 dimensions)",
        ),
        (
            {"embedder": lambda: HashEmbedder(model_id="m")},
            "embedder: the index is of hash-embedder (8 dimensions), and this function embeds with m (8 dimensions)",
        ),
        ({"reranker": lambda: Ranks(RerankerUnavailable("too slow"))}, "reranker: too slow"),
        ({"reranker": raising(ConfigurationError("Y is not set"))}, "reranker: Y is not set"),
        ({"objects": lambda: SimpleNamespace(head=raising(ObjectStoreUnavailable("403")))}, "bucket: 403"),
        (
            {"extractor": lambda: SimpleNamespace(check=raising(ExtractorUnavailable("it doesn't start")))},
            "parsers: it doesn't start",
        ),
        (
            {"objects": lambda: MemoryBucket(versioned=False)},
            "bucket: it keeps no versions, so that what an answer cites could be overwritten: switch its versioning on",
        ),
    ],
)
def test_what_a_first_user_would_run_into_is_a_problem(parts: dict[str, Any], problem: str) -> None:
    assert look(**parts) == Findings(problems=(problem,))


def test_every_look_is_taken_whatever_the_one_before_found() -> None:
    away = DatabaseUnavailable("The database can't be reached.")
    found = look(chunks=lambda: OneGeneration(away), generator=lambda: Model(ConfigurationError("HTTP 401")))
    assert found.problems == (f"database: {away}", f"embedder: {away}", "model: HTTP 401")


def test_a_look_that_no_time_is_left_for_is_not_begun() -> None:
    left = iter([27.0, LOOK_SECONDS, LOOK_SECONDS - 0.1, LOOK_SECONDS - 0.1])
    tried: list[str] = []
    check = CheckDeployment(
        use_case=lambda: tried.append("settings"),
        chunks=raising(DatabaseUnavailable("away")),
        embedder=lambda: tried.append("embedder"),  # type: ignore[arg-type,return-value]
        generator=lambda: tried.append("model"),  # type: ignore[arg-type,return-value]
    )
    late = "not looked at, since what came before took too long"
    found = check(seconds_left=lambda: next(left))
    assert found.problems == ("database: away", f"embedder: {late}", f"model: {late}")
    assert tried == ["settings"]


# --- how a function is asked ------------------------------------------------------------------------------------------


@dataclass
class Log:
    lines: list[tuple[str, Any]] = field(default_factory=list)

    def info(self, message: str, /, *, extra: Any) -> None:
        self.lines.append((message, extra))

    error = info


CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 29_000)


def handler_of(check: Callable[[], Any], log: Log | None = None) -> Callable[[Any, Any], Any]:
    @answering_checks(log or Log(), check)
    def handler(event: Any, context: Any) -> Any:  # noqa: ARG001 - Lambda's signature
        return {"handled": event}

    return handler


def test_a_check_is_answered_in_time_and_everything_else_is_handled() -> None:
    seen: list[float] = []

    def check(*, seconds_left: Callable[[], float]) -> Findings:
        seen.append(seconds_left())
        return Findings(("broken",), ("unset",))

    handler = handler_of(lambda: check)
    assert handler(CHECK_EVENT, CONTEXT) == {"problems": ["broken"], "notes": ["unset"]}
    assert seen == [27.0]


def test_a_function_with_much_time_of_its_own_answers_while_somebody_listens() -> None:
    seen: list[float] = []

    def check(*, seconds_left: Callable[[], float]) -> Findings:
        seen.extend([seconds_left(), seconds_left()])
        return Findings()

    left = iter([300_000, 300_000, 290_000])
    handler_of(lambda: check)(CHECK_EVENT, SimpleNamespace(get_remaining_time_in_millis=lambda: next(left)))
    assert seen == [CHECK_SECONDS, CHECK_SECONDS - 10]


@pytest.mark.parametrize(
    "event",
    [
        {"routeKey": "POST /ask", "body": '{"citewell": "check"}'},
        {**CHECK_EVENT, "routeKey": "POST /ask"},
        {"Records": [{"body": '{"citewell": "check"}'}]},
        {"citewell": "CHECK"},
        [],
        None,
    ],
)
def test_nothing_that_comes_through_the_api_or_the_queue_is_a_check(event: Any) -> None:
    assert handler_of(raising(AssertionError("asked")))(event, CONTEXT) == {"handled": event}


def test_a_function_that_cannot_even_be_set_up_says_so() -> None:
    handler = handler_of(raising(ConfigurationError("unknown setting CITEWELL_X")))
    assert handler(CHECK_EVENT, CONTEXT) == {"problems": ["unknown setting CITEWELL_X"], "notes": []}


def test_another_librarys_message_is_not_passed_on() -> None:
    log = Log()
    handler = handler_of(raising(ValueError("sk-ant-secret")), log)
    assert handler(CHECK_EVENT, CONTEXT) == {"problems": ["ValueError: see this function's log"], "notes": []}
    assert "sk-ant-secret" not in str(log.lines)


# --- all of them ------------------------------------------------------------------------------------------------------


@dataclass
class Stack:
    """Functions that follow a script each; the last finding is repeated."""

    script: dict[str, Sequence[Findings | Exception]]
    asked: list[str] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def check(self, function: str) -> Findings:
        found = self.script[function][min(self.asked.count(function), len(self.script[function]) - 1)]
        self.asked.append(function)
        if isinstance(found, Exception):
            raise found
        return found

    def found(self) -> Findings:
        return check_functions(self, {name: name for name in self.script}, sleep=self.pauses.append)


def test_findings_say_whose_they_are() -> None:
    stack = Stack({"ask": [Findings(notes=("a",))], "documents": [Findings()], "ingest": [Findings(notes=("b", "c"))]})
    assert stack.found() == Findings(notes=("ask: a", "ingest: b", "ingest: c"))
    assert stack.asked == ["ask", "documents", "ingest"]
    assert stack.pauses == []


def test_what_may_only_be_late_is_asked_again_and_nothing_else_is() -> None:
    late = Findings(("not allowed yet",))
    stack = Stack({"ask": [late, Unavailable("throttled"), Findings()], "documents": [Findings(notes=("a",))]})
    assert stack.found() == Findings(notes=("documents: a",))
    assert stack.asked == ["ask", "documents", "ask", "ask"]
    assert stack.pauses == [PAUSE_SECONDS] * 2


def test_what_stays_broken_is_a_problem() -> None:
    stack = Stack({"ask": [Unavailable("ask crashed: see its log")], "ingest": [Findings(("x",), ("y",))]})
    assert stack.found() == Findings(("ask: ask crashed: see its log", "ingest: x"), ("ingest: y",))
    assert stack.asked.count("ask") == stack.asked.count("ingest") == ATTEMPTS


BUSY = FunctionBusy("busy")


def test_a_function_that_is_busy_with_its_users_is_asked_for_longer() -> None:
    stack = Stack({"ask": [Findings(("late",)), *[BUSY] * 6, Findings(notes=("a",))], "documents": [Findings()]})
    assert stack.found() == Findings(notes=("ask: a",))
    assert stack.pauses == [PAUSE_SECONDS] * 7


def test_a_function_that_stays_busy_takes_no_deploy_back() -> None:
    stack = Stack({"ask": [Findings(("late",)), BUSY], "documents": [Findings()]})
    assert stack.found() == Findings(notes=(f"ask: {NOT_ASKED}",))
    assert stack.asked.count("ask") == BUSY_ATTEMPTS


def test_a_problem_of_a_function_that_was_busy_is_one() -> None:
    stack = Stack({"ask": [*[BUSY] * ATTEMPTS, Findings(("x",))]})
    assert stack.found() == Findings(("ask: x",))


# --- the custom resource ----------------------------------------------------------------------------------------------

BEFORE = {"ServiceToken": "arn", "Functions": {"ask": {"Name": "ask-1", "Code": "1"}}}
AFTER = {"ServiceToken": "arn", "Functions": {"ask": {"Name": "ask-1", "Code": "2"}}}


@pytest.fixture
def deploy(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Calls the function as CloudFormation would; returns the resource's id."""

    def call(
        request: str,
        properties: dict[str, Any],
        found: Findings,
        resource: str | None = None,
        before: dict[str, Any] | None = None,
    ) -> str:
        stack = Stack({"ask-1": [found]})
        monkeypatch.setattr(functions.verify.handler, "wiring", lambda: SimpleNamespace(functions=stack))
        monkeypatch.setattr("citewell.usecases.check_deployment.PAUSE_SECONDS", 0.0)
        event = {"RequestType": request, "ResourceProperties": properties}
        known: dict[str, Any] = {} if resource is None else {"PhysicalResourceId": resource}
        if before is not None:
            known["OldResourceProperties"] = before
        handler: Any = functions.verify.handler.handler
        done = handler({**event, **known}, SimpleNamespace())
        return str(done["PhysicalResourceId"])

    return call


GOOD, BROKEN = Findings(notes=("fill the key",)), Findings(("model: HTTP 401", "database: away"))


def test_a_deploy_that_works_is_remembered_by_what_it_deployed(deploy: Callable[..., str]) -> None:
    created = deploy("Create", BEFORE, GOOD)
    assert deploy("Update", BEFORE, GOOD, created) == created
    assert deploy("Update", AFTER, GOOD, created) != created
    assert deploy("Delete", AFTER, BROKEN, created) == created


def test_a_deploy_that_does_not_work_fails_with_every_reason(deploy: Callable[..., str]) -> None:
    with pytest.raises(DeploymentBroken, match=r"^ask: model: HTTP 401; ask: database: away$"):
        deploy("Create", BEFORE, BROKEN)


def test_the_reason_is_no_longer_than_cloudformation_takes(deploy: Callable[..., str]) -> None:
    with pytest.raises(DeploymentBroken) as caught:
        deploy("Create", BEFORE, Findings(("x" * 10_000,)))
    assert len(str(caught.value)) == 2000


def test_a_rollback_to_what_worked_once_does_not_get_stuck(deploy: Callable[..., str]) -> None:
    worked = deploy("Create", BEFORE, GOOD)
    with pytest.raises(DeploymentBroken):
        deploy("Update", AFTER, BROKEN, worked)
    # The failed update kept the id, and CloudFormation calls again with the properties of before.
    assert deploy("Update", BEFORE, BROKEN, worked) == worked


def test_a_rollback_for_what_failed_after_a_good_check_does_not_get_stuck(deploy: Callable[..., str]) -> None:
    worked = deploy("Create", BEFORE, GOOD)
    newer = deploy("Update", AFTER, GOOD, worked, BEFORE)
    # Another resource fails: CloudFormation goes back from the newer id, while a provider is away.
    back = deploy("Update", BEFORE, BROKEN, newer, AFTER)
    assert back == worked
    assert deploy("Delete", AFTER, BROKEN, newer) == newer, "as CloudFormation cleans up"
    with pytest.raises(DeploymentBroken):
        deploy("Update", AFTER, BROKEN, back, BEFORE)


def test_only_the_deploy_before_is_remembered(deploy: Callable[..., str]) -> None:
    third = {**AFTER, "MadeFrom": "3"}
    resource = deploy("Update", AFTER, GOOD, deploy("Create", BEFORE, GOOD), BEFORE)
    resource = deploy("Update", third, GOOD, resource, AFTER)
    assert deploy("Update", AFTER, BROKEN, resource, third)
    with pytest.raises(DeploymentBroken):
        deploy("Update", BEFORE, BROKEN, resource, third)


ARN = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:Key-AbCdEf"
UNFILLED = Findings(notes=(f"model: the secret {ARN} was never filled",))


def with_secret(properties: dict[str, Any]) -> dict[str, Any]:
    told = {"Name": "ask-1", "Settings": {"CITEWELL_ANTHROPIC_API_KEY_SECRET_ARN": ARN, "CITEWELL_MODEL": "m"}}
    return {**properties, "Functions": {"ask": told}}


def test_a_secret_may_be_unfilled_in_the_deploy_that_makes_it(deploy: Callable[..., str]) -> None:
    deploy("Create", with_secret(AFTER), UNFILLED)
    deploy("Update", with_secret(AFTER), UNFILLED, deploy("Create", BEFORE, GOOD), BEFORE)


def test_a_secret_that_the_deploy_before_made_is_to_be_filled_by_the_next(deploy: Callable[..., str]) -> None:
    first = with_secret(BEFORE)
    made = deploy("Create", first, UNFILLED)
    with pytest.raises(DeploymentBroken, match=rf"^ask: model: the secret {ARN} was never filled$"):
        deploy("Update", {**first, "MadeFrom": "2"}, UNFILLED, made, first)
    assert deploy("Update", first, UNFILLED, made, first) == made, "and the rollback doesn't get stuck"
