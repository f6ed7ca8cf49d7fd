"""The sample documents: ``eval/handbook``, with the user metadata that its ``metadata.json`` gives some of them."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.header import Header
from pathlib import Path

from botocore.exceptions import ClientError

from infra.local.errors import HandbookError
from infra.local.services import Api, Aws, drained
from infra.local.state import ROOT, Deployment

FOLDER = ROOT / "eval" / "handbook"
PREFIX = "handbook/"
QUESTION = "What is the meal limit when travelling?"
INDEXING_SECONDS = 240.0


@dataclass(frozen=True, slots=True)
class Page:
    """One document. ``metadata`` is in ASCII, as S3 wants it."""

    key: str
    content: bytes
    metadata: Mapping[str, str]

    @property
    def etag(self) -> str:
        """What S3 calls an object with this content."""
        return f'"{hashlib.md5(self.content, usedforsecurity=False).hexdigest()}"'


def pages(folder: Path = FOLDER) -> Iterator[Page]:
    described: dict[str, dict[str, str]] = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name != "metadata.json":
            metadata = {name: _ascii(value) for name, value in described.get(path.name, {}).items()}
            yield Page(f"{PREFIX}{path.name}", path.read_bytes(), metadata)


def load(aws: Aws) -> list[str]:
    """Uploads the pages that the bucket doesn't hold just so; returns their keys."""
    changed = [page for page in pages() if not _stands(page, aws)]
    for page in changed:
        aws.s3.put_object(Bucket=aws.stack.bucket, Key=page.key, Body=page.content, Metadata=dict(page.metadata))
    return [page.key for page in changed]


def wait_until_ready(aws: Aws, api: Api, deployment: Deployment) -> bool:
    """Waits until every page can be answered from and ingest has nothing left to do.

    Pages that are for some groups only are not shown here, and so not waited for by name. Returns whether ingest was
    done; it may have a large bucket to look at.

    Raises HandbookError naming the pages that are not READY.
    """
    shown = [page.key for page in pages() if "groups" not in page.metadata]
    deadline = time.monotonic() + INDEXING_SECONDS
    while True:
        idle = drained(aws, deployment)
        states = {key: api.document(key) for key in shown} if idle or time.monotonic() > deadline else {}
        missing = [f"{key}: {_what_became(state)}" for key, state in states.items() if not _is_ready(state)]
        if states and not missing:
            return idle
        failed = any(state is not None and state["status"] == "FAILED" for state in states.values())
        if missing and (failed or time.monotonic() > deadline):
            raise HandbookError("\n".join((f"{len(missing)} documents were not indexed:", *missing)))
        time.sleep(0.2)


def _stands(page: Page, aws: Aws) -> bool:
    try:
        head = aws.s3.head_object(Bucket=aws.stack.bucket, Key=page.key)
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
            return False
        raise
    return head["ETag"] == page.etag and head["Metadata"] == page.metadata


def _is_ready(state: Mapping[str, object] | None) -> bool:
    return state is not None and state["status"] == "READY"


def _what_became(state: Mapping[str, object] | None) -> str:
    if state is None:
        return "not seen by ingest"
    return f"{state['status']} {json.dumps(state['error'])}" if state["error"] else str(state["status"])


def _ascii(value: str) -> str:
    return value if value.isascii() else Header(value, "utf-8", maxlinelen=10_000).encode()
