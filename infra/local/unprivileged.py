"""Running a program as somebody who is not root, in folders that this somebody can enter.

Postgres refuses to run as root, and in containers everybody is root. So as root it runs as `nobody`, who must be
able to enter the folder of the programs and the folder of the data. Under a private home (/root is closed to
all others) neither holds, and both get a place below /var/lib/citewell, where only root may write.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from infra.local.errors import UnreachableFolderError

ROOTS_OWN_PLACE = Path("/var/lib/citewell")
_USER = "nobody"

# Runs in a fresh interpreter between this process and the program. Not a preexec_fn: forking a process that has
# threads can deadlock. The death signal must be asked for after the change of user, which clears it, and the
# parent may be gone by then, in which case no signal would ever come.
_EXEC = """
import ctypes, os, sys
parent, user, group, bound, program = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5:]
prctl = ctypes.CDLL(None).prctl if bound == "bound" and sys.platform == "linux" else None
if user >= 0:
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)
if prctl is not None:
    prctl(1, 2)  # PR_SET_PDEATHSIG, SIGINT
    if os.getppid() != parent:
        sys.exit("the process that started this one is gone")
os.execv(program[0], program)
"""


def spawn(program: Sequence[str], *, output: BinaryIO, detached: bool) -> subprocess.Popen[bytes]:
    """Starts `program` (the first item is its full path), as `nobody` when this process is root's.

    detached: True starts a session of its own, which no Ctrl-C reaches. False asks Linux to send SIGINT to the
    program when the calling *thread* ends, however it ends; elsewhere nothing does that.
    """
    user, group = _identity() or (-1, -1)
    return subprocess.Popen(
        [
            *(sys.executable, "-I", "-S", "-c", _EXEC),
            *(str(os.getpid()), str(user), str(group), "detached" if detached else "bound"),
            *program,
        ],
        cwd="/",
        env={name: value for name, value in os.environ.items() if not name.startswith("PG")} | {"LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=detached,
    )


def give_away(path: Path) -> None:
    """Makes `path` the property of the user that `spawn` runs programs as."""
    if identity := _identity():
        os.chown(path, *identity)


def require_reachable(folder: Path) -> None:
    """Raises UnreachableFolderError unless programs that `spawn` starts can enter `folder`."""
    if barred := _first_barred(folder):
        raise UnreachableFolderError(
            f"As root, Postgres runs as the user '{_USER}', who cannot enter {barred} on the way to {folder}. "
            f"Use a folder outside it, or: chmod o+x {barred}"
        )


def reachable_folder(wished: Path) -> Path:
    """`wished`, or a place below /var/lib/citewell when programs that `spawn` starts could not get there.

    In the second case `wished` becomes a link to that place. When the link is gone, because somebody removed the
    folder it stood in, what the place holds belongs to nobody any more and is removed.
    """
    if wished.is_symlink():
        return wished.resolve()
    wished = wished.resolve()
    if _first_barred(wished.parent) is None:
        return wished
    place = ROOTS_OWN_PLACE / hashlib.sha256(os.fsencode(wished)).hexdigest()[:16]
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    _open_to_all(ROOTS_OWN_PLACE)
    wished.parent.mkdir(parents=True, exist_ok=True)
    wished.symlink_to(place)
    return place


def reachable_copy(folder: Path, *, name: str) -> Path:
    """`folder`, or when programs that `spawn` starts could not read it, a copy at /var/lib/citewell/`name`.

    The copy appears all at once, so that two processes may make it at the same time.
    """
    if _first_barred(folder) is None:
        return folder
    copy = ROOTS_OWN_PLACE / name
    if copy.exists():
        return copy
    unfinished = copy.with_name(f"{copy.name}.{os.getpid()}")
    shutil.copytree(folder, unfinished, symlinks=True)
    for path in (unfinished, *unfinished.rglob("*"), *unfinished.relative_to(ROOTS_OWN_PLACE).parents):
        _open_to_all(ROOTS_OWN_PLACE / path)
    try:
        unfinished.rename(copy)
    except OSError:  # somebody else was first
        shutil.rmtree(unfinished)
    return copy


def _open_to_all(path: Path) -> None:
    """Readable, and where it is a folder or a program enterable, whatever the umask or the original said."""
    mode = path.stat().st_mode
    path.chmod(stat.S_IMODE(mode) | (0o555 if mode & stat.S_IXUSR else 0o444))


def _identity() -> tuple[int, int] | None:
    """User and group to run as, or None to stay who we are."""
    if os.geteuid() != 0:
        return None
    user = pwd.getpwnam(_USER)
    return user.pw_uid, user.pw_gid


def _first_barred(folder: Path) -> Path | None:
    """The outermost folder on the way to (and including) `folder` that the other user may not enter."""
    if (identity := _identity()) is None:
        return None
    for step in reversed([folder, *folder.parents]):
        if step.exists() and not _may_enter(step.stat(), *identity):
            return step
    return None


def _may_enter(status: os.stat_result, user: int, group: int) -> bool:
    if status.st_uid == user:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == group:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)
