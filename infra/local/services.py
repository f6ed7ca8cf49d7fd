"""The deployed stack as its users see it: the AWS API and the HTTP API, both on this machine."""

from __future__ import annotations

import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import boto3
import httpx
from botocore.config import Config

from infra.local.errors import LocalCloudError
from infra.local.state import Deployment, Stack
from infra.reindex import ReindexError, enqueue, keys_of, sweep

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient

# The function's own limit and some for a start of its worker on a busy machine.
_API_SECONDS = 60.0


@dataclass(frozen=True)
class Aws:
    """boto3 clients of the emulator. No configuration of the machine's owner is read for them."""

    stack: Stack

    @cached_property
    def s3(self) -> S3Client:
        return self._session.client("s3", **self._options)

    @cached_property
    def sqs(self) -> SQSClient:
        return self._session.client("sqs", **self._options)

    @cached_property
    def secrets(self) -> SecretsManagerClient:
        return self._session.client("secretsmanager", **self._options)

    @cached_property
    def functions(self) -> LambdaClient:
        return self._session.client("lambda", **self._options)

    @cached_property
    def users(self) -> Any:
        """Of ``cognito-idp``."""
        return self._session.client("cognito-idp", **self._options)

    @cached_property
    def _session(self) -> boto3.Session:
        return boto3.Session(
            aws_access_key_id=self.stack.access_key_id,
            aws_secret_access_key=self.stack.secret_access_key,
            region_name=self.stack.region,
        )

    @property
    def _options(self) -> dict[str, Any]:
        config = Config(connect_timeout=5, read_timeout=60, retries={"total_max_attempts": 2}, proxies={})
        return {"endpoint_url": self.stack.endpoint_url, "verify": self.stack.ca_bundle, "config": config}


@dataclass(frozen=True, slots=True)
class Api:
    """The HTTP API. Each call raises LocalCloudError when it is answered by an error, or not at all."""

    stack: Stack

    def ask(self, question: str) -> dict[str, Any]:
        return self._body(self._send("POST", "/ask", {"question": question}))

    def document(self, source: str) -> dict[str, Any] | None:
        """What became of a document; None when there is none."""
        response = self._send("GET", f"/documents/{quote(source)}")
        return None if response.status_code == httpx.codes.NOT_FOUND else self._body(response)

    def is_healthy(self) -> bool:
        return self._send("GET", "/health").is_success

    def _send(self, method: Literal["GET", "POST"], path: str, body: object = None) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.stack.token}"} if self.stack.token else {}
        try:
            return httpx.request(
                method,
                f"{self.stack.api_url}{path}",
                json=body,
                headers=headers,
                timeout=_API_SECONDS,
                verify=trust(self.stack),
                trust_env=False,
            )
        except httpx.TransportError as error:
            raise LocalCloudError(f"{method} {path} was not answered: {error}") from error

    @staticmethod
    def _body(response: httpx.Response) -> dict[str, Any]:
        if not response.is_success:
            request = response.request
            raise LocalCloudError(
                f"{request.method} {request.url} was answered {response.status_code}: {response.text}"
            )
        body: dict[str, Any] = response.json()
        return body


def trust(stack: Stack) -> ssl.SSLContext | bool:
    """httpx's ``verify`` for this stack."""
    return ssl.create_default_context(cafile=stack.ca_bundle) if stack.ca_bundle else True


def fill_secret(aws: Aws, secret_id: str, value: str) -> None:
    """Puts ``value`` into the secret. Functions that use it and have read another value start anew."""
    if aws.secrets.get_secret_value(SecretId=secret_id).get("SecretString") == value:
        return
    aws.secrets.put_secret_value(SecretId=secret_id, SecretString=value)
    for page in aws.functions.get_paginator("list_functions").paginate():
        for function in page["Functions"]:
            variables = function.get("Environment", {}).get("Variables", {})
            if secret_id in variables.values():
                aws.functions.update_function_configuration(
                    FunctionName=function["FunctionName"], Environment={"Variables": variables}
                )


def reindex(aws: Aws, deployment: Deployment) -> int:
    """Asks ingest to look at every key that the bucket holds, or held last; returns how many. Raises LocalCloudError.

    The deleted ones, too, and those that the index alone still knows: that brings an index up to date that missed the
    deletion.
    """
    bucket, queue_url = aws.stack.bucket, deployment.outputs["QueueUrl"]
    try:
        count = enqueue(aws.sqs, queue_url, bucket, keys_of(aws.s3, bucket))
        sweep(aws.sqs, queue_url)
    except ReindexError as error:
        raise LocalCloudError(str(error)) from error
    return count


def drained(aws: Aws, deployment: Deployment) -> bool:
    """Whether ingest has nothing left to do."""
    counts: Sequence[Literal["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]]
    counts = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
    found = aws.sqs.get_queue_attributes(QueueUrl=deployment.outputs["QueueUrl"], AttributeNames=counts)
    return not any(int(found["Attributes"].get(name, 0)) for name in counts)


def wait_until_drained(aws: Aws, deployment: Deployment, *, seconds: float) -> bool:
    """Whether ingest came to have nothing left to do within so long."""
    deadline = time.monotonic() + seconds
    while not drained(aws, deployment):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True
