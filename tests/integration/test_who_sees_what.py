"""The same question by different callers: each sees exactly what the claims of the verified token allow, everywhere."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import functions.ask.handler
import functions.documents.handler
from citewell.core.keys import Tenancy
from citewell.edges.local_embedder import LocalEmbedder
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.edges.postgres_schema import PostgresSchema
from citewell.usecases.ingest_object import Attempt, IngestObject
from citewell.usecases.migrate import ensure_generation
from citewell.wiring import wiring
from tests.fakes import InProcessExtractor, MemoryBucket

MODEL_DIR = Path(__file__).parents[2] / "build/model/bge-small-en-v1.5"
QUESTION = "What is the daily meal limit while travelling?"


@dataclass(frozen=True)
class Context:
    """What the handlers use of Lambda's context, and what Powertools looks at."""

    function_name: str = "test"
    memory_limit_in_mb: int = 128
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:000000000000:function:test"
    aws_request_id: str = "request"

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


@dataclass(frozen=True)
class Page:
    """A document whose amount stands in no other one."""

    tenant: str
    source: str
    amount: str
    groups: str = ""

    @property
    def text(self) -> str:
        return f"# Travelling\n\nThe daily meal limit while travelling is {self.amount} EUR.\n"


PAGES = (
    Page("acme", "handbook.md", "61"),
    Page("acme", "board.md", "172", groups="board"),
    Page("acme", "hr.md", "83", groups="hr, people team"),
    Page("globex", "handbook.md", "94"),
    Page("globex", "board.md", "505", groups="board"),
)


@dataclass(frozen=True)
class Caller:
    tenant: str
    groups: tuple[str, ...]
    sees: frozenset[str]
    """The amounts of the pages."""

    def __str__(self) -> str:
        return f"{self.tenant}: {', '.join(self.groups) or 'no groups'}"


CALLERS = [
    Caller("acme", (), frozenset({"61"})),
    Caller("acme", ("board",), frozenset({"61", "172"})),
    Caller("acme", ("people team",), frozenset({"61", "83"})),
    Caller("acme", ("people", "team"), frozenset({"61"})),
    Caller("acme", ("hr people", "team"), frozenset({"61"})),
    Caller("acme", ("Board", "HR", "board,hr", "bоard"), frozenset({"61"})),
    Caller("acme", ("sales", "board", "hr"), frozenset({"61", "172", "83"})),
    Caller("globex", (), frozenset({"94"})),
    Caller("globex", ("board", "hr"), frozenset({"94", "505"})),
    Caller("initech", ("board", "hr"), frozenset()),
    Caller("Acme", ("board", "hr"), frozenset()),
    Caller("аcme", ("board", "hr"), frozenset()),
]
EACH = pytest.mark.parametrize("caller", CALLERS, ids=str)


@cache
def model() -> LocalEmbedder:
    return LocalEmbedder(MODEL_DIR)


def indexed(database: str, pages: tuple[Page, ...]) -> str:
    """The URL of ``database``, with ``pages`` in it."""
    ensure_generation(PostgresSchema(database), model_id=model().model_id, dimensions=384, replace=False)
    store = PostgresChunkStore(database)
    bucket = MemoryBucket()
    ingest = IngestObject(
        objects=bucket,
        extractor=InProcessExtractor(),
        chunks=store,
        embedder=model(),
        tenancy=Tenancy.PREFIX,
        max_object_bytes=10_000,
        chunk_tokens=400,
        overlap_tokens=48,
    )
    for page in pages:
        key = f"{page.tenant}/{page.source}"
        bucket.put(key, page.text, **({"groups": page.groups} if page.groups else {}))
        ingest(key, Attempt(number=1, last=False, seconds_left=lambda: 900))
    store.close()
    return database


Serve = Callable[[str], None]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Lets the functions answer from the database of that URL."""

    def forget() -> None:
        if "chunks" in vars(wiring()):
            vars(wiring())["chunks"].close()
        wiring.cache_clear()

    settings = {
        "AUTH": "jwt",
        "TENANCY": "prefix",
        "MODEL_DIR": str(MODEL_DIR),
        "MIN_SCORE": "0.5",
        "EMBEDDER": "local",
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"CITEWELL_{name}", value)

    def answer_from(database: str) -> None:
        forget()
        monkeypatch.setenv("CITEWELL_DATABASE_URL", database)
        vars(wiring())["embedder"] = model()

    yield answer_from
    forget()


@pytest.fixture
def served(database: str, serve: Serve) -> None:
    """The functions answer from a database with every page."""
    serve(indexed(database, PAGES))


def request(caller: Caller | None, route: str, **fields: Any) -> dict[str, Any]:
    """An event as an HTTP API hands it over; without a caller, as one that no authorizer has seen."""
    event: dict[str, Any] = {
        "routeKey": route,
        "headers": {},
        "requestContext": {"requestId": "r-1"},
        **fields,
    }
    if caller:
        claims = {"sub": "s", "custom:tenant": caller.tenant, "cognito:groups": list(caller.groups)}
        payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
        event["headers"] = {"authorization": f"Bearer e30.{payload}.c2ln"} | fields.get("headers", {})
        flat = {**claims, "cognito:groups": f"[{' '.join(caller.groups)}]"}
        event["requestContext"]["authorizer"] = {"jwt": {"claims": flat, "scopes": None}}
    return event


def post(caller: Caller | None, path: str, **fields: Any) -> tuple[int, dict[str, Any]]:
    event = request(caller, f"POST {path}", **{"body": json.dumps({"question": QUESTION, "top_k": 20}), **fields})
    response = functions.ask.handler.handler(event, Context())
    return response["statusCode"], json.loads(response["body"])


def get(caller: Caller | None, source: str, **fields: Any) -> tuple[int, dict[str, Any]]:
    event = request(caller, "GET /documents/{source+}", pathParameters={"source": source}, **fields)
    response = functions.documents.handler.handler(event, Context())
    return response["statusCode"], json.loads(response["body"])


def amounts(value: object) -> set[str]:
    """Whose pages' words stand anywhere in a response."""
    text = json.dumps(value)
    return {page.amount for page in PAGES if f"{page.amount} EUR" in text}


@EACH
@pytest.mark.usefixtures("served")
def test_each_arm_finds_what_the_caller_may_see_and_nothing_else(caller: Caller) -> None:
    status, found = post(caller, "/search")
    assert status == 200
    for rank in ("vectorRank", "keywordRank"):
        assert amounts([each for each in found["passages"] if each[rank] is not None]) == caller.sees
    assert len(found["passages"]) == len(caller.sees)


@EACH
@pytest.mark.usefixtures("served")
def test_an_answer_is_written_from_what_the_caller_may_see(caller: Caller) -> None:
    status, answer = post(caller, "/ask")
    assert status == 200
    assert amounts(answer["citations"]) <= caller.sees
    assert amounts(answer) <= caller.sees
    assert bool(answer["citations"]) == bool(caller.sees)
    assert ("reason" in answer) == (not caller.sees)


@EACH
@pytest.mark.usefixtures("served")
def test_a_document_that_is_not_the_callers_looks_like_one_that_does_not_exist(caller: Caller) -> None:
    missing = get(caller, "never-was.md")
    assert missing[0] == 404
    for source in ("handbook.md", "board.md", "hr.md"):
        visible = {each.amount for each in PAGES if (each.tenant, each.source) == (caller.tenant, source)} & caller.sees
        status, chunks = get(caller, f"{source}/chunks")
        if visible:
            assert get(caller, source)[0] == status == 200
            assert amounts(chunks) == visible
        else:
            assert get(caller, source) == missing
            assert (status, chunks) == get(caller, "never-was.md/chunks") == missing


@EACH
@pytest.mark.usefixtures("served")
def test_nobody_reaches_another_tenant_by_its_prefix(caller: Caller) -> None:
    missing = get(caller, "never-was.md")
    for page in PAGES:
        for source in (f"{page.tenant}/{page.source}", f"../{page.tenant}/{page.source}", f"/{page.source}"):
            assert get(caller, source) == get(caller, f"{source}/chunks") == missing
        body = json.dumps({"question": QUESTION, "sources": [f"{page.tenant}/", f"../{page.tenant}/"]})
        assert post(caller, "/search", body=body)[1]["passages"] == []


@EACH
def test_what_the_caller_may_not_see_changes_nothing_of_what_is_seen(
    caller: Caller, serve: Serve, make_database: Callable[[], str]
) -> None:
    """Neither a score nor a rank: counts and word frequencies are those of the visible documents."""
    serve(indexed(make_database(), PAGES))
    among_others = post(caller, "/search"), post(caller, "/ask")
    serve(indexed(make_database(), tuple(page for page in PAGES if page.amount in caller.sees)))
    assert (post(caller, "/search"), post(caller, "/ask")) == among_others


LIAR = CALLERS[0]
LIES = {"tenant": "globex", "groups": "board", "custom:tenant": "globex", "cognito:groups": "board"}


@pytest.mark.usefixtures("served")
def test_nothing_that_a_caller_writes_shows_more() -> None:
    lies: dict[str, Any] = {
        "queryStringParameters": LIES,
        "headers": {**LIES, "x-tenant": "globex", "x-groups": "board"},
    }
    assert amounts(post(LIAR, "/search", **lies)) == LIAR.sees
    assert get(LIAR, "board.md", **lies)[0] == 404
    assert get(LIAR, "handbook.md", **lies)[0] == 200
    for lie in LIES.items():
        status, problem = post(LIAR, "/search", body=json.dumps({"question": QUESTION, **dict([lie])}))
        assert (status, problem["title"]) == (400, "Invalid request")


@pytest.mark.usefixtures("served")
def test_a_token_without_a_tenant_is_told_so_and_nothing_else() -> None:
    for tenant in ("", " ", "acme/", "acme/handbook", "\0"):
        for status, problem in (
            post(Caller(tenant, (), frozenset()), "/ask"),
            post(Caller(tenant, (), frozenset()), "/search"),
            get(Caller(tenant, (), frozenset()), "handbook.md"),
        ):
            assert (status, problem["title"], problem["detail"]) == (403, "Forbidden", "Your token names no tenant.")


@pytest.mark.usefixtures("served")
def test_a_request_that_no_authorizer_has_seen_is_answered_nothing() -> None:
    claims = base64.urlsafe_b64encode(json.dumps({"custom:tenant": "acme"}).encode()).decode()
    for headers in ({}, {"authorization": f"Bearer e30.{claims}.x"}):
        for status, problem in (
            post(None, "/ask", headers=headers),
            post(None, "/search", headers=headers),
            get(None, "handbook.md", headers=headers),
        ):
            assert (status, problem["title"]) == (500, "Deployment misconfigured")
            assert amounts(problem) == set()
