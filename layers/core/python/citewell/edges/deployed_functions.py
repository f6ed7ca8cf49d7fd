"""The stack's functions, asked by ``lambda:InvokeFunction`` whether they work."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from citewell.core.checking import CHECK_EVENT, Findings
from citewell.edges.aws import client_config
from citewell.errors import ConfigurationError, FunctionBusy, Unavailable

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

READ_SECONDS = 50.0
"""Longer than any function takes for a check."""


class DeployedFunctions:
    """See :class:`citewell.usecases.check_deployment.Functions`."""

    def check(self, function: str) -> Findings:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            response = self._client.invoke(FunctionName=function, Payload=json.dumps(CHECK_EVENT).encode())
            payload = response["Payload"].read()
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "unknown")
            if code == "TooManyRequestsException":
                raise FunctionBusy(
                    f"{function} could not be asked: all the copies that it may have are busy"
                ) from error
            raise ConfigurationError(f"{function} can't be invoked: {code}") from error
        except BotoCoreError as error:
            raise Unavailable(f"{function} did not answer: {type(error).__name__}") from error
        if "FunctionError" in response:
            raise Unavailable(f"{function} crashed or took too long: see its log")
        return _findings(payload, function=function)

    @cached_property
    def _client(self) -> LambdaClient:
        import boto3

        # One attempt: whoever asks tries again.
        return boto3.client("lambda", config=client_config(read_timeout=READ_SECONDS, attempts=1))


def _findings(payload: bytes, *, function: str) -> Findings:
    try:
        said: Any = json.loads(payload)
        return Findings(problems=_sentences(said["problems"]), notes=_sentences(said["notes"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unavailable(f"{function} answered with something else than findings") from error


def _sentences(said: Any) -> tuple[str, ...]:
    if not (isinstance(said, list) and all(isinstance(each, str) for each in said)):
        raise TypeError("not a list of sentences")
    return tuple(said)
