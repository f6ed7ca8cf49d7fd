"""The queue that ingest works on, as far as it writes to it.

A failed message is given back before its visibility time-out, which is made for workers that die.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from citewell.edges.aws import client_config
from citewell.errors import QueueUnavailable

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_BATCH = 10
"""What SQS takes at once."""

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

    def send(self, messages: Sequence[str]) -> None:
        """Raises QueueUnavailable; some of the messages may be on the queue then."""
        from botocore.exceptions import BotoCoreError, ClientError

        for start in range(0, len(messages), _BATCH):
            batch = enumerate(messages[start : start + _BATCH])
            try:
                sent = self._client.send_message_batch(
                    QueueUrl=self._url, Entries=[{"Id": str(number), "MessageBody": body} for number, body in batch]
                )
            except (BotoCoreError, ClientError) as error:
                # The kind only: AWS's sentences name accounts and roles.
                raise QueueUnavailable(f"the queue took nothing: {type(error).__name__}") from error
            if refused := sent.get("Failed"):
                raise QueueUnavailable(f"the queue refused {len(refused)} messages: {refused[0]['Code']}")
