"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is slow, not wrong: no example fails for the time it takes.
settings.register_profile("citewell", deadline=None)
settings.load_profile("citewell")
