"""What holds for every test, how a run by several workers (``pytest -n 2``) is divided, and what a run says at last."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

SHARED_DATA = Path(__file__).parents[2] / "shared/data"

# A busy machine is slow, not wrong: no example fails for the time it takes.
settings.register_profile("citewell", deadline=None)
settings.register_profile("fuzz", deadline=None, max_examples=5_000)
settings.load_profile("citewell")


def pytest_report_header() -> str:
    """Some tests need material that isn't part of the repository; without it they aren't there at all."""
    return "shared data: " + ("used" if SHARED_DATA.is_dir() else "not there, so its tests are left out")


# --- several workers ------------------------------------------------------------------------------------------------

TOGETHER = ("tests/e2e/", "tests/infra/")
"""Folders whose files share what is dear, a running cloud or synthesised templates: one worker takes them in order."""


class FilesTogether(LoadFileScheduling):  # type: ignore[misc]  # xdist tells nothing of its types
    """Gives a worker a file at a time, for what the tests of a file share, and the whole of each folder of TOGETHER.

    In the order of collection, where what takes longest comes first: e2e, infra, integration, unit.
    """

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return next((folder for folder in TOGETHER if file.startswith(folder)), file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FilesTogether:
    config.option.loadscopereorder = False  # else it went by the number of tests
    return FilesTogether(config, log)


# --- the end of a run -----------------------------------------------------------------------------------------------

_SAID = pytest.StashKey[dict[str, list[str]]]()


def say_at_last(config: pytest.Config, heading: str, lines: Iterable[str]) -> None:
    """Has the run end with ``lines`` below ``heading``, whichever worker says so."""
    config.stash.setdefault(_SAID, {})[heading] = list(lines)


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is one of several that share a run, and so has no terminal."""
    return hasattr(config, "workeroutput")


def pytest_sessionfinish(session: pytest.Session) -> None:
    if is_worker(session.config):
        session.config.workeroutput["said"] = session.config.stash.get(_SAID, {})  # type: ignore[attr-defined]


def pytest_testnodedown(node: Any) -> None:
    """What a worker would have said; one that crashed has nothing to hand over."""
    for heading, lines in getattr(node, "workeroutput", {}).get("said", {}).items():
        say_at_last(node.config, heading, lines)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for heading, lines in config.stash.get(_SAID, {}).items():
        terminalreporter.section(heading)
        terminalreporter.write("".join(f"{line}\n" for line in lines))
