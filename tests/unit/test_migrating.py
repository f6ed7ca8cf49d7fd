"""Which migrations are pending, and which files and databases are refused."""

from __future__ import annotations

from hashlib import sha256

import pytest

from citewell.core.migrating import (
    AppliedMigration,
    Migration,
    ordered_migrations,
    pending_migrations,
    vector_warnings,
)
from citewell.errors import ConfigurationError, SchemaNewer

FILES = {"0001_first.sql": b"one", "0002_second.sql": b"two", "0003_third_one.sql": b"three"}
MIGRATIONS = ordered_migrations(FILES)


def applied(*migrations: Migration) -> list[AppliedMigration]:
    return [AppliedMigration(each.number, each.name, each.sha256) for each in migrations]


def test_files_become_migrations_in_the_order_of_their_numbers() -> None:
    backwards = dict(reversed(FILES.items()))
    assert [str(each) for each in ordered_migrations(backwards)] == ["0001_first", "0002_second", "0003_third_one"]
    assert MIGRATIONS[1] == Migration(2, "second", sha256(b"two").hexdigest(), b"two")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "no migrations"),
        (["0002_b.sql"], "0001 is missing"),
        (["0001_a.sql", "0003_c.sql"], "0002 is missing"),
        (["0001_a.sql", "0001_b.sql"], "0001 is there twice"),
        (["0000_a.sql", "0001_b.sql"], "0001 is missing"),
        (["1_a.sql"], "1_a.sql is no migration's name"),
        (["0001_A.sql"], "0001_A.sql is no migration's name"),
        (["0001-a.sql"], "0001-a.sql is no migration's name"),
        (["0001_a.sql.sql"], "is no migration's name"),
    ],
    ids=str,
)
def test_files_with_a_gap_a_double_or_a_strange_name_are_refused(names: list[str], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        ordered_migrations(dict.fromkeys(names, b""))


@pytest.mark.parametrize("done", range(4))
def test_what_was_applied_is_not_pending(done: int) -> None:
    assert pending_migrations(MIGRATIONS, applied(*MIGRATIONS[:done])) == MIGRATIONS[done:]


def test_a_file_that_was_changed_after_it_had_been_applied_is_refused() -> None:
    changed = ordered_migrations({**FILES, "0002_second.sql": b"two "})
    with pytest.raises(ConfigurationError, match="0002_second was changed after"):
        pending_migrations(changed, applied(*MIGRATIONS[:2]))
    assert len(pending_migrations(changed, applied(*MIGRATIONS[:1]))) == 2


def test_a_file_that_was_only_renamed_is_accepted() -> None:
    renamed = ordered_migrations({"0001_other_name.sql": b"one"})
    assert pending_migrations(renamed, applied(MIGRATIONS[0])) == []


def test_a_database_with_a_gap_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="has migration 0003_third_one but not 0002"):
        pending_migrations(MIGRATIONS, applied(MIGRATIONS[0], MIGRATIONS[2]))


def test_a_database_newer_than_the_release_is_told_apart() -> None:
    with pytest.raises(SchemaNewer, match="0003_third_one"):
        pending_migrations(MIGRATIONS[:2], applied(*MIGRATIONS))


@pytest.mark.parametrize("version", ["0.8.4", "0.8.6", "0.8.10", "0.9.0", "1.0", "10.0.0"])
def test_a_recent_pgvector_needs_no_word(version: str) -> None:
    assert vector_warnings(version) == ()


@pytest.mark.parametrize("version", ["0.8.0", "0.8.3"])
def test_a_pgvector_with_a_known_fault_is_warned_of(version: str) -> None:
    [warning] = vector_warnings(version)
    assert version in warning
    assert "0.8.4" in warning
    assert "ALTER EXTENSION vector UPDATE" in warning


@pytest.mark.parametrize("version", ["0.7.4", "0.5.0"])
def test_a_pgvector_that_is_too_old_is_refused_with_what_to_do(version: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"has pgvector {version}; 0\.8\.0 or newer.*ALTER EXTENSION"):
        vector_warnings(version)


def test_a_server_without_pgvector_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="doesn't offer the extension vector"):
        vector_warnings(None)
