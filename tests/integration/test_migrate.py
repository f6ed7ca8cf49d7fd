"""Migrations and index generations on a real Postgres, from an empty database on."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from citewell.core.keys import Tenancy
from citewell.core.values import DocumentKey, IngestResult
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.edges.postgres_schema import PostgresSchema
from citewell.errors import ConfigurationError, DatabaseLocked, DatabaseUnavailable, EmbedderMismatch, SchemaNewer
from citewell.ports import IndexGeneration
from citewell.settings import Settings
from citewell.usecases.migrate import ATTEMPTS, PAUSE_SECONDS, admit_roles, ensure_generation, ensure_tenancy, migrate
from citewell.wiring import Wiring
from functions.migrate import handler as migrate_function
from tests.integration.chunks import EVERYONE, KEY, index
from tests.integration.conftest import MIGRATIONS

TABLES = {
    "chunk",
    "chunk_vector",
    "chunk_words",
    "deployment",
    "document",
    "index_generation",
    "pending_vector",
    "posting",
    "schema_migration",
    "term_count",
}


def ask(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query.encode()).fetchall()


def tables(url: str) -> set[str]:
    return {name for (name,) in ask(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}


def hnsw_indexes(url: str) -> list[str]:
    return [definition for (definition,) in ask(url, "SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%hnsw%'")]


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Makes a folder of migrations: ``folder(first="CREATE ...", second=...)``."""

    def make(**files: str) -> Path:
        for number, (name, sql) in enumerate(files.items(), start=1):
            (tmp_path / f"{number:04}_{name}.sql").write_text(sql)
        return tmp_path

    return make


# --- migrations ---------------------------------------------------------------------------------------------------


def test_replaying_every_migration_gives_the_full_schema_and_again_changes_nothing(empty_database: str) -> None:
    schema = PostgresSchema(empty_database)
    names = tuple(path.stem for path in sorted(MIGRATIONS.glob("*.sql")))
    assert migrate(schema, MIGRATIONS).applied == names
    assert tables(empty_database) == TABLES
    record = ask(empty_database, "SELECT * FROM schema_migration ORDER BY number")
    assert [row[:2] for row in record] == [(int(name[:4]), name[5:]) for name in names]
    assert migrate(schema, MIGRATIONS).applied == ()
    assert ask(empty_database, "SELECT * FROM schema_migration ORDER BY number") == record


def test_each_migration_is_one_transaction_with_its_record(empty_database: str, folder: Callable[..., Path]) -> None:
    files = folder(good="CREATE TABLE good ()", bad="CREATE TABLE bad (); SELECT 1 / 0", never="CREATE TABLE never ()")
    with pytest.raises(ConfigurationError, match=r"0002_bad failed and was undone: DivisionByZero \(SQLSTATE 22012\)$"):
        migrate(PostgresSchema(empty_database), files)
    assert tables(empty_database) == {"good", "schema_migration"}
    assert ask(empty_database, "SELECT number FROM schema_migration") == [(1,)]
    (files / "0002_bad.sql").write_text("CREATE TABLE bad ()")
    assert migrate(PostgresSchema(empty_database), files).applied == ("0002_bad", "0003_never")


@pytest.mark.parametrize(
    ("sql", "condition"),
    [
        ("CREATE UNIQUE INDEX ON chunk (text)", "UniqueViolation (SQLSTATE 23505)"),
        ("ALTER TABLE chunk ALTER text TYPE integer USING text::integer", "InvalidTextRepresentation (SQLSTATE 22P02)"),
        ("DO $$ BEGIN RAISE EXCEPTION '%', (SELECT min(text) FROM chunk); END $$", "RaiseException (SQLSTATE P0001)"),
    ],
)
def test_a_migration_that_documents_stand_in_the_way_of_fails_without_showing_them(
    empty_database: str, folder: Callable[..., Path], sql: str, condition: str
) -> None:
    files = folder(
        first="CREATE TABLE chunk (text text); INSERT INTO chunk SELECT 'confidential' FROM generate_series(1, 2)",
        second=sql,
    )
    with pytest.raises(ConfigurationError) as caught:
        migrate(PostgresSchema(empty_database), files)
    assert str(caught.value) == f"Migration 0002_second failed and was undone: {condition}"


def test_migrations_that_start_together_run_once(empty_database: str, folder: Callable[..., Path]) -> None:
    slow = "SELECT pg_sleep(0.05); CREATE TABLE {} ()"
    files = folder(**{name: slow.format(name) for name in ("one", "two", "three")})
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(migrate, PostgresSchema(empty_database), files) for _ in range(4)]
    applied = [name for run in runs for name in run.result().applied]
    assert sorted(applied) == ["0001_one", "0002_two", "0003_three"]


def test_a_changed_file_is_refused_before_anything_runs(empty_database: str, folder: Callable[..., Path]) -> None:
    migrate(PostgresSchema(empty_database), folder(first="CREATE TABLE first ()"))
    files = folder(first="CREATE TABLE first (a integer)", second="CREATE TABLE second ()")
    with pytest.raises(ConfigurationError, match="0001_first was changed"):
        migrate(PostgresSchema(empty_database), files)
    assert tables(empty_database) == {"first", "schema_migration"}


def test_a_database_newer_than_the_release_is_left_alone(empty_database: str, folder: Callable[..., Path]) -> None:
    files = folder(first="CREATE TABLE first ()", second="CREATE TABLE second ()")
    migrate(PostgresSchema(empty_database), files)
    (files / "0002_second.sql").unlink()
    with pytest.raises(SchemaNewer, match="0002_second"):
        migrate(PostgresSchema(empty_database), files)


def test_the_version_of_pgvector_is_known_before_and_after_it_is_installed(empty_database: str) -> None:
    schema = PostgresSchema(empty_database)
    offered = schema.vector_version()
    migrate(schema, MIGRATIONS)
    [(installed,)] = ask(empty_database, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    assert offered == schema.vector_version() == installed


@pytest.mark.parametrize("address", ["postgresql://[", "host=a secret word"])
def test_an_address_that_is_none_is_a_configuration_error_that_does_not_show_it(address: str) -> None:
    with pytest.raises(ConfigurationError, match="neither a URL nor") as caught:
        PostgresSchema(address).vector_version()
    assert "secret" not in str(caught.value)


def test_a_database_that_is_away_is_unavailable() -> None:
    with pytest.raises(DatabaseUnavailable):
        migrate(PostgresSchema("postgresql://nobody@127.0.0.1:1/nothing"), MIGRATIONS)


# --- locks that others hold ---------------------------------------------------------------------------------------


@pytest.fixture
def in_use(empty_database: str, folder: Callable[..., Path]) -> tuple[str, Path]:
    """A database of one table, and the files that would change it."""
    migrate(PostgresSchema(empty_database), folder(first="CREATE TABLE chunk (text text)"))
    return empty_database, folder(first="CREATE TABLE chunk (text text)", second="ALTER TABLE chunk ADD page integer")


def test_a_migration_waits_for_an_open_transaction_to_end(in_use: tuple[str, Path]) -> None:
    url, files = in_use
    pauses: list[float] = []
    with psycopg.connect(url) as asking:
        asking.execute("SELECT * FROM chunk")

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            ask(url, "SELECT count(*) FROM chunk")  # nobody waits during a pause
            if len(pauses) == 2:
                asking.rollback()

        assert migrate(PostgresSchema(url, lock_seconds=0.05), files, sleep=pause).applied == ("0002_second",)
    assert pauses == [PAUSE_SECONDS] * 2


def test_readers_wait_behind_a_migration_no_longer_than_it_waits_itself(in_use: tuple[str, Path]) -> None:
    url, files = in_use
    waiting = (
        "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    with psycopg.connect(url) as asking, ThreadPoolExecutor(1) as pool:
        asking.execute("SELECT * FROM chunk")
        # Were it to wait until it gets the lock, the reader would wait for as long: for this test to end.
        migration = pool.submit(
            migrate, PostgresSchema(url, lock_seconds=0.5), files, sleep=lambda _: asking.rollback()
        )
        while ask(url, waiting) == [(0,)] and not migration.done():
            pass
        assert ask(url, "SELECT * FROM chunk") == []
        assert migration.result().applied == ("0002_second",)


def test_a_transaction_that_stays_open_fails_the_migration_with_whose_it_is(in_use: tuple[str, Path]) -> None:
    url, files = in_use
    pauses: list[float] = []
    with psycopg.connect(url) as asking:
        asking.execute("SELECT * FROM chunk")
        with pytest.raises(DatabaseLocked, match=f"now: 1 of {asking.info.user}.*deploy again"):
            migrate(PostgresSchema(url, lock_seconds=0.01), files, sleep=pauses.append)
    assert len(pauses) == ATTEMPTS - 1
    assert ask(url, "SELECT number FROM schema_migration") == [(1,)]


def test_whoever_takes_the_migrations_turn_fails_it_and_does_not_hang_it(in_use: tuple[str, Path]) -> None:
    url, files = in_use
    with psycopg.connect(url) as holding:
        holding.execute("SELECT pg_advisory_lock(5116208337)")
        holding.commit()
        with pytest.raises(DatabaseLocked, match=f"now: 1 of {holding.info.user}.*another migration"):
            migrate(PostgresSchema(url, turn_seconds=0.01), files, sleep=lambda _: None)


def test_an_index_is_replaced_once_what_reads_it_has_ended(database: str) -> None:
    first = ensure(database, "m", 8)
    schema = PostgresSchema(database, lock_seconds=0.05)
    with psycopg.connect(database) as asking:
        asking.execute("SELECT * FROM chunk_vector")
        second = ensure_generation(schema, model_id="n", dimensions=8, replace=False, sleep=lambda _: asking.rollback())
    assert second.generation != first.generation
    assert admit_roles(schema) == ()


# --- constraints --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "untrue",
    [
        "INSERT INTO document (tenant, source, claim) VALUES ('', 'a', 1)",
        "INSERT INTO document (tenant, source, claim) VALUES ('t', 'a', 0)",
        "INSERT INTO document (tenant, source, claim, status) VALUES ('t', 'a', 1, 'DONE')",
        "INSERT INTO document (tenant, source, claim, status) VALUES ('t', 'a', 1, 'READY')",
        "INSERT INTO document (tenant, source, claim, status) VALUES ('t', 'a', 1, 'FAILED')",
        "INSERT INTO document (tenant, source, claim, chunks) VALUES ('t', 'a', 1, 3)",
        "INSERT INTO document (tenant, source, claim, served_version) VALUES ('t', 'a', 1, 'v1')",
        "INSERT INTO document (tenant, source, claim, status, title, served_version, served_pipeline, content_hash) "
        "VALUES ('t', 'a', 1, 'READY', 'T', 'v1', 'p1', 'h')",
        "INSERT INTO chunk VALUES (gen_random_uuid(), 't', 'nothing', 0, '{}', NULL, 0, 1, 'x', '')",
        "INSERT INTO index_generation (model_id, dimensions, status) VALUES ('m', 2001, 'live')",
        "INSERT INTO index_generation (model_id, dimensions, status) VALUES ('m', 1, 'live'), ('n', 1, 'live')",
    ],
)
def test_the_schema_refuses_what_cannot_be_true(database: str, untrue: str) -> None:
    with pytest.raises(psycopg.IntegrityError):
        ask(database, f"{untrue} RETURNING 1")


# --- generations --------------------------------------------------------------------------------------------------


def ensure(url: str, model: str, dimensions: int, *, replace: bool = False) -> IndexGeneration:
    return ensure_generation(PostgresSchema(url), model_id=model, dimensions=dimensions, replace=replace)


def test_the_first_generation_is_live_with_its_index(database: str) -> None:
    generation = ensure(database, "m", 384)
    assert generation == IndexGeneration(generation.generation, "m", 384)
    [definition] = hnsw_indexes(database)
    assert "((embedding)::vector(384)) vector_cosine_ops" in definition
    assert "(m='16', ef_construction='64')" in definition
    assert f"WHERE (generation = {generation.generation})" in definition
    with closing(PostgresChunkStore(database)) as store:
        assert store.live_generation() == generation


def test_the_same_embedder_changes_nothing(database: str) -> None:
    first = ensure(database, "m", 8)
    assert ensure(database, "m", 8) == first
    with closing(PostgresChunkStore(database)) as store:
        index(store, ["one"])
        assert ensure(database, "m", 8, replace=True) == first


def test_another_embedder_replaces_one_that_has_indexed_nothing(database: str) -> None:
    ensure(database, "wrong", 8)
    with closing(PostgresChunkStore(database)) as store:
        store.claim(KEY)
        generation = ensure(database, "right", 16)
        assert store.live_generation() == generation
    [definition] = hnsw_indexes(database)
    assert "vector(16)" in definition


@pytest.mark.parametrize(("model", "dimensions"), [("other", 8), ("m", 16)])
def test_another_embedder_is_refused_where_documents_answer(database: str, model: str, dimensions: int) -> None:
    first = ensure(database, "m", 8)
    with closing(PostgresChunkStore(database)) as store:
        index(store, ["one"], key=DocumentKey("any tenant", "a.md"))
        with pytest.raises(EmbedderMismatch, match=r"built with m \(8 dimensions\).*replaceIndex=true.*make reindex"):
            ensure(database, model, dimensions)
        assert store.live_generation() == first


def test_a_replaced_generation_is_retired_and_comes_back_with_the_vectors_it_still_has(database: str) -> None:
    first = ensure(database, "m", 8)
    changed = DocumentKey("default", "changed.md")
    with closing(PostgresChunkStore(database)) as store:
        index(store, ["one", "two"])
        index(store, ["three"], key=changed)
        second = ensure(database, "other", 8, replace=True)
        assert second.generation != first.generation
        index(store, ["three"], key=changed, name="v2")
        kept = "SELECT generation, count(*)::int FROM chunk_vector GROUP BY generation ORDER BY generation"
        assert ask(database, kept) == [(first.generation, 2), (second.generation, 1)]
        assert ensure(database, "m", 8, replace=True) == first
        assert store.live_generation() == first
    [definition] = hnsw_indexes(database)
    assert f"WHERE (generation = {first.generation})" in definition


@pytest.mark.parametrize("dimensions", [0, 2001, 3072])
def test_dimensions_that_no_index_holds_are_refused_with_what_to_do(database: str, dimensions: int) -> None:
    with pytest.raises(ConfigurationError, match=f"{dimensions} dimensions.*Lower the deployment's embedderDimensions"):
        ensure(database, "m", dimensions)


def test_the_most_dimensions_that_an_index_holds_are_accepted(database: str) -> None:
    assert ensure(database, "m", 2000).dimensions == 2000
    assert len(hnsw_indexes(database)) == 1


def test_generations_ensured_at_once_end_in_one(database: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: ensure(database, "m", 8), range(4)))
    assert len(set(made)) == 1
    assert ask(database, "SELECT count(*)::int FROM index_generation") == [(1,)]


# --- tenancy ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tenancy", Tenancy)
def test_the_tenancy_may_change_while_nothing_is_shown(database: str, tenancy: Tenancy) -> None:
    schema = PostgresSchema(database)
    for each in (tenancy, *Tenancy, tenancy):
        ensure_tenancy(schema, each, replace=False)
        ensure_tenancy(schema, each, replace=False)
        assert ask(database, "SELECT tenancy FROM deployment") == [(each,)]


TENANTS = [("default", Tenancy.SINGLE), ("acme", Tenancy.PREFIX), ("default", Tenancy.PREFIX)]


@pytest.mark.parametrize(("tenant", "before"), TENANTS)
def test_another_tenancy_is_refused_where_documents_are_shown(database: str, tenant: str, before: Tenancy) -> None:
    schema, [other] = PostgresSchema(database), set(Tenancy) - {before}
    ensure(database, "m", 8)
    ensure_tenancy(schema, before, replace=False)
    with closing(PostgresChunkStore(database)) as store:
        index(store, ["one"], key=DocumentKey(tenant, "a.md"))
    ensure_tenancy(schema, before, replace=False)
    with pytest.raises(ConfigurationError, match=f"not indexed with tenancy={other}.*Set the tenancy back, or"):
        ensure_tenancy(schema, other, replace=False)
    assert ask(database, "SELECT tenancy FROM deployment") == [(before,)]


@pytest.mark.parametrize(("tenant", "before"), TENANTS[:2])
def test_an_index_of_before_tenancies_were_recorded_is_known_by_its_tenants(
    database: str, tenant: str, before: Tenancy
) -> None:
    schema, [other] = PostgresSchema(database), set(Tenancy) - {before}
    ensure(database, "m", 8)
    with closing(PostgresChunkStore(database)) as store:
        index(store, ["one"], key=DocumentKey(tenant, "a.md"))
    with pytest.raises(ConfigurationError, match="wrong tenants"):
        ensure_tenancy(schema, other, replace=False)
    ensure_tenancy(schema, before, replace=False)


def test_a_replaced_index_of_another_tenancy_shows_nothing_and_is_built_anew(database: str) -> None:
    schema = PostgresSchema(database)
    ensure(database, "m", 8)
    ensure_tenancy(schema, Tenancy.SINGLE, replace=False)
    with closing(PostgresChunkStore(database)) as store:
        index(store, ["one"])
        at_work = store.claim(KEY)
        ensure_tenancy(schema, Tenancy.PREFIX, replace=True)
        assert store.document(EVERYONE, KEY.source) is None
        assert store.refresh(at_work, "v2", "p1").result is IngestResult.SUPERSEDED
        assert ask(database, "SELECT count(*)::int FROM chunk_vector") == [(0,)]
        assert index(store, ["one"], key=DocumentKey("handbook", "expenses.md")).result is IngestResult.INDEXED
        assert index(store, ["one"], name="v3").result is IngestResult.INDEXED


# --- the function -------------------------------------------------------------------------------------------------


@pytest.fixture
def deploy(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Calls the migrate function of a deployment as CloudFormation would."""

    def call(
        url: str, request: str = "Create", *, before: dict[str, str] | None = None, **properties: str
    ) -> dict[str, Any]:
        deployment = Wiring(Settings(database_url=url))
        monkeypatch.setattr(migrate_function, "wiring", lambda: deployment)
        event = {
            "RequestType": request,
            "ResourceProperties": {"Migrations": "digest", "ReplaceIndex": "false", **properties},
            **({"OldResourceProperties": before} if before is not None else {}),
        }
        done: dict[str, Any] = migrate_function.handler(event, SimpleNamespace(function_name="migrate"))
        return done

    return call


FIRST = {"EmbedderModel": "first", "EmbedderDimensions": "8"}
SECOND = {"EmbedderModel": "second", "EmbedderDimensions": "16"}


def live(url: str) -> tuple[str, int]:
    with closing(PostgresChunkStore(url)) as store:
        generation = store.live_generation()
    return generation.model_id, generation.dimensions


def test_a_first_deploy_makes_schema_and_generation_and_a_delete_touches_nothing(
    empty_database: str, deploy: Callable[..., dict[str, Any]]
) -> None:
    created = deploy(empty_database, **FIRST)
    assert created == {"PhysicalResourceId": "citewell-schema"}
    assert tables(empty_database) == TABLES
    assert deploy(empty_database, "Update", before=FIRST, **FIRST) == created
    assert deploy(empty_database, "Delete", **FIRST) == created
    assert live(empty_database) == ("first", 8)


def test_a_deploy_with_another_embedder_fails_and_its_rollback_succeeds(
    empty_database: str, deploy: Callable[..., dict[str, Any]]
) -> None:
    deploy(empty_database, **FIRST)
    with closing(PostgresChunkStore(empty_database)) as store:
        index(store, ["one"])
    with pytest.raises(EmbedderMismatch):
        deploy(empty_database, "Update", before=FIRST, **SECOND)
    deploy(empty_database, "Update", before=SECOND, **FIRST)
    assert live(empty_database) == ("first", 8)


def test_a_deploy_with_another_tenancy_fails_and_its_rollback_succeeds(
    empty_database: str, deploy: Callable[..., dict[str, Any]]
) -> None:
    single, prefix = {**FIRST, "Tenancy": "single"}, {**FIRST, "Tenancy": "prefix"}
    deploy(empty_database, **single)
    with closing(PostgresChunkStore(empty_database)) as store:
        index(store, ["one"])
        with pytest.raises(ConfigurationError, match="tenancy=prefix"):
            deploy(empty_database, "Update", before=single, **prefix)
        deploy(empty_database, "Update", before=prefix, **single)
        assert store.document(EVERYONE, KEY.source) is not None
        deploy(empty_database, "Update", before=single, **{**prefix, "ReplaceIndex": "true"})
        assert store.document(EVERYONE, KEY.source) is None


def test_the_rollback_of_a_deploy_that_replaced_the_index_brings_the_old_one_back(
    empty_database: str, deploy: Callable[..., dict[str, Any]]
) -> None:
    deploy(empty_database, **FIRST)
    with closing(PostgresChunkStore(empty_database)) as store:
        index(store, ["one"])
    replacing = {**SECOND, "ReplaceIndex": "true"}
    deploy(empty_database, "Update", before=FIRST, **replacing)
    assert live(empty_database) == ("second", 16)
    deploy(empty_database, "Update", before=replacing, **FIRST)
    assert live(empty_database) == ("first", 8)


def test_a_rollback_finds_a_newer_database_and_succeeds(
    empty_database: str, deploy: Callable[..., dict[str, Any]]
) -> None:
    deploy(empty_database, **FIRST)
    ask(empty_database, "INSERT INTO schema_migration VALUES (9999, 'later', 'x') RETURNING 1")
    ask(
        empty_database,
        "UPDATE schema_migration SET number = (SELECT count(*) FROM schema_migration) WHERE number = 9999 RETURNING 1",
    )
    deploy(empty_database, "Update", before=SECOND, **FIRST)
    assert live(empty_database) == ("first", 8)
