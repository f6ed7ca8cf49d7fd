"""Bring the database in step with this release: its schema, who may do what, and its embedder's index generation.

Numbered SQL files run in order, each in one transaction with its record, by whichever of several deploys comes first.
They only go forward, and each is safe while the old code still runs. CONTRIBUTING.md says why no library does this.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from citewell.core.keys import Tenancy
from citewell.core.migrating import (
    AppliedMigration,
    Migration,
    ordered_migrations,
    pending_migrations,
    vector_warnings,
)
from citewell.errors import ConfigurationError, DatabaseLocked, EmbedderMismatch
from citewell.ports import IndexGeneration

MAX_DIMENSIONS = 2000
"""What an HNSW index of pgvector holds in 32-bit floats: https://github.com/pgvector/pgvector#hnsw"""

ATTEMPTS = 6
PAUSE_SECONDS = 10.0
"""Questions and swaps are through within a minute of attempts, and in the pauses all that had to wait goes on."""

Sleep = Callable[[float], None]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Migrated:
    """``applied`` names the migrations that this call ran; ``warnings`` is for the operator's log."""

    applied: tuple[str, ...]
    warnings: tuple[str, ...]


class LockedSchema(Protocol):
    """The schema inside one transaction that no other migration runs beside."""

    def applied(self) -> list[AppliedMigration]:
        """By number, ascending."""

    def apply(self, migration: Migration) -> None:
        """Run the file and record it. Raises ConfigurationError naming the migration when its SQL fails."""

    def live_generation(self) -> IndexGeneration | None: ...

    def serves_documents(self) -> bool:
        """Whether any document of any tenant answers."""

    def tenancy(self) -> Tenancy | None:
        """How keys were read as tenants when the documents were indexed; None while nobody has said."""

    def tenancies_shown(self) -> frozenset[Tenancy]:
        """Which tenancies the documents that anybody can see may be of, by the names of their tenants alone."""

    def record_tenancy(self, tenancy: Tenancy) -> None: ...

    def bury_documents(self) -> None:
        """Remove every document as if it had been deleted, and make void what is being processed."""

    def start_generation(self, model_id: str, dimensions: int) -> IndexGeneration:
        """Retire the live generation and make one of this embedder live, with its index.

        A retired generation of the same embedder comes back to life with the vectors that it still has.
        """

    def admit_roles(self) -> tuple[str, ...]:
        """Make the roles that ask and index, with the rights that this release needs and no others.

        Returns warnings for the operator's log. Raises ConfigurationError when a role of that name can do more.
        """


class Schema(Protocol):
    """The database as a migration sees it. Raises DatabaseUnavailable."""

    def locked(self) -> AbstractContextManager[LockedSchema]:
        """One transaction: committed at the end of the block, rolled back by an error.

        Raises DatabaseLocked when another session holds for too long what it, or a statement in the block, needs.
        """

    def lock_holders(self) -> tuple[str, ...]:
        """Whose sessions hold a lock now that a migration may need, like ``2 of citewell_reader``."""

    def vector_version(self) -> str | None:
        """The version of pgvector in this database, or else the one that would be installed; None without any."""


def migrate(schema: Schema, folder: Path, *, sleep: Sleep = time.sleep) -> Migrated:
    """Apply what ``folder`` holds and the database doesn't have yet. Safe to run twice, and in two places at once.

    Raises ConfigurationError when the files or the database are not as they must be (a gap, an applied file that was
    changed, pgvector too old), SchemaNewer when the database has migrations that the folder doesn't, DatabaseLocked
    when other sessions hold what a migration needs through all attempts.
    """
    warnings = vector_warnings(schema.vector_version())
    migrations = ordered_migrations({path.name: path.read_bytes() for path in folder.glob("*.sql")})

    def apply_next(locked: LockedSchema) -> Migration | None:
        pending = pending_migrations(migrations, locked.applied())
        for migration in pending[:1]:
            locked.apply(migration)
        return pending[0] if pending else None

    applied: list[str] = []
    # One transaction a migration: each sees what another deploy has done since the last.
    while migration := _in_a_free_moment(schema, apply_next, sleep):
        applied.append(str(migration))
    return Migrated(tuple(applied), warnings)


def admit_roles(schema: Schema, *, sleep: Sleep = time.sleep) -> tuple[str, ...]:
    """Let those in who ask and who index, and nobody else. After :func:`migrate`, and safe wherever that is.

    The owner's rights stay as they are: code of a release that had no roles serves on. Returns warnings for the
    operator's log.
    """
    return _in_a_free_moment(schema, lambda locked: locked.admit_roles(), sleep)


def ensure_tenancy(schema: Schema, tenancy: Tenancy, *, replace: bool, sleep: Sleep = time.sleep) -> None:
    """Make sure that no document answers whose tenant was told in another way than by ``tenancy``.

    Else whoever may read the tenant "default", of a prefix, would read all that was indexed for a single tenant. With
    ``replace`` such documents are removed. Raises ConfigurationError without it, DatabaseLocked.
    """

    def ensure(locked: LockedSchema) -> None:
        recorded = locked.tenancy()
        if recorded is tenancy:
            return
        shown = locked.tenancies_shown()
        if shown if recorded else shown - {tenancy}:
            if not replace:
                raise ConfigurationError(
                    f"The documents in the index were not indexed with tenancy={tenancy}, and would be shown to the "
                    "wrong tenants. Set the tenancy back, or deploy with replaceIndex=true, which empties the index, "
                    "and then run `make reindex`."
                )
            locked.bury_documents()
        locked.record_tenancy(tenancy)

    _in_a_free_moment(schema, ensure, sleep)


def ensure_generation(
    schema: Schema,
    *,
    model_id: str,
    dimensions: int,
    replace: bool,
    sleep: Sleep = time.sleep,
) -> IndexGeneration:
    """Make sure that the live index generation is the one of this embedder, and return it.

    A generation of another embedder is replaced without a word while nothing has been indexed, so that a first deploy
    can be corrected. Later it takes ``replace``: then what was indexed stops answering until it is indexed again.
    Raises EmbedderMismatch without it, ConfigurationError for dimensions that can't be indexed, DatabaseLocked.
    """
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise ConfigurationError(
            f"The embedder's vectors have {dimensions} dimensions, and an index holds 1 to {MAX_DIMENSIONS}. "
            "Lower the deployment's embedderDimensions, if the model can make shorter vectors, or choose another model."
        )

    def ensure(locked: LockedSchema) -> IndexGeneration:
        live = locked.live_generation()
        if live is None:
            return locked.start_generation(model_id, dimensions)
        if (live.model_id, live.dimensions) == (model_id, dimensions):
            return live
        if locked.serves_documents() and not replace:
            raise EmbedderMismatch(
                f"The index was built with {live.model_id} ({live.dimensions} dimensions); the configured embedder is "
                f"{model_id} ({dimensions} dimensions). Set the embedder back, or deploy with replaceIndex=true and "
                "then run `make reindex`: until it is through, documents that it hasn't reached don't answer."
            )
        return locked.start_generation(model_id, dimensions)

    return _in_a_free_moment(schema, ensure, sleep)


def _in_a_free_moment(schema: Schema, step: Callable[[LockedSchema], T], sleep: Sleep) -> T:
    """Take ``step`` in a transaction of its own, and again after a pause while other sessions hold what it needs."""
    for attempt in range(ATTEMPTS):
        if attempt:
            sleep(PAUSE_SECONDS)
        try:
            with schema.locked() as locked:
                return step(locked)
        except DatabaseLocked as error:
            refused = error
    holders = ", ".join(schema.lock_holders()) or "none any more"
    raise DatabaseLocked(
        f"The database could not be changed: in {ATTEMPTS} attempts other sessions held locks that it takes (now: "
        f"{holders}). Wait until another migration is through, or end the transactions that are left open, and deploy "
        "again."
    ) from refused
