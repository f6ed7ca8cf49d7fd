"""A bar for long work, on a terminal only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from tqdm import tqdm

_Item = TypeVar("_Item")


def progress(items: Sequence[_Item], label: str) -> Iterator[_Item]:
    yield from tqdm(items, desc=label, unit="", leave=False, disable=None)  # None: no bar where nobody watches
