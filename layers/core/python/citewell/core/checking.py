"""What a deploy asks a function, and what the function says."""

from __future__ import annotations

from dataclasses import dataclass

CHECK_EVENT = {"citewell": "check"}
"""Neither the API nor the queue can make an event like this: theirs have other keys."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Sentences for an operator, without a secret in them. A note is what a first deploy can't have done yet."""

    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
