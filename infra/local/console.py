"""What `make up` tells the person at the terminal: one line a step, with how long it took."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator


def say(line: str = "") -> None:
    print(line, flush=True)


@contextlib.contextmanager
def step(doing: str, *, talks: bool = False) -> Iterator[None]:
    """Says what is being done, and at the end of the block how long it took.

    talks: what is done says something itself, on lines of its own.
    """
    print(f"{doing} ...", end="\n" if talks else " ", flush=True)
    start = time.monotonic()
    try:
        yield
    except BaseException:
        say("failed")
        raise
    say(f"{'... ' if talks else ''}{time.monotonic() - start:.1f} s")
