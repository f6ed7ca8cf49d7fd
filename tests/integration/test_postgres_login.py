"""Logging in over verified TLS: by token or by a secret that rotates, to the right server and to wrong ones."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import boto3
import psycopg
import pytest
from botocore.compat import get_current_datetime
from psycopg.sql import SQL, Identifier

from citewell.edges.postgres import Database, connect
from citewell.edges.postgres_login import Login, SecretLogin, Server, TokenLogin
from citewell.errors import ConfigurationError, DatabaseUnavailable
from infra.local import database_tls
from infra.local.certificates import Certificate, certificate_in
from infra.local.database_tls import DatabaseFront
from infra.local.postgres import EmbeddedPostgres

REGION = "us-east-1"
READER = "login_reader"
OWNER = "login_owner"
SUPERUSER_PASSWORD = "of-the-superuser"
ACCESS_KEY_ID, SECRET_ACCESS_KEY, SESSION_TOKEN = "ASIAREADER", "reader/secret+", "session//token++" * 20


@dataclass
class Cloud:
    """The front before the server, and what a function needs to know of it."""

    front: DatabaseFront
    certificate: Certificate
    url: str
    tokens: list[str] = field(default_factory=list)

    def server(self, **other: str | int | None) -> Server:
        known = {"host": self.front.host, "port": self.front.port, "database": "postgres"}
        return Server(**{**known, "ca": str(self.certificate.authority), **other})  # type: ignore[arg-type]

    def by_token(self, **other: str | int | None) -> TokenLogin:
        return TokenLogin(self.server(**other), user=READER, region=REGION)

    def by_secret(self, secret: Callable[[], str]) -> SecretLogin:
        return SecretLogin(self.server(), secret=secret)

    def set_password(self, password: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as superuser:
            superuser.execute(SQL("ALTER ROLE {} PASSWORD {}").format(Identifier(OWNER), password))

    def end_sessions(self) -> None:
        with psycopg.connect(self.url, autocommit=True) as superuser:
            superuser.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", [READER])


@pytest.fixture(scope="module")
def cloud(open_folder: Path) -> Iterator[Cloud]:
    certificate = certificate_in(open_folder / "certificate")
    tokens: list[str] = []

    def secret_of(access_key_id: str, session_token: str) -> str | None:
        tokens.append(session_token)
        return SECRET_ACCESS_KEY if (access_key_id, session_token) == (ACCESS_KEY_ID, SESSION_TOKEN) else None

    with EmbeddedPostgres.start(open_folder / "postgres", password=SUPERUSER_PASSWORD, durable=False) as postgres:
        with psycopg.connect(postgres.url, autocommit=True) as superuser:
            superuser.execute("CREATE ROLE rds_iam")
            superuser.execute(SQL("CREATE ROLE {} LOGIN IN ROLE rds_iam").format(Identifier(READER)))
            superuser.execute(SQL("CREATE ROLE {} LOGIN").format(Identifier(OWNER)))
        behind = database_tls.Server(
            host=postgres.host, port=postgres.port, user="postgres", password=SUPERUSER_PASSWORD
        )
        with DatabaseFront(
            behind, chain=certificate.chain, secret_of=secret_of, may_connect=lambda *_: True, region=REGION
        ) as front:
            yield Cloud(front, certificate, postgres.url, tokens)


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Lambda gives them to a function."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_ACCESS_KEY)
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION_TOKEN)


def user_of(login: Login) -> tuple[str, bool]:
    with connect(login) as connection:
        [(user,)] = connection.execute("SELECT current_user::text").fetchall()
        return user, bool(connection.pgconn.ssl_in_use)


@contextmanager
def database_of(login: Login) -> Iterator[Database]:
    with closing(Database(login, statement_seconds=5)) as database:
        yield database


# --- by token -------------------------------------------------------------------------------------------------------


def test_a_token_logs_in_over_tls(cloud: Cloud) -> None:
    assert user_of(cloud.by_token()) == (READER, True)


def test_the_token_is_the_one_that_aws_own_client_makes(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    now = get_current_datetime()
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda *_, **__: now)
    host, port, user = "citewell.abc.us-east-1.rds.amazonaws.com", 5432, "strange user+%&"
    theirs = boto3.Session(region_name=REGION).client("rds").generate_db_auth_token(host, port, user)
    ours = TokenLogin(cloud.server(host=host, port=port), user=user, region=REGION).parameters()
    assert ours["password"] == theirs
    assert (ours["host"], ours["user"], ours["sslmode"]) == (host, user, "verify-full")


def test_a_connection_that_broke_is_replaced_with_a_new_token(cloud: Cloud) -> None:
    with database_of(cloud.by_token()) as database:
        with database.transaction() as cursor:
            [(before,)] = cursor.execute("SELECT pg_backend_pid()").fetchall()
        seen = len(cloud.tokens)
        cloud.end_sessions()
        with database.transaction() as cursor:
            [(after,)] = cursor.execute("SELECT pg_backend_pid()").fetchall()
    assert after != before
    assert len(cloud.tokens) == seen + 1


def test_credentials_that_were_renewed_sign_the_next_token(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    login = cloud.by_token()
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of yesterday")
    with pytest.raises(DatabaseUnavailable, match="doesn't let the function's role in"):
        connect(login)
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION_TOKEN)
    assert user_of(login) == (READER, True)


def test_a_process_without_credentials_says_so(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(ConfigurationError, match="no AWS credentials"):
        connect(cloud.by_token())


def test_neither_a_token_nor_a_password_is_ever_logged_or_shown(
    cloud: Cloud, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    user_of(cloud.by_token())
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(DatabaseUnavailable) as refused:
        connect(cloud.by_token())
    with pytest.raises(DatabaseUnavailable) as unfit:
        connect(cloud.by_secret(lambda: '{"username": "login_owner", "password": "hunter2"}'))
    shown = f"{caplog.text}{refused.value!r}{refused.value.__cause__!r}{unfit.value!r}{unfit.value.__cause__!r}"
    assert "X-Amz-Signature=" not in shown
    assert "hunter2" not in shown
    assert SESSION_TOKEN not in shown


# --- by a secret that rotates -----------------------------------------------------------------------------------------


@dataclass
class Secret:
    """What RDS keeps for the owner."""

    password: str
    reads: int = 0

    def __call__(self) -> str:
        self.reads += 1
        return json.dumps({"username": OWNER, "password": self.password})


def test_a_secret_is_read_once_while_its_password_fits(cloud: Cloud) -> None:
    cloud.set_password("first")
    secret = Secret("first")
    login = cloud.by_secret(secret)
    assert user_of(login) == user_of(login) == (OWNER, True)
    assert secret.reads == 1


def test_a_password_that_rotated_is_read_again(cloud: Cloud) -> None:
    cloud.set_password("first")
    secret = Secret("first")
    login = cloud.by_secret(secret)
    user_of(login)
    cloud.set_password("second")
    secret.password = "second"
    assert user_of(login) == (OWNER, True)
    assert secret.reads == 2


def test_a_password_that_stays_wrong_is_tried_once(cloud: Cloud) -> None:
    cloud.set_password("right")
    secret = Secret("wrong")
    with pytest.raises(DatabaseUnavailable, match="doesn't let the function's role in"):
        connect(cloud.by_secret(secret))
    assert secret.reads == 2


@pytest.mark.parametrize("held", ["", "no JSON", "[]", '"text"', '{"username": "u"}', "null"])
def test_a_secret_that_holds_no_login_is_a_configuration_error_that_does_not_show_it(cloud: Cloud, held: str) -> None:
    with pytest.raises(ConfigurationError, match="doesn't hold a username and a password") as caught:
        connect(cloud.by_secret(lambda: held))
    assert held == "" or held not in str(caught.value)


# --- servers that aren't the right one -----------------------------------------------------------------------------


def test_a_server_that_another_authority_vouches_for_is_refused(cloud: Cloud, tmp_path: Path) -> None:
    other = certificate_in(tmp_path)
    with pytest.raises(ConfigurationError, match="isn't trusted: its certificate isn't signed by an authority"):
        connect(cloud.by_token(ca=str(other.authority)))


def test_the_authorities_of_rds_vouch_for_no_local_server(cloud: Cloud) -> None:
    bundle = Path(__file__).parents[2] / "layers/core/rds-ca/global-bundle.pem"
    with pytest.raises(ConfigurationError, match="isn't signed by an authority"):
        connect(cloud.by_token(ca=str(bundle)))


def test_a_server_of_another_name_is_refused(cloud: Cloud, tmp_path: Path) -> None:
    elsewhere = certificate_in(tmp_path, names=("elsewhere.example.com",))
    behind = database_tls.Server(host="127.0.0.1", port=1, user="postgres", password=None)
    with (
        DatabaseFront(behind, chain=elsewhere.chain, secret_of=lambda *_: None, may_connect=lambda *_: True) as front,
        pytest.raises(ConfigurationError, match="isn't trusted: its certificate is for another host"),
    ):
        connect(cloud.by_token(port=front.port, ca=str(elsewhere.authority)))


def test_a_server_without_tls_is_refused_before_it_is_told_anything(cloud: Cloud) -> None:
    plain = psycopg.conninfo.conninfo_to_dict(cloud.url)
    seen = len(cloud.tokens)
    with pytest.raises(ConfigurationError, match="isn't trusted: it offers no TLS"):
        connect(cloud.by_token(host="localhost", port=int(plain["port"] or 0)))
    assert len(cloud.tokens) == seen


def test_authorities_that_are_not_there_are_named(cloud: Cloud, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="the file CITEWELL_DATABASE_CA can't be read"):
        connect(cloud.by_token(ca=str(tmp_path / "missing.pem")))


def test_nobody_there_is_unavailable(cloud: Cloud) -> None:
    with pytest.raises(DatabaseUnavailable, match="can't be reached"):
        connect(cloud.by_token(port=1))
