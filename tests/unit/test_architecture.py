"""Imports point inward: handler, wiring, use case, core."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "layers/core/python/citewell"
STANDARD_LIBRARY = sys.stdlib_module_names


def _modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def _imports(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: a relative import"
            yield node.module or ""


def _name(module: Path) -> str:
    return str(module.relative_to(ROOT))


@pytest.mark.parametrize("module", _modules(PACKAGE / "core"), ids=_name)
def test_the_core_imports_only_itself_and_the_standard_library(module: Path) -> None:
    allowed_of_ours = ("citewell.core", "citewell.errors")
    forbidden = {"os", "random", "secrets", "time", "logging", "socket", "subprocess"}
    for imported in _imports(module):
        top = imported.split(".")[0]
        assert imported.startswith(allowed_of_ours) or (top in STANDARD_LIBRARY and top not in forbidden), imported


@pytest.mark.parametrize("module", _modules(PACKAGE / "usecases"), ids=_name)
def test_use_cases_know_ports_and_core_but_no_edge(module: Path) -> None:
    for imported in _imports(module):
        assert not imported.startswith(("citewell.edges", "citewell.wiring", "citewell.http", "functions")), imported
        assert imported.split(".")[0] not in {"boto3", "botocore", "httpx", "anthropic", "aws_lambda_powertools"}


@pytest.mark.parametrize("module", _modules(PACKAGE / "edges"), ids=_name)
def test_edges_know_no_use_case(module: Path) -> None:
    for imported in _imports(module):
        assert not imported.startswith(("citewell.usecases", "citewell.wiring", "citewell.http", "functions")), imported


@pytest.mark.parametrize("module", _modules(ROOT / "functions"), ids=_name)
def test_handlers_import_citewell_and_powertools_only(module: Path) -> None:
    for imported in _imports(module):
        top = imported.split(".")[0]
        assert top in {"citewell", "aws_lambda_powertools"} or top in STANDARD_LIBRARY, imported
        assert not imported.startswith("citewell.edges"), imported


@pytest.mark.parametrize("module", _modules(PACKAGE), ids=_name)
def test_the_environment_is_read_in_one_place(module: Path) -> None:
    names = {node.attr for node in ast.walk(ast.parse(module.read_text("utf-8"))) if isinstance(node, ast.Attribute)}
    assert module.name == "settings.py" or not names & {"environ", "getenv"}
