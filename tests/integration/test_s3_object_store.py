from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal

import boto3
import pytest
from botocore.stub import Stubber
from moto import mock_aws
from mypy_boto3_s3 import S3Client

from citewell.edges.s3_object_store import S3ObjectStore
from citewell.errors import ObjectStoreUnavailable, ObjectVanished

BUCKET = "docs"
KEY = "academy/late fees & 学费.md"


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Client]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        client = boto3.client("s3")
        client.create_bucket(Bucket=BUCKET)
        yield client


@pytest.fixture
def versioned(s3: S3Client) -> S3Client:
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    return s3


@pytest.mark.usefixtures("s3")
def test_nothing_stands_under_an_unknown_key() -> None:
    assert S3ObjectStore(BUCKET).head("never.md") is None


def test_a_look_tells_version_size_type_and_metadata(versioned: S3Client) -> None:
    put = versioned.put_object(
        Bucket=BUCKET,
        Key=KEY,
        Body="Grüße".encode(),
        ContentType="text/markdown; charset=utf-8",
        Metadata={"title": "=?utf-8?q?Geb=C3=BChren?=", "groups": "hr"},
    )
    head = S3ObjectStore(BUCKET).head(KEY)
    assert head is not None
    assert (head.key, head.version, head.size) == (KEY, put["VersionId"], 7)
    assert head.content_type == "text/markdown; charset=utf-8"
    assert head.user_metadata == (("groups", "hr"), ("title", "=?utf-8?q?Geb=C3=BChren?="))
    assert head.uploaded is not None
    assert abs(datetime.now(UTC) - head.uploaded) < timedelta(minutes=10)


def test_exactly_the_version_that_was_looked_at_is_read(versioned: S3Client) -> None:
    store = S3ObjectStore(BUCKET)
    versioned.put_object(Bucket=BUCKET, Key=KEY, Body=b"old")
    head = store.head(KEY)
    assert head is not None
    versioned.put_object(Bucket=BUCKET, Key=KEY, Body=b"new")
    assert store.read(head) == b"old"
    versioned.delete_object(Bucket=BUCKET, Key=KEY)
    assert store.head(KEY) is None, "behind a delete marker stands nothing"
    assert store.read(head) == b"old"
    versioned.delete_object(Bucket=BUCKET, Key=KEY, VersionId=head.version)
    with pytest.raises(ObjectVanished):
        store.read(head)


def test_whether_versions_are_kept_is_told_as_the_bucket_has_it(s3: S3Client) -> None:
    assert not S3ObjectStore(BUCKET).keeps_versions()
    for status, keeps in (("Enabled", True), ("Suspended", False)):
        s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": status})  # type: ignore[typeddict-item]
        assert S3ObjectStore(BUCKET).keeps_versions() == keeps


@pytest.mark.usefixtures("s3")
def test_a_bucket_that_is_not_there_is_no_answer_about_versions() -> None:
    with pytest.raises(ObjectStoreUnavailable):
        S3ObjectStore("another-bucket").keeps_versions()


def test_without_versioning_an_overwritten_object_has_vanished(s3: S3Client) -> None:
    store = S3ObjectStore(BUCKET)
    s3.put_object(Bucket=BUCKET, Key=KEY, Body=b"old")
    head = store.head(KEY)
    assert head is not None
    assert store.read(head) == b"old"
    s3.put_object(Bucket=BUCKET, Key=KEY, Body=b"new")
    again = store.head(KEY)
    assert again is not None
    assert again.version != head.version
    with pytest.raises(ObjectVanished):
        store.read(head)


def test_only_a_version_id_covers_the_metadata(s3: S3Client) -> None:
    store = S3ObjectStore(BUCKET)
    statuses: list[Literal["Enabled", "Suspended"] | None] = [None, "Enabled", "Suspended"]
    looked = []
    for status in statuses:
        if status:
            s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": status})
        s3.put_object(Bucket=BUCKET, Key=KEY, Body=b"same", Metadata={"groups": "hr"} if status else {})
        head = store.head(KEY)
        assert head is not None
        looked.append(head)
    assert [head.version_covers_metadata for head in looked] == [False, True, False]
    assert looked[0].version == looked[2].version, "the ETag of the bytes alone"


@pytest.mark.usefixtures("s3")
@pytest.mark.parametrize("missing", [0, 1, 3])
def test_a_look_tells_how_many_metadata_values_cannot_be_sent(missing: int) -> None:
    """S3 leaves them out and counts them in the header `x-amz-missing-meta`."""
    store = S3ObjectStore(BUCKET)
    answer: dict[str, object] = {
        "VersionId": "v1",
        "ETag": '"e"',
        "ContentLength": 4,
        "LastModified": datetime.now(UTC),
        "Metadata": {"title": "Fees"},
    }
    if missing:
        answer["MissingMeta"] = missing
    with Stubber(store._client) as stubber:
        stubber.add_response("head_object", answer, {"Bucket": BUCKET, "Key": KEY})
        head = store.head(KEY)
    assert head is not None
    assert (head.missing_metadata, head.user_metadata) == (missing, (("title", "Fees"),))


@pytest.mark.usefixtures("s3")
def test_a_look_that_is_not_allowed_does_not_pass_for_an_empty_place() -> None:
    """Without s3:ListBucket S3 says 403 where nothing stands; taken for "gone" it would empty the index."""
    store = S3ObjectStore(BUCKET)
    with Stubber(store._client) as stubber:
        stubber.add_client_error("head_object", service_error_code="403", http_status_code=403)
        with pytest.raises(ObjectStoreUnavailable):
            store.head(KEY)
