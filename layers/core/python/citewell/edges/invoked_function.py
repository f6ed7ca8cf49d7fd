"""A function of the stack, called by ``lambda:InvokeFunction``: its result, or whether to try again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from citewell.edges.aws import CONNECT_SECONDS, client_config
from citewell.edges.retrying import TryAgain, retry_worthwhile
from citewell.errors import ConfigurationError

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

_NOT_TO_BE_RETRIED = ("ConfigurationError", "InvalidRequest")
_ERROR_TYPE = re.compile(r"[\w.]{1,64}")


class InvokedFunction:
    """``name`` is the deployed function's, and ``setting`` the setting that holds it.

    ``dualstack``: call Lambda where it has IPv6 addresses too, for a network whose only way out is IPv6.
    """

    def __init__(
        self,
        name: str,
        *,
        setting: str,
        read_seconds: float,
        connect_seconds: float = CONNECT_SECONDS,
        dualstack: bool = False,
        client: LambdaClient | None = None,
    ) -> None:
        self.name = name
        self._setting = setting
        self._read_seconds = read_seconds
        self._connect_seconds = connect_seconds
        self._dualstack = dualstack
        self._given_client = client

    def result_of(self, event: bytes) -> Any:
        """What the function returns for ``event``, whatever it is. Raises TryAgain or ConfigurationError."""
        from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
        from botocore.exceptions import ConnectionError as NoConnection

        try:
            response = self._client.invoke(FunctionName=self.name, Payload=event)
            payload = response["Payload"].read()
        except ClientError as error:
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            code = error.response["Error"]["Code"]
            if retry_worthwhile(status):
                raise TryAgain(code) from error
            raise ConfigurationError(
                f"the function {self.name} can't be invoked: {code}; check {self._setting} and the role's permission "
                "lambda:InvokeFunction"
            ) from error
        except (HTTPClientError, NoConnection, IncompleteReadError) as error:
            raise TryAgain(type(error).__name__) from error
        except BotoCoreError as error:
            raise ConfigurationError(f"no call to AWS Lambda can be made: {type(error).__name__}") from error
        result = _parsed(payload)
        if "FunctionError" in response:
            self._failed(result)
        return result

    def _failed(self, error: Any) -> NoReturn:
        kind = str(error.get("errorType")) if isinstance(error, Mapping) else "an unknown error"
        if kind in _NOT_TO_BE_RETRIED:
            raise ConfigurationError(f"the function {self.name} refused: {error.get('errorMessage')}")
        raise TryAgain(f"it failed with {kind if _ERROR_TYPE.fullmatch(kind) else 'an unknown error'}")

    @cached_property
    def _client(self) -> LambdaClient:
        if self._given_client is not None:
            return self._given_client
        import boto3

        # One attempt: retries are the caller's own, within one bound of time.
        config = client_config(
            read_timeout=self._read_seconds,
            connect_timeout=self._connect_seconds,
            attempts=1,
            use_dualstack_endpoint=self._dualstack,
        )
        return boto3.client("lambda", config=config)


def _parsed(payload: bytes) -> Any:
    try:
        return json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise TryAgain("its result is not JSON") from error
