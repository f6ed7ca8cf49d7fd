"""A migrated database for each test, cloned from a template that is made once."""

from __future__ import annotations

import contextlib
import secrets
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.edges.postgres_schema import PostgresSchema
from citewell.ports import IndexGeneration
from citewell.usecases.migrate import ensure_generation, migrate
from infra.local.throwaway_postgres import Choice, Server, choose, ways
from tests.conftest import is_worker, say_at_last
from tests.fakes import HashEmbedder

MIGRATIONS = Path(__file__).parents[2] / "migrations"
_CHOICE = pytest.StashKey[Choice]()
RUN = f"citewell_test_{secrets.token_hex(4)}"
_NUMBERS = count(1)


@pytest.hookimpl(tryfirst=True)  # before the terminal asks what there is to report
def pytest_collection_finish(session: pytest.Session) -> None:
    """Starts the server, when a collected test needs one. Each worker starts one of its own, unless one is given."""
    config = session.config
    needed = any("database_server" in getattr(item, "fixturenames", ()) for item in session.items)
    if config.option.collectonly or not needed:
        return
    choice = choose(ways())
    config.stash[_CHOICE] = choice
    config.add_cleanup(choice.server.stop)
    if is_worker(config):
        say_at_last(config, "test database", [str(choice)])


def pytest_report_collectionfinish(config: pytest.Config) -> str:
    """Which server it is."""
    choice = config.stash.get(_CHOICE, None)
    return str(choice) if choice else ""


@pytest.fixture(scope="session")
def database_server(request: pytest.FixtureRequest) -> Server:
    return request.config.stash[_CHOICE].server


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """For a test's own server, which as root runs as another user: pytest's own folders are closed to that one."""
    with tempfile.TemporaryDirectory(prefix="citewell-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="session")
def template(database_server: Server) -> Iterator[str]:
    """The name of a database with the full schema and nothing in it."""
    name = f"{RUN}_template"
    with new_database(database_server, name) as url:
        migrate(PostgresSchema(url), MIGRATIONS)
        yield name


@pytest.fixture
def make_database(database_server: Server, template: str) -> Iterator[Callable[[], str]]:
    """Makes migrated databases; each call gives the URL of a new one."""
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(new_database(database_server, f"{RUN}_{next(_NUMBERS)}", template=template))


@pytest.fixture
def database(make_database: Callable[[], str]) -> str:
    """The URL of a migrated database of this test's own, without an index generation."""
    return make_database()


@pytest.fixture
def empty_database(database_server: Server) -> Iterator[str]:
    """The URL of a database that was never migrated."""
    with new_database(database_server, f"{RUN}_{next(_NUMBERS)}") as url:
        yield url


@pytest.fixture
def generation(database: str) -> IndexGeneration:
    """The live generation of the fake embedder."""
    embedder = HashEmbedder()
    return ensure_generation(
        PostgresSchema(database), model_id=embedder.model_id, dimensions=embedder.dimensions, replace=False
    )


@pytest.fixture
def store(database: str, generation: IndexGeneration) -> Iterator[PostgresChunkStore]:  # noqa: ARG001 - made live
    with contextlib.closing(PostgresChunkStore(database)) as store:
        yield store


@contextlib.contextmanager
def new_database(server: Server, name: str, *, template: str = "template1") -> Iterator[str]:
    create = SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), Identifier(template))
    drop = SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name))
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute(create)
        try:
            yield server.url_of(name)
        finally:
            admin.execute(drop)
