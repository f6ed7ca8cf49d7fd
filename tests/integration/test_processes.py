"""Finding processes by what stands in their command line."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from infra.local import processes

MARK = f"citewell-test-{secrets.token_hex(8)}"


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", MARK]) as process:
        yield process
        process.kill()


def test_a_marked_process_is_found_and_ended(sleeper: subprocess.Popen[bytes]) -> None:
    assert processes.wait_until(lambda: processes.marked(f"{MARK} ") == [sleeper.pid], seconds=30)
    assert processes.runs(sleeper.pid, MARK)

    processes.end([sleeper.pid], how=signal.SIGTERM)

    # Not waited for yet, it is a zombie: still there, but running nothing.
    assert processes.wait_until(lambda: not processes.runs(sleeper.pid, MARK), seconds=30)
    assert processes.marked(MARK) == []


def test_another_process_of_that_number_is_not_taken_for_it() -> None:
    assert not processes.runs(os.getpid(), MARK)


def test_ending_what_is_gone_is_no_error(sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.kill()
    sleeper.wait()

    processes.end([sleeper.pid])
