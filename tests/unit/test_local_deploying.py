from __future__ import annotations

from pathlib import Path

import pytest

from infra.local import deploying
from infra.local.deploying import deploy, digest_of, reason
from infra.local.emulator import Emulator
from infra.local.errors import DeployError
from infra.local.state import State


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    for folder in ("infra/local", "functions", "layers", "migrations"):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("cdk.json", "requirements.lock", "pyproject.toml", "package-lock.json", "infra/stack.py"):
        (tmp_path / file).write_text(file)
    return tmp_path


@pytest.mark.parametrize("path", ["infra/stack.py", "functions/new.py", "migrations/0002.sql", "cdk.json"])
def test_a_change_of_what_is_deployed_changes_the_digest(repo: Path, path: str) -> None:
    before = digest_of({}, root=repo)
    (repo / path).write_text("other")

    assert digest_of({}, root=repo) != before


@pytest.mark.parametrize("path", ["infra/local/console.py", "README.md", "functions/__pycache__/x.pyc"])
def test_a_change_of_anything_else_does_not(repo: Path, path: str) -> None:
    (repo / "functions/__pycache__").mkdir()
    before = digest_of({}, root=repo)
    (repo / path).write_text("other")

    assert digest_of({}, root=repo) == before


def test_another_context_is_another_digest(repo: Path) -> None:
    assert digest_of({"generator": "claude"}, root=repo) != digest_of({"generator": "extractive"}, root=repo)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        pytest.param(
            "Citewell | 60/68 | 3:05:59 AM | CREATE_FAILED        | Custom::Schema | Schema (X1) Error: no such model\n"
            "Citewell | 61/68 | 3:05:59 AM | ROLLBACK_IN_PROGRESS | AWS::CloudFormation::Stack | Citewell\n"
            "❌  Citewell failed: ToolkitError: it rolled back\n",
            "Custom::Schema: Schema (X1) Error: no such model",
            id="the first resource that failed",
        ),
        pytest.param(
            "citewell: unknown option modle: did you mean model?\nSubprocess exited with error 1\n",
            "citewell: unknown option modle: did you mean model?",
            id="the app's own message",
        ),
        pytest.param("something else\nand its end\n\n", "and its end", id="otherwise the last line"),
        pytest.param("", "it said nothing", id="silence"),
    ],
)
def test_the_reason_of_a_failed_deploy(said: str, told: str) -> None:
    assert reason(said) == told


@pytest.mark.parametrize("outputs", ["{}", '{"Citewell": {}}'])
def test_a_deploy_beside_one_that_has_not_ended_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outputs: str
) -> None:
    """The tool ends well then, and knows of no outputs."""
    tool = tmp_path / "cdk"
    tool.write_text(f"""#!/bin/sh
while [ $# -gt 0 ]; do
  if [ "$1" = --outputs-file ]; then echo '{outputs}' > "$2"; fi
  shift
done
""")
    tool.chmod(0o755)
    monkeypatch.setattr(deploying, "CDK", tool)
    emulator = Emulator(pid=1, port=9, authority=None)

    with pytest.raises(DeployError, match="Another deploy of this stack has not ended yet"):
        deploy(tmp_path, digest="0", emulator=emulator, state=State(tmp_path / "state"))
