"""How a function logs in to the database. A login is asked anew for each connection, as what it knows grows old."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from citewell.errors import ConfigurationError

if TYPE_CHECKING:
    from botocore.credentials import CredentialResolver

TOKEN_SECONDS = 900
"""RDS takes no token that is older than this; a connection that was made with it lives on."""

Parameters = Mapping[str, str | int | None]
"""libpq's connection parameters by keyword."""


class Login(Protocol):
    def parameters(self) -> Parameters:
        """For one new connection. Raises ConfigurationError, SecretUnavailable."""

    def renewed(self) -> bool:
        """After a connection failed: whether :meth:`parameters` gives others now, so that trying again makes sense."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where the database is. With ``ca``, a file of authorities, nothing is sent before one of them has vouched for
    the server by its host name; without, TLS isn't demanded.
    """

    host: str
    port: int
    database: str
    ca: str | None

    def parameters(self) -> Parameters:
        where: dict[str, str | int] = {"host": self.host, "port": self.port, "dbname": self.database}
        if self.ca is None:
            return where
        # Kerberos' own encryption would count as safe, and asks nobody for a certificate.
        return where | {"sslmode": "verify-full", "sslrootcert": self.ca, "gssencmode": "disable"}


class FixedLogin:
    """libpq's URL or key-value string, as it is."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo

    def parameters(self) -> Parameters:
        try:
            return conninfo_to_dict(self._conninfo)
        except ProgrammingError as error:
            raise ConfigurationError("The database's address is neither a URL nor a list of keywords.") from error

    def renewed(self) -> bool:
        return False


class TokenLogin:
    """As ``user`` by an IAM token: signed here with the function's own credentials, without a call to AWS.

    Made of botocore's signer and its two credential providers that exist on Lambda (the environment, and the
    container's endpoint under SnapStart): a boto3 client would make the same token for three times the import.
    Source: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.IAMDBAuth.Connecting.html
    """

    def __init__(self, server: Server, *, user: str, region: str) -> None:
        self._server = server
        self._user = user
        self._region = region

    def parameters(self) -> Parameters:
        return {**self._server.parameters(), "user": self._user, "password": self._token()}

    def renewed(self) -> bool:
        return False  # the token that failed was new

    def _token(self) -> str:
        from botocore.auth import SigV4QueryAuth
        from botocore.awsrequest import AWSRequest

        credentials = self._credentials.load_credentials()
        if credentials is None:
            raise ConfigurationError("There are no AWS credentials to sign the database's token with.")
        url = f"https://{self._server.host}:{self._server.port}/?Action=connect&DBUser={quote(self._user, safe='')}"
        request = AWSRequest(method="GET", url=url)
        signer = SigV4QueryAuth(credentials.get_frozen_credentials(), "rds-db", self._region, expires=TOKEN_SECONDS)
        signer.add_auth(request)
        return str(request.url).removeprefix("https://")

    @cached_property
    def _credentials(self) -> CredentialResolver:
        from botocore.credentials import ContainerProvider, CredentialResolver, EnvProvider

        return CredentialResolver([EnvProvider(), ContainerProvider()])


class SecretLogin:
    """By the username and password in a secret, which RDS rotates: read at first use, and again when they fail."""

    def __init__(self, server: Server, *, secret: Callable[[], str]) -> None:
        self._server = server
        self._secret = secret
        self._credentials: Mapping[str, str] | None = None

    def parameters(self) -> Parameters:
        if self._credentials is None:
            self._credentials = self._read()
        return {**self._server.parameters(), **self._credentials}

    def renewed(self) -> bool:
        before, self._credentials = self._credentials, self._read()
        return self._credentials != before

    def _read(self) -> Mapping[str, str]:
        try:
            held = json.loads(self._secret())
            return {"user": str(held["username"]), "password": str(held["password"])}
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigurationError("The database's secret doesn't hold a username and a password.") from error
