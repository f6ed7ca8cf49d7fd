"""Signs a person in at the stack's own user pool: ``python -m infra.sign_in EMAIL`` prints an ID token.

A person that the pool doesn't know yet is added, which takes credentials that may; whoever is known signs in with the
password of before. The token is what the API wants behind ``authorization: Bearer``, and good for an hour. It is the ID
token, because the access token carries no ``custom:tenant``.
"""

from __future__ import annotations

import argparse
import getpass
import os
import sys
from typing import Any

from infra.deployed import NotDeployedError, outputs


class SignInError(Exception):
    """The message says why there is no token."""


def id_token(client: Any, *, pool: str, pool_client: str, email: str, password: str) -> str:
    """A fresh ID token of the person, who is added when the pool has nobody of this address. Raises SignInError.

    ``client`` is boto3's for ``cognito-idp``.
    """
    try:
        _add(client, pool=pool, email=email, password=password)
        signed_in = client.admin_initiate_auth(
            UserPoolId=pool,
            ClientId=pool_client,
            AuthFlow="ADMIN_USER_PASSWORD_AUTH",
            AuthParameters={"USERNAME": email, "PASSWORD": password},
        )
    except client.exceptions.InvalidPasswordException as error:
        raise SignInError(f"the password is too weak for the pool: {error.response['Error']['Message']}") from error
    except client.exceptions.NotAuthorizedException as error:
        raise SignInError(f"{email} is known, and has another password or was disabled") from error
    result = signed_in.get("AuthenticationResult")
    if result is None:
        raise SignInError(f"{email} must first answer {signed_in.get('ChallengeName')}, with another client")
    return str(result["IdToken"])


def _add(client: Any, *, pool: str, email: str, password: str) -> None:
    try:
        client.admin_get_user(UserPoolId=pool, Username=email)
    except client.exceptions.UserNotFoundException:
        attributes = [{"Name": "email", "Value": email}, {"Name": "email_verified", "Value": "true"}]
        client.admin_create_user(UserPoolId=pool, Username=email, UserAttributes=attributes, MessageAction="SUPPRESS")
        try:
            client.admin_set_user_password(UserPoolId=pool, Username=email, Password=password, Permanent=True)
        except client.exceptions.InvalidPasswordException:
            client.admin_delete_user(UserPoolId=pool, Username=email)  # or the address would be taken for good
            raise


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m infra.sign_in", description="Prints an ID token for the API.")
    parser.add_argument("email")
    email = parser.parse_args().email
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        found = outputs()
        if "UserPoolId" not in found:
            raise SignInError("the stack has no user pool of its own: your identity provider issues the tokens")
        # Typed blind and kept nowhere; the variable is for scripts.
        password = os.environ.get("CITEWELL_PASSWORD") or getpass.getpass(f"Password of {email}: ")
        pool, pool_client = found["UserPoolId"], found["UserPoolClientId"]
        token = id_token(
            boto3.client("cognito-idp"), pool=pool, pool_client=pool_client, email=email, password=password
        )
    except (SignInError, NotDeployedError, BotoCoreError, ClientError) as error:
        print(f"citewell: {error}", file=sys.stderr)
        return 1
    print(token)
    return 0


if __name__ == "__main__":
    sys.exit(main())
