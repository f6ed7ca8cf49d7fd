"""Which Postgres the tests run on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from docker.errors import DockerException

from infra.local import throwaway_postgres
from infra.local.throwaway_postgres import NoServer, Server, choose, start_in_docker, ways


def closed(reason: str) -> Callable[[], Server]:
    def start() -> Server:
        raise NoServer(reason)

    return start


def opened(url: str) -> Callable[[], Server]:
    return lambda: Server(url, stop=lambda: None)


def never() -> Server:
    raise AssertionError("a later way was tried although an earlier one was open")


def test_the_order_is_given_then_docker_then_embedded() -> None:
    assert [name for name, _ in ways({})] == ["TEST_DATABASE_URL", "Docker pgvector/pgvector:pg17", "embedded Postgres"]


def test_a_given_server_is_the_only_way() -> None:
    choice = choose(ways({"TEST_DATABASE_URL": "postgresql://u@h:1/d"}))
    assert (choice.name, choice.server.url) == ("TEST_DATABASE_URL", "postgresql://u@h:1/d")
    assert len(ways({"TEST_DATABASE_URL": "postgresql://u@h:1/d"})) == 1


def test_an_empty_variable_counts_as_not_given() -> None:
    assert len(ways({"TEST_DATABASE_URL": ""})) == 3


def test_the_first_open_way_is_picked_and_the_others_say_why_not() -> None:
    choice = choose([("given", closed("not set")), ("docker", opened("postgresql://docker/")), ("embedded", never)])
    assert choice.server.url == "postgresql://docker/"
    assert str(choice) == "test database: docker (given: not set)"


def test_the_last_way_is_picked_when_all_others_are_closed() -> None:
    choice = choose([("given", closed("not set")), ("docker", closed("no engine")), ("embedded", opened("x"))])
    assert str(choice) == "test database: embedded (given: not set; docker: no engine)"


def test_no_open_way_is_an_error_with_every_reason() -> None:
    with pytest.raises(NoServer, match=r"^a: one; b: two$"):
        choose([("a", closed("one")), ("b", closed("two"))])


@pytest.mark.parametrize("where", ["constructor", "start"])
def test_docker_without_an_engine_is_a_closed_way(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    class Container:
        def __init__(self, image: str, driver: str | None) -> None:
            assert (image, driver) == (throwaway_postgres.IMAGE, None)
            if where == "constructor":
                raise DockerException("Error while fetching server API version\nand much more")

        def start(self) -> None:
            raise DockerException("pull access denied")

    monkeypatch.setattr("testcontainers.community.postgres.PostgresContainer", Container)
    expected = {"constructor": "Error while fetching server API version", "start": "pull access denied"}[where]
    with pytest.raises(NoServer, match=f"^{expected}$"):
        start_in_docker()


def test_docker_that_answers_gives_its_url_and_is_stopped_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    class Container:
        def __init__(self, image: str, driver: str | None) -> None:
            calls.extend([image, str(driver)])

        def start(self) -> None:
            calls.append("start")

        def get_connection_url(self) -> str:
            return "postgresql://test:test@localhost:32768/test"

        def stop(self) -> None:
            calls.append("stop")

    monkeypatch.setattr("testcontainers.community.postgres.PostgresContainer", Container)
    server = start_in_docker()
    assert server.url == "postgresql://test:test@localhost:32768/test"
    server.stop()
    assert calls == ["pgvector/pgvector:pg17", "None", "start", "stop"]


def test_another_database_of_a_server_keeps_its_address_and_options() -> None:
    server = Server("postgresql://me:p%40ss@db.example:5432/postgres?sslmode=require", stop=lambda: None)
    assert server.url_of("a b") == "postgresql://me:p%40ss@db.example:5432/a%20b?sslmode=require"
