"""What S3 puts on the queue, and what `make reindex` puts there in the same shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus, unquote_plus

from citewell.core.values import DocumentKey
from citewell.errors import InvalidRequest

_SWEEP = "sweep"
_BEFORE_ALL = DocumentKey("", "")


@dataclass(frozen=True, slots=True)
class Sweep:
    """Asks to look at each document that the index knows, below the key ``prefix`` and behind ``after``: of what was
    erased with all its versions the bucket itself can't tell any more."""

    prefix: str = ""
    after: DocumentKey = _BEFORE_ALL


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


def sweep_message(sweep: Sweep) -> str:
    """As :func:`sweep_of` reads it."""
    return json.dumps({"citewell": _SWEEP, "prefix": sweep.prefix, "after": [sweep.after.tenant, sweep.after.source]})


def sweep_of(message: str) -> Sweep | None:
    """The sweep that a queue message asks for; None when it asks for something else, or for nothing that is known."""
    try:
        body = json.loads(message)
        if body["citewell"] != _SWEEP:
            return None
        tenant, source = body["after"]
        parts = (body["prefix"], tenant, source)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not all(isinstance(part, str) for part in parts):
        return None
    return Sweep(body["prefix"], after=DocumentKey(tenant, source))


def _key(record: Mapping[str, Any], *, bucket: str) -> str:
    if record["bucket"]["name"] != bucket:
        raise InvalidRequest("the message is about another bucket")
    return unquote_plus(record["object"]["key"], errors="strict")


def object_event(bucket: str, key: str) -> str:
    """A message that asks to look at ``key``, as :func:`object_keys` reads it."""
    return json.dumps(
        {"Records": [{"eventSource": "aws:s3", "s3": {"bucket": {"name": bucket}, "object": {"key": quote_plus(key)}}}]}
    )
