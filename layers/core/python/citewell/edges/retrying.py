"""Call something that may be away again, politely and for a bounded time."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from citewell.core.values import TextKind

Result = TypeVar("Result")


class TryAgain(Exception):
    """Raised by an attempt that failed in a way that may pass. ``retry_after`` is in seconds, where one was named."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Retrying:
    """Up to ``attempts`` calls within ``seconds``, with pauses of full jitter between them.

    A pause is uniformly random between zero and ``first_pause`` doubled with each attempt, ``longest_pause`` at most,
    and at least what the other side asked for. Source: Brooker, "Exponential Backoff And Jitter", AWS 2015.
    """

    attempts: int = 5
    seconds: float = 30.0
    first_pause: float = 0.5
    longest_pause: float = 8.0
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    uniform: Callable[[float, float], float] = field(default=random.uniform, repr=False)

    def call(self, attempt: Callable[[float], Result]) -> Result:
        """What ``attempt`` returns; it is given the seconds that are left, its own time-out included.

        Raises the last TryAgain when the attempts or the time are used up; at once when waiting would use it up.
        """
        deadline = self.clock() + self.seconds
        for number in range(1, self.attempts + 1):
            left = deadline - self.clock()
            if left <= 0:
                raise TryAgain(f"no time was left for attempt {number}")
            try:
                return attempt(left)
            except TryAgain as failure:
                pause = self._pause(number, failure.retry_after)
                if number == self.attempts or pause >= deadline - self.clock():
                    raise
            self.sleep(pause)
        raise AssertionError("attempts is at least 1")

    def _pause(self, number: int, asked: float | None) -> float:
        jitter = self.uniform(0, min(self.longest_pause, self.first_pause * 2 ** (number - 1)))
        return max(jitter, asked or 0.0)


EMBEDDING_PATIENCE: Mapping[TextKind, Retrying] = {
    TextKind.QUERY: Retrying(attempts=3, seconds=8.0, longest_pause=2.0),
    TextKind.PASSAGE: Retrying(seconds=20.0),
}
"""How long an embedder is tried. Someone waits for a question's vector, and the search and the answer are yet to
come, all in 29 seconds. A batch of passages may take what ingest keeps free for it."""


def parse_retry_after(value: str | None, *, now: datetime | None = None) -> float | None:
    """The seconds that a Retry-After header asks for, in either of its forms; None for none or nonsense.

    Source: RFC 9110, section 10.2.3.
    """
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.replace(".", "", 1).isdecimal():
        return float(value)
    try:
        when = email.utils.parsedate_to_datetime(value)
    except (ValueError, OverflowError):  # no date, and one that the calendar doesn't have
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def retry_worthwhile(status: int) -> bool:
    """Whether an HTTP status says that the same request may succeed later."""
    # 424 is Bedrock's word for a model that failed at this request.
    return status in (408, 409, 424, 425, 429) or status >= 500
