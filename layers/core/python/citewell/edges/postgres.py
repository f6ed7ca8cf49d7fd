"""One connection to Postgres, opened when it is first needed and again when it broke.

Made for Lambda: one process serves one request at a time and is frozen between requests. So every setting that differs
between transactions is local to one, and a connection that died in the freezer is replaced without the request
noticing. What a session needs in any case it brings along in its first packet, which a proxy that shares connections,
such as RDS Proxy, may refuse: there is none between a function and its database.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
from psycopg import IsolationLevel
from psycopg.pq import TransactionStatus
from psycopg.rows import namedtuple_row

from citewell.correlation import application_name
from citewell.edges.postgres_login import FixedLogin, Login
from citewell.errors import CitewellError, ConfigurationError, DatabaseLocked, DatabaseUnavailable

Connection = psycopg.Connection[Any]
Cursor = psycopg.Cursor[Any]

CONNECT_SECONDS = 5

_DEFAULTS: Mapping[str, str | int] = {
    "application_name": "citewell",
    "connect_timeout": CONNECT_SECONDS,
    # A peer that vanished without a word is noticed after about 10 seconds, not after the system's two hours.
    "keepalives": 1,
    "keepalives_idle": 4,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds
    "client_encoding": "UTF8",
}

# Whoever is in can change the settings that their role's next sessions begin with (ALTER ROLE ... SET), for good, and
# the owner can't change them back. What a session asks for itself in its first packet comes before those.
_SETTINGS: Mapping[str, str] = {
    "role": "none",
    "search_path": "public,pg_temp",
    "default_transaction_read_only": "off",
    "idle_session_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "transaction_timeout": "0",  # since Postgres 17
    "local_preload_libraries": "",
    # What values and results look like, and which are found.
    "DateStyle": "ISO",
    "TimeZone": "UTC",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "array_nulls": "on",
    "transform_null_equals": "off",
    "gin_fuzzy_search_limit": "0",
}
_OPTIONS = " ".join(f"-c {name}={value}" for name, value in _SETTINGS.items())

# libpq tells why it made no connection in words alone. Words that it no longer uses end in the general message.
_UNTRUSTED: Mapping[str, str] = {
    "certificate verify failed": "its certificate isn't signed by an authority in CITEWELL_DATABASE_CA",
    "does not match host name": "its certificate is for another host than CITEWELL_DATABASE_HOST",
    "does not support SSL": "it offers no TLS",
    "root certificate file": "the file CITEWELL_DATABASE_CA can't be read",
}
_REFUSED = ("authentication failed", "is not permitted to log in", "permission denied for database", "does not exist")


def connect(login: Login | str) -> Connection:
    """Connect as ``login`` (a libpq URL or key-value string, or what knows more) says; it wins over the defaults here.

    Raises DatabaseUnavailable, and ConfigurationError for a server that isn't the one it should be and for an address
    that libpq can't read.
    """
    login = FixedLogin(login) if isinstance(login, str) else login
    try:
        try:
            return _connected(login)
        except psycopg.OperationalError:
            if not login.renewed():
                raise
            return _connected(login)
    except psycopg.OperationalError as error:
        raise _not_connected(error) from error


def _connected(login: Login) -> Connection:
    given = login.parameters()
    # Of two values for a setting the server takes the later one.
    options = f"{_OPTIONS} {given.get('options') or ''}"
    parameters: dict[str, Any] = {**_DEFAULTS, **given, "options": options}
    return psycopg.connect(**parameters, row_factory=namedtuple_row, prepare_threshold=None)


def _not_connected(error: psycopg.OperationalError) -> CitewellError:
    said = str(error)
    for words, reason in _UNTRUSTED.items():
        if words in said:
            return ConfigurationError(f"The database's server isn't trusted: {reason}.")
    if "FATAL" in said and any(words in said for words in _REFUSED):
        return DatabaseUnavailable("The database doesn't let the function's role in.")
    return DatabaseUnavailable("The database can't be reached.")


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn psycopg's errors into ours. The messages name no host, statement or value; the cause has them."""
    try:
        yield
    except psycopg.errors.QueryCanceled as error:
        raise DatabaseUnavailable("The database took too long.") from error
    except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected) as error:
        raise DatabaseLocked("Another session holds a lock in the database.") from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise DatabaseUnavailable("The database can't be reached.") from error
    except (
        psycopg.errors.UndefinedTable,
        psycopg.errors.UndefinedColumn,
        psycopg.errors.UndefinedFunction,
    ) as error:
        raise ConfigurationError("The database's schema is older than the code: run the migration.") from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise ConfigurationError(
            "The role lacks a right on the database: run the migration, which grants it."
        ) from error


class Database:
    """A connection and the short transactions on it. For one thread."""

    def __init__(self, login: Login | str, *, statement_seconds: float) -> None:
        """``statement_seconds`` bounds each statement, waiting for locks included."""
        self._login = login
        self._connection: Connection | None = None
        milliseconds = str(round(statement_seconds * 1000))
        # The second: a worker that is frozen or cut off inside a transaction must not hold its row locks for long.
        self._limits = {
            "statement_timeout": milliseconds,
            "idle_in_transaction_session_timeout": milliseconds,
        }

    @contextlib.contextmanager
    def transaction(
        self,
        *,
        isolation: IsolationLevel = IsolationLevel.READ_COMMITTED,
        settings: Mapping[str, str] | None = None,
        planned_once: bool = False,
    ) -> Iterator[Cursor]:
        """A transaction with ``settings`` of its own: committed at the end of the block, rolled back by an error.

        It is named by what is being worked on (:mod:`citewell.correlation`). ``planned_once``: each of its statements
        is planned when the connection meets it for the first time, for whatever values come. That is for statements
        whose plan takes about as long as their work, and that leave the planner no choice.

        Raises DatabaseUnavailable, ConfigurationError (the schema isn't there).
        """
        with translated():
            named = {"application_name": application_name()}
            plans = {"plan_cache_mode": "force_generic_plan"} if planned_once else {}
            connection = self._begin(isolation, {**self._limits, **named, **plans, **(settings or {})})
            connection.prepare_threshold = 0 if planned_once else None
            try:
                with connection.cursor() as cursor:
                    yield cursor
                connection.commit()
            finally:
                _leave(connection)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _begin(self, isolation: IsolationLevel, settings: Mapping[str, str]) -> Connection:
        if self._connection is not None and not self._connection.closed:
            try:
                return _begin(self._connection, isolation, settings)
            except psycopg.OperationalError:
                self._connection.close()  # it broke while it was idle; nothing was asked of it yet
        self._connection = connect(self._login)
        self._connection.autocommit = True  # transactions are begun here, not by the first statement
        return _begin(self._connection, isolation, settings)


def _begin(connection: Connection, isolation: IsolationLevel, settings: Mapping[str, str]) -> Connection:
    """In one round trip, and without the parameters that would make two of it."""
    local = ", ".join(f"set_config({_quoted(name)}, {_quoted(value)}, true)" for name, value in settings.items())
    opening = f"BEGIN ISOLATION LEVEL {isolation.name.replace('_', ' ')}; SELECT {local}"
    connection.execute(opening.encode(), prepare=False)
    return connection


def _quoted(text: str) -> str:
    """A literal, where standard_conforming_strings are on, as they are in every session of this module."""
    return "'" + text.replace("'", "''") + "'"


def _leave(connection: Connection) -> None:
    """Leave no transaction open, whatever happened."""
    if connection.closed or connection.info.transaction_status == TransactionStatus.IDLE:
        return
    try:
        connection.rollback()
    except psycopg.Error:
        connection.close()
