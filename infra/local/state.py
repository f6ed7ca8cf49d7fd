"""The folder that remembers the local cloud between two commands: ``.local`` by default.

    cloud.json       ports and passwords, chosen once, readable by the owner alone
    stack.json       how to reach the deployed stack: a contract, see :class:`Stack`
    deployed.json    what was deployed last and into which emulator
    postgres/        the database (a link when Postgres' user could not enter the folder)
    s3/              the buckets' objects
    layers/          the functions' layers, unpacked
    certificates/    ca.pem, the authority to trust, and what it vouches for
    tmp/             where functions run; emptied when nothing runs
    functions.log    what the functions logged since the last start
    emulator.log, deploy.log, postgres/server.log

Two folders are two clouds that can run at the same time. Removing the folder (after ``down``) removes the cloud.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import secrets
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self, TypeVar

from infra.local.errors import BusyError

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_FOLDER = ROOT / ".local"
HOST = "127.0.0.1"
REGION = "us-east-1"
# Of the account's root, whose signatures the emulator doesn't check even where it enforces IAM; an id of twelve digits
# would choose another account.
ACCESS_KEY_ID = "local"
SECRET_ACCESS_KEY = "local"  # noqa: S105 - opens nothing beyond this machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """``stack.json``: all that a client needs. ``api_url`` is without a slash at the end."""

    api_url: str
    bucket: str
    endpoint_url: str
    region: str = REGION
    access_key_id: str = ACCESS_KEY_ID
    secret_access_key: str = SECRET_ACCESS_KEY
    token: str | None = None
    """A bearer token for the API; null while it has no authentication."""
    ca_bundle: str | None = None
    """A file with the certificate authority to trust; null while there is no TLS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """``deployed.json``. ``digest`` says what was deployed, ``emulator`` (a process id) where."""

    digest: str
    emulator: int
    outputs: dict[str, str]


@dataclass(slots=True, kw_only=True)
class Cloud:
    """``cloud.json``. ``user_password`` is that of the one whom ``up`` signs in to the API."""

    emulator_port: int
    postgres_port: int
    postgres_password: str
    secure: bool = False
    user_password: str = field(default_factory=lambda: f"{secrets.token_urlsafe(24)}aA1!")

    @classmethod
    def new(cls) -> Self:
        emulator_port, postgres_port = free_ports(2)
        return cls(
            emulator_port=emulator_port, postgres_port=postgres_port, postgres_password=secrets.token_urlsafe(24)
        )


Saved = TypeVar("Saved", Stack, Deployment, Cloud)


class State:
    """Reads and writes the folder. A file that isn't there, or isn't whole, reads as None."""

    def __init__(self, folder: Path = DEFAULT_FOLDER) -> None:
        self.folder = folder.resolve()

    @property
    def postgres(self) -> Path:
        return self.folder / "postgres"

    @property
    def objects(self) -> Path:
        return self.folder / "s3"

    @property
    def scratch(self) -> Path:
        return self.folder / "tmp"

    @property
    def certificates(self) -> Path:
        return self.folder / "certificates"

    @property
    def emulator_log(self) -> Path:
        return self.folder / "emulator.log"

    @property
    def functions_log(self) -> Path:
        return self.folder / "functions.log"

    @property
    def deploy_log(self) -> Path:
        return self.folder / "deploy.log"

    def cloud(self) -> Cloud | None:
        return _load(Cloud, self.folder / "cloud.json")

    def save_cloud(self, cloud: Cloud) -> None:
        _save(self.folder / "cloud.json", asdict(cloud))

    def stack(self) -> Stack | None:
        return _load(Stack, self.folder / "stack.json")

    def save_stack(self, stack: Stack) -> None:
        _save(self.folder / "stack.json", asdict(stack))

    def forget_stack(self) -> None:
        (self.folder / "stack.json").unlink(missing_ok=True)

    def deployment(self) -> Deployment | None:
        return _load(Deployment, self.folder / "deployed.json")

    def save_deployment(self, deployment: Deployment) -> None:
        _save(self.folder / "deployed.json", asdict(deployment))

    def forget_deployment(self) -> None:
        (self.folder / "deployed.json").unlink(missing_ok=True)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps other commands on this folder out. Raises BusyError when one is at work already."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BusyError(f"Another command is at work in {self.folder}. Try again when it is done.") from None
            yield


def free_ports(count: int) -> list[int]:
    """Different ports that nothing listens on now."""
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((HOST, 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _load(kind: type[Saved], path: Path) -> Saved | None:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return kind(**{each.name: values[each.name] for each in fields(kind) if each.name in values})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save(path: Path, values: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    unfinished.touch(mode=0o600)
    unfinished.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    unfinished.replace(path)
