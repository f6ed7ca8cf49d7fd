"""Calls handlers in a process of its own, as Lambda does: whatever that process writes is its log.

    python -m tests.integration.handler_process RESULTS < STEPS

Steps are a JSON list, each an object with one key:

- ``{"upload": [key, text, metadata]}``: put an object into the bucket,
- ``{"call": [function, event]}``: its result, or null for one that was raised, becomes the next of RESULTS (JSON list),
- ``{"break": port}``: from now on ``embedder`` or ``generator`` raises what it was given.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import boto3
from moto import mock_aws

from citewell.wiring import wiring

BUCKET = "docs"


@dataclass(frozen=True)
class Context:
    """What the handlers use of Lambda's context, and what Powertools looks at."""

    function_name: str = "test"
    memory_limit_in_mb: int = 128
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:000000000000:function:test"
    aws_request_id: str = "invocation"

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


def main(results: Path, steps: Sequence[dict[str, Any]]) -> None:
    returned: list[Any] = []
    with mock_aws():
        s3 = boto3.client("s3")
        s3.create_bucket(Bucket=BUCKET)
        for step in steps:
            [(verb, given)] = step.items()
            if verb == "upload":
                key, text, metadata = given
                s3.put_object(Bucket=BUCKET, Key=key, Body=text.encode(), Metadata=metadata)
            elif verb == "call":
                returned.append(call(*given))
            else:
                wiring().__dict__[given] = Broken()
    results.write_text(json.dumps(returned), encoding="utf-8")


def call(function: str, event: dict[str, Any]) -> Any:
    handler = importlib.import_module(f"functions.{function}.handler").handler
    try:
        return handler(event, Context())
    except Exception:
        traceback.print_exc()  # as Lambda's runtime does
        return None


class Broken:
    """Stands at a port and quotes what it was given, as a library's error may."""

    model_id = os.environ.get("TEST_MODEL_ID", "")
    dimensions = 384
    max_tokens = 512
    batch_size = 32

    def token_starts(self, text: str) -> Sequence[int]:
        return range(0, len(text), 4)

    def embed(self, texts: object, kind: object) -> NoReturn:
        raise RuntimeError(f"can't embed {texts} as {kind}")

    def generate(self, question: object, passages: object, *, seconds: float) -> NoReturn:
        raise RuntimeError(f"can't answer {question} from {passages} in {seconds} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.load(sys.stdin))
