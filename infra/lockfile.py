"""The parts of ``requirements.lock`` that a layer is made of.

One lock pins everything that the project uses, on every platform. A layer takes the distributions that it names and
what those need: the lock says, in the ``# via`` comments that uv writes, which distribution asked for which, so no
second resolution, no second lock and no network are needed to know.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^]]*\])?==")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_REQUESTER = re.compile(r"\s+#\s+(?:via\s+)?(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\s.*)?$")


class LockError(Exception):
    """The lock doesn't hold what was asked of it; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Locked:
    """One distribution. ``lines`` are its requirement lines with hashes and markers, without comments.

    A distribution may stand there more than once, in versions for different interpreters.
    """

    lines: tuple[str, ...]
    requesters: frozenset[str]


def read_lock(path: Path) -> dict[str, Locked]:
    """Every distribution of a lock written by ``uv pip compile --generate-hashes``, by normalised name."""
    lines: dict[str, list[str]] = {}
    requesters: dict[str, set[str]] = {}
    current: str | None = None
    for line in path.read_text(encoding="utf-8").splitlines():
        if requirement := _REQUIREMENT.match(line):
            current = normalised(requirement["name"])
            lines.setdefault(current, []).append(line)
            requesters.setdefault(current, set())
        elif current is None:
            continue
        elif requester := _REQUESTER.match(line):
            if requester["name"] != "via":
                requesters[current].add(normalised(requester["name"]))
        elif line.strip():
            lines[current].append(line)
    return {name: Locked(tuple(lines[name]), frozenset(requesters[name])) for name in lines}


def closure(lock: Mapping[str, Locked], roots: Iterable[str]) -> frozenset[str]:
    """``roots`` and everything that they need, directly or not. Raises LockError when a root isn't locked.

    What an extra of a distribution needs is counted as its own need, since the lock doesn't tell them apart.
    """
    wanted = {normalised(root) for root in roots}
    if missing := sorted(wanted - lock.keys()):
        raise LockError(f"requirements.lock doesn't hold {', '.join(missing)}: run `make lock`")
    while needed := {name for name, locked in lock.items() if locked.requesters & wanted} - wanted:
        wanted |= needed
    return frozenset(wanted)


def requirements(lock: Mapping[str, Locked], names: Iterable[str]) -> str:
    """A requirements file of exactly ``names``, with their hashes, in the lock's order."""
    chosen = frozenset(names)
    return "".join(f"{line}\n" for name, locked in lock.items() if name in chosen for line in locked.lines)


def declared(pyproject: Path, *, extra: str | None = None) -> tuple[str, ...]:
    """The distributions that the project itself asks for: its dependencies, or those of one ``extra``."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] if extra is None else project["optional-dependencies"][extra]
    return tuple(_name(requirement) for requirement in wanted)


def normalised(name: str) -> str:
    """The form in which two spellings of a distribution's name are equal (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _name(requirement: str) -> str:
    match = _NAME.match(requirement)
    if match is None:
        raise LockError(f"not a requirement: {requirement!r}")
    return normalised(match.group())
