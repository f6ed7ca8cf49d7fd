"""The bucket that people drop documents into."""

from __future__ import annotations

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_notifications as notifications
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.options import Options, Removal
from infra.rules import acknowledge

EVENTS = (
    s3.EventType.OBJECT_CREATED,
    s3.EventType.OBJECT_REMOVED,  # deletes and delete markers
    s3.EventType.LIFECYCLE_EXPIRATION,  # an expired document leaves the answers too
)


class DocumentBucket(Construct):
    """Tells ``queue`` about every object that comes or goes.

    A bucket made here is versioned, encrypted, private and TLS only. One that was there before (``bucketName``) stays
    its owner's: nothing but the notifications is added to it, beside those that it has, and removing the stack takes
    only those away.
    """

    def __init__(self, scope: Construct, construct_id: str, *, queue: sqs.IQueue, options: Options) -> None:
        super().__init__(scope, construct_id)
        self.bucket: s3.IBucket = (
            s3.Bucket.from_bucket_name(self, "Existing", options.bucket_name)
            if options.bucket_name
            else self._made(keep=options.removal_policy is Removal.RETAIN)
        )
        for event in EVENTS:
            self.bucket.add_event_notification(event, notifications.SqsDestination(queue))

    def _made(self, *, keep: bool) -> s3.Bucket:
        bucket = s3.Bucket(
            self,
            "Bucket",
            versioned=True,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[s3.LifecycleRule(abort_incomplete_multipart_upload_after=Duration.days(7))],
            removal_policy=RemovalPolicy.RETAIN if keep else RemovalPolicy.DESTROY,
            auto_delete_objects=not keep,
        )
        acknowledge(
            bucket,
            {
                "S1": "access logs would name every document in a second bucket that has to be guarded like the first; "
                "an account that must know who read what switches on CloudTrail's data events for this one"
            },
        )
        return bucket
