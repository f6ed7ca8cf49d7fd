"""The functions as Lambda calls them: real events in, real responses out, over the real store and the real model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws
from mypy_boto3_s3 import S3Client
from mypy_boto3_sqs import SQSClient

import functions.ask.handler
import functions.documents.handler
import functions.ingest.handler
from citewell.edges.local_embedder import LocalEmbedder
from citewell.edges.postgres_schema import PostgresSchema
from citewell.edges.sqs_queue import wait_seconds
from citewell.events import Sweep, object_event, object_keys, sweep_message
from citewell.usecases.migrate import ensure_generation
from citewell.wiring import wiring
from tests.documents.archives import zipped
from tests.documents.outlook import compound_file
from tests.documents.pdfs import pdf, picture
from tests.misbehaving import sitecustomize
from tests.servers import cohere_reranks, fails, scripted_server

ROOT = Path(__file__).parents[2]
MODEL_DIR = ROOT / "build/model/bge-small-en-v1.5"
BUCKET = "docs"
KEY = "handbook/expenses.md"


@dataclass(frozen=True)
class Context:
    """What the handlers use of Lambda's context, and what Powertools looks at."""

    function_name: str = "test"
    memory_limit_in_mb: int = 128
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:000000000000:function:test"
    aws_request_id: str = "request"

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch, database: str) -> Iterator[S3Client]:
    """A bucket, and functions that are set up for it, the local model and this test's own database."""
    embedder = LocalEmbedder(MODEL_DIR)
    ensure_generation(
        PostgresSchema(database), model_id=embedder.model_id, dimensions=embedder.dimensions, replace=False
    )
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "CITEWELL_DATABASE_URL": database,
        "CITEWELL_BUCKET": BUCKET,
        "CITEWELL_MODEL_DIR": str(MODEL_DIR),
        "CITEWELL_MAX_RECEIVES": "3",
    }.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        client = boto3.client("s3")
        client.create_bucket(Bucket=BUCKET)
        client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
        wiring.cache_clear()
        yield client
        forget_wiring()


def forget_wiring() -> None:
    """The next call is a process's first."""
    chunks = vars(wiring()).get("chunks")
    if chunks is not None:
        chunks.close()
    wiring.cache_clear()


def upload(s3: S3Client, key: str, body: bytes | None = None) -> None:
    s3.put_object(Bucket=BUCKET, Key=key, Body=body or (ROOT / "eval/handbook/expenses.md").read_bytes())


def ingest(*messages: str, receive_count: int = 1, receipt_handle: str = "handle") -> list[str]:
    """The ids of the messages that failed: m0, m1, ..."""
    records = [
        {
            "messageId": f"m{number}",
            "receiptHandle": receipt_handle,
            "body": message,
            "attributes": {"ApproximateReceiveCount": str(receive_count)},
            "eventSource": "aws:sqs",
        }
        for number, message in enumerate(messages)
    ]
    response = functions.ingest.handler.handler({"Records": records}, Context())
    return [item["itemIdentifier"] for item in response["batchItemFailures"]]


def call(handler: Any, route: str, *, body: object = None, source: str | None = None, **query: str) -> Any:
    """(status, body) of a request."""
    event = {
        "routeKey": route,
        "body": json.dumps(body),
        "pathParameters": {"source": source} if source else None,
        "queryStringParameters": query,
        "requestContext": {"requestId": "r-1"},
    }
    response = handler(event, Context())
    return response["statusCode"], json.loads(response["body"])


def ask(question: str) -> Any:
    return call(functions.ask.handler.handler, "POST /ask", body={"question": question})


def document(source: str, **query: str) -> Any:
    return call(functions.documents.handler.handler, "GET /documents/{source+}", source=source, **query)


def listing(**query: str) -> Any:
    return call(functions.documents.handler.handler, "GET /documents", **query)


def test_what_failed_is_listed_with_its_reason_a_page_at_a_time(s3: S3Client) -> None:
    keys = [f"inbox/{letter}.bin" for letter in "abc"]
    for key in keys:
        upload(s3, key, b"\x89PNG\r\n\x1a\n" + bytes(64))
    upload(s3, KEY)
    assert ingest(*(object_event(BUCKET, key) for key in (*keys, KEY))) == []
    status, page = listing(status="FAILED", limit="2")
    assert (status, [each["source"] for each in page["documents"]], page["next"]) == (200, keys[:2], keys[1])
    assert page["documents"][0]["error"] == {
        "code": "unsupported_type",
        "detail": "PNG image: this format can't be read",
        "stage": "extract",
        "attempts": 1,
    }
    status, page = listing(status="FAILED", limit="2", after=page["next"])
    assert ([each["source"] for each in page["documents"]], page["next"]) == (keys[2:], None)
    assert [each["source"] for each in listing(prefix="handbook/")[1]["documents"]] == [KEY]
    assert listing(status="BROKEN")[0] == 400


def test_one_bad_message_does_not_fail_its_batch(s3: S3Client) -> None:
    upload(s3, KEY)
    upload(s3, "picture.md", b"\x89PNG\r\n\x1a\n" + bytes(64))
    failed = ingest(
        object_event(BUCKET, KEY),
        "not an event",
        object_event(BUCKET, "picture.md"),
        json.dumps({"Event": "s3:TestEvent"}),
        object_event("another-bucket", KEY),
        object_event(BUCKET, "folder/"),
    )
    assert failed == ["m1", "m4"], "what can't be an event of this bucket goes to the dead-letter queue"
    assert document(KEY)[1]["status"] == "READY"
    status, body = document("picture.md")
    assert (status, body["status"], body["error"]["code"]) == (200, "FAILED", "unsupported_type")


def test_the_log_names_the_metadata_that_cannot_be_read(s3: S3Client, caplog: pytest.LogCaptureFixture) -> None:
    s3.put_object(Bucket=BUCKET, Key=KEY, Body=b"text", Metadata={"effective-date": "soon"})
    assert ingest(object_event(BUCKET, KEY)) == []
    [record] = [record for record in caplog.records if record.getMessage() == "document failed"]
    assert vars(record)["problem"] == "the object's metadata 'effective-date' is not a date as in 2025-01-31"


def test_from_an_event_to_a_cited_answer_and_a_refusal(s3: S3Client) -> None:
    upload(s3, KEY)
    assert ingest(object_event(BUCKET, KEY)) == []
    status, answer = ask("What is the meal limit when travelling?")
    assert status == 200
    assert "The daily meal limit while travelling is 60 EUR [1]." in answer["answer"]
    assert answer["citations"][0]["source"] == KEY
    assert answer["model"] == "extractive"
    status, refusal = ask("Who won the 2018 World Cup?")
    assert (status, refusal["citations"], refusal["model"]) == (200, [], None)
    assert refusal["reason"].startswith("best score 0.")


def test_search_ranks_without_a_model(s3: S3Client) -> None:
    upload(s3, KEY)
    ingest(object_event(BUCKET, KEY))
    handler = functions.ask.handler.handler
    status, found = call(handler, "POST /search", body={"question": "meal limit", "top_k": 2})
    assert status == 200
    assert [passage["rank"] for passage in found["passages"]] == [1, 2]
    assert found["passages"][0]["vectorRank"] is not None
    assert call(handler, "POST /search", body={"question": "meal limit", "sources": ["other/"]})[1]["passages"] == []


def test_search_reranks_where_that_is_on_and_does_without_where_it_fails(
    s3: S3Client,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    upload(s3, KEY)
    assert ingest(object_event(BUCKET, KEY)) == []
    question = {"question": "meal limit", "top_k": 3}
    handler = functions.ask.handler.handler
    _, unranked = call(handler, "POST /search", body=question)
    monkeypatch.setenv("CITEWELL_RERANKER", "cohere")
    monkeypatch.setenv("CITEWELL_RERANKER_MODEL", "rerank-v3.5")
    with scripted_server([cohere_reranks()]) as server:
        monkeypatch.setenv("CITEWELL_RERANKER_URL", server.url)
        forget_wiring()
        _, reranked = call(handler, "POST /search", body=question)
        server.follow(fails(401))
        capsys.readouterr()
        _, failed = call(handler, "POST /search", body=question)
    scores = [passage["rerankScore"] for passage in reranked["passages"]]
    assert None not in scores
    assert scores == sorted(scores, reverse=True)
    assert failed == unranked
    counted = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]
    assert [each["NotReranked"] for each in counted] == [[1.0]]
    logged = vars(caplog.records[-1])
    assert (logged["message"], logged["reranked"]) == ("passages found", 0)
    assert "HTTP 401" in logged["not_reranked"]
    assert "CITEWELL_RERANKER_API_KEY_SECRET_ARN" in logged["not_reranked"]


def test_chunks_are_paged_and_a_document_may_be_called_chunks(s3: S3Client) -> None:
    upload(s3, KEY)
    upload(s3, f"{KEY}/chunks", b"I am a document of my own.")
    ingest(object_event(BUCKET, KEY))
    status, page = document(f"{KEY}/chunks", offset="1", limit="2")
    assert status == 200
    assert ([chunk["chunk"] for chunk in page["chunks"]], page["next"]) == ([1, 2], 3)
    ingest(object_event(BUCKET, f"{KEY}/chunks"))
    assert document(f"{KEY}/chunks")[1]["source"] == f"{KEY}/chunks"
    assert document(f"{KEY}/chunks/chunks")[1]["chunks"][0]["text"] == "I am a document of my own."


def test_an_unknown_document_is_not_found(s3: S3Client) -> None:
    upload(s3, KEY)
    for source in ("never.md", "never.md/chunks", "chunks", "a\0b"):
        assert document(source)[0] == 404


@pytest.mark.usefixtures("s3")
def test_what_fits_no_route_is_told_so_without_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_DATABASE_URL", "postgresql://127.0.0.1:1/nowhere")
    forget_wiring()
    for method, path, status in (("GET", "/ask", 405), ("DELETE", "/documents/a.md", 405), ("GET", "/admin", 404)):
        event = {
            "routeKey": f"{method} /{{proxy+}}",
            "rawPath": path,
            "pathParameters": {"proxy": path[1:]},
            "requestContext": {"requestId": "r-1"},
        }
        response = functions.documents.handler.handler(event, Context())
        assert (response["statusCode"], json.loads(response["body"])["status"]) == (status, status)
        assert response["headers"]["content-type"] == "application/problem+json"


@pytest.mark.usefixtures("s3")
def test_health_asks_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = functions.documents.handler.handler
    assert call(handler, "GET /health") == (200, {"status": "ok"})
    monkeypatch.setenv("CITEWELL_DATABASE_URL", "postgresql://127.0.0.1:1/nowhere")
    forget_wiring()
    status, body = call(handler, "GET /health")
    assert (status, body["title"]) == (503, "Database unavailable")


@pytest.mark.usefixtures("s3")
def test_a_question_to_another_embedders_index_says_what_to_do(database: str, caplog: pytest.LogCaptureFixture) -> None:
    ensure_generation(PostgresSchema(database), model_id="another", dimensions=8, replace=True)
    status, body = ask("What is the meal limit?")
    assert (status, body["title"]) == (500, "Embedder does not match the index")
    assert "replaceIndex=true" in body["detail"]
    [record] = caplog.records
    assert "the live index was built by another (8 dimensions)" in vars(record)["error_message"]


@pytest.mark.parametrize("body", [object_event(BUCKET, KEY), "not an event"], ids=["an event", "no event"])
def test_a_failed_message_is_given_back_early_but_not_after_its_last_attempt(
    s3: S3Client, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    sqs: SQSClient = boto3.client("sqs")
    url = sqs.create_queue(QueueName="events", Attributes={"VisibilityTimeout": "1800"})["QueueUrl"]
    monkeypatch.setenv("CITEWELL_QUEUE_URL", url)
    monkeypatch.setenv("CITEWELL_DATABASE_URL", "postgresql://127.0.0.1:1/nowhere")
    forget_wiring()
    upload(s3, KEY)
    given_back: list[int] = []
    queue = wiring().queue
    assert queue is not None
    change = queue._client.change_message_visibility

    def record(**request: Any) -> Any:
        given_back.append(request["VisibilityTimeout"])
        return change(**request)

    monkeypatch.setattr(queue._client, "change_message_visibility", record)
    sqs.send_message(QueueUrl=url, MessageBody=body)
    [message] = sqs.receive_message(QueueUrl=url)["Messages"]
    for receive_count in (1, 2, 3):
        failed = ingest(message["Body"], receive_count=receive_count, receipt_handle=message["ReceiptHandle"])
        assert failed == ["m0"]
    assert given_back == [60, 240]


def test_waits_grow_up_to_the_visibility_time_out() -> None:
    assert [wait_seconds(attempt) for attempt in (1, 2, 3, 4, 5)] == [60, 240, 960, 1800, 1800]


def test_a_sweep_removes_what_the_bucket_has_forgotten(s3: S3Client, monkeypatch: pytest.MonkeyPatch) -> None:
    sqs: SQSClient = boto3.client("sqs")
    url = sqs.create_queue(QueueName="events")["QueueUrl"]
    monkeypatch.setenv("CITEWELL_QUEUE_URL", url)
    forget_wiring()
    others = [f"{number:02}.md" for number in range(11)]
    for key in (KEY, *others):
        upload(s3, key, b"A text." if key in others else None)
        assert ingest(object_event(BUCKET, key)) == []
    for version in s3.list_object_versions(Bucket=BUCKET, Prefix=KEY)["Versions"]:
        s3.delete_object(Bucket=BUCKET, Key=KEY, VersionId=version["VersionId"])

    assert ingest(sweep_message(Sweep())) == []

    found = []
    while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
        found += [message["Body"] for message in messages]
    assert sorted(key for message in found for key in object_keys(message, bucket=BUCKET)) == [*others, KEY]
    assert ingest(*found) == []
    assert document(KEY)[0] == 404
    assert document(others[0])[1]["status"] == "READY"


def test_a_sweep_that_cannot_reach_the_queue_is_tried_again(s3: S3Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_QUEUE_URL", "https://sqs.us-east-1.amazonaws.com/123456789012/gone")
    forget_wiring()
    upload(s3, KEY)
    assert ingest(object_event(BUCKET, KEY), sweep_message(Sweep())) == ["m1"]


BAD_DOCUMENTS: dict[bytes, str] = {
    b" \n": "empty",
    b"\x89PNG\r\n\x1a\n" + bytes(64): "unsupported_type",
    b"\xff\xfe\x00\xd8\x00\x00": "undecodable",
    b"a word and " * 10_000: "too_large",
    compound_file({"EncryptionInfo": b"", "EncryptedPackage": b""}): "encrypted",
    b"PK\x03\x04" + bytes(64): "corrupt",
    pdf(picture()): "no_text_layer",
    zipped({"word/document.xml": bytes(5_000_000)}): "archive_bomb",
    b"hold the interpreter": "too_slow",
    b"die of memory": "too_large",
    b"die": "parser_crashed",
    b"fail": "parser_crashed",
}


def test_whatever_a_document_does_to_its_parser_it_fails_at_once_and_the_next_one_is_indexed(
    s3: S3Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(Path(sitecustomize.__file__).parent)
    monkeypatch.setenv("CITEWELL_EXTRACT_SECONDS", "2")
    monkeypatch.setenv("CITEWELL_EXTRACT_MEMORY_MB", "512")
    monkeypatch.setenv("CITEWELL_EXTRACT_MAX_CHARACTERS", "100000")
    keys = []
    for number, body in enumerate(BAD_DOCUMENTS):
        keys += [f"{number:02}-bad.pdf", f"{number:02}-good.pdf"]
        upload(s3, keys[-2], body)
        upload(s3, keys[-1])
    assert ingest(*(object_event(BUCKET, key) for key in keys)) == [], "no message comes back"
    shown = {key: document(key)[1] for key in keys}
    assert [shown[key]["status"] for key in keys] == ["FAILED", "READY"] * len(BAD_DOCUMENTS)
    errors = [shown[key]["error"] for key in keys[::2]]
    assert [error["code"] for error in errors] == [*BAD_DOCUMENTS.values()]
    assert {(error["stage"], error["attempts"]) for error in errors} == {("extract", 1)}


def test_a_deployment_without_the_parsers_says_so_and_fails_no_document(
    s3: S3Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(Path(sitecustomize.__file__).parent)
    upload(s3, KEY, b"lack a library")
    assert ingest(object_event(BUCKET, KEY)) == ["m0"]
    assert document(KEY)[1]["status"] == "PROCESSING"
