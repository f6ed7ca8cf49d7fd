"""The TLS front before a real Postgres that has neither TLS nor IAM, with real clients."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import boto3
import psycopg
import psycopg.conninfo
import pytest
from psycopg import errors, sql

from infra.local.certificates import Certificate, certificate_in
from infra.local.database_tls import DatabaseFront, Server
from infra.local.postgres import EmbeddedPostgres

SUPERUSER_PASSWORD = "of-the-superuser"
OWNER_PASSWORD = "of-the-owner"
REGION = "us-east-1"
KEYS = {"AKIAREADER": "reader-secret", "AKIASTRANGER": "stranger-secret"}


@dataclass
class Cloud:
    """The front, and what it believes about credentials."""

    front: DatabaseFront
    certificate: Certificate
    allowed: set[tuple[str, str]] = field(default_factory=lambda: {("AKIAREADER", "login_reader")})

    def token(self, user: str, *, key: str = "AKIAREADER", secret: str | None = None, port: int | None = None) -> str:
        session = boto3.Session(aws_access_key_id=key, aws_secret_access_key=secret or KEYS[key], region_name=REGION)
        made: str = session.client("rds").generate_db_auth_token(
            DBHostname=self.front.host, Port=port or self.front.port, DBUsername=user
        )
        return made

    def connect(self, user: str, password: str, **options: str) -> psycopg.Connection:
        trusted = {"sslmode": "verify-full", "sslrootcert": str(self.certificate.authority)}
        address = {"host": self.front.host, "port": str(self.front.port), "dbname": "postgres"}
        return psycopg.connect(
            psycopg.conninfo.make_conninfo(user=user, password=password, **address | trusted | options)
        )


@pytest.fixture(scope="module")
def postgres(open_folder: Path) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres.start(open_folder / "postgres", password=SUPERUSER_PASSWORD, durable=False) as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            owner = sql.SQL("CREATE ROLE owner LOGIN CREATEROLE PASSWORD {}").format(OWNER_PASSWORD)
            for statement in (owner, "CREATE ROLE rds_iam", "CREATE ROLE login_reader LOGIN", "CREATE ROLE team"):
                connection.execute(statement)
            connection.execute("GRANT rds_iam TO login_reader")
            connection.execute("GRANT rds_iam TO team")
            connection.execute("GRANT rds_iam TO owner WITH ADMIN TRUE, INHERIT FALSE, SET FALSE")
        yield server


@pytest.fixture(scope="module")
def cloud(postgres: EmbeddedPostgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    certificate = certificate_in(tmp_path_factory.mktemp("certificate"))
    server = Server(host=postgres.host, port=postgres.port, user="postgres", password=SUPERUSER_PASSWORD)
    allowed = {("AKIAREADER", "login_reader"), ("AKIAREADER", "member_of_team")}
    with DatabaseFront(
        server,
        chain=certificate.chain,
        secret_of=lambda key, _session: KEYS.get(key),
        may_connect=lambda key, user: (key, user) in allowed,
    ) as front:
        yield Cloud(front, certificate, allowed)


def _who(connection: psycopg.Connection) -> str:
    with closing(connection):
        row = connection.execute("SELECT session_user").fetchone()
        assert row is not None
        return str(row[0])


def test_a_token_logs_its_role_in_over_verified_tls(cloud: Cloud) -> None:
    for _ in range(2):  # the second time Postgres knows the front's password already
        assert _who(cloud.connect("login_reader", cloud.token("login_reader"))) == "login_reader"


def test_a_token_still_works_when_somebody_took_the_password_away(cloud: Cloud, postgres: EmbeddedPostgres) -> None:
    cloud.connect("login_reader", cloud.token("login_reader")).close()
    with psycopg.connect(postgres.url, autocommit=True) as superuser:
        superuser.execute("ALTER ROLE login_reader PASSWORD NULL")

    assert _who(cloud.connect("login_reader", cloud.token("login_reader"))) == "login_reader"


def test_many_first_logins_at_once_all_succeed(cloud: Cloud, postgres: EmbeddedPostgres) -> None:
    with psycopg.connect(postgres.url, autocommit=True) as superuser:
        superuser.execute("ALTER ROLE login_reader PASSWORD NULL")
    found: list[str] = []

    def log_in() -> None:
        found.append(_who(cloud.connect("login_reader", cloud.token("login_reader"))))

    threads = [threading.Thread(target=log_in) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == ["login_reader"] * 8


def test_the_owner_logs_in_with_the_password_that_postgres_knows(cloud: Cloud) -> None:
    assert _who(cloud.connect("owner", OWNER_PASSWORD)) == "owner"
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        cloud.connect("owner", "another")


@pytest.mark.parametrize("sslmode", ["disable", "allow"])
def test_a_connection_without_tls_is_refused(cloud: Cloud, sslmode: str) -> None:
    if sslmode == "allow":  # libpq then tries again with TLS
        assert _who(cloud.connect("owner", OWNER_PASSWORD, sslmode="allow")) == "owner"
        return
    with pytest.raises(psycopg.OperationalError, match="no encryption"):
        cloud.connect("login_reader", cloud.token("login_reader"), sslmode=sslmode)


def test_a_client_that_trusts_another_authority_refuses_the_server(cloud: Cloud, tmp_path: Path) -> None:
    other = certificate_in(tmp_path)
    with pytest.raises(psycopg.OperationalError, match="certificate verify failed"):
        cloud.connect("owner", OWNER_PASSWORD, sslrootcert=str(other.authority))


def test_a_certificate_for_another_name_is_refused_by_the_client(cloud: Cloud) -> None:
    with pytest.raises(psycopg.OperationalError, match="does not match host name"):
        cloud.connect("owner", OWNER_PASSWORD, host="database.example", hostaddr="127.0.0.1")


@pytest.mark.parametrize(
    "password",
    [
        pytest.param(lambda _cloud: "", id="none"),
        pytest.param(lambda _cloud: OWNER_PASSWORD, id="a password"),
        pytest.param(lambda cloud: cloud.token("login_reader", secret="guessed"), id="wrong secret"),
        pytest.param(lambda cloud: cloud.token("owner"), id="for another user"),
        pytest.param(lambda cloud: cloud.token("login_reader", port=5432), id="for another port"),
        pytest.param(lambda cloud: cloud.token("login_reader", key="AKIASTRANGER"), id="of a role without the grant"),
        pytest.param(lambda cloud: cloud.token("login_reader", key="AKIANOBODY", secret="x"), id="unknown key"),
        pytest.param(lambda cloud: cloud.token("login_reader") + "&X-Amz-Expires=900", id="says something twice"),
        pytest.param(
            lambda cloud: cloud.token("login_reader").replace("X-Amz-Expires=900", "X-Amz-Expires=9000"), id="stretched"
        ),
    ],
)
def test_what_is_no_good_token_is_refused_without_a_reason(cloud: Cloud, password: object) -> None:
    assert callable(password)
    given = password(cloud)
    with pytest.raises(psycopg.OperationalError) as refused:
        cloud.connect("login_reader", given)

    said = str(refused.value)
    assert "PAM authentication failed" in said or "no password supplied" in said
    assert "signature" not in said


def test_a_token_is_no_good_after_fifteen_minutes(cloud: Cloud, postgres: EmbeddedPostgres) -> None:
    server = Server(host=postgres.host, port=postgres.port, user="postgres", password=SUPERUSER_PASSWORD)
    for age, good in ((890.0, True), (905.0, False)):
        with DatabaseFront(
            server,
            chain=cloud.certificate.chain,
            secret_of=lambda key, _session: KEYS.get(key),
            may_connect=lambda _key, _user: True,
            clock=lambda age=age: time.time() + age,  # type: ignore[misc]  # bound for this round
        ) as front:
            later = Cloud(front, cloud.certificate)
            if good:
                assert _who(later.connect("login_reader", later.token("login_reader"))) == "login_reader"
            else:
                with pytest.raises(psycopg.OperationalError, match="PAM authentication failed"):
                    later.connect("login_reader", later.token("login_reader"))


def test_who_became_a_member_through_another_role_needs_a_token_too(cloud: Cloud, postgres: EmbeddedPostgres) -> None:
    with psycopg.connect(postgres.url, autocommit=True) as superuser:
        superuser.execute("CREATE ROLE member_of_team LOGIN PASSWORD 'known' IN ROLE team")

    assert _who(cloud.connect("member_of_team", cloud.token("member_of_team"))) == "member_of_team"
    with pytest.raises(psycopg.OperationalError, match="PAM authentication failed"):
        cloud.connect("member_of_team", "known")


def test_the_maker_of_such_a_role_is_a_member_through_it(cloud: Cloud, postgres: EmbeddedPostgres) -> None:
    """Since Postgres 16 whoever makes a role is granted it, which locks a password out here as it does on RDS."""
    with psycopg.connect(postgres.url, autocommit=True) as superuser:
        superuser.execute("CREATE ROLE maker LOGIN CREATEROLE PASSWORD 'known'")
        superuser.execute("SET ROLE maker; CREATE ROLE made; RESET ROLE; GRANT rds_iam TO made")

    with pytest.raises(psycopg.OperationalError, match="PAM authentication failed"):
        cloud.connect("maker", "known")


def test_a_running_statement_can_be_cancelled(cloud: Cloud) -> None:
    with closing(cloud.connect("login_reader", cloud.token("login_reader"))) as connection:
        timer = threading.Timer(0.3, connection.cancel_safe)
        timer.start()
        with pytest.raises(errors.QueryCanceled):
            connection.execute("SELECT pg_sleep(30)")
        timer.join()


def test_large_results_and_parameters_pass_whole(cloud: Cloud) -> None:
    with closing(cloud.connect("login_reader", cloud.token("login_reader"))) as connection:
        text = "0123456789abcdef" * 500_000
        row = connection.execute("SELECT %s::text, repeat('x', 9000000)", [text]).fetchone()

    assert row == (text, "x" * 9_000_000)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(struct.pack("!II", 8, 80877103) + b"plain bytes behind it", id="bytes before the handshake"),
        pytest.param(struct.pack("!II", 2**31, 196608), id="endless startup packet"),
        pytest.param(struct.pack("!II", 4, 196608), id="too short"),
        pytest.param(struct.pack("!II", 9, 131072) + b"\0", id="protocol 2"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", id="another protocol"),
    ],
)
def test_what_is_not_the_protocol_is_answered_by_an_error_and_the_end(cloud: Cloud, said: bytes) -> None:
    with socket.create_connection((cloud.front.host, cloud.front.port), timeout=10) as client:
        client.sendall(said)
        answer = b"".join(iter(lambda: client.recv(65536), b""))

    assert answer.startswith(b"E")
    assert b"FATAL" in answer
    assert _who(cloud.connect("owner", OWNER_PASSWORD)) == "owner"  # and the front goes on


def test_a_database_that_is_away_ends_the_login_with_an_error(cloud: Cloud) -> None:
    gone = Server(host="127.0.0.1", port=1, user="postgres", password=None)
    with (
        DatabaseFront(
            gone, chain=cloud.certificate.chain, secret_of=lambda *_: None, may_connect=lambda *_: True
        ) as front,
        pytest.raises(psycopg.OperationalError, match="starting up"),
    ):
        Cloud(front, cloud.certificate).connect("login_reader", "token")


def test_a_certificate_is_kept_while_it_is_good_and_made_anew_when_it_is_broken(tmp_path: Path) -> None:
    first = certificate_in(tmp_path).chain.read_bytes()
    assert certificate_in(tmp_path).chain.read_bytes() == first
    assert (tmp_path / "server.pem").stat().st_mode & 0o077 == 0

    (tmp_path / "ca.pem").write_text("broken")
    assert certificate_in(tmp_path).chain.read_bytes() != first
