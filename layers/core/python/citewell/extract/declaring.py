"""What a document declares of itself, its language and date, checked before it is believed."""

from __future__ import annotations

import datetime
import re

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ].*)?")


def language_tag_of(value: str) -> str | None:
    """A tag such as ``de`` or ``pt-BR``; None for anything else."""
    value = value.strip()
    return value.replace("_", "-") if _LANGUAGE.fullmatch(value) else None


def date_of(value: str) -> str | None:
    """The day of an ISO 8601 date or time; None for anything else."""
    match = _DATE.fullmatch(value.strip())
    if match is None:
        return None
    try:
        return datetime.date.fromisoformat(match[1]).isoformat()
    except ValueError:
        return None
