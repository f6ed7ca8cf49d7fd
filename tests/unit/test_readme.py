from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from infra.options import option_keys

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXTS = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\bmake ([a-z]+)\b", TEXTS))))
def test_every_make_target_that_is_named_is_one(target: str) -> None:
    plan = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert plan.returncode == 0, plan.stderr


def test_the_first_screen_has_both_commands_and_a_cited_answer() -> None:
    first_screen = README[: README.index("## How it works")]
    assert "$ make up" in first_screen
    assert "$ make test" in first_screen
    assert "The daily meal limit while travelling is 60 EUR [1]." in first_screen


def test_the_options_table_names_every_option() -> None:
    section = README[README.index("| Option | Default |") : README.index("**On this machine**")]
    assert set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE)) == set(option_keys())


def test_every_error_code_of_a_document_is_explained() -> None:
    sources = "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "layers/core/python/citewell").rglob("*.py")
    )
    raised = set(re.findall(r'DocumentRejected\(\s*"(\w+)"', sources))
    classes = set(re.findall(r'^    code = "(\w+)"', sources, re.MULTILINE)) - {"generator_unavailable"}
    table = README[README.index("| Code | What to do |") : README.index("### Ask")]
    assert (raised | classes) - set(re.findall(r"`(\w+)`", table)) == set()


def test_every_file_that_is_linked_to_is_there() -> None:
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", TEXTS):
        assert (ROOT / link).exists(), link
