"""Has ingest look at everything a bucket holds: ``python -m infra.reindex [PREFIX]``, with the credentials of the
environment, for the stack in its AWS account.

What hasn't changed costs a look and no embedding. Keys whose object was deleted are looked at, too: that brings an
index in step that missed the deletion. Of an object that was erased with all its versions the bucket knows nothing any
more, but an index that was restored to a time before that does: ingest puts the keys that it knows on the queue itself.
Single keys: ``python -m infra.reindex --key KEY [--key KEY ...]``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

from citewell.events import Sweep, object_event, sweep_message
from infra.deployed import NotDeployedError, outputs

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

_SQS_BATCH = 10


class ReindexError(Exception):
    """Not every key was enqueued; doing it again is safe."""


def keys_of(s3: S3Client, bucket: str, *, prefix: str = "") -> Iterator[str]:
    """Every key below ``prefix`` that holds an object, or held one of which a version or a delete marker is left."""
    pages = s3.get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=prefix)
    last = None
    for page in pages:
        found = {version["Key"] for version in chain(page.get("Versions", ()), page.get("DeleteMarkers", ()))}
        # Keys come in order, and one's versions may be cut by the end of a page.
        yield from sorted(found - {last})
        last = max(found, default=last)


def enqueue(sqs: SQSClient, queue_url: str, bucket: str, keys: Iterable[str]) -> int:
    """Put each key on the queue, as an object event would; returns how many. Raises ReindexError."""
    count = 0
    pending = iter(keys)
    while batch := list(islice(pending, _SQS_BATCH)):
        entries = [{"Id": str(number), "MessageBody": object_event(bucket, key)} for number, key in enumerate(batch)]
        sent = sqs.send_message_batch(QueueUrl=queue_url, Entries=entries)  # type: ignore[arg-type]  # Id and MessageBody are all it needs
        if refused := sent.get("Failed"):
            raise ReindexError(f"{len(refused)} of {len(batch)} keys were refused by the queue: {refused[0]['Code']}")
        count += len(batch)
    return count


def sweep(sqs: SQSClient, queue_url: str, *, prefix: str = "") -> None:
    """Have ingest do the same with every key below ``prefix`` that the index knows."""
    sqs.send_message(QueueUrl=queue_url, MessageBody=sweep_message(Sweep(prefix)))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.reindex", description="Has ingest look at the bucket.")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("prefix", nargs="?", default="", help="only keys that begin like this")
    which.add_argument("--key", action="append", help="this very key, whether or not the bucket has it; repeatable")
    given = parser.parse_args(arguments)
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        stack = outputs()
        bucket = stack["BucketName"]
        keys = dict.fromkeys(given.key) if given.key else keys_of(boto3.client("s3"), bucket, prefix=given.prefix)
        sqs = boto3.client("sqs")
        count = enqueue(sqs, stack["QueueUrl"], bucket, keys)
        if not given.key:
            sweep(sqs, stack["QueueUrl"], prefix=given.prefix)
    except (ReindexError, NotDeployedError, BotoCoreError, ClientError) as error:
        print(f"citewell: {error}", file=sys.stderr)
        return 1
    print(f"{count} keys are on the queue. What became of one: GET /documents/KEY")
    return 0


if __name__ == "__main__":
    sys.exit(main())
