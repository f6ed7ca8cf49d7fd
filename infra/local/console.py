"""What `make up` tells the person at the terminal: one line a step, with how long it took."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator


def say(line: str = "") -> None:
    print(line, flush=True)


@contextlib.contextmanager
def step(doing: str) -> Iterator[None]:
    """Says what is being done, and at the end of the block how long it took."""
    sys.stdout.write(f"{doing} ... ")
    sys.stdout.flush()
    start = time.monotonic()
    try:
        yield
    except BaseException:
        say("failed")
        raise
    say(f"{time.monotonic() - start:.1f} s")
