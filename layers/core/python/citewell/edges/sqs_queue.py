"""Gives a failed message back before its visibility time-out, which is made for workers that die."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from citewell.edges.aws import client_config

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

WAITS_SECONDS = (60, 240, 960, 1800)


def wait_seconds(attempt: int) -> int:
    """How long a message rests after its ``attempt``-th failure, from 1: longer each time, half an hour at most."""
    return WAITS_SECONDS[min(attempt, len(WAITS_SECONDS)) - 1]


class SqsQueue:
    """``dualstack``: call SQS where it has IPv6 addresses too, for a network whose only way out is IPv6."""

    def __init__(self, url: str, *, dualstack: bool = False) -> None:
        self._url = url
        self._dualstack = dualstack

    @cached_property
    def _client(self) -> SQSClient:
        import boto3

        config = client_config(read_timeout=5, attempts=2, use_dualstack_endpoint=self._dualstack)
        return boto3.client("sqs", config=config)

    def give_back(self, receipt_handle: str, *, attempt: int) -> bool:
        """Whether the message could be given back; where not, it waits out its visibility time-out."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            self._client.change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=receipt_handle, VisibilityTimeout=wait_seconds(attempt)
            )
        except (BotoCoreError, ClientError):
            return False
        return True
