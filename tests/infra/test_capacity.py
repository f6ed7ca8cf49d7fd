"""The connections of every class of database are shared out, and never more than it has."""

from __future__ import annotations

from itertools import pairwise

import pytest

from infra.capacity import KEPT_BACK, Capacity, capacity_of
from infra.options import DatabaseClass


def test_the_smallest_database_serves_forty_who_ask_at_once() -> None:
    assert capacity_of(DatabaseClass.T4G_MICRO) == Capacity(connections=80, ingest=5, ask=40, documents=20)


@pytest.mark.parametrize("database_class", DatabaseClass)
def test_an_operator_gets_in_when_every_copy_is_busy(database_class: DatabaseClass) -> None:
    capacity = capacity_of(database_class)
    assert capacity.copies + KEPT_BACK <= capacity.connections
    assert min(capacity.ingest, capacity.ask, capacity.documents) > 1


@pytest.mark.parametrize("database_class", DatabaseClass)
def test_a_usual_account_can_reserve_the_copies(database_class: DatabaseClass) -> None:
    capacity = capacity_of(database_class)
    assert capacity.ask + capacity.documents <= 1000 - 100


def test_a_larger_database_serves_no_fewer() -> None:
    burstable = [DatabaseClass.T4G_MICRO, DatabaseClass.T4G_SMALL, DatabaseClass.T4G_MEDIUM, DatabaseClass.T4G_LARGE]
    for smaller, larger in pairwise(map(capacity_of, burstable)):
        assert smaller.ask < larger.ask or larger.ask == 200
        assert smaller.documents <= larger.documents
