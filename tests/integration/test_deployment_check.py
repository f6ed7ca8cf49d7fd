"""A deploy's check of the real functions, over a real database and servers that speak the providers' formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

import functions.ask.handler
import functions.documents.handler
import functions.ingest.handler
from citewell.core.checking import CHECK_EVENT, Findings
from citewell.edges.deployed_functions import DeployedFunctions
from citewell.edges.postgres_schema import PostgresSchema
from citewell.edges.s3_object_store import HASTE, Patience
from citewell.edges.secrets import NOT_SET
from citewell.errors import CitewellError, ConfigurationError, FunctionBusy, Unavailable
from citewell.settings import Settings
from citewell.usecases.migrate import ensure_generation
from citewell.wiring import Wiring
from tests.integration.test_handlers import Context
from tests.servers import (
    Reply,
    ScriptedServer,
    embeddings_server,
    embeds,
    fails,
    late,
    messages_server,
    says,
    scripted_server,
)

RDS_CA = Path(__file__).parents[2] / "layers/core/rds-ca/global-bundle.pem"
SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:key-AbCdEf"
HANDLERS = {
    "ask": functions.ask.handler,
    "documents": functions.documents.handler,
    "ingest": functions.ingest.handler,
}


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)  # between attempts


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """Secrets Manager, with the key of a provider in it."""
    with scripted_server([holds("sk-the-key")]) as manager:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", manager.url)
        yield manager


def holds(text: str) -> Reply:
    return Reply(body=json.dumps({"SecretString": text}).encode())


@pytest.fixture
def embedder() -> Iterator[ScriptedServer]:
    with embeddings_server([embeds()]) as server:
        yield server


@pytest.fixture
def check(
    database: str, embedder: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Findings]]:
    """What a deployed function finds whose settings are good but for those that are given."""
    ensure_generation(PostgresSchema(database), model_id="m", dimensions=8, replace=False)
    good: dict[str, Any] = {
        "database_url": database,
        "bucket": "docs",
        "embedder": "openai",
        "embedder_url": embedder.url,
        "embedder_model": "m",
        "embedder_dimensions": 8,
        "min_score": 0.5,
        "generator": "extractive",
    }
    with ExitStack() as stack:

        def call(name: str, **settings: Any) -> Findings:
            deployed = Wiring(Settings(**{**good, **settings}))
            stack.callback(lambda: vars(deployed).get("chunks") and deployed.chunks.close())  # type: ignore[attr-defined]
            monkeypatch.setattr(HANDLERS[name], "wiring", lambda: deployed)
            said: Any = HANDLERS[name].handler(CHECK_EVENT, Context())
            assert said.keys() == {"problems", "notes"}
            return Findings(tuple(said["problems"]), tuple(said["notes"]))

        yield call


# --- what a function finds --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ask", "documents"])
def test_a_function_that_has_all_it_needs_finds_nothing(name: str, check: Callable[..., Findings]) -> None:
    assert check(name) == Findings()


def test_ingest_looks_into_its_bucket(check: Callable[..., Findings], monkeypatch: pytest.MonkeyPatch) -> None:
    versioned = Reply(body=b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")
    with scripted_server([Reply(404), versioned]) as s3:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3.url)
        assert check("ingest") == Findings()
        s3.follow(Reply(403))
        [problem] = check("ingest").problems
        assert problem.startswith("bucket: the bucket did not answer")


def test_a_bucket_that_says_nothing_is_given_up_while_the_deploy_waits(
    check: Callable[..., Findings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("citewell.edges.s3_object_store.HASTE", Patience(read_seconds=0.1, attempts=HASTE.attempts))
    with scripted_server([late(Reply(404), seconds=60)]) as s3:
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3.url)
        [problem] = check("ingest").problems
        assert problem.startswith("bucket: the bucket did not answer: Read timeout")
        assert len(s3.requests) == HASTE.attempts


def test_a_key_that_works_is_no_finding(check: Callable[..., Findings], key: ScriptedServer) -> None:
    with messages_server([says("ok")]) as claude:
        found = check("ask", generator="claude", anthropic_api_key_secret_arn=SECRET, anthropic_base_url=claude.url)
        assert found == Findings()
        assert "sk-the-key" in str(claude.requests[0].headers)
    assert len(key.requests) == 1


def test_a_key_that_was_never_filled_is_a_note_of_whoever_needs_it(
    check: Callable[..., Findings], key: ScriptedServer
) -> None:
    key.follow(holds(NOT_SET))
    found = check("ask", generator="claude", anthropic_api_key_secret_arn=SECRET)
    assert found.problems == ()
    assert [note.partition(":")[0] for note in found.notes] == ["model"]
    assert "put-secret-value" in found.notes[0]
    found = check("ask", embedder_api_key_secret_arn=SECRET)
    assert (found.problems, len(found.notes)) == ((), 1)


def test_a_key_that_is_refused_is_a_problem_that_does_not_show_it(
    check: Callable[..., Findings], key: ScriptedServer
) -> None:
    refused = fails(401, "authentication_error", message="invalid x-api-key sk-the-key")
    with messages_server([refused]) as claude:
        found = check("ask", generator="claude", anthropic_api_key_secret_arn=SECRET, anthropic_base_url=claude.url)
    [problem] = found.problems
    assert problem.startswith("model: the Messages API refused")
    assert "check the key in the secret" in problem
    assert "sk-the-key" not in str(found)
    assert {request.body["SecretId"] for request in key.requests} == {SECRET}


@pytest.mark.parametrize("name", ["ask", "documents", "ingest"])
def test_a_secret_or_database_that_is_away_is_a_problem(name: str, check: Callable[..., Findings]) -> None:
    found = check(name, database_url="postgresql://citewell:hunter2@127.0.0.1:1/citewell")
    assert "database: The database can't be reached." in found.problems
    assert "hunter2" not in str(found)


def test_a_database_that_cannot_prove_itself_is_a_problem(
    check: Callable[..., Findings], database: str, key: ScriptedServer
) -> None:
    key.follow(holds('{"username": "u", "password": "hunter2"}'))
    server = conninfo_to_dict(database)
    found = check(
        "documents",
        database_url=None,
        database_host=server["host"],
        database_port=int(server["port"] or 0),
        database_secret_arn=SECRET,
        database_ca=str(RDS_CA),
    )
    assert found == Findings(("database: The database's server isn't trusted: it offers no TLS.",))


def test_a_database_that_was_never_migrated_is_a_problem(check: Callable[..., Findings], empty_database: str) -> None:
    [problem] = check("documents", database_url=empty_database).problems
    assert problem == "database: The database's schema is older than the code: run the migration."


def test_an_embedder_that_is_not_the_indexs_is_a_problem(
    check: Callable[..., Findings], embedder: ScriptedServer
) -> None:
    embedder.follow(embeds(dimensions=9))
    [problem] = check("ask", embedder_dimensions=9).problems
    assert problem.startswith("embedder: the index is of m (8 dimensions), and this function embeds with m (9")
    [problem] = check("ask").problems
    assert problem.startswith("embedder: the embedder's vectors have 9 dimensions, but 8 are configured")


def test_an_embedder_that_cannot_be_reached_is_a_problem(check: Callable[..., Findings]) -> None:
    [problem] = check("ask", embedder_url="http://127.0.0.1:1").problems
    assert problem == "embedder: http://127.0.0.1:1/embeddings did not embed: ConnectError"


def test_a_setting_that_is_missing_is_a_problem(check: Callable[..., Findings]) -> None:
    [problem] = check("ask", min_score=None, generator="extractive").problems[:1]
    assert problem.startswith("settings: ")
    assert "CITEWELL_MIN_SCORE" in problem


# --- how they are asked -----------------------------------------------------------------------------------------------


@pytest.fixture
def lambda_(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with scripted_server([Reply(body=b'{"problems": ["a"], "notes": ["b", "c"]}')]) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", server.url)
        yield server


def test_a_function_is_asked_by_its_name(lambda_: ScriptedServer) -> None:
    assert DeployedFunctions().check("ask-1") == Findings(("a",), ("b", "c"))
    [request] = lambda_.requests
    assert request.path == "/2015-03-31/functions/ask-1/invocations"
    assert request.body == CHECK_EVENT


BUSY = {"x-amzn-errortype": "TooManyRequestsException"}


@pytest.mark.parametrize(
    ("reply", "error", "said"),
    [
        (
            Reply(403, b"{}", {"x-amzn-errortype": "AccessDeniedException"}),
            ConfigurationError,
            "ask-1 can't be invoked: AccessDeniedException",
        ),
        (
            Reply(body=b'{"errorMessage": "hunter2"}', headers={"X-Amz-Function-Error": "Unhandled"}),
            Unavailable,
            "ask-1 crashed or took too long: see its log",
        ),
        (Reply(body=b"null"), Unavailable, "ask-1 answered with something else than findings"),
        (Reply(body=b'{"statusCode": 500}'), Unavailable, "ask-1 answered with something else than findings"),
        *(
            (Reply(body=body), Unavailable, "ask-1 answered with something else than findings")
            for body in (
                b'{"problems": "", "notes": []}',
                b'{"problems": {}, "notes": []}',
                b'{"problems": [], "notes": null}',
                b'{"problems": [null], "notes": []}',
                b"[" * 100_000,
            )
        ),
        (
            Reply(429, b'{"Reason": "ReservedFunctionConcurrentInvocationLimitExceeded"}', BUSY),
            FunctionBusy,
            "ask-1 could not be asked: all the copies that it may have are busy",
        ),
    ],
)
def test_a_function_that_does_not_answer_is_an_error(
    lambda_: ScriptedServer, reply: Reply, error: type[CitewellError], said: str
) -> None:
    lambda_.follow(reply)
    with pytest.raises(error, match=f"^{said}$"):
        DeployedFunctions().check("ask-1")


def test_an_api_that_cannot_be_reached_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", "http://127.0.0.1:1")
    with pytest.raises(Unavailable, match="^ask-1 did not answer: EndpointConnectionError$"):
        DeployedFunctions().check("ask-1")
