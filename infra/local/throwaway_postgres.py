"""A Postgres server for tests and the eval: the one that is given, else one in Docker, else the embedded one."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlsplit, urlunsplit

from infra.local.postgres import EmbeddedPostgres

VARIABLE = "TEST_DATABASE_URL"
IMAGE = "pgvector/pgvector:pg17"


class NoServer(Exception):
    """A way to a server that isn't open here; the message says why."""


@dataclass(frozen=True, slots=True)
class Server:
    """``url`` is a libpq URL of a role that may create databases and extensions."""

    url: str
    stop: Callable[[], None]

    def url_of(self, database: str) -> str:
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{quote(database, safe='')}"))


@dataclass(frozen=True, slots=True)
class Choice:
    """The server that was picked, and why each one before it wasn't."""

    name: str
    server: Server
    passed_over: tuple[str, ...]

    def __str__(self) -> str:
        because = f" ({'; '.join(self.passed_over)})" if self.passed_over else ""
        return f"test database: {self.name}{because}"


Way = tuple[str, Callable[[], Server]]


def choose(ways: Sequence[Way]) -> Choice:
    """The first of ``ways`` (name, start) that starts. Raises NoServer naming every reason when none does."""
    passed_over: list[str] = []
    for name, start in ways:
        try:
            return Choice(name, start(), tuple(passed_over))
        except NoServer as reason:
            passed_over.append(f"{name}: {reason}")
    raise NoServer("; ".join(passed_over))


def ways(environment: Mapping[str, str] = os.environ) -> list[Way]:
    """In the order in which they are tried. Who sets the variable gets that server or an error, never another."""
    given = environment.get(VARIABLE)
    if given:
        return [(VARIABLE, lambda: Server(given, stop=lambda: None))]
    return [(VARIABLE, _not_given), (f"Docker {IMAGE}", start_in_docker), ("embedded Postgres", start_embedded)]


def start_in_docker() -> Server:
    """Raises NoServer when Docker isn't there or can't run the image."""
    from docker.errors import DockerException
    from testcontainers.community.postgres import PostgresContainer

    with warnings.catch_warnings(action="ignore", category=ResourceWarning):
        try:
            container = PostgresContainer(IMAGE, driver=None)  # raises already here when no engine answers
            container.start()
            return Server(container.get_connection_url(), container.stop)
        except (DockerException, OSError, TimeoutError) as error:
            reason = str(error).partition("\n")[0] or type(error).__name__
        gc.collect()  # Docker's client leaves a socket open when no engine answers
    raise NoServer(reason)


def start_embedded() -> Server:
    server = EmbeddedPostgres.temporary()
    return Server(server.url, server.stop)


def _not_given() -> Server:
    raise NoServer("not set")
