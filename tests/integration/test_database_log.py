"""What Postgres itself logs of statements: which they were, and nothing that they were given."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from psycopg import Error
from psycopg.errors import Diagnostic

from citewell.core.values import Question
from citewell.edges.postgres import Database
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.edges.postgres_schema import PostgresSchema
from citewell.usecases.migrate import ensure_generation, migrate
from tests.fakes import HashEmbedder
from tests.integration.chunks import EVERYONE, index, vector_of

MIGRATIONS = Path(__file__).parents[2] / "migrations"
WRITTEN, ASKED = "quetzalcoatldocument", "zanzibarquestion"

# As the stack's parameter group has them, but every statement counts as slow.
AS_DEPLOYED = {
    "log_statement": "none",
    "log_min_duration_statement": "0",
    "log_parameter_max_length": "0",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
CARELESS = {"log_min_duration_statement": "0", "log_parameter_max_length": "-1"}

Log = Callable[[dict[str, str]], str]


@pytest.fixture
def logged(database: str) -> Log:
    """What the server logs while a document is indexed, asked for, and refused by a constraint."""
    embedder = HashEmbedder()
    schema = PostgresSchema(database)
    migrate(schema, MIGRATIONS)
    ensure_generation(schema, model_id=embedder.model_id, dimensions=embedder.dimensions, replace=False)

    def run(parameters: dict[str, str]) -> str:
        lines: list[str] = []

        def note(diagnostic: Diagnostic) -> None:
            lines.append(f"{diagnostic.severity}: {diagnostic.message_primary} {diagnostic.message_detail}")

        # The server tells its client what it logs, to the letter.
        options = " ".join(f"-c {name}={value}" for name, value in {**parameters, "client_min_messages": "log"}.items())
        with closing(PostgresChunkStore(f"{database}?options={quote(options)}")) as store:
            generation = store.live_generation()
            assert isinstance(store._database, Database)
            connection = store._database._connection
            assert connection is not None
            connection.add_notice_handler(note)
            index(store, [f"The meal limit, says {WRITTEN}.", "Another."])
            question = Question(f"What is the limit, {ASKED}?")
            store.candidates(EVERYONE, generation, question, vector_of("limit"), limit=5)
            with pytest.raises(Error), store._database.transaction() as cursor:
                cursor.execute("INSERT INTO chunk (text, chunk_id) VALUES (%s, NULL)", [WRITTEN])
        return "\n".join(lines)

    return run


def test_a_slow_statement_is_logged_without_what_it_was_given(logged: Log) -> None:
    log = logged(AS_DEPLOYED)
    assert "duration: " in log
    assert "INTO chunk" in log
    assert WRITTEN not in log
    assert ASKED not in log


def test_it_is_the_parameters_that_keep_it_out(logged: Log) -> None:
    log = logged(CARELESS)
    assert WRITTEN in log
    assert ASKED in log
