"""How the database's connections are shared out: the one place where concurrency is decided.

Each running copy of a function that speaks to the database holds one connection, so the copies that may run at once
are a budget. What is over it waits in the queue (ingest) or is answered 429 or 503 with a Retry-After (ask,
documents), where an unbounded Lambda would take the database down for everybody.

Reserving concurrency needs an account whose Lambda quota leaves 100 copies unreserved. The usual quota is 1,000; a
brand-new account may have 10, and then has to ask AWS for the usual one first.
"""

from __future__ import annotations

from dataclasses import dataclass

from infra.options import DatabaseClass

CONNECTIONS_PER_GIB = 80
"""RDS derives `max_connections` from the memory that is left, LEAST({DBInstanceClassMemory/9531392}, 5000): a
``db.t4g.micro`` with its 1 GiB was seen to accept 80 to 112."""

KEPT_BACK = 15
"""Postgres' superuser slots, RDS's own sessions, the migration, and an operator with a few open sessions."""

INGEST_PER_PROCESSOR = 2.5
"""A processor of the database indexes about as fast as so many writers can feed it."""

MOST_ASK_COPIES, MOST_DOCUMENTS_COPIES = 200, 100
"""More would take the account's usual quota from its other functions; whoever needs them has measured first."""

_CLASSES = {
    DatabaseClass.T4G_MICRO: (1, 2),
    DatabaseClass.T4G_SMALL: (2, 2),
    DatabaseClass.T4G_MEDIUM: (4, 2),
    DatabaseClass.T4G_LARGE: (8, 2),
    DatabaseClass.M7G_LARGE: (8, 2),
    DatabaseClass.M7G_XLARGE: (16, 4),
    DatabaseClass.R7G_LARGE: (16, 2),
    DatabaseClass.R7G_XLARGE: (32, 4),
}
"""(GiB of memory, processors)."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """``connections`` is what the server accepts at least, the others how many copies of each function may run."""

    connections: int
    ingest: int
    ask: int
    documents: int

    @property
    def copies(self) -> int:
        """The connections that all functions may hold together."""
        return self.ingest + self.ask + self.documents


def capacity_of(database_class: DatabaseClass) -> Capacity:
    """The queue's MaximumConcurrency (``ingest``) and the reserved concurrency, which is a ceiling as much as a
    reservation, of the functions that people wait for: twice as many ask as look at documents."""
    memory, processors = _CLASSES[database_class]
    connections = CONNECTIONS_PER_GIB * memory
    ingest = round(INGEST_PER_PROCESSOR * processors)
    documents = min((connections - KEPT_BACK - ingest) // 3, MOST_DOCUMENTS_COPIES)
    ask = min(2 * documents, MOST_ASK_COPIES)
    return Capacity(connections=connections, ingest=ingest, ask=ask, documents=documents)
