from __future__ import annotations

import json
from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws
from mypy_boto3_s3 import S3Client
from mypy_boto3_sqs import SQSClient

from citewell.events import Sweep, object_keys, sweep_of
from infra import reindex
from infra.reindex import enqueue, keys_of

BUCKET = "docs"


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[S3Client, SQSClient]]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        s3 = boto3.client("s3")
        s3.create_bucket(Bucket=BUCKET)
        s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
        yield s3, boto3.client("sqs")


def _put(s3: S3Client, *keys: str) -> None:
    for key in keys:
        s3.put_object(Bucket=BUCKET, Key=key, Body=b"text")


def test_every_key_is_enqueued_once_the_deleted_ones_too(aws: tuple[S3Client, SQSClient]) -> None:
    s3, sqs = aws
    _put(s3, "b.md", "a.md", "a.md", "gone.md", "ü b+c%25.md")
    s3.delete_object(Bucket=BUCKET, Key="gone.md")
    queue = sqs.create_queue(QueueName="q")["QueueUrl"]

    count = enqueue(sqs, queue, BUCKET, keys_of(s3, BUCKET))

    received = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
    found = [key for message in received for key in object_keys(message["Body"], bucket=BUCKET)]
    assert count == 4
    assert sorted(found) == ["a.md", "b.md", "gone.md", "ü b+c%25.md"]
    assert json.loads(received[0]["Body"])["Records"]


def test_more_keys_than_a_batch_and_a_page_hold(aws: tuple[S3Client, SQSClient]) -> None:
    s3, sqs = aws
    keys = [f"{number:04}.md" for number in range(1005)]
    _put(s3, *keys)
    queue = sqs.create_queue(QueueName="q")["QueueUrl"]

    assert list(keys_of(s3, BUCKET)) == keys
    assert enqueue(sqs, queue, BUCKET, keys[:25]) == 25


def test_only_keys_below_the_prefix(aws: tuple[S3Client, SQSClient]) -> None:
    s3, _ = aws
    _put(s3, "hr/a.md", "it/b.md")

    assert list(keys_of(s3, BUCKET, prefix="hr/")) == ["hr/a.md"]


def test_an_empty_bucket_has_no_keys(aws: tuple[S3Client, SQSClient]) -> None:
    assert list(keys_of(aws[0], BUCKET)) == []


def test_keys_that_the_bucket_knows_nothing_of_any_more_are_enqueued_when_they_are_named(
    aws: tuple[S3Client, SQSClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    s3, sqs = aws
    _put(s3, "kept.md")
    queue = sqs.create_queue(QueueName="q")["QueueUrl"]
    monkeypatch.setattr(reindex, "outputs", lambda: {"BucketName": BUCKET, "QueueUrl": queue})

    assert reindex.main(["--key", "hr/erased ü.md", "--key", "b.md", "--key", "b.md"]) == 0

    received = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
    found = [key for message in received for key in object_keys(message["Body"], bucket=BUCKET)]
    assert sorted(found) == ["b.md", "hr/erased ü.md"]


def test_after_the_buckets_keys_the_index_is_swept_below_the_same_prefix(
    aws: tuple[S3Client, SQSClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    s3, sqs = aws
    _put(s3, "hr/a.md", "b.md")
    queue = sqs.create_queue(QueueName="q")["QueueUrl"]
    monkeypatch.setattr(reindex, "outputs", lambda: {"BucketName": BUCKET, "QueueUrl": queue})

    assert reindex.main(["hr/"]) == 0

    received = [each["Body"] for each in sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]]
    assert [asked for message in received if (asked := sweep_of(message))] == [Sweep("hr/")]
    named = [object_keys(message, bucket=BUCKET) for message in received if sweep_of(message) is None]
    assert named == [["hr/a.md"]]


def test_a_prefix_and_a_key_are_not_named_together(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        reindex.main(["hr/", "--key", "a.md"])
    assert "not allowed with argument" in capsys.readouterr().err
