"""The database as a migration sees it: :class:`citewell.usecases.migrate.Schema` on Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.sql import SQL, Composed, Identifier, Literal

from citewell.core.keys import SINGLE_TENANT, Tenancy
from citewell.core.migrating import AppliedMigration, Migration
from citewell.edges import statements
from citewell.edges.postgres import Connection, connect, translated
from citewell.edges.postgres_login import Login
from citewell.edges.postgres_roles import admit_roles
from citewell.errors import ConfigurationError
from citewell.ports import IndexGeneration

# Any number will do, as long as nothing else in the database takes the same.
_ADVISORY_LOCK = 5_116_208_337

LOCK_SECONDS = 3.0
TURN_SECONDS = 60.0

# A transaction's lock and not a session's: it also works through a proxy, and ends with its transaction, however that
# ends.
_LOCK = "SELECT pg_advisory_xact_lock(%s)"

# Whoever waits for a table keeps everybody waiting who comes after, readers included.
_WAIT_AT_MOST = "SELECT set_config('lock_timeout', %s, true)"

# What a session does is shown to superusers and the session's own role alone; who it is, to everybody.
_HOLDERS = """
SELECT coalesce(session.usename, session.backend_type) AS name, count(DISTINCT session.pid) AS sessions
FROM pg_locks AS held
JOIN pg_stat_activity AS session USING (pid)
WHERE held.granted AND session.pid <> pg_backend_pid()
  AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND CASE held.locktype
          WHEN 'relation' THEN held.relation IN (
              SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
          )
          WHEN 'advisory' THEN (held.classid::bigint << 32) + held.objid::bigint = %s
      END
GROUP BY 1 ORDER BY 1
"""

_CREATE_RECORD = """
CREATE TABLE IF NOT EXISTS schema_migration (
    number     integer PRIMARY KEY CHECK (number > 0),
    name       text NOT NULL,
    sha256     text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)
"""

_APPLIED = "SELECT number, name, sha256 FROM schema_migration ORDER BY number"

_RECORD = "INSERT INTO schema_migration (number, name, sha256) VALUES (%s, %s, %s)"

_VECTOR_VERSION = """
SELECT coalesce(installed_version, default_version) AS version FROM pg_available_extensions WHERE name = 'vector'
"""

_SERVES_DOCUMENTS = """
SELECT EXISTS (SELECT FROM document WHERE served_version IS NOT NULL) AS serves
"""

_TENANCY = "SELECT tenancy FROM deployment"

_RECORD_TENANCY = """
INSERT INTO deployment (tenancy) VALUES (%s) ON CONFLICT (single_row) DO UPDATE SET tenancy = excluded.tenancy
"""

_TENANCIES_SHOWN = """
SELECT DISTINCT CASE WHEN tenant = %s THEN 'single' ELSE 'prefix' END AS tenancy FROM document WHERE status IS NOT NULL
"""

_RETIRE = """
UPDATE index_generation SET status = 'retired' WHERE status = 'live' RETURNING generation
"""

_REVIVE = """
UPDATE index_generation
SET status = 'live'
WHERE generation = (
    SELECT max(generation) FROM index_generation WHERE model_id = %(model_id)s AND dimensions = %(dimensions)s
)
RETURNING generation, model_id, dimensions
"""

_START = """
INSERT INTO index_generation (model_id, dimensions, status)
VALUES (%(model_id)s, %(dimensions)s, 'live')
RETURNING generation, model_id, dimensions
"""


class PostgresSchema:
    """Opens a connection for each transaction: a migration is rare, and takes as long as it takes."""

    def __init__(
        self, login: Login | str, *, lock_seconds: float = LOCK_SECONDS, turn_seconds: float = TURN_SECONDS
    ) -> None:
        """
        Args:
            login: the owner's; text is libpq's URL or key-value string.
            lock_seconds: the longest wait for a table or a row, and so the longest that readers wait for it.
            turn_seconds: the longest wait for another migration, for which nobody else waits.
        """
        self._login = login
        self._lock_seconds = lock_seconds
        self._turn_seconds = turn_seconds

    @contextmanager
    def locked(self) -> Iterator[PostgresLockedSchema]:
        with translated(), connect(self._login) as connection:
            connection.execute(_WAIT_AT_MOST, [_milliseconds(self._turn_seconds)])
            connection.execute(_LOCK, [_ADVISORY_LOCK])
            connection.execute(_WAIT_AT_MOST, [_milliseconds(self._lock_seconds)])
            connection.execute(_CREATE_RECORD)
            yield PostgresLockedSchema(connection)

    def lock_holders(self) -> tuple[str, ...]:
        with translated(), connect(self._login) as connection:
            rows = connection.execute(_HOLDERS, [_ADVISORY_LOCK]).fetchall()
        return tuple(f"{row.sessions} of {row.name}" for row in rows)

    def vector_version(self) -> str | None:
        with translated(), connect(self._login) as connection:
            row = connection.execute(_VECTOR_VERSION).fetchone()
        return None if row is None else str(row.version)


class PostgresLockedSchema:
    """See :class:`citewell.usecases.migrate.LockedSchema`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def applied(self) -> list[AppliedMigration]:
        rows = self._connection.execute(_APPLIED).fetchall()
        return [AppliedMigration(row.number, row.name, row.sha256) for row in rows]

    def apply(self, migration: Migration) -> None:
        try:
            self._connection.execute(migration.sql)
        except psycopg.OperationalError:
            raise
        except psycopg.Error as error:
            # Nothing that the server said in words: it may quote a value, a chunk's text included.
            raise ConfigurationError(
                f"Migration {migration} failed and was undone: {type(error).__name__} (SQLSTATE {error.sqlstate})"
            ) from error
        self._connection.execute(_RECORD, [migration.number, migration.name, migration.sha256])

    def live_generation(self) -> IndexGeneration | None:
        row = self._connection.execute(statements.LIVE_GENERATION).fetchone()
        return None if row is None else IndexGeneration(**row._asdict())

    def serves_documents(self) -> bool:
        [(serves,)] = self._connection.execute(_SERVES_DOCUMENTS).fetchall()
        return bool(serves)

    def tenancy(self) -> Tenancy | None:
        row = self._connection.execute(_TENANCY).fetchone()
        return None if row is None else Tenancy(row.tenancy)

    def tenancies_shown(self) -> frozenset[Tenancy]:
        rows = self._connection.execute(_TENANCIES_SHOWN, [SINGLE_TENANT]).fetchall()
        return frozenset(Tenancy(row.tenancy) for row in rows)

    def record_tenancy(self, tenancy: Tenancy) -> None:
        self._connection.execute(_RECORD_TENANCY, [tenancy])

    def bury_documents(self) -> None:
        for statement in statements.BURY_EVERYTHING:
            self._connection.execute(statement)

    def start_generation(self, model_id: str, dimensions: int) -> IndexGeneration:
        for retired in self._connection.execute(_RETIRE).fetchall():
            self._connection.execute(_drop_index(retired.generation))
        embedder = {"model_id": model_id, "dimensions": dimensions}
        revived = self._connection.execute(_REVIVE, embedder).fetchall()
        [row] = revived or self._connection.execute(_START, embedder).fetchall()
        self._connection.execute(_create_index(row.generation, dimensions))
        return IndexGeneration(**row._asdict())

    def admit_roles(self) -> tuple[str, ...]:
        try:
            return admit_roles(self._connection)
        except psycopg.OperationalError:
            raise
        except psycopg.Error as error:
            said = error.diag.message_primary or type(error).__name__
            raise ConfigurationError(f"The roles' rights can't be set: {said}") from error


def _milliseconds(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms"


def _create_index(generation: int, dimensions: int) -> Composed:
    # m and ef_construction are pgvector's defaults, written out because recall was measured with them.
    return SQL("""
CREATE INDEX {name} ON chunk_vector
USING hnsw ((embedding::vector({dimensions})) vector_cosine_ops) WITH (m = 16, ef_construction = 64)
WHERE generation = {generation}
""").format(name=_index_name(generation), dimensions=Literal(dimensions), generation=Literal(generation))


def _drop_index(generation: int) -> Composed:
    return SQL("DROP INDEX {name}").format(name=_index_name(generation))


def _index_name(generation: int) -> Identifier:
    return Identifier(f"chunk_vector_hnsw_{generation}")
