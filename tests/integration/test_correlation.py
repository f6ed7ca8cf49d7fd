"""A database session tells which request or message it works for, while it does and no longer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from citewell.correlation import correlate
from citewell.edges.postgres import Cursor, Database


@pytest.fixture(autouse=True)
def nothing_is_being_worked_on() -> Iterator[None]:
    correlate("")
    yield
    correlate("")


def name_in(cursor: Cursor) -> str:
    [(name,)] = cursor.execute("SELECT current_setting('application_name')").fetchall()
    return str(name)


@pytest.mark.parametrize(
    ("identifier", "name"),
    [
        ("", "citewell"),
        ("JKJaXmPLvHcESHA=", "citewell JKJaXmPLvHcESHA="),
        ("a'; DROP TABLE chunk; --\n\0é", "citewell a';DROPTABLEchunk;--"),
        ("x" * 100, "citewell " + "x" * 54),
    ],
    ids=["none", "of API Gateway", "hostile", "too long"],
)
def test_a_transaction_is_named_by_what_is_being_worked_on(database: str, identifier: str, name: str) -> None:
    correlate(identifier)
    with closing(Database(database, statement_seconds=5)) as own, own.transaction() as cursor:
        assert name_in(cursor) == name


def test_the_name_is_seen_from_outside_and_ends_with_the_transaction(database: str) -> None:
    """What stays on the session would pin a proxied connection, and name the next request's slow statement wrongly."""
    seen = "SELECT application_name FROM pg_stat_activity WHERE pid = %s"
    with closing(Database(database, statement_seconds=5)) as own, psycopg.connect(database, autocommit=True) as other:
        correlate("first")
        with own.transaction() as cursor:
            process = cursor.connection.info.backend_pid
            assert other.execute(seen, [process]).fetchall() == [("citewell first",)]
        assert other.execute(seen, [process]).fetchall() == [("citewell",)]
        correlate("second")
        with own.transaction() as cursor:
            assert (name_in(cursor), cursor.connection.info.backend_pid) == ("citewell second", process)
