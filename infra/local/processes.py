"""Looking at, and ending, processes that another run of this program started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

_PROC = Path("/proc")


def runs(pid: int, mark: str) -> bool:
    """Whether process ``pid`` is alive and has ``mark`` in its command line.

    The mark is needed because process numbers are given again after a crash or a restart of the machine.
    """
    return mark in _commands(pid).get(pid, "")


def marked(mark: str) -> list[int]:
    """The processes that have ``mark`` in their command line; this one is left out."""
    return [pid for pid, command in _commands().items() if mark in command and pid != os.getpid()]


def end(pids: list[int], *, how: signal.Signals = signal.SIGTERM) -> None:
    """Sends a signal to each that is still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)


def wait_until(condition: Callable[[], bool], *, seconds: float) -> bool:
    """Looks until ``condition`` holds, at most so long; whether it came to hold."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _commands(pid: int | None = None) -> dict[int, str]:
    """Command lines by process, each argument with a space after it. A process that has ended but was not waited
    for has none.
    """
    if (_PROC / "self").exists():
        pids = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()] if pid is None else [pid]
        return {each: command for each in pids if (command := _linux_command(each))}
    which = ["-A"] if pid is None else ["-p", str(pid)]
    shown = subprocess.run(["ps", *which, "-ww", "-o", "pid=,command="], capture_output=True, text=True, check=False)
    rows = (line.strip().partition(" ") for line in shown.stdout.splitlines())
    return {int(number): f"{command} " for number, _, command in rows if number}


def _linux_command(pid: int) -> str:
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""
