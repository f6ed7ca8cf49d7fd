"""Passages to test with: every field has a value, each test says the ones it is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from citewell.core.values import Passage

_PLAIN = Passage(
    chunk_id="",
    source="handbook/expenses.md",
    title="Expenses",
    section=("Expenses", "Meals"),
    page=None,
    ordinal=0,
    start=0,
    end=0,
    text="",
    score=0.8,
)


def a_passage(text: str = "The daily meal limit while travelling is 60 EUR.", **fields: Any) -> Passage:
    """A passage whose id is its text and whose span has its text's length, unless ``fields`` say otherwise."""
    start = fields.pop("start", 0)
    given = {"chunk_id": text, "end": start + len(text), **fields}
    return replace(_PLAIN, text=text, start=start, **given)
