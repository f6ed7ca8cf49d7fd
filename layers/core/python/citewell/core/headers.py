"""The contextual header: what a passage is about, put before it when it is embedded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

HEADER_VERSION = "1"
"""Part of the pipeline's version: raise it with any change that gives other headers."""

_SEPARATOR = " > "
_ELLIPSIS = "…"


def contextual_header(
    title: str | None, section: Sequence[str], *, max_tokens: int, token_starts: Callable[[str], Sequence[int]]
) -> str:
    """``Title > Section > Subsection`` in at most ``max_tokens``, the middle left out first.

    The title isn't said twice where the outermost heading is the title.
    """
    parts = [*section]
    if title and (not parts or _folded(parts[0]) != _folded(title)):
        parts.insert(0, title)
    while len(token_starts(_SEPARATOR.join(parts))) > max_tokens:
        if len(parts) <= 2 or parts[1:-1] == [_ELLIPSIS]:
            return _squeezed([parts[0], parts[-1]] if len(parts) > 1 else parts, max_tokens, token_starts)
        kept = parts[1:-1]
        kept = [part for part in kept if part != _ELLIPSIS][1:]
        parts[1:-1] = [_ELLIPSIS, *kept]
    return _SEPARATOR.join(parts)


def _squeezed(parts: Sequence[str], max_tokens: int, token_starts: Callable[[str], Sequence[int]]) -> str:
    """The parts, each cut to an equal share; nothing where not even that fits."""
    for share in range(max_tokens // max(1, len(parts)), 0, -1):
        header = _SEPARATOR.join(_cut(part, share, token_starts) for part in parts)
        if len(token_starts(header)) <= max_tokens:
            return header
    return ""


def _cut(part: str, tokens: int, token_starts: Callable[[str], Sequence[int]]) -> str:
    starts = token_starts(part)
    return part if len(starts) <= tokens else part[: starts[tokens]].rstrip() + _ELLIPSIS


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
