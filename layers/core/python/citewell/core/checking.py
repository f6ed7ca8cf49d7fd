"""What a deploy asks a function, and what the function says."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

CHECK_EVENT = {"citewell": "check"}
"""Neither the API nor the queue can make an event like this: theirs have other keys."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Sentences for an operator, without a secret in them. A note is what a first deploy can't have done yet."""

    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def overdue(found: Findings, secrets: Collection[str]) -> Findings:
    """``found``, with what it notes of these ``secrets`` (ARNs) among its problems: there was time to fill them."""
    late = tuple(note for note in found.notes if any(arn in note for arn in secrets))
    return Findings((*found.problems, *late), tuple(note for note in found.notes if note not in late))
