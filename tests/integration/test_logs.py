"""The log tells which request found and cited what, and nothing that stood in a question or a document."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from citewell.edges.local_embedder import LocalEmbedder
from citewell.edges.postgres_schema import PostgresSchema
from citewell.events import object_event
from citewell.usecases.migrate import ensure_generation
from tests.integration.handler_process import BUCKET

MODEL_DIR = Path(__file__).parents[2] / "build/model/bge-small-en-v1.5"
KEY = "handbook/meals.md"
ASKED = "zanzibarquestion"
WRITTEN = "quetzalcoatldocument"
TEXT = f"# Meals {WRITTEN}\n\nThe daily meal limit while travelling is 60 EUR, says {WRITTEN}.\n"
QUESTION = f"What is the meal limit while travelling, {ASKED}?"

Line = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """What handlers returned, and everything that their process wrote."""

    results: list[Any]
    log: str

    @property
    def lines(self) -> list[Line]:
        """Powertools' lines, metrics left out."""
        written = (json.loads(line) for line in self.log.splitlines() if line.startswith("{"))
        return [line for line in written if "_aws" not in line]

    @property
    def metrics(self) -> dict[str, list[float]]:
        """Every metric's values, in the order in which they were counted."""
        counted: dict[str, list[float]] = {}
        for line in self.log.splitlines():
            body = json.loads(line) if line.startswith("{") else {}
            for directive in body.get("_aws", {}).get("CloudWatchMetrics", []):
                assert directive["Namespace"] == "Citewell"
                assert directive["Dimensions"] == [["service"]]
                for metric in directive["Metrics"]:
                    counted.setdefault(metric["Name"], []).extend(body[metric["Name"]])
        return counted

    def line(self, message: str) -> Line:
        [line] = [line for line in self.lines if line["message"] == message]
        return line


@dataclass(frozen=True)
class Process:
    database: str
    model_id: str
    results: Path

    def run(self, *steps: dict[str, Any], **settings: str) -> Run:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("CITEWELL_")},
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "CITEWELL_DATABASE_URL": self.database,
            "CITEWELL_BUCKET": BUCKET,
            "CITEWELL_MODEL_DIR": str(MODEL_DIR),
            "TEST_MODEL_ID": self.model_id,
            # An operator who looks for something turns these on.
            "LOG_LEVEL": "DEBUG",
            "POWERTOOLS_LOGGER_LOG_EVENT": "true",
            **settings,
        }
        command = [sys.executable, "-m", "tests.integration.handler_process", str(self.results)]
        done = subprocess.run(
            command, input=json.dumps(steps), env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return Run(json.loads(self.results.read_text(encoding="utf-8")), done.stdout + done.stderr)


@pytest.fixture
def process(database: str, tmp_path: Path) -> Process:
    embedder = LocalEmbedder(MODEL_DIR)
    ensure_generation(
        PostgresSchema(database), model_id=embedder.model_id, dimensions=embedder.dimensions, replace=False
    )
    return Process(database, embedder.model_id, tmp_path / "results.json")


def upload(key: str = KEY, text: str = TEXT, **metadata: str) -> dict[str, Any]:
    return {"upload": [key, text, {name.replace("_", "-"): value for name, value in metadata.items()}]}


def ingest(*keys: str, receive_count: int = 1, body: str | None = None) -> dict[str, Any]:
    records = [
        {
            "messageId": f"message-{number}",
            "receiptHandle": "handle",
            "body": body or object_event(BUCKET, key),
            "attributes": {"ApproximateReceiveCount": str(receive_count)},
            "eventSource": "aws:sqs",
        }
        for number, key in enumerate(keys)
    ]
    return {"call": ["ingest", {"Records": records}]}


def request(route: str, body: object, *, request_id: str = "r-1", **more: object) -> dict[str, Any]:
    function = "documents" if route.startswith("GET") else "ask"
    text = body if isinstance(body, str) else json.dumps(body)
    return {
        "call": [
            function,
            {"routeKey": route, "body": text, "requestContext": {"requestId": request_id}, **more},
        ]
    }


def ask(question: str = QUESTION, **more: Any) -> dict[str, Any]:
    return request("POST /ask", {"question": question}, **more)


def test_an_answers_line_ties_what_was_found_to_what_was_cited(process: Process) -> None:
    run = process.run(upload(), ingest(KEY), ask(request_id="JKJaXmPLvHcESHA="))
    answer = json.loads(run.results[1]["body"])
    line = run.line("question answered")
    assert line["correlation_id"] == answer["requestId"] == "JKJaXmPLvHcESHA="
    [passage] = line["passages"]
    assert passage["score"] == answer["citations"][0]["score"]
    assert (passage["vector_rank"], passage["keyword_rank"]) == (1, 1)
    assert passage["fused_score"] == 1.0  # nearest, and best by its words
    assert line["cited"] == [{"n": 1, "chunk": passage["chunk"]}]
    assert "reason" not in line
    assert (line["model"], line["input_tokens"]) == ("extractive", 0)
    assert line["search_ms"] > 0
    assert line["model_ms"] > 0


def test_every_line_of_a_message_carries_its_id(process: Process) -> None:
    run = process.run(upload(), ingest(KEY, "folder/gone.md"), ingest("x", body="no event"))
    ids = [(line["message"], line["correlation_id"]) for line in run.lines]
    assert ids == [
        ("document ingested", "message-0"),
        ("document ingested", "message-1"),
        ("message refused", "message-0"),
    ]


def test_what_happened_is_counted(process: Process) -> None:
    off_topic = ask("Who won the 2018 World Cup?")
    search = request("POST /search", {"question": QUESTION})
    picture = upload("picture.md", "\x89PNG\r\n\x1a\n" + "\0" * 64)
    run = process.run(upload(), picture, ingest(KEY, KEY, "gone.md", "picture.md"), ask(), off_topic, search)
    counted = run.metrics
    times = {name: counted.pop(name) for name in ("SearchTime", "ModelTime", "IndexAge")}
    assert counted == {
        "MessagesReceived": [1, 1, 1, 1],
        "DocumentsIndexed": [1],
        "DocumentsUnchanged": [1],
        "DocumentsDeleted": [1],
        "DocumentsFailed": [1],
        "ChunksEmbedded": [1],
        "Questions": [1, 1],
        "RefusedBySearch": [1],
        "Searches": [1],
    }
    assert {name: len(values) for name, values in times.items()} == {"SearchTime": 3, "ModelTime": 1, "IndexAge": 1}
    assert 0 <= times["IndexAge"][0] < 300


def test_an_attempt_that_failed_is_counted_and_a_version_that_answers_already_has_no_age(process: Process) -> None:
    first = process.run(upload(), ingest(KEY))
    assert len(first.metrics["IndexAge"]) == 1
    # The bucket of the next process is a new one, but its object is the same one by its ETag.
    again = process.run(upload(), ingest(KEY), CITEWELL_CHUNK_TOKENS="128")
    assert again.metrics["DocumentsUpdated"] == [1]
    assert "IndexAge" not in again.metrics
    failed = process.run(upload(text=TEXT + "More."), {"break": "embedder"}, ingest(KEY))
    assert failed.metrics == {"MessagesReceived": [1], "AttemptsFailed": [1]}


def test_where_it_was_chosen_an_answers_steps_are_traced(process: Process) -> None:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as daemon:
        daemon.bind(("127.0.0.1", 0))
        daemon.settimeout(10)
        host, port = daemon.getsockname()
        process.run(
            upload(),
            ingest(KEY),
            ask(request_id="r-7"),
            CITEWELL_TRACING="yes",
            AWS_XRAY_DAEMON_ADDRESS=f"{host}:{port}",
            _X_AMZN_TRACE_ID="Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1",
        )
        segments = [json.loads(daemon.recv(65_536).splitlines()[1]) for _ in range(2)]
    assert [segment["name"] for segment in segments] == ["model", "search"]
    assert segments[0]["annotations"] == {"correlation_id": "r-7", "refused": False}
    assert not any(ASKED in json.dumps(segment) or WRITTEN in json.dumps(segment) for segment in segments)


@pytest.fixture
def table_that_quotes_its_rows(database: str) -> Iterator[None]:
    """Postgres shows the row that violates a constraint."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"ALTER TABLE chunk ADD CONSTRAINT no_marker CHECK (text NOT LIKE '%row{WRITTEN}%')")
        yield


@pytest.mark.usefixtures("table_that_quotes_its_rows")
@pytest.mark.parametrize("logged", ["no", "yes"])
def test_no_word_of_a_document_is_ever_logged_and_a_questions_only_where_that_was_chosen(
    process: Process, logged: str
) -> None:
    named = f"zanzibarfield {ASKED}"
    run = process.run(
        # What goes well, and what is refused.
        upload(),
        ingest(KEY, KEY),
        ask(),
        ask(f"Who won the {ASKED} World Cup of 2018?"),
        request("POST /search", {"question": QUESTION, "top_k": 3}),
        request("GET /documents/{source+}", "", pathParameters={"source": f"{KEY}/chunks"}),
        # Wrong requests.
        request("POST /ask", {"question": QUESTION, named: QUESTION}),
        request("POST /ask", {"question": QUESTION * 50}),
        request("POST /ask", {"question": [QUESTION]}),
        request("POST /ask", f'{{"question": "{QUESTION}'),
        request("POST /ask", {"question": QUESTION, "sources": [QUESTION], "collections": [1, QUESTION]}),
        request("POST /ask", {"question": QUESTION, "top_k": QUESTION}),
        request("GET /documents/{source+}", "", pathParameters={"source": KEY}, queryStringParameters={ASKED: ASKED}),
        {"call": ["embed", {"texts": [f"{WRITTEN} " * 2000], "input": "query"}]},
        {"call": ["embed", {"texts": [ASKED], "input": WRITTEN}]},
        {"call": ["embed", {"texts": [ASKED, 1], WRITTEN: 1}]},
        # Documents that can't be indexed.
        upload("row.md", f"# Row\n\nrow{WRITTEN} is refused by the database.\n"),
        upload("wrong-date.md", TEXT, effective_date=WRITTEN),
        upload("binary.md", f"\0\1\2{WRITTEN}\0"),
        upload("deep.html", f"<p>{WRITTEN}" + "<div>" * 5000 + WRITTEN),
        ingest("row.md", "wrong-date.md", "binary.md", "deep.html"),
        ingest("row.md", receive_count=5),
        ingest("x", body=f"{WRITTEN}"),
        ingest("x", body=json.dumps({"Records": [{"s3": WRITTEN, WRITTEN: WRITTEN}]})),
        # Ports that fail, and quote what they were given.
        {"break": "generator"},
        ask(),
        {"break": "embedder"},
        ask(),
        request("POST /search", {"question": QUESTION}),
        upload("new.md", f"# New\n\nNobody can embed {WRITTEN}.\n"),
        ingest("new.md"),
        {"call": ["embed", {"texts": [ASKED, WRITTEN], "input": "query"}]},
        CITEWELL_LOG_QUESTIONS=logged,
    )
    said = {line["message"] for line in run.lines}
    assert said == {
        "document ingested",
        "document failed",
        "attempt failed",
        "message refused",
        "question answered",
        "passages found",
        "invalid request",
        "request failed",
    }
    assert WRITTEN not in run.log
    told = [json.loads(line) for line in run.log.splitlines() if ASKED in line]
    assert {line["message"] for line in told} == ({"question answered", "passages found"} if logged == "yes" else set())
    assert all(ASKED in line["question"] and ASKED not in json.dumps({**line, "question": ""}) for line in told)
