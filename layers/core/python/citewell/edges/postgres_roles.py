"""Who may do what in the database: two roles beside the owner, and nobody else.

``citewell_reader`` is who asks and who shows documents; ``citewell_writer`` is who indexes. Neither owns anything, so
neither can change the schema, and what neither of them needs neither can read. On RDS they have no password: being in
``rds_iam`` they log in by tokens alone.

Roles belong to the whole server, rights to one database: several databases on one server share the roles.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from citewell.edges.postgres import Connection
from citewell.errors import ConfigurationError

READER = "citewell_reader"
WRITER = "citewell_writer"

_MISSING = """
SELECT wanted.name
FROM unnest(%(roles)s::text[]) AS wanted (name)
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted.name)
"""

# Since Postgres 16 who makes a role becomes a member of it, and nobody but a superuser can undo that. Through it the
# owner would be in rds_iam too, as RDS' pg_hba.conf counts it, and its password would no longer let it in. So another
# role makes it, and goes.
_CREATE = SQL("""
CREATE ROLE {maker} CREATEROLE;
GRANT {maker} TO CURRENT_USER WITH INHERIT FALSE, SET TRUE;
SET LOCAL ROLE {maker};
CREATE ROLE {role} LOGIN;
RESET ROLE;
DROP ROLE {maker};
""")

_WITHOUT_IAM = """
SELECT role.rolname AS name
FROM pg_roles AS role
JOIN pg_roles AS iam ON iam.rolname = 'rds_iam'
WHERE role.rolname = ANY (%(roles)s::text[])
  AND NOT EXISTS (SELECT FROM pg_auth_members AS known WHERE known.roleid = iam.oid AND known.member = role.oid)
"""

_ALLOW_IAM = SQL("GRANT rds_iam TO {}")

# What a role was given elsewhere no REVOKE here would take away.
_TOO_POWERFUL = """
SELECT role.rolname AS name
FROM pg_roles AS role
WHERE role.rolname = ANY (%(roles)s::text[])
  AND (role.rolsuper OR role.rolcreaterole OR role.rolcreatedb OR role.rolbypassrls OR role.rolreplication
       OR EXISTS (
           SELECT FROM pg_auth_members
           JOIN pg_roles AS given ON given.oid = pg_auth_members.roleid
           WHERE pg_auth_members.member = role.oid AND given.rolname <> 'rds_iam'
       ))
"""

_OWN_SETTINGS = """
SELECT role.rolname AS name, pg_database.datname AS database,
       array(SELECT split_part(each, '=', 1) FROM unnest(kept.setconfig) AS each ORDER BY 1) AS settings
FROM pg_db_role_setting AS kept
JOIN pg_roles AS role ON role.oid = kept.setrole
LEFT JOIN pg_database ON pg_database.oid = kept.setdatabase
WHERE role.rolname = ANY (%(roles)s::text[])
ORDER BY role.rolname, pg_database.datname NULLS FIRST
"""

_RESET = SQL("ALTER ROLE {role} RESET ALL")
_RESET_IN = SQL("ALTER ROLE {role} IN DATABASE {database} RESET ALL")

# Everything is taken away first, so that what stands below is all there is, whatever a former release, a default
# privilege or a person has granted. Readers don't notice: it is one transaction.
# Of the writer: a document is never deleted, its row stays as a tombstone; and to lock a generation against a
# migration takes the right to update some column of it, of which created_at does the least.
_RIGHTS = SQL("""
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SEQUENCES FROM PUBLIC;
ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON TABLES FROM PUBLIC, citewell_reader, citewell_writer;
ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON SEQUENCES FROM PUBLIC, citewell_reader, citewell_writer;

REVOKE ALL ON DATABASE {database} FROM PUBLIC, citewell_reader, citewell_writer;
REVOKE ALL ON SCHEMA public FROM PUBLIC, citewell_reader, citewell_writer;
REVOKE ALL ON document, chunk, chunk_vector, chunk_words, posting, term_count, index_generation, pending_vector,
    deployment, schema_migration
    FROM PUBLIC, citewell_reader, citewell_writer;
REVOKE ALL ON SEQUENCE index_generation_generation_seq FROM PUBLIC, citewell_reader, citewell_writer;

GRANT CONNECT ON DATABASE {database} TO citewell_reader, citewell_writer;
GRANT USAGE ON SCHEMA public TO citewell_reader, citewell_writer;
GRANT SELECT ON document, chunk, chunk_vector, chunk_words, posting, term_count, index_generation
    TO citewell_reader, citewell_writer;
GRANT INSERT, UPDATE ON document TO citewell_writer;
GRANT INSERT, UPDATE, DELETE ON chunk, chunk_vector, term_count TO citewell_writer;
GRANT INSERT, DELETE ON chunk_words, posting TO citewell_writer;
GRANT UPDATE (readers) ON chunk_words TO citewell_writer;
GRANT UPDATE (created_at) ON index_generation TO citewell_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON pending_vector TO citewell_writer;
""")


def admit_roles(connection: Connection) -> tuple[str, ...]:
    """Make the roles where they are missing and give them their rights, and nobody else any.

    ``connection`` is the owner's, in a transaction on the full schema that no other migration runs beside. Returns
    what an operator should know. Raises ConfigurationError for a role of that name which can do more.
    """
    roles = {"roles": [READER, WRITER]}
    for missing in connection.execute(_MISSING, roles).fetchall():
        # A migration of another database on the same server may have been quicker.
        with contextlib.suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            _create(connection, missing.name)
    for without in connection.execute(_WITHOUT_IAM, roles).fetchall():
        connection.execute(_ALLOW_IAM.format(Identifier(without.name)))
    if powerful := connection.execute(_TOO_POWERFUL, roles).fetchall():
        names = ", ".join(role.name for role in powerful)
        raise ConfigurationError(f"{names} can do more in this database server than it should: drop the role.")
    connection.execute(_RIGHTS.format(database=Identifier(connection.info.dbname)))
    return tuple(_without_own_settings(connection, roles))


def _without_own_settings(connection: Connection, roles: Mapping[str, Any]) -> Iterator[str]:
    """Take back settings that a role's sessions would begin with; yields a sentence where the owner may not.

    No deploy makes any, so somebody was in. They do no harm to the product, whose sessions bring their own.
    """
    for kept in connection.execute(_OWN_SETTINGS, roles).fetchall():
        role = Identifier(kept.name)
        reset = (
            _RESET_IN.format(role=role, database=Identifier(kept.database))
            if kept.database
            else _RESET.format(role=role)
        )
        try:
            with connection.transaction():
                connection.execute(reset)
        except psycopg.errors.InsufficientPrivilege:
            yield (
                f"{kept.name} has settings of its own ({', '.join(kept.settings)}), which no deploy gave it: find out "
                f"who did, then run as {kept.name}: {reset.as_string(connection)}"
            )


def _create(connection: Connection, role: str) -> None:
    maker = f"citewell_maker_{connection.info.backend_pid}"
    with connection.transaction():  # a savepoint: its failure leaves the transaction usable
        connection.execute(_CREATE.format(maker=Identifier(maker), role=Identifier(role)))
