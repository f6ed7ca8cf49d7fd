"""Compiles a bundle's modules ahead of time: without, every cold start compiles them again (1.7x the import's CPU)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_PROBE_SECONDS = 10.0
_COMPILE_SECONDS = 600.0


@cache
def interpreter_for(version: str) -> Path | None:
    """A Python ``major.minor`` on this machine: this one, one on the path, or one that pyenv keeps; None without."""
    return next((path for path in _candidates(version) if _version(path) == version), None)


def compile_tree(bundle: Path, interpreter: Path) -> None:
    """Write ``.pyc`` files that hold no time and no path of this machine, and are never checked against the source.

    Unchecked, because unpacking a bundle changes its files' times; a bundle's sources never change under its ``.pyc``.
    A module that doesn't compile (a template, or code for another Python) is left as it is.
    """
    command = [str(interpreter), "-m", "compileall", "-qq", "--invalidation-mode", "unchecked-hash"]
    command += ["-s", str(bundle), "-p", "/", str(bundle)]
    # The order in which a set is written into a .pyc follows the hash seed.
    environment = {"PATH": os.environ.get("PATH", ""), "PYTHONHASHSEED": "0"}
    subprocess.run(command, check=False, capture_output=True, cwd="/", env=environment, timeout=_COMPILE_SECONDS)


def _candidates(version: str) -> Iterator[Path]:
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        yield Path(sys.executable)
    name = f"python{version}"
    if on_path := shutil.which(name):
        yield Path(on_path)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for installed in sorted(pyenv.glob(f"versions/{version}*"), reverse=True):
        yield installed / "bin" / name


def _version(interpreter: Path) -> str | None:
    command = [str(interpreter), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        found = subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PROBE_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip()
