"""Who may do what in the database, tried on a real one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import psycopg
import pytest
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Identifier

from citewell.core.values import IngestOutcome, IngestResult, Metadata, Question
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.edges.postgres_roles import READER, WRITER
from citewell.edges.postgres_schema import PostgresSchema
from citewell.errors import ConfigurationError
from citewell.ports import Claim
from citewell.usecases.migrate import admit_roles, ensure_generation, migrate
from infra.local.postgres import EmbeddedPostgres
from infra.local.throwaway_postgres import Server
from tests.integration.chunks import EVERYONE, KEY, index, reuse_key, vector_of
from tests.integration.conftest import MIGRATIONS, RUN, new_database

MEALS = "The daily meal limit while travelling is 60 EUR."
OWNER = "citewell"


def as_role(url: str, role: str) -> str:
    """The same address for a session that may do what ``role`` may, however the server lets roles in."""
    return make_conninfo(url, options=f"-c role={role}")


def run(url: str, statement: str, values: list[Any] | None = None) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode(), values)
        return cursor.fetchall() if cursor.description else []


def admit(url: str) -> str:
    """Bring a migrated database to where its roles have their rights, and put one document in it."""
    schema = PostgresSchema(url)
    ensure_generation(schema, model_id="m", dimensions=8, replace=False)
    admit_roles(schema)
    with closing(PostgresChunkStore(url)) as store:
        index(store, [MEALS])
    return url


@pytest.fixture
def admitted(database: str) -> str:
    return admit(database)


@pytest.fixture(scope="module")
def untouched(database_server: Server, template: str) -> Iterator[str]:
    """The same, for tests that change nothing."""
    with new_database(database_server, f"{RUN}_untouched", template=template) as url:
        yield admit(url)


# --- what each role is for ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact_chunks", [1000, 0], ids=["exact", "by index"])
def test_the_reader_can_run_every_statement_of_asking_and_of_showing_documents(
    untouched: str, exact_chunks: int
) -> None:
    with closing(PostgresChunkStore(as_role(untouched, READER), exact_chunks=exact_chunks)) as store:
        store.ping()
        [found] = store.candidates(
            EVERYONE, store.live_generation(), Question("daily meal limit"), vector_of(MEALS), limit=5
        )
        assert (found.text, found.vector_rank, found.keyword_rank) == (MEALS, 1, 1)
        document = store.document(EVERYONE, KEY.source)
        assert document is not None
        assert document.chunks == 1
        [chunk] = store.document_chunks(EVERYONE, KEY.source, offset=0, limit=5) or []
        assert chunk.text == MEALS


def test_the_writer_can_run_every_statement_of_ingest(admitted: str) -> None:
    with closing(PostgresChunkStore(as_role(admitted, WRITER))) as store:
        generation = store.live_generation()
        assert index(store, [MEALS, "More."], name="v2") == IngestOutcome(IngestResult.UPDATED, 2, 1)
        claim = store.claim(KEY)
        store.begin(claim, Metadata(), title="Expenses", attempts=1, last=False)
        assert store.known_vectors(KEY, [reuse_key(MEALS), reuse_key("?")]) == {reuse_key(MEALS)}
        store.keep_vectors(KEY.tenant, generation, {reuse_key("?"): vector_of("?")})
        store.fail(claim, code="corrupt", stage="extract", attempts=1, version="v3")
        assert store.refresh(store.claim(KEY), "v4", "p1").result is IngestResult.UNCHANGED
        assert store.remove(store.claim(KEY)).result is IngestResult.DELETED
        run(admitted, "UPDATE pending_vector SET created_at = now() - interval '1 year'")
        assert index(store, ["Anew."], name="v5").result is IngestResult.INDEXED
        assert run(admitted, "SELECT count(*)::int FROM pending_vector") == [(1,)]


@pytest.mark.parametrize("role", [READER, WRITER])
def test_a_deploys_check_tries_it_all_and_leaves_nothing(admitted: str, role: str) -> None:
    everything = (
        "SELECT (SELECT count(*) FROM document), (SELECT sum(claim) FROM document), (SELECT count(*) FROM chunk)"
    )
    before = run(admitted, everything)
    run(admitted, "UPDATE pending_vector SET created_at = now() - interval '1 year'")
    with closing(PostgresChunkStore(as_role(admitted, role))) as store:
        store.try_reading()
        if role == WRITER:
            store.try_writing()
            store.try_writing()
    assert run(admitted, everything) == before
    assert run(admitted, "SELECT tenant FROM pending_vector") == [("default",)]


@pytest.mark.parametrize(
    ("change", "attempt", "said"),
    [
        ("REVOKE SELECT ON chunk_vector FROM citewell_reader", (READER, "try_reading"), "lacks a right"),
        ("ALTER TABLE document DROP next_groups CASCADE", (READER, "try_reading"), "older than the code"),
        ("ALTER TABLE chunk DROP page", (READER, "try_reading"), "older than the code"),
        ("DROP TABLE term_count", (READER, "try_reading"), "older than the code"),
        ("DROP FUNCTION keyword_count", (READER, "try_reading"), "older than the code"),
        ("REVOKE SELECT ON posting FROM citewell_reader", (READER, "try_reading"), "lacks a right"),
        ("REVOKE DELETE ON posting FROM citewell_writer", (WRITER, "try_writing"), "lacks a right"),
        ("ALTER TABLE document DROP next_groups CASCADE", (WRITER, "try_writing"), "older than the code"),
        ("ALTER TABLE document DROP attempts", (WRITER, "try_writing"), "older than the code"),
        ("REVOKE DELETE ON pending_vector FROM citewell_writer", (WRITER, "try_writing"), "lacks a right"),
        (
            "REVOKE UPDATE (created_at) ON index_generation FROM citewell_writer",
            (WRITER, "try_writing"),
            "lacks a right",
        ),
    ],
)
def test_an_old_schema_or_a_missing_right_is_found_by_trying(
    admitted: str, change: str, attempt: tuple[str, str], said: str
) -> None:
    run(admitted, change)
    role, method = attempt
    with closing(PostgresChunkStore(as_role(admitted, role))) as store, pytest.raises(ConfigurationError, match=said):
        getattr(store, method)()


# --- and no more ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda store, _: store.claim(KEY),
        lambda store, claim: store.begin(claim, Metadata(), title="T", attempts=1, last=False),
        lambda store, claim: store.swap(claim, store.live_generation(), None, []),
        lambda store, claim: store.refresh(claim, "v2", "p1"),
        lambda store, claim: store.remove(claim),
        lambda store, claim: store.fail(claim, code="c", stage="s", attempts=1, version=None),
        lambda store, _: store.keep_vectors("default", store.live_generation(), {b"k": vector_of("x")}),
        lambda store, _: store.known_vectors(KEY, [b"k"]),
    ],
    ids=["claim", "begin", "swap", "refresh", "remove", "fail", "keep_vectors", "known_vectors"],
)
def test_the_reader_writes_nothing(untouched: str, write: Callable[[PostgresChunkStore, Any], Any]) -> None:
    claim = Claim(KEY, 1, "v1", "p1", b"", 1)
    reader = closing(PostgresChunkStore(as_role(untouched, READER)))
    with reader as store, pytest.raises(ConfigurationError, match="lacks a right"):
        write(store, claim)


CHANGES_OF_THE_SCHEMA = [
    "CREATE TABLE mine ()",
    "CREATE TEMPORARY TABLE mine ()",
    "CREATE TABLE pg_temp.document ()",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql RETURN 1",
    "CREATE VIEW mine AS SELECT 1",
    "CREATE SCHEMA mine",
    "CREATE EXTENSION pg_trgm",
    "CREATE INDEX ON chunk (text)",
    "CREATE ROLE mine",
    "CREATE DATABASE mine",
    "ALTER TABLE document ADD mine text",
    "ALTER TABLE document DISABLE TRIGGER ALL",
    "ALTER TABLE chunk OWNER TO CURRENT_USER",
    "ALTER ROLE CURRENT_USER CREATEROLE",
    "DROP TABLE pending_vector",
    "DROP EXTENSION vector",
    "TRUNCATE chunk_vector",
    "COPY chunk TO PROGRAM 'cat'",
    "DELETE FROM document",
    "UPDATE index_generation SET status = 'retired'",
    "INSERT INTO index_generation (model_id, dimensions, status) VALUES ('m', 8, 'building')",
    "SELECT nextval('index_generation_generation_seq')",
    "INSERT INTO schema_migration (number, name, sha256) VALUES (999, 'mine', '')",
    "SELECT * FROM schema_migration",
    "SELECT rolpassword FROM pg_authid",
    "SELECT pg_read_file('postgresql.conf')",
]
WRITES = [
    "INSERT INTO document (tenant, source, claim) VALUES ('t', 's', 1)",
    "UPDATE document SET groups = '{}'",
    "UPDATE chunk SET page = 1",
    "DELETE FROM chunk",
    "DELETE FROM chunk_vector",
    "SELECT * FROM document FOR UPDATE",
    "BEGIN; LOCK TABLE document",
    "SELECT * FROM pending_vector",
]


@pytest.mark.parametrize(
    ("role", "statement"),
    [(role, statement) for role in (READER, WRITER) for statement in CHANGES_OF_THE_SCHEMA]
    + [(READER, statement) for statement in WRITES],
)
def test_a_role_is_refused_what_it_does_not_need(untouched: str, role: str, statement: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        run(as_role(untouched, role), statement)


PRIVILEGES = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"]
ALL_BUT_STRUCTURE = {"SELECT", "INSERT", "UPDATE", "DELETE"}
EXPECTED = {
    READER: {
        "document": {"SELECT"},
        "chunk": {"SELECT"},
        "chunk_vector": {"SELECT"},
        "chunk_words": {"SELECT"},
        "posting": {"SELECT"},
        "term_count": {"SELECT"},
        "index_generation": {"SELECT"},
    },
    WRITER: {
        "document": {"SELECT", "INSERT", "UPDATE"},
        "chunk": ALL_BUT_STRUCTURE,
        "chunk_vector": ALL_BUT_STRUCTURE,
        "chunk_words": {"SELECT", "INSERT", "DELETE"},
        "posting": {"SELECT", "INSERT", "DELETE"},
        "term_count": ALL_BUT_STRUCTURE,
        "pending_vector": ALL_BUT_STRUCTURE,
        "index_generation": {"SELECT"},
    },
}


def rights(url: str, role: str) -> dict[str, set[str]]:
    listed = run(
        url,
        """
        SELECT relname, privilege
        FROM pg_class, unnest(%s::text[]) AS privilege
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
          AND has_table_privilege(%s, pg_class.oid, privilege)
        """,
        [PRIVILEGES, role],
    )
    return {table: {privilege for name, privilege in listed if name == table} for table, _ in listed}


@pytest.mark.parametrize("role", [READER, WRITER])
def test_each_table_is_open_to_those_who_need_it_alone(untouched: str, role: str) -> None:
    assert rights(untouched, role) == EXPECTED[role]


def test_rights_that_anybody_else_was_given_are_taken_back(admitted: str) -> None:
    stranger = "citewell_test_stranger"
    run(admitted, f"CREATE ROLE {stranger}")
    try:
        run(admitted, "GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC")
        run(admitted, "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO PUBLIC")
        run(admitted, "GRANT ALL ON SCHEMA public TO PUBLIC")
        run(admitted, f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {READER}")
        run(admitted, "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC")
        run(admitted, f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO PUBLIC, {READER}")
        assert rights(admitted, stranger)
        admit_roles(PostgresSchema(admitted))
        run(admitted, "CREATE TABLE future ()")
        assert rights(admitted, stranger) == {}
        assert rights(admitted, READER) == EXPECTED[READER]
        open_to_strangers = """
            SELECT has_database_privilege(stranger, current_database(), 'CONNECT'),
                   has_database_privilege(stranger, current_database(), 'TEMPORARY'),
                   has_schema_privilege(stranger, 'public', 'USAGE'),
                   has_schema_privilege(stranger, 'public', 'CREATE'),
                   has_sequence_privilege(stranger, 'index_generation_generation_seq', 'USAGE, SELECT, UPDATE')
            FROM (VALUES (%s)) AS known (stranger)
        """
        assert run(admitted, open_to_strangers, [stranger]) == [(False,) * 5]
    finally:
        run(admitted, f"DROP ROLE {stranger}")


# --- a server of its own: what a first migration finds ---------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[EmbeddedPostgres]:
    """A server that has never seen the roles."""
    with EmbeddedPostgres.temporary() as server:
        yield server


def owned(server: EmbeddedPostgres, name: str) -> str:
    """The URL of a new database for its owner, who is no superuser, as on RDS."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [OWNER]).fetchone():
            connection.execute(SQL("CREATE ROLE {} LOGIN CREATEROLE").format(Identifier(OWNER)))
        connection.execute(SQL("CREATE DATABASE {} OWNER {}").format(Identifier(name), Identifier(OWNER)))
    return make_conninfo(server.url_of(name), user=OWNER)


def memberships(server: EmbeddedPostgres) -> set[tuple[str, str]]:
    query = """
        SELECT member.rolname, given.rolname FROM pg_auth_members
        JOIN pg_roles AS member ON member.oid = member JOIN pg_roles AS given ON given.oid = roleid
        WHERE member.rolname NOT LIKE 'pg\\_%'
    """
    return {(member, given) for member, given in run(server.url, query)}


def test_the_owner_makes_roles_that_log_in_and_on_rds_by_token_alone(server: EmbeddedPostgres) -> None:
    url = owned(server, "first")
    migrate(PostgresSchema(url), MIGRATIONS)
    admit_roles(PostgresSchema(url))
    attributes = """
        SELECT rolcanlogin, rolpassword IS NULL, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls
        FROM pg_authid WHERE rolname = %s
    """
    for role in (READER, WRITER):
        assert run(server.url, attributes, [role]) == [(True, True, False, False, False, False, False)]
        assert run(make_conninfo(url, user=role), "SELECT current_user::text") == [(role,)]
    assert memberships(server) == set()
    run(server.url, f"CREATE ROLE rds_iam; GRANT rds_iam TO {OWNER} WITH ADMIN TRUE, INHERIT FALSE, SET FALSE")
    for _ in range(2):
        admit_roles(PostgresSchema(url))
        # Were the owner a member of either, RDS would want a token from it, too.
        assert memberships(server) == {(READER, "rds_iam"), (WRITER, "rds_iam"), (OWNER, "rds_iam")}


def test_databases_of_one_server_that_are_migrated_at_once_share_the_roles(server: EmbeddedPostgres) -> None:
    urls = [owned(server, f"database_{number}") for number in range(4)]
    for url in urls:
        migrate(PostgresSchema(url), MIGRATIONS)
    together = threading.Barrier(8)

    def start(url: str) -> None:
        together.wait()
        admit_roles(PostgresSchema(url))

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(start, url) for url in urls * 2]:
            done.result()
    for url in urls:
        assert rights(url, READER) == EXPECTED[READER]
        assert rights(url, WRITER) == EXPECTED[WRITER]


@pytest.mark.parametrize(
    "too_much",
    [f"ALTER ROLE {READER} SUPERUSER", f"ALTER ROLE {READER} CREATEDB", f"GRANT {OWNER} TO {READER}"],
    ids=["superuser", "attribute", "membership"],
)
def test_a_role_that_can_do_more_is_refused_by_name(server: EmbeddedPostgres, too_much: str) -> None:
    url = owned(server, "first")
    migrate(PostgresSchema(url), MIGRATIONS)
    run(server.url, f"CREATE ROLE {READER} LOGIN; {too_much}")
    with pytest.raises(ConfigurationError, match=f"^{READER} can do more .*: drop the role"):
        admit_roles(PostgresSchema(url))


def test_an_owner_that_may_not_make_roles_is_told_so(server: EmbeddedPostgres) -> None:
    url = owned(server, "first")
    migrate(PostgresSchema(url), MIGRATIONS)
    run(server.url, f"ALTER ROLE {OWNER} NOCREATEROLE")
    with pytest.raises(ConfigurationError, match="rights can't be set: permission denied to create role"):
        admit_roles(PostgresSchema(url))


def test_code_of_a_release_without_roles_serves_on_while_the_next_one_makes_them(server: EmbeddedPostgres) -> None:
    url = owned(server, "first")
    schema = PostgresSchema(url)
    migrate(schema, MIGRATIONS)
    generation = ensure_generation(schema, model_id="m", dimensions=8, replace=False)
    with closing(PostgresChunkStore(url)) as old:
        index(old, [MEALS])
        claim = old.claim(KEY)  # a document is being processed
        with psycopg.connect(url) as asking:  # and a search is under way
            asking.execute("SELECT * FROM chunk")
            admit_roles(schema)
            asking.execute("SELECT * FROM document")
        with closing(PostgresChunkStore(make_conninfo(url, user=READER))) as new:
            assert [each.text for each in new.document_chunks(EVERYONE, KEY.source, offset=0, limit=5) or []] == [MEALS]
        old.keep_vectors(KEY.tenant, generation, {reuse_key("Old."): vector_of("Old.")})
        assert old.refresh(claim, "v2", "p1").result is IngestResult.UNCHANGED
        with closing(PostgresChunkStore(make_conninfo(url, user=WRITER))) as new:
            assert index(new, [MEALS, "New."], name="v3").result is IngestResult.UPDATED
        assert index(old, [MEALS, "Old."], name="v4").result is IngestResult.UPDATED


# --- settings that a role gives itself ------------------------------------------------------------------------------

LOCK_OUTS = [
    "search_path TO ''",
    "default_transaction_read_only TO on",
    "role TO {role}",
    "idle_session_timeout TO '1ms'",
    "statement_timeout TO '1ms'",
    "transaction_timeout TO '1ms'",
    "client_encoding TO 'SQL_ASCII'",
    "local_preload_libraries TO 'nothing'",
    "DateStyle TO 'German'",
    "array_nulls TO off",
]


@pytest.mark.parametrize("role", [READER, WRITER])
def test_a_role_cannot_lock_the_product_out_with_settings_of_its_own(server: EmbeddedPostgres, role: str) -> None:
    url = admit_owner(server)
    tampering = PostgresChunkStore(make_conninfo(url, user=role))
    with psycopg.connect(make_conninfo(url, user=role), autocommit=True) as inside:
        for number, setting in enumerate(LOCK_OUTS):
            where = f" IN DATABASE {inside.info.dbname}" if number % 2 else ""
            inside.execute(f"ALTER ROLE {role}{where} SET {setting.format(role=role)}".encode())
        with closing(tampering) as store:
            document = store.document(EVERYONE, KEY.source)
            assert document is not None
            assert document.updated_at.endswith("Z")
            if role == WRITER:
                assert index(store, ["Anew."], name="v2").result is IngestResult.UPDATED
        [first, second] = admit_roles(PostgresSchema(url))
        assert f"{role} has settings of its own" in first
        assert f'run as {role}: ALTER ROLE "{role}" RESET ALL' in first
        assert f'ALTER ROLE "{role}" IN DATABASE "{inside.info.dbname}" RESET ALL' in second
        for warning in (first, second):
            inside.execute(warning.rpartition(": ")[2].encode())
    assert admit_roles(PostgresSchema(url)) == ()


def test_an_owner_who_may_takes_a_roles_own_settings_back(server: EmbeddedPostgres) -> None:
    url = admit_owner(server)
    run(server.url, f"ALTER ROLE {READER} SET search_path TO ''")
    assert admit_roles(PostgresSchema(make_conninfo(url, user=conninfo_to_dict(server.url)["user"]))) == ()
    assert run(server.url, "SELECT count(*)::int FROM pg_db_role_setting") == [(0,)]


def admit_owner(server: EmbeddedPostgres) -> str:
    """The owner's URL of an admitted database on a server of its own."""
    url = owned(server, "first")
    migrate(PostgresSchema(url), MIGRATIONS)
    return admit(url)
