"""How the database's connections are shared out: the one place where concurrency is decided.

Each running copy of a function that speaks to the database holds one connection, so the copies that may run at once
are a budget. A ``db.t4g.micro`` accepts 80 connections at least (RDS derives `max_connections` from the memory that
is left, LEAST({DBInstanceClassMemory/9531392}, 5000): 80 to 112 were seen); Postgres and RDS keep some to themselves,
and an operator must get in when every copy is busy.

What is over the budget waits in the queue (ingest) or is answered 429 or 503 with a Retry-After (ask, documents),
where an unbounded Lambda would take the database down for everybody.

Reserving concurrency needs an account whose Lambda quota leaves 100 copies unreserved. The usual quota is 1,000; a
brand-new account may have 10, and then has to ask AWS for the usual one first.
"""

from __future__ import annotations

MAX_CONNECTIONS = 80
KEPT_BACK = 15
"""Postgres' superuser slots, RDS's own sessions, the migration, and an operator with a few open sessions."""

INGEST_COPIES = 5
"""The queue's MaximumConcurrency. Two burstable cores index about as fast as five writers can feed them."""

ASK_COPIES = 40
DOCUMENTS_COPIES = 20
"""Reserved concurrency, which is a ceiling as much as a reservation."""

assert INGEST_COPIES + ASK_COPIES + DOCUMENTS_COPIES <= MAX_CONNECTIONS - KEPT_BACK
