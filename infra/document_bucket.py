"""The bucket that people drop documents into."""

from __future__ import annotations

from aws_cdk import CfnResource, Duration, RemovalPolicy, Stack
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_notifications as notifications
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.bundled_function import log_group
from infra.options import Removal

EVENTS = (
    s3.EventType.OBJECT_CREATED,
    s3.EventType.OBJECT_REMOVED,  # deletes and delete markers
    s3.EventType.LIFECYCLE_EXPIRATION,  # an expired document leaves the answers too
)


class DocumentBucket(Construct):
    """Versioned, encrypted, private, TLS only; tells ``queue`` about every object that comes or goes."""

    def __init__(self, scope: Construct, construct_id: str, *, queue: sqs.IQueue, removal: Removal) -> None:
        super().__init__(scope, construct_id)
        keep = removal is Removal.RETAIN
        self.bucket = s3.Bucket(
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
        for event in EVENTS:
            self.bucket.add_event_notification(event, notifications.SqsDestination(queue))
        self._keep_no_log_forever()

    def _keep_no_log_forever(self) -> None:
        """The CDK's own function that sets notifications logs to a group of its own making, which never expires."""
        notifier = next(
            node
            for node in Stack.of(self).node.children
            if node.node.id.startswith("BucketNotificationsHandler") and isinstance(node, Construct)
        )
        function = notifier.node.default_child
        assert isinstance(function, CfnResource)
        function.add_property_override("LoggingConfig.LogGroup", log_group(self).log_group_name)
