"""The bucket, as :class:`citewell.ports.ObjectStore`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from botocore.exceptions import BotoCoreError, ClientError

from citewell.core.values import ObjectHead
from citewell.edges.aws import CONNECT_SECONDS, client_config
from citewell.errors import ObjectStoreUnavailable, ObjectVanished

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import GetObjectRequestTypeDef

_GONE = frozenset(
    {
        *("404", "NoSuchKey", "NoSuchVersion"),
        *("405", "MethodNotAllowed"),  # the version is a delete marker
        *("412", "PreconditionFailed"),  # an unversioned object was overwritten
    }
)
_UNVERSIONED = "etag:"


@dataclass(frozen=True, slots=True)
class Patience:
    """``read_seconds`` without a byte end an attempt; ``attempts`` counts the first too."""

    read_seconds: float
    attempts: int

    @property
    def longest_seconds(self) -> float:
        """What a call takes at most when nothing comes, the pauses included."""
        return self.attempts * (CONNECT_SECONDS + self.read_seconds) + sum(2.0**n for n in range(self.attempts - 1))


PATIENCE = Patience(read_seconds=10.0, attempts=3)
HASTE = Patience(read_seconds=3.0, attempts=2)
"""For a look that a deploy waits for."""


class S3ObjectStore:
    def __init__(self, bucket: str, *, patience: Patience = PATIENCE) -> None:
        self._bucket = bucket
        self._patience = patience

    @cached_property
    def _client(self) -> S3Client:
        import boto3

        config = client_config(read_timeout=self._patience.read_seconds, attempts=self._patience.attempts)
        return boto3.client("s3", config=config)

    def head(self, key: str) -> ObjectHead | None:
        try:
            found = self._client.head_object(Bucket=self._bucket, Key=key)
        except (ClientError, BotoCoreError) as error:
            if _is_gone(error):
                return None
            _raise_unavailable(error)
        version = found.get("VersionId")
        # "null" is the version of objects put while versioning was off: overwritten in place, so no identity.
        is_identity = bool(version) and version != "null"
        return ObjectHead(
            key=key,
            version=version if version and is_identity else _UNVERSIONED + found["ETag"],
            size=found["ContentLength"],
            content_type=found.get("ContentType"),
            user_metadata=tuple(sorted(found.get("Metadata", {}).items())),
            uploaded=found["LastModified"],
            missing_metadata=found.get("MissingMeta", 0),  # unprintable values: headers can't carry them
            version_covers_metadata=is_identity,
        )

    def read(self, head: ObjectHead) -> bytes:
        request: GetObjectRequestTypeDef = {"Bucket": self._bucket, "Key": head.key}
        if head.version.startswith(_UNVERSIONED):
            request["IfMatch"] = head.version.removeprefix(_UNVERSIONED)
        else:
            request["VersionId"] = head.version
        try:
            return self._client.get_object(**request)["Body"].read()
        except (ClientError, BotoCoreError) as error:
            if _is_gone(error):
                raise ObjectVanished(f"version {head.version} is gone") from error
            _raise_unavailable(error)

    def keeps_versions(self) -> bool:
        try:
            return self._client.get_bucket_versioning(Bucket=self._bucket).get("Status") == "Enabled"
        except (ClientError, BotoCoreError) as error:
            _raise_unavailable(error)


def _is_gone(error: Exception) -> bool:
    return isinstance(error, ClientError) and error.response.get("Error", {}).get("Code") in _GONE


def _raise_unavailable(error: Exception) -> NoReturn:
    raise ObjectStoreUnavailable(f"the bucket did not answer: {error}") from error
