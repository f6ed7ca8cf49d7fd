"""Secrets are settings by ARN. Their values are never logged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.edges.aws import client_config
from citewell.errors import ConfigurationError, SecretNotSet, SecretUnavailable

if TYPE_CHECKING:
    from botocore.exceptions import ClientError

NOT_SET = "not set"
"""What a secret holds between the deploy that made it and the operator who fills it."""

ATTEMPTS = 2
CONNECT_SECONDS = 1.0
READ_SECONDS = 2.0
LONGEST_SECONDS = ATTEMPTS * (CONNECT_SECONDS + READ_SECONDS) + 1.0
"""What reading takes at most, the pause included. Someone waits for an answer that can't begin before; who needs the
secret later asks anew."""

# Secrets Manager says these with status 400, like what can't be mended by waiting.
_PASSING = frozenset({"ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded"})


def fetch_secret(arn: str, *, attempts: int = ATTEMPTS) -> str:
    """The secret's text as it is now, asked for up to ``attempts`` times.

    Raises SecretUnavailable when the answer may be another one later, SecretNotSet when the secret was never filled,
    ConfigurationError when it can't be read.
    """
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
    from botocore.exceptions import ConnectionError as NotConnected

    try:
        config = client_config(read_timeout=READ_SECONDS, connect_timeout=CONNECT_SECONDS, attempts=attempts)
        client = boto3.client("secretsmanager", config=config)
        value = str(client.get_secret_value(SecretId=arn)["SecretString"]).strip()
    except (NotConnected, HTTPClientError) as error:
        raise SecretUnavailable(f"Secrets Manager did not answer: {type(error).__name__}") from error
    except ClientError as error:
        code, status = _said(error)
        if code in _PASSING or status >= 500:
            raise SecretUnavailable(f"Secrets Manager did not answer: {code}") from error
        raise ConfigurationError(f"the secret {arn} can't be read: {code}") from error
    except (BotoCoreError, KeyError) as error:
        raise ConfigurationError(f"the secret {arn} can't be read: {type(error).__name__}") from error
    if value in ("", NOT_SET):
        raise SecretNotSet(f"the secret {arn} was never filled: use `aws secretsmanager put-secret-value`")
    return value


def _said(error: ClientError) -> tuple[str, int]:
    code = str(error.response.get("Error", {}).get("Code", "unknown"))
    return code, int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
