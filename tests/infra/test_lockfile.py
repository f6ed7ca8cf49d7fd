"""A layer gets what it asks for, what that needs, and nothing else."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest

from infra.lockfile import LockError, closure, declared, normalised, read_lock, requirements

ROOT = Path(__file__).parents[2]

LOCK = """\
client==2.0 \\
    --hash=sha256:aa \\
    --hash=sha256:ab
    # via
    #   product (pyproject.toml)
    #   tester
numbers==1.0 ; python_full_version < '3.12' \\
    --hash=sha256:ba
    # via client
numbers==2.0 ; python_full_version >= '3.12' \\
    --hash=sha256:bb
    # via client
tester==3.0 \\
    --hash=sha256:ca
    # via product (pyproject.toml:dev)
Typing_Words==4.0 \\
    --hash=sha256:da
    # via
    #   numbers
    #   tester
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.lock"
    path.write_text(LOCK, encoding="utf-8")
    return path


def test_a_layer_takes_what_its_distributions_need(lock: Path) -> None:
    assert closure(read_lock(lock), ["client"]) == {"client", "numbers", "typing-words"}


def test_names_are_compared_in_their_normal_form(lock: Path) -> None:
    assert closure(read_lock(lock), ["Typing.Words"]) == {"typing-words"}


def test_a_distribution_that_is_not_locked_is_named(lock: Path) -> None:
    with pytest.raises(LockError, match="doesn't hold unheard-of: run `make lock`"):
        closure(read_lock(lock), ["client", "unheard-of"])


def test_requirements_keep_pins_hashes_and_markers(lock: Path) -> None:
    assert requirements(read_lock(lock), ["numbers"]) == (
        "numbers==1.0 ; python_full_version < '3.12' \\\n"
        "    --hash=sha256:ba\n"
        "numbers==2.0 ; python_full_version >= '3.12' \\\n"
        "    --hash=sha256:bb\n"
    )


def test_what_the_project_asks_for_is_read_from_pyproject(tmp_path: Path) -> None:
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text(
        '[project]\ndependencies = ["psycopg[binary]>=3", "Some_Thing", "httpx <1"]\n'
        '[project.optional-dependencies]\nembedder = ["numpy>=2"]\n',
        encoding="utf-8",
    )
    assert declared(pyproject) == ("psycopg", "some-thing", "httpx")
    assert declared(pyproject, extra="embedder") == ("numpy",)


def test_nothing_the_product_imports_is_missing_from_its_layer() -> None:
    """The lock's comments against the installed distributions' own metadata."""
    layer = closure(read_lock(ROOT / "requirements.lock"), declared(ROOT / "pyproject.toml"))
    for name in layer & {normalised(each.name) for each in metadata.distributions()}:
        for requirement in metadata.requires(name) or []:
            needed, _, marker = requirement.partition(";")
            if not marker.strip():
                assert _name(needed) in layer, f"{name} needs {needed}"


def test_nothing_of_the_tools_is_in_the_products_layer() -> None:
    layer = closure(read_lock(ROOT / "requirements.lock"), declared(ROOT / "pyproject.toml"))
    assert not layer & {"aws-cdk-lib", "pytest", "moto", "ministack", "mypy", "numpy", "huggingface-hub"}


def _name(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match
    return normalised(match.group())
