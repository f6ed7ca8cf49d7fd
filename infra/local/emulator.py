"""The AWS emulator as a daemon: its virtual environment, its start, where it is, its end."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import certifi
import httpx

from infra.local import processes
from infra.local.certificates import Certificate, certificate_in
from infra.local.errors import EmulatorError
from infra.local.postgres import SUPERUSER
from infra.local.state import ACCESS_KEY_ID, HOST, REGION, ROOT, SECRET_ACCESS_KEY, Cloud, State

LAUNCHER = Path(__file__).with_name("launcher.py")
RUNS_IN_IT = (LAUNCHER, *(LAUNCHER.with_name(name) for name in ("launcher_rds.py", "database_tls.py")))
ENVIRONMENTS = ROOT / "build" / "emulator"
LOCK = ROOT / "requirements.lock"
# What the emulator and the launcher import; their versions are those of the lock.
PACKAGES = ("ministack", "boto3", "cryptography", "psycopg2-binary")

INSTALL_SECONDS = 300
START_SECONDS = 60
STOP_SECONDS = 15

# What a function may need to reach a model's API from here. Nothing else of the caller's environment reaches the
# functions: a setting that only this shell has must not make a deployment work.
_PASSED_ON = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


@dataclass(frozen=True, slots=True)
class Emulator:
    """``authority`` is who vouches for it, and None where it serves in plain HTTP and enforces no IAM."""

    pid: int
    port: int
    authority: Path | None

    @property
    def url(self) -> str:
        return f"{'https' if self.authority else 'http'}://{HOST}:{self.port}"


def install() -> bool:
    """Makes the emulator's virtual environment, if there is none of what the lock says. Returns whether it was made.

    Raises EmulatorError.
    """
    environment = _environment_folder()
    mark = environment / "installed"
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    with (ENVIRONMENTS / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if mark.exists():
            return False
        for other in ENVIRONMENTS.glob("*/"):
            if not processes.marked(f"{other}/bin/"):
                shutil.rmtree(other)
        _install_into(environment)
        mark.touch()
    return True


def _install_into(environment: Path) -> None:
    uv = str(Path(sys.executable).with_name("uv"))
    python = str(environment / "bin" / "python")
    for command in (
        [uv, "venv", "--quiet", "--python", sys.executable, str(environment)],
        [uv, "pip", "install", "--quiet", "--python", python, "--constraint", str(LOCK), *PACKAGES],
    ):
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS)
        except FileNotFoundError:
            raise EmulatorError("uv is not installed: make setup") from None
        except subprocess.CalledProcessError as error:
            raise EmulatorError(f"The emulator could not be installed: {error.stderr.strip()}") from error
        except subprocess.TimeoutExpired as error:
            raise EmulatorError(f"The emulator was not installed within {INSTALL_SECONDS} s.") from error


def running(state: State) -> Emulator | None:
    """The emulator of this state folder, whoever started it; None when it is of another version than this code's, or
    as secure as ``cloud.json`` doesn't say.
    """
    cloud = state.cloud()
    pids = processes.marked(f"{_mark(state)}{_version(cloud)} ") if cloud else []
    return _described(pids[0], cloud, state) if pids and cloud else None


def start(state: State, cloud: Cloud) -> Emulator:
    """Starts it, to go on by itself, and waits until it answers. Raises EmulatorError."""
    state.scratch.mkdir(parents=True, exist_ok=True)
    state.objects.mkdir(parents=True, exist_ok=True)
    state.functions_log.unlink(missing_ok=True)
    certificate = certificate_in(state.certificates)
    postgres = {"host": HOST, "port": cloud.postgres_port, "user": SUPERUSER, "password": cloud.postgres_password}
    with state.emulator_log.open("wb") as log:
        process = subprocess.Popen(
            [str(_environment_folder() / "bin" / "python"), "-P", str(LAUNCHER), str(state.folder), _version(cloud)],
            # Not by the environment: functions inherit it.
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=state.scratch,
            env=_environment(state, cloud, certificate),
            start_new_session=True,
        )
    assert process.stdin is not None
    with process.stdin as configuration:
        files = {"authority": str(certificate.authority), "chain": str(certificate.chain)}
        configuration.write(json.dumps({"postgres": postgres, **files}).encode())
    emulator = _described(process.pid, cloud, state)
    answered = processes.wait_until(lambda: process.poll() is not None or _is_healthy(emulator), seconds=START_SECONDS)
    if process.poll() is not None or not answered:
        stop(state)
        raise EmulatorError(f"The AWS emulator did not start: {_last_line(state)} Log: {state.emulator_log}")
    return emulator


def stop(state: State) -> bool:
    """Ends the emulator and the functions it runs. Returns whether there was anything to end.

    Raises EmulatorError when a process does not go.
    """
    found = _everything(state)
    for how in (signal.SIGTERM, signal.SIGKILL):
        processes.end(_everything(state), how=how)
        processes.wait_until(lambda: not _everything(state), seconds=STOP_SECONDS)
    if left := _everything(state):
        raise EmulatorError(f"Processes of the AWS emulator do not end: {left}")
    shutil.rmtree(state.scratch, ignore_errors=True)
    return bool(found)


def _everything(state: State) -> list[int]:
    """The emulator, and the workers: they outlive it by the call they are in, and run from below its folder."""
    return [*processes.marked(_mark(state)), *processes.marked(f" {state.scratch}/ministack-lambda-")]


def _environment_folder() -> Path:
    """One for each content, so that a running emulator keeps its own while another is installed."""
    made_of = repr((sys.version, PACKAGES)).encode() + LOCK.read_bytes()
    return ENVIRONMENTS / hashlib.sha256(made_of).hexdigest()[:16]


def _version(cloud: Cloud) -> str:
    """Of all that runs as the emulator."""
    made_of = _environment_folder().name.encode() + b"".join(path.read_bytes() for path in RUNS_IN_IT)
    return hashlib.sha256(made_of).hexdigest()[:16] + ("-secure" if cloud.secure else "")


def _described(pid: int, cloud: Cloud, state: State) -> Emulator:
    authority = certificate_in(state.certificates).authority if cloud.secure else None
    return Emulator(pid, cloud.emulator_port, authority)


def _mark(state: State) -> str:
    # Up to the end of the argument: another folder's name may begin like this one's.
    return f"{LAUNCHER.name} {state.folder} "


def _is_healthy(emulator: Emulator) -> bool:
    verify = ssl.create_default_context(cafile=emulator.authority) if emulator.authority else True
    try:
        url = f"{emulator.url}/_ministack/health"
        return httpx.get(url, timeout=5, verify=verify, trust_env=False).is_success
    except httpx.TransportError:
        return False


def _environment(state: State, cloud: Cloud, certificate: Certificate) -> dict[str, str]:
    given = {name: os.environ[name] for each in _PASSED_ON for name in (each, each.lower()) if name in os.environ}
    return given | {
        "PATH": os.environ["PATH"],
        "HOME": str(state.folder),
        "TMPDIR": str(state.scratch),
        "LANG": "C.UTF-8",
        "NO_PROXY": f"{HOST},localhost",
        "no_proxy": f"{HOST},localhost",
        # How the emulator is told what to do:
        "GATEWAY_PORT": str(cloud.emulator_port),
        "BIND_HOST": HOST,
        "MINISTACK_HOST": "localhost",
        "MINISTACK_REGION": REGION,
        "S3_PERSIST": "1",
        "S3_DATA_DIR": str(state.objects),
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "DOCKER_HOST": f"unix://{state.folder}/there-is-none",
        **(_security(state, certificate) if cloud.secure else {}),
    }


def _security(state: State, certificate: Certificate) -> dict[str, str]:
    """IAM enforced, everything over TLS, and functions that trust the emulator beside whom this machine trusts."""
    trusted = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile or certifi.where()
    bundle = state.certificates / "trusted.pem"
    bundle.write_bytes(Path(trusted).read_bytes() + b"\n" + certificate.authority.read_bytes())
    return {
        "AUTH": "true",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET_ACCESS_KEY,
        "USE_SSL": "1",
        "MINISTACK_SSL_CERT": str(certificate.chain),
        "MINISTACK_SSL_KEY": str(certificate.chain),
        "NODE_EXTRA_CA_CERTS": str(certificate.authority),
        **dict.fromkeys(("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"), str(bundle)),
    }


def _last_line(state: State) -> str:
    lines = state.emulator_log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
