"""The real CDK app, synthesised once and deployed to the emulator with the real ``cdk`` command."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from infra.app import STACK_NAME
from infra.local.emulator import Emulator
from infra.local.errors import DeployError
from infra.local.state import ACCESS_KEY_ID, HOST, REGION, ROOT, SECRET_ACCESS_KEY, Deployment, State

CDK = ROOT / "node_modules" / ".bin" / "cdk"
SYNTHESISED = ROOT / "build" / "synthesised"
ZIPS = SYNTHESISED / "zips"
NODE_AT_LEAST = 20

SYNTH_SECONDS = 300
DEPLOY_SECONDS = 600

# What decides the synthesised app besides its context. infra/local only takes part in deploying it.
_INPUTS = (
    *("infra", "functions", "layers", "migrations"),
    *("cdk.json", "requirements.lock", "pyproject.toml", "package-lock.json"),
)
_ASSET_BYTES = 2**30
_KEPT = 2  # synthesised apps, each of one context and 400 MB


def require_node() -> None:
    """Raises DeployError unless the CDK's command-line tool can run."""
    if not CDK.exists():
        raise DeployError(f"{CDK.relative_to(ROOT)} is missing: make setup")
    try:
        shown = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    except (FileNotFoundError, subprocess.CalledProcessError):
        raise DeployError(f"Node {NODE_AT_LEAST} or newer is needed, and there is no `node` here.") from None
    version = re.match(r"v(\d+)\.", shown)
    if version is None or int(version[1]) < NODE_AT_LEAST:
        raise DeployError(f"Node {NODE_AT_LEAST} or newer is needed; this is {shown}.")


def digest_of(context: Mapping[str, str], *, root: Path = ROOT) -> str:
    """Of all that decides what is deployed. Hexadecimal, 16 digits."""
    digest = hashlib.sha256(repr((sys.version, str(root), sorted(context.items()))).encode())
    for path in _input_files(root):
        digest.update(str(path.relative_to(root)).encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def synthesise(context: Mapping[str, str], *, digest: str, state: State) -> Path:
    """The folder with the cloud assembly; made when there is none of this digest. Raises DeployError."""
    assembly = SYNTHESISED / digest
    if (assembly / "manifest.json").exists():
        assembly.touch()  # it is in use: see below
        return assembly
    ZIPS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=SYNTHESISED) as scratch:
        unfinished = Path(scratch) / "assembly"
        options = [option for name, value in sorted(context.items()) for option in ("-c", f"{name}={value}")]
        options += ["--app", shlex.join([sys.executable, "-m", "infra.app"])]
        _cdk(["synth", "--quiet", "--output", str(unfinished), *options], SYNTH_SECONDS, state=state)
        # Where the command keeps the zips that it makes of bundles, under the bundle's digest. Shared by all
        # assemblies, a bundle that did not change is not zipped again.
        (unfinished / ".cache").symlink_to(ZIPS)
        with contextlib.suppress(OSError):  # somebody else was first
            unfinished.rename(assembly)
    _forget_old_assemblies()
    return assembly


def forget_assets(state: State) -> None:
    """Empties the emulator's bucket of bundles when it has become large. The next deploy fills it again; the
    emulator must not be running.
    """
    folders = [path for path in state.objects.glob("**/cdk-*-assets-*") if path.is_dir()]
    size = sum(file.stat().st_size for folder in folders for file in folder.rglob("*") if file.is_file())
    if size > _ASSET_BYTES:
        for folder in folders:
            shutil.rmtree(folder)


def _forget_old_assemblies() -> None:
    assemblies = [path for path in SYNTHESISED.iterdir() if (path / "manifest.json").exists()]
    assemblies.sort(key=lambda path: path.stat().st_mtime)
    for old in assemblies[:-_KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    used = "".join(path.read_text() for kept in assemblies[-_KEPT:] for path in kept.glob("*.assets.json"))
    for path in ZIPS.glob("*.zip"):
        if path.stem not in used:
            path.unlink(missing_ok=True)


def deploy(assembly: Path, *, digest: str, emulator: Emulator, state: State) -> Deployment:
    """Bootstraps the emulator's account and deploys. Raises DeployError with the reason of the failure."""
    account = f"aws://000000000000/{REGION}"
    _cdk(["bootstrap", account, "--app", str(assembly)], DEPLOY_SECONDS, state=state, emulator=emulator)
    with tempfile.TemporaryDirectory(prefix="citewell-deploy-") as scratch:
        outputs = Path(scratch) / "outputs.json"
        command = ["deploy", STACK_NAME, "--app", str(assembly), "--require-approval", "never"]
        command += ["--outputs-file", str(outputs)]
        _cdk(command, DEPLOY_SECONDS, state=state, emulator=emulator)
        values = json.loads(outputs.read_text(encoding="utf-8")).get(STACK_NAME)
    if not values:  # an interrupted deploy of before is still at work on the stack
        raise DeployError("Another deploy of this stack has not ended yet: try again in half a minute.")
    return Deployment(digest=digest, emulator=emulator.pid, outputs=values)


def destroy(emulator: Emulator, *, state: State) -> None:
    """Deletes the stack. Raises DeployError with the reason when something of it doesn't go."""
    # The command wants an app, though the stack's name is all that it takes from it.
    deployment = state.deployment()
    assembly = SYNTHESISED / deployment.digest if deployment else SYNTHESISED
    command = ["destroy", STACK_NAME, "--app", str(assembly), "--force"]
    _cdk(command, DEPLOY_SECONDS, state=state, emulator=emulator)


def _input_files(root: Path) -> Iterator[Path]:
    for name in _INPUTS:
        path = root / name
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            inside = file.relative_to(root).parts
            if file.is_file() and "__pycache__" not in inside and inside[:2] != ("infra", "local"):
                yield file


def _cdk(arguments: list[str], seconds: float, *, state: State, emulator: Emulator | None = None) -> None:
    command = [str(CDK), *arguments, "--no-notices", "--no-color"]
    state.folder.mkdir(parents=True, exist_ok=True)
    mode = "wb" if arguments[0] == "synth" else "ab"
    with state.deploy_log.open(mode) as log:
        start = log.tell()
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=_environment(emulator, home=state.folder),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that the app it runs can be ended with it
        )
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise DeployError(f"`cdk {arguments[0]}` took more than {seconds:.0f} s. Log: {state.deploy_log}") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if code != 0:
        said = state.deploy_log.read_bytes()[start:].decode(errors="replace")
        raise DeployError(f"`cdk {arguments[0]}` failed: {reason(said)}\nLog: {state.deploy_log}")


def _environment(emulator: Emulator | None, *, home: Path) -> dict[str, str]:
    """No real AWS account can be reached with this: neither its keys nor its configuration are read."""
    passed_on = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AWS_", "CDK_")) and "PROXY" not in name.upper()
    }
    authority = str(emulator.authority) if emulator and emulator.authority else None
    # The second, as the tool would otherwise trust those of REQUESTS_CA_BUNDLE alone.
    trust = {"NODE_EXTRA_CA_CERTS": authority, "AWS_CA_BUNDLE": authority} if authority else {}
    return passed_on | {
        "AWS_ENDPOINT_URL": emulator.url if emulator else "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET_ACCESS_KEY,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CDK_HOME": str(home / "cdk"),
        # The template is validated by the tests and before a deploy to AWS; here it would double the time.
        "CDK_VALIDATION": "false",
        "NO_PROXY": f"{HOST},localhost",
        **trust,
    }


_RESOURCE_FAILED = re.compile(r"\| (?:CREATE|UPDATE|DELETE)_FAILED +\| (?P<resource>[^|]+)\|(?P<reason>.+)")


def reason(said: str) -> str:
    """The line that tells why, out of all that the tool says."""
    failed = [match for line in said.splitlines() if (match := _RESOURCE_FAILED.search(line))]
    if failed:
        return f"{failed[0]['resource'].strip()}: {failed[0]['reason'].strip()}"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(citewell:|❌|\w*Error\b)", line)]
    return (telling or lines or ["it said nothing"])[-1]
