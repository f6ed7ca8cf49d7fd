"""The data beside the repository that a benchmark takes: vectors of tenants of known size, and real files."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[3] / "shared/data"


def vectors() -> ModuleType:
    """The module ``vectors.py``: ``rows(n)`` gives tenants and vectors, ``queries(n)`` vectors of questions."""
    return _load(_there("vectors.py"))


def markdown() -> list[Path]:
    return sorted(_there("markdown").rglob("*.md"))


def company_pdfs() -> list[Path]:
    """Real PDFs: a company's benefit plans and handbook."""
    return sorted(_there("retrieval/northwind/pdf").glob("*.pdf"))


def odd_pdfs() -> list[Path]:
    """Real PDFs of every kind, most of one page, that libraries are tested with."""
    return sorted(_there("files").glob("*.pdf"))


def _there(name: str) -> Path:
    """Ends the program with a message where it isn't."""
    path = FOLDER / name
    if not path.exists():
        raise SystemExit(
            f"This benchmark takes {name} of the folder ../shared/data beside the repository; none is there."
        )
    return path


def _load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
