"""The same state gives the same deploy, from whatever checkout: an unchanged one changes nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from infra.bundling import ROOT, digests
from infra.model import EMBEDDER, RERANKER, ensure_models
from infra.options import Options, Target
from tests.infra.conftest import SynthesiseInto
from tests.infra.templates import Json

_DIGESTS = """
import json, sys
from infra import bundling
from infra.options import Target
print(json.dumps([str(bundling.ROOT), bundling.digests(Target(sys.argv[1]), local_embedder=True, local_reranker=True)]))
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a clone of this state would hold: other paths, other times, other modes, and nothing that tools left."""
    clone = tmp_path_factory.mktemp("elsewhere") / "citewell"
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True, timeout=60).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, clone / name)
            (clone / name).chmod(0o600)
    # Not in the repository: setup takes it out of a wheel, and it is pinned by its hashes.
    ensure_models(EMBEDDER, RERANKER)
    for model in (EMBEDDER, RERANKER):
        shutil.copytree(model.folder, clone / model.folder.relative_to(ROOT))
    return clone


@pytest.mark.parametrize("target", list(Target))
def test_a_fresh_clone_names_every_bundle_the_same(target: Target, clone: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{clone}:{clone / 'layers/core/python'}"}
    command = [sys.executable, "-B", "-c", _DIGESTS, target]
    ran = subprocess.run(command, cwd="/", env=environment, check=False, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    root, theirs = json.loads(ran.stdout)
    assert Path(root) == clone
    assert theirs == digests(target, local_embedder=True, local_reranker=True)


@pytest.mark.parametrize("left", ["__pycache__/ask.cpython-313.pyc", ".DS_Store", "handler.pyc", "handler.py~"])
def test_what_tools_leave_among_the_sources_changes_no_digest(left: str, clone: Path) -> None:
    before = digests(Target.LOCAL, local_embedder=False, root=clone)
    leftover = clone / "functions" / "ask" / left
    leftover.parent.mkdir(exist_ok=True)
    leftover.write_bytes(b"left")
    try:
        assert digests(Target.LOCAL, local_embedder=False, root=clone) == before
    finally:
        leftover.unlink()


def test_a_changed_source_changes_the_digest_of_its_bundle_alone(clone: Path) -> None:
    before = digests(Target.LOCAL, local_embedder=False, root=clone)
    with (clone / "functions/ask/handler.py").open("a", encoding="utf-8") as handler:
        handler.write("\n# changed\n")
    after = digests(Target.LOCAL, local_embedder=False, root=clone)
    assert [name for name in before if before[name] != after[name]] == ["functions/ask"]


def test_a_second_synth_gives_the_same_template_and_the_same_assets(
    synthesise_into: SynthesiseInto, tmp_path: Path
) -> None:
    one, other = (synthesise_into(tmp_path / name, Options()).path for name in ("here", "there"))
    assert one.read_text(encoding="utf-8") == other.read_text(encoding="utf-8")
    assert _assets(one) == _assets(other)


def test_an_asset_is_named_by_its_bundles_digest_and_not_by_its_bytes(
    synthesise_into: SynthesiseInto, tmp_path: Path
) -> None:
    one, other = (synthesise_into(tmp_path / name, Options(), content=name).path for name in ("this", "that"))
    assert one.read_text(encoding="utf-8") == other.read_text(encoding="utf-8")
    assert _assets(one) == _assets(other)


def _assets(template: Path) -> set[str]:
    """The hashes of the stack's file assets, without the template's own."""
    files: Json = json.loads(template.with_name("Citewell.assets.json").read_text(encoding="utf-8"))["files"]
    return {name for name, file in files.items() if file["source"]["packaging"] == "zip"}
