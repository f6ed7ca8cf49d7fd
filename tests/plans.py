"""What Postgres did for a store, as it says itself: every plan and its duration, by the module auto_explain.

The plans are those of the very statements that the store runs, with its settings and values, not of copies of them.
It takes a server whose role may load the module: a superuser's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

from psycopg.conninfo import make_conninfo
from psycopg.errors import Diagnostic

from citewell.edges import postgres

_SETTINGS = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_level": "notice",
    "auto_explain.log_timing": "off",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """One statement that ran. ``milliseconds`` is the server's time without planning; ``text`` ends in the plan."""

    milliseconds: float
    text: str

    @property
    def scans(self) -> set[str]:
        """How tables were read, such as ``Seq Scan on chunk`` or ``Index Scan using chunk_pkey on chunk``."""
        return set(
            re.findall(r"(?:Seq|Index|Index Only|Bitmap Heap|Bitmap Index) Scan (?:using \w+ )?on \w+", self.text)
        )


@dataclass(slots=True)
class Plans:
    """The plans of the two search arms and of all else, each in the order in which they ran."""

    vector: list[Plan] = field(default_factory=list)
    keyword: list[Plan] = field(default_factory=list)
    other: list[Plan] = field(default_factory=list)

    def add(self, notice: Diagnostic) -> None:
        match = re.match(r"duration: ([\d.]+) ms  plan:\n(.*)", notice.message_primary or "", re.DOTALL)
        if match is None:
            return
        plan = Plan(float(match[1]), match[2])
        if "AS scored" in plan.text or "scored AS" in plan.text:
            self.keyword.append(plan)
        elif "<=>" in plan.text:
            self.vector.append(plan)
        else:
            self.other.append(plan)


@contextmanager
def recorded_plans(*, analyze: bool = False) -> Iterator[Plans]:
    """Records what the stores run that connect within the block. ``analyze`` adds row counts, and costs time."""
    plans = Plans()
    settings = {**_SETTINGS, "auto_explain.log_analyze": "on" if analyze else "off"}
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    connect = postgres.connect

    def explaining(conninfo: str) -> postgres.Connection:
        connection = connect(make_conninfo(conninfo, options=options))
        connection.add_notice_handler(plans.add)
        return connection

    with patch.object(postgres, "connect", explaining):
        yield plans
