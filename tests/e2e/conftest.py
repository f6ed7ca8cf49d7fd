"""One local cloud for all end-to-end tests, in a state folder of its own: nobody's ``.local`` is touched."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.local.services import Api, Aws, drained, trust
from infra.local.state import ROOT, Deployment, Stack, State

RETRIEVAL_SETS = ROOT.parent / "shared/data/retrieval"
collect_ignore = [] if RETRIEVAL_SETS.is_dir() else ["test_pdf_pages.py", "test_retrieval_sets.py"]

COMMAND_SECONDS = 900
INDEXING_SECONDS = 120.0

# What would choose another deployment than the one a test asks for.
_CHOICES = ("CITEWELL_", "ANTHROPIC_", "OPENAI_", "VOYAGE_", "COHERE_", "JINA_", "TEI_")


@dataclass
class LocalCloud:
    """Runs the commands that a person runs, and reaches the stack as a person does."""

    folder: Path
    secure: bool = False
    """Whether ``up`` is told so."""
    variables: dict[str, str] = field(default_factory=dict)
    """What the environment of the last ``up`` chose the deployment by."""
    printed: str = ""
    """What the last ``up`` said."""

    @property
    def state(self) -> State:
        return State(self.folder)

    @property
    def stack(self) -> Stack:
        stack = self.state.stack()
        assert stack is not None
        return stack

    @property
    def deployment(self) -> Deployment:
        deployment = self.state.deployment()
        assert deployment is not None
        return deployment

    @property
    def aws(self) -> Aws:
        return Aws(self.stack)

    @property
    def api(self) -> Api:
        return Api(self.stack)

    def run(
        self, command: str, variables: Mapping[str, str] | None = None, *, sources: Path = ROOT
    ) -> subprocess.CompletedProcess[str]:
        """``sources``: the tree whose commands run and whose stack is deployed."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(_CHOICES)}
        path = os.pathsep.join((str(sources), str(sources / "layers/core/python")))
        secure = ["--secure"] if self.secure and command == "up" else []
        return subprocess.run(
            [sys.executable, "-m", "infra.local", command, "--state", str(self.folder), *secure],
            cwd=sources,
            env=environment | {"PYTHONPATH": path} | dict(variables or {}),
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_SECONDS,
        )

    def up(self, variables: Mapping[str, str] | None = None, *, sources: Path = ROOT) -> str:
        """What the command printed. Fails the test when it failed."""
        done = self.run("up", variables, sources=sources)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{self._log_ends()}"
        self.variables, self.printed = dict(variables or {}), done.stdout
        return done.stdout

    def upload(self, key: str, content: str | bytes, **metadata: str) -> str:
        """Puts an object; returns its version."""
        body = content.encode() if isinstance(content, str) else content
        put = self.aws.s3.put_object(
            Bucket=self.stack.bucket,
            Key=key,
            Body=body,
            Metadata={name.replace("_", "-"): value for name, value in metadata.items()},
        )
        return put["VersionId"]

    def settled(self, key: str, *, version: str) -> dict[str, Any]:
        """The document's state once ingest is done with ``version``."""

        def look() -> dict[str, Any] | None:
            document = self.api.document(key)
            done = document is not None and document["version"] == version and document["status"] != "PROCESSING"
            return document if done else None

        document: dict[str, Any] = self.eventually(look, f"{key} is settled at {version}")
        return document

    def eventually(self, look: Callable[[], Any], what: str, *, seconds: float = INDEXING_SECONDS) -> Any:
        """What ``look`` gives when it gives something true."""
        deadline = time.monotonic() + seconds
        while not (found := look()):
            assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}\n{self._log_ends()}"
            time.sleep(0.2)
        return found

    def is_idle(self) -> bool:
        """Whether ingest has nothing left to do."""
        return drained(self.aws, self.deployment)

    def get(self, path: str, *, token: str | None = None) -> httpx.Response:
        return self._send("GET", path, token=token)

    def post(self, path: str, body: object, *, token: str | None = None) -> httpx.Response:
        return self._send("POST", path, body, token=token)

    def _send(self, method: str, path: str, body: object = None, *, token: str | None) -> httpx.Response:
        """With ``token``, else with the stack's own, where there is one; without any for ""."""
        token = self.stack.token if token is None else token
        return httpx.request(
            method,
            f"{self.stack.api_url}{path}",
            json=body,
            headers={"authorization": f"Bearer {token}"} if token else {},
            timeout=60,
            verify=trust(self.stack),
            trust_env=False,
        )

    def _log_ends(self) -> str:
        logs = (self.state.deploy_log, self.state.emulator_log)
        ends = (log.read_text(errors="replace")[-3000:] for log in logs if log.exists())
        return "\n".join(f"--- {log.name}\n{end}" for log, end in zip(logs, ends, strict=False))


def command_after(printed: str, heading: str) -> str:
    """The first of the commands that ``up`` printed below ``heading``."""
    following = printed.split(heading, 1)[1].splitlines()[1]
    assert following.startswith("  ")
    return following.strip()


def paste(command: str) -> str:
    """The output of a line pasted into a new shell in the repo's folder, with nothing set up for it."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@contextlib.contextmanager
def local_cloud(variables: Mapping[str, str] | None = None, *, secure: bool = False) -> Iterator[LocalCloud]:
    """A cloud that is up within the block, and gone after it."""
    folder = Path(tempfile.mkdtemp(prefix="citewell-e2e-"))
    folder.chmod(0o755)  # Postgres runs as another user when these tests run as root
    cloud = LocalCloud(folder, secure)
    try:
        cloud.up(variables)
        yield cloud
    finally:
        cloud.run("down")
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def cloud() -> Iterator[LocalCloud]:
    """Up without any key."""
    with local_cloud() as cloud:
        yield cloud


@pytest.fixture
def keyless(cloud: LocalCloud) -> LocalCloud:
    """The cloud as it is without a key, whatever the test before deployed."""
    if cloud.variables:
        cloud.up()
    return cloud
