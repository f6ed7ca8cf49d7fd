"""The embedded Postgres: it starts anywhere it can, says why where it cannot, and leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from infra.local import processes, unprivileged
from infra.local.errors import PortTakenError, UnreachableFolderError
from infra.local.postgres import EmbeddedPostgres


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not below pytest's own folder, which is closed to other users: as root the server runs as one."""
    parent = Path(tempfile.mkdtemp(prefix="citewell-test-"))
    parent.chmod(0o755)
    yield parent / "postgres"
    if server := EmbeddedPostgres.running(parent / "postgres"):
        server.stop()
    shutil.rmtree(parent)


def test_a_temporary_server_answers_and_its_folder_goes_with_it() -> None:
    with EmbeddedPostgres.temporary() as server, psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT 'größe'").fetchone() == ("größe",)
        assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)
    assert not server.folder.exists()
    assert not server.is_alive()


def test_the_owner_of_a_database_may_create_pgvector_without_being_superuser() -> None:
    with EmbeddedPostgres.temporary() as server:
        with psycopg.connect(server.url, autocommit=True) as admin:
            admin.execute("CREATE ROLE app LOGIN")
            admin.execute("CREATE DATABASE app OWNER app")
        with psycopg.connect(f"postgresql://app@127.0.0.1:{server.port}/app") as connection:
            connection.execute("CREATE EXTENSION vector")
            assert connection.execute("SELECT '[3,4]'::vector <-> '[0,0]'").fetchone() == (5.0,)


def test_data_survives_a_killed_server_and_is_found_by_the_next(folder: Path) -> None:
    server = EmbeddedPostgres.start(folder, password="p@ss/word", detached=True)
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
    os.kill(server.pid, signal.SIGKILL)
    while server.is_alive():
        time.sleep(0.01)

    again = EmbeddedPostgres.start(folder, password="p@ss/word", port=server.port, detached=True)

    with psycopg.connect(again.url) as connection:
        assert connection.execute("SELECT one FROM kept").fetchone() == (1,)
    found = EmbeddedPostgres.running(folder, password="p@ss/word")
    assert found is not None
    assert (found.pid, found.port, found.url) == (again.pid, again.port, again.url)
    again.stop()
    again.stop()
    assert EmbeddedPostgres.running(folder) is None


def test_a_password_is_asked_for_and_stands_in_no_file(folder: Path) -> None:
    with EmbeddedPostgres.start(folder, password="correct horse", durable=False) as server:
        with psycopg.connect(server.url):
            pass
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(f"postgresql://postgres:wrong@127.0.0.1:{server.port}/postgres")
        outside_the_data = [path for path in folder.iterdir() if path.is_file()]
        assert [path.name for path in outside_the_data] == ["server.log"]
        assert b"correct horse" not in (folder / "server.log").read_bytes()


def test_a_taken_port_is_named(folder: Path) -> None:
    with (
        EmbeddedPostgres.temporary() as other,
        pytest.raises(PortTakenError, match=f"Port {other.port} is taken"),
    ):
        EmbeddedPostgres.start(folder, port=other.port, durable=False)


def test_an_interrupted_initialisation_is_begun_anew(folder: Path) -> None:
    (folder / "cluster" / "base").mkdir(parents=True)

    with EmbeddedPostgres.start(folder, durable=False) as server:
        assert server.is_alive()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_no_server_outlives_the_process_that_started_it(how: signal.Signals) -> None:
    program = (
        "import time\n"
        "from infra.local.postgres import EmbeddedPostgres\n"
        "server = EmbeddedPostgres.temporary()\n"
        "print(server.pid, server.folder, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid, orphaned = parent.stdout.readline().split()
        parent.send_signal(how)
    deadline = time.monotonic() + 30
    while processes.runs(int(pid), orphaned) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not processes.runs(int(pid), orphaned)
    shutil.rmtree(orphaned)


def test_a_folder_that_the_servers_user_cannot_enter_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unprivileged, "_identity", lambda: (65534, 65534))
    folder.parent.chmod(0o700)

    with pytest.raises(UnreachableFolderError, match=f"cannot enter {folder.parent}"):
        EmbeddedPostgres.start(folder)


def test_a_private_folder_gets_a_reachable_place_which_is_emptied_when_its_link_is_gone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unprivileged, "_identity", lambda: (65534, 65534))
    monkeypatch.setattr(unprivileged, "ROOTS_OWN_PLACE", folder.parent / "place")
    home = folder.parent / "home"
    home.mkdir(mode=0o700)
    wished = home / ".local/postgres"

    place = unprivileged.reachable_folder(wished)
    (place / "kept").touch()

    assert wished.resolve() == place
    assert unprivileged.reachable_folder(wished) == place
    assert (place / "kept").exists()
    wished.unlink()
    assert not (unprivileged.reachable_folder(wished) / "kept").exists()
