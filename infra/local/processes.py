"""Looking at processes that another run of this program started."""

from __future__ import annotations

import subprocess
from pathlib import Path


def runs(pid: int, mark: str) -> bool:
    """Whether process `pid` is alive and has `mark` in its command line.

    The mark is needed because process numbers are given again after a crash or a restart of the machine.
    """
    if Path("/proc/self").exists():
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            return False
        return mark in command  # empty for a zombie
    shown = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return mark in shown.stdout
