"""Secrets are settings by ARN; their values are read once per process and never logged."""

from __future__ import annotations

import json
from functools import cache

from citewell.edges.aws import client_config
from citewell.errors import ConfigurationError

NOT_SET = "not set"
"""What a secret holds between the deploy that made it and the operator who fills it."""


@cache
def read_secret(arn: str) -> str:
    """The secret's text. Raises ConfigurationError when it can't be read or was never filled."""
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        client = boto3.client("secretsmanager", config=client_config(read_timeout=5))
        value = str(client.get_secret_value(SecretId=arn)["SecretString"]).strip()
    except (BotoCoreError, ClientError, KeyError) as error:
        raise ConfigurationError(f"the secret {arn} can't be read: {type(error).__name__}") from error
    if value in ("", NOT_SET):
        raise ConfigurationError(f"the secret {arn} was never filled: use `aws secretsmanager put-secret-value`")
    return value


def database_url(arn: str) -> str:
    """The connection URL in the secret that RDS keeps. Raises ConfigurationError."""
    from urllib.parse import quote

    try:
        secret = json.loads(read_secret(arn))
        user, password = quote(str(secret["username"]), safe=""), quote(str(secret["password"]), safe="")
        return f"postgresql://{user}:{password}@{secret['host']}:{int(secret['port'])}/{secret['dbname']}"
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"the secret {arn} doesn't hold a database's address and credentials") from error
