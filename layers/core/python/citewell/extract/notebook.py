"""Jupyter notebooks (nbformat 3 and 4), which are JSON, as the Markdown that their reader sees."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

_TERMINAL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_FENCE = re.compile(r"`{3,}")
_LEVELS = frozenset("123456")
_SHOWN = ("text/markdown", "text/plain", "text/latex")
"""Forms of one output, the best first; its page and its picture are for browsers."""


def is_notebook(keys: Container[str]) -> bool:
    """By those of the document's outermost object."""
    return "nbformat" in keys and ("cells" in keys or "worksheets" in keys)


def markdown_of(notebook: Mapping[str, Any]) -> str:
    """Its texts as they are, code and what it printed in fences, each parted by a blank line."""
    language = _text(_at(notebook, "metadata", "kernelspec", "language"))
    return "\n\n".join(part for cell in _cells(notebook) for part in _parts(cell, language) if part.strip())


def _cells(notebook: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    sheets = notebook.get("worksheets")
    first = sheets[0] if isinstance(sheets, list) and sheets else None
    cells = notebook.get("cells") or (first.get("cells") if isinstance(first, dict) else None)
    return [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []


def _parts(cell: Mapping[str, Any], language: str) -> Iterator[str]:
    kind = cell.get("cell_type")
    source = _text(cell.get("source", cell.get("input")))
    if kind == "code":
        yield _fenced(source, language)
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else ():
            if isinstance(output, dict):
                yield _shown(output)
    elif kind == "heading":
        level = str(cell.get("level"))
        yield f"{'#' * (int(level) if level in _LEVELS else 1)} {source}"
    else:
        yield source


def _shown(output: Mapping[str, Any]) -> str:
    if output.get("output_type") in {"error", "pyerr"}:
        return _fenced(f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}")
    data = output.get("data")
    forms = data if isinstance(data, dict) else {"text/plain": output.get("text")}
    form = next((form for form in _SHOWN if _text(forms.get(form)).strip()), None)
    text = _text(forms.get(form)) if form else ""
    return text if form == "text/markdown" else _fenced(_TERMINAL.sub("", text))


def _fenced(code: str, language: str = "") -> str:
    if not code.strip():
        return ""
    fence = "`" * (max((len(inner) for inner in _FENCE.findall(code)), default=2) + 1)
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"


def _text(value: Any) -> str:
    """A text, which may be a list of its lines; empty for anything else."""
    lines: Sequence[Any] = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str))


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
