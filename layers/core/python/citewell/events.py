"""What S3 puts on the queue, and what `make reindex` puts there in the same shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote_plus, unquote_plus

from citewell.errors import InvalidRequest


def object_keys(message: str, *, bucket: str) -> list[str]:
    """The keys that a queue message says deserve a look, each once, in order.

    Empty for the test event that S3 sends when notifications are set up. Raises InvalidRequest for anything that
    isn't an S3 event of ``bucket``.
    """
    try:
        body = json.loads(message)
        if body.get("Event") == "s3:TestEvent":
            return []
        records = [record["s3"] for record in body["Records"]]
        return list(dict.fromkeys(_key(record, bucket=bucket) for record in records))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidRequest("the message is not an S3 event") from error


def _key(record: Mapping[str, Any], *, bucket: str) -> str:
    if record["bucket"]["name"] != bucket:
        raise InvalidRequest("the message is about another bucket")
    return unquote_plus(record["object"]["key"], errors="strict")


def object_event(bucket: str, key: str) -> str:
    """A message that asks to look at ``key``, as :func:`object_keys` reads it."""
    return json.dumps(
        {"Records": [{"eventSource": "aws:s3", "s3": {"bucket": {"name": bucket}, "object": {"key": quote_plus(key)}}}]}
    )
