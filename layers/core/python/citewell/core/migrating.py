"""Which migrations a database still needs, and which databases are refused. Migrations only go forward."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from citewell.errors import ConfigurationError, SchemaNewer

PGVECTOR_DEMANDED = (0, 8, 0)
"""The first with iterative index scans, without which a filtered search loses rows."""

PGVECTOR_WISHED = (0, 8, 4)
"""Earlier ones can corrupt an HNSW index in a vacuum after deletes, and every update of a document deletes."""

_FILE_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One file ``NNNN_<name>.sql``. ``sha256`` is of its bytes, in hex."""

    number: int
    name: str
    sha256: str
    sql: bytes

    def __str__(self) -> str:
        return f"{self.number:04}_{self.name}"


@dataclass(frozen=True, slots=True)
class AppliedMigration:
    """What a database remembers of one."""

    number: int
    name: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.number:04}_{self.name}"


def ordered_migrations(files: Mapping[str, bytes]) -> list[Migration]:
    """The files (name to content) by number. Raises ConfigurationError for a gap, a double or a strange name."""
    migrations = []
    for name in sorted(files):
        match = _FILE_NAME.fullmatch(name)
        if match is None:
            raise ConfigurationError(f"{name} is no migration's name: it must be like 0002_add_a_table.sql.")
        migrations.append(Migration(int(match[1]), match[2], sha256(files[name]).hexdigest(), files[name]))
    if not migrations:
        raise ConfigurationError("There are no migrations.")
    for number, migration in enumerate(migrations, start=1):
        if migration.number != number:
            raise ConfigurationError(f"Migration {number:04} is missing, or {migration.number:04} is there twice.")
    return migrations


def pending_migrations(migrations: Sequence[Migration], applied: Sequence[AppliedMigration]) -> list[Migration]:
    """Those of ``migrations`` that are not in ``applied``; both are ordered by number.

    Raises ConfigurationError when an applied file was changed or one is missing among them, SchemaNewer when the
    database has one more than the files.
    """
    for place, done in enumerate(applied, start=1):
        if done.number != place:
            raise ConfigurationError(f"The database has migration {done} but not {place:04}.")
        if place > len(migrations):
            raise SchemaNewer(
                f"The database has migration {done}, which this release doesn't know: a newer release migrated it."
            )
        if migrations[place - 1].sha256 != done.sha256:
            raise ConfigurationError(
                f"Migration {migrations[place - 1]} was changed after it had been applied. "
                "Put the file back as it was, and make the change in a new migration."
            )
    return list(migrations[len(applied) :])


def vector_warnings(version: str | None) -> tuple[str, ...]:
    """What is to be said of pgvector's ``version``. Raises ConfigurationError when there is none or it is too old."""
    if version is None:
        raise ConfigurationError(
            f"The database server doesn't offer the extension vector; {_dotted(PGVECTOR_DEMANDED)} or newer is needed."
        )
    if _parsed(version) < PGVECTOR_DEMANDED:
        raise ConfigurationError(
            f"The database has pgvector {version}; {_dotted(PGVECTOR_DEMANDED)} or newer is needed. "
            "Upgrade the server if it offers none, then run: ALTER EXTENSION vector UPDATE"
        )
    if _parsed(version) < PGVECTOR_WISHED:
        return (
            f"pgvector {version} can corrupt an HNSW index when vacuum follows deletes: "
            f"upgrade to {_dotted(PGVECTOR_WISHED)} or newer, then run: ALTER EXTENSION vector UPDATE",
        )
    return ()


def _parsed(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
