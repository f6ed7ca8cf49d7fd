"""Retries: how often, how long between, and when to stop."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from citewell.edges.retrying import Retrying, TryAgain, parse_retry_after, retry_worthwhile


class Time:
    """A clock that moves only while somebody sleeps or works; pauses are as long as they may be."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def retrying(
        self, *, attempts: int = 5, seconds: float = 30, first_pause: float = 0.5, longest_pause: float = 8
    ) -> Retrying:
        return Retrying(
            attempts=attempts,
            seconds=seconds,
            first_pause=first_pause,
            longest_pause=longest_pause,
            clock=lambda: self.now,
            sleep=self.sleep,
            uniform=max,
        )


def failing(*failures: float | None) -> tuple[Callable[[float], str], list[float]]:
    """An attempt that fails once for each Retry-After of ``failures``; and the seconds that each was given."""
    left = list(failures)
    given: list[float] = []

    def attempt(seconds: float) -> str:
        given.append(seconds)
        if left:
            raise TryAgain("busy", retry_after=left.pop(0))
        return "done"

    return attempt, given


def test_success_needs_one_attempt_and_no_pause() -> None:
    time = Time()
    attempt, given = failing()
    assert time.retrying(seconds=30).call(attempt) == "done"
    assert (given, time.slept) == ([30.0], [])


def test_pauses_double_up_to_the_longest() -> None:
    time = Time()
    attempt, given = failing(None, None, None, None)
    retrying = time.retrying(attempts=5, seconds=60, first_pause=0.5, longest_pause=2)
    assert retrying.call(attempt) == "done"
    assert time.slept == [0.5, 1.0, 2.0, 2.0]
    assert given == [60.0, 59.5, 58.5, 56.5, 54.5]


def test_pauses_are_drawn_from_the_whole_range_below_that() -> None:
    drawn: list[tuple[float, float]] = []
    time = Time()
    attempt, _ = failing(None, None)

    def uniform(low: float, high: float) -> float:
        drawn.append((low, high))
        return low

    Retrying(clock=lambda: time.now, sleep=time.sleep, uniform=uniform).call(attempt)
    assert drawn == [(0, 0.5), (0, 1.0)]
    assert time.slept == [0, 0]


def test_a_pause_is_at_least_what_was_asked_for() -> None:
    time = Time()
    attempt, _ = failing(9.0, 0.0)
    time.retrying(seconds=30).call(attempt)
    assert time.slept == [9.0, 1.0]


def test_the_last_failure_is_raised_after_the_last_attempt() -> None:
    time = Time()
    attempt, given = failing(None, None, 3.0, None)
    with pytest.raises(TryAgain, match="busy") as caught:
        time.retrying(attempts=3).call(attempt)
    assert caught.value.retry_after == 3.0
    assert len(given) == 3


def test_a_pause_that_would_use_up_the_time_is_not_begun() -> None:
    time = Time()
    attempt, given = failing(30.0)
    with pytest.raises(TryAgain, match="busy"):
        time.retrying(seconds=30).call(attempt)
    assert (len(given), time.slept) == (1, [])


def test_no_attempt_is_made_without_time() -> None:
    attempt, given = failing()
    with pytest.raises(TryAgain, match="no time was left"):
        Time().retrying(seconds=0).call(attempt)
    assert given == []


def test_other_errors_are_not_retried() -> None:
    time = Time()

    def attempt(seconds: float) -> str:
        raise ValueError(seconds)

    with pytest.raises(ValueError, match="30"):
        time.retrying(seconds=30).call(attempt)
    assert time.slept == []


NOW = datetime(2025, 6, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        (" 7 ", 7.0),
        ("1.5", 1.5),
        ("Sun, 01 Jun 2025 12:00:30 GMT", 30.0),
        ("Sunday, 01-Jun-25 12:00:30 GMT", 30.0),
        ("Sun Jun  1 12:00:30 2025", 30.0),
        ("Sun, 01 Jun 2025 11:00:00 GMT", 0.0),
        ("Sun, 01 Jun 2025 14:00:30 +0200", 30.0),
        ("-3", None),
        ("soon", None),
        ("", None),
        ("nan", None),
        ("1e9", None),
        ("٣", None),
        ("Sun, 99 Jun 2025 12:00:30 GMT", None),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
        ("Mon, 01 Jan 10000 00:00:00 GMT", None),
        ("Mon, 01 Jan 2026 00:00:00 +99999999999999999999", None),
    ],
)
def test_both_forms_of_retry_after_are_understood_and_nonsense_is_ignored(
    header: str | None, seconds: float | None
) -> None:
    assert parse_retry_after(header, now=NOW) == seconds


def test_which_statuses_are_worth_another_try() -> None:
    expected = [408, 409, 424, 425, 429, *range(500, 600)]
    assert [status for status in range(200, 600) if retry_worthwhile(status)] == expected
