"""The queue between the bucket and ingest, and where messages go that nobody could handle."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_sqs as sqs
from constructs import Construct

MAX_RECEIVES = 5


class IngestionQueue(Construct):
    """``visibility_timeout`` must be at least six times the consumer's time-out (AWS's advice), so that a message
    isn't handed out again while its batch is still being worked on or throttled."""

    def __init__(self, scope: Construct, construct_id: str, *, visibility_timeout: Duration) -> None:
        super().__init__(scope, construct_id)
        self.dead_letters = sqs.Queue(
            self,
            "DeadLetters",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            retention_period=Duration.days(14),
        )
        self.queue = sqs.Queue(
            self,
            "Queue",
            # SQS's own key: S3 can't send to a queue under the account's default KMS key.
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            visibility_timeout=visibility_timeout,
            retention_period=Duration.days(14),
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=MAX_RECEIVES),
        )
