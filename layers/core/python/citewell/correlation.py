"""Which request or message is being worked on: one id, from the log lines to the database's sessions.

The functions note it once; the database edge names its transactions by it. So what a slow statement in Postgres' log or
in ``pg_stat_activity`` belonged to can be looked up in the functions' logs, and the other way round.
"""

from __future__ import annotations

from contextvars import ContextVar

_IDENTIFIER = ContextVar("identifier", default="")

_LONGEST_NAME = 63
"""Postgres cuts an application name after 63 bytes, with a warning."""


def correlate(identifier: str) -> None:
    """From here on this thread works on the request or message with this id; on none with an empty one."""
    _IDENTIFIER.set(identifier)


def application_name() -> str:
    """``citewell`` and the id as Postgres takes it: printable ASCII, 63 bytes at most."""
    printable = "".join(letter for letter in _IDENTIFIER.get() if "!" <= letter <= "~")
    return f"citewell {printable}".rstrip()[:_LONGEST_NAME]
