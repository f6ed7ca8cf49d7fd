"""What holds for every test."""

from __future__ import annotations

from pathlib import Path

from hypothesis import settings

SHARED_DATA = Path(__file__).parents[2] / "shared/data"

# A busy machine is slow, not wrong: no example fails for the time it takes.
settings.register_profile("citewell", deadline=None)
settings.load_profile("citewell")


def pytest_report_header() -> str:
    """Some tests need material that isn't part of the repository; without it they aren't there at all."""
    return "shared data: " + ("used" if SHARED_DATA.is_dir() else "not there, so its tests are left out")
