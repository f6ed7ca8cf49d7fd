"""A bundle is rebuilt when, and only when, something that it is made from has changed. No wheel is fetched here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from infra import bundling
from infra.bundling import Bundle, Bundles, BundlingError, build, size_lines
from infra.bytecode import interpreter_for
from infra.options import Target

HOST_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small repository without a single dependency."""
    root = tmp_path / "project"
    files = {
        "pyproject.toml": "[project]\ndependencies = []\noptional-dependencies.parsers = []\n",
        "requirements.lock": "",
        "layers/core/python/citewell/__init__.py": "",
        "layers/core/python/citewell/core/words.py": "WORDS = {'a', 'b', 'c', 'd'}\nORDER = frozenset(WORDS)\n",
        "layers/core/python/citewell/core/tests/test_words.py": "",
        "layers/core/rds-ca/global-bundle.pem": "",
        "functions/__init__.py": "",
        "migrations/0001_first.sql": "select 1;",
    }
    files |= {f"functions/{name}/handler.py": f"NAME = {name!r}\n" for name in bundling.FUNCTIONS}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def _build(project: Path, output: str = "build") -> Bundles:
    return build(Target.LOCAL, local_embedder=False, root=project, output=project / output)


def _digests(bundles: Bundles) -> dict[str, str]:
    return {name: each.digest for name, each in {**bundles.layers, **bundles.functions}.items()}


def _content(folder: Path) -> dict[str, tuple[bytes, int, float]]:
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_bundle_holds_sources_where_lambda_imports_them_from(project: Path) -> None:
    bundles = _build(project)
    assert bundles.layers.keys() == {"core", "dependencies", "parsers"}
    assert bundles.functions.keys() == {"ingest", "ask", "documents", "migrate", "verify"}
    assert (bundles.layers["core"].path / "python/citewell/core/words.py").is_file()
    for name, bundle in bundles.functions.items():
        assert (bundle.path / "functions" / name / "handler.py").is_file()
        assert (bundle.path / "migrations/0001_first.sql").exists() == (name == "migrate")


def test_tests_and_caches_are_left_out(project: Path) -> None:
    cache = project / "layers/core/python/citewell/__pycache__/stale.cpython-39.pyc"
    cache.parent.mkdir()
    cache.write_bytes(b"")
    names = set(_content(_build(project).layers["core"].path))
    assert not [name for name in names if "tests/" in name or "stale" in name]


def test_building_again_changes_nothing(project: Path) -> None:
    first = _build(project)
    inodes = {path: path.stat().st_ino for path in (project / "build").rglob("*.py")}
    assert _build(project) == first
    assert {path: path.stat().st_ino for path in (project / "build").rglob("*.py")} == inodes


def test_the_same_sources_give_the_same_bytes(project: Path) -> None:
    first, second = _build(project, "one"), _build(project, "two")
    assert _digests(first) == _digests(second)
    assert _content(first.layers["core"].path) == _content(second.layers["core"].path)
    assert _content(first.layers["core"].path)


@pytest.mark.parametrize(
    ("change", "rebuilt"),
    [
        (lambda root: (root / "functions/ask/handler.py").write_text("NAME = 'other'\n"), {"ask"}),
        (lambda root: (root / "migrations/0002_second.sql").write_text("select 2;"), {"migrate"}),
        (lambda root: (root / "layers/core/python/citewell/__init__.py").write_text("NEW = 1\n"), {"core"}),
        (
            lambda root: (root / "functions/ask/handler.py").rename(root / "functions/ask/renamed.py"),
            {"ask"},
        ),
        (lambda root: os.utime(root / "functions/ask/handler.py", (0, 0)), set()),
        (lambda root: (root / "functions/README.md").write_text("said elsewhere"), set()),
    ],
    ids=["handler", "migration", "package", "renamed file", "time alone", "another file"],
)
def test_only_what_a_change_touches_is_rebuilt(
    change: Callable[[Path], object], rebuilt: set[str], project: Path
) -> None:
    before = _digests(_build(project))
    change(project)
    after = _digests(_build(project))
    assert {name for name in after if after[name] != before[name]} == rebuilt


def test_a_change_of_the_lock_rebuilds_the_layers_that_hold_the_distribution(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[str] = []

    def install(wheels: str, destination: Path, **_: object) -> None:
        destination.mkdir(parents=True)
        installed.append(wheels)

    monkeypatch.setattr(bundling, "_install", install)
    pin = "thing=={} \\\n    --hash=sha256:aa\n    # via product (pyproject.toml)\nother==1 \\\n    --hash=sha256:bb\n"
    declaring = '[project]\ndependencies = ["thing"]\noptional-dependencies.parsers = []\n'
    (project / "pyproject.toml").write_text(declaring, encoding="utf-8")
    (project / "requirements.lock").write_text(pin.format(1), encoding="utf-8")
    before = _digests(_build(project))
    (project / "requirements.lock").write_text(pin.format(2), encoding="utf-8")
    after = _digests(_build(project))
    assert {name for name in after if after[name] != before[name]} == {"dependencies"}
    assert installed == ["thing==1 \\\n    --hash=sha256:aa\n", "thing==2 \\\n    --hash=sha256:aa\n"]


def test_targets_do_not_share_layers(project: Path) -> None:
    local = _digests(_build(project))
    aws = _digests(build(Target.AWS, local_embedder=False, root=project, output=project / "build"))
    assert local["dependencies"] != aws["dependencies"]


def test_a_build_that_breaks_leaves_the_last_bundle(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = _build(project).functions["ask"]
    before = _content(bundle.path)
    (project / "functions/ask/handler.py").write_text("NAME = 'other'\n", encoding="utf-8")

    def break_(_: Path) -> None:
        raise RuntimeError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(bundling, "_normalise", break_)
        with pytest.raises(RuntimeError, match="the disk is full"):
            _build(project)
    assert _content(bundle.path) == before
    assert b"other" in (_build(project).functions["ask"].path / "functions/ask/handler.py").read_bytes()
    assert not list((project / "build").rglob(".building-*"))


def test_a_bundle_that_was_deleted_is_built_again(project: Path) -> None:
    bundle = _build(project).functions["ask"]
    bundle.path.rename(project / "gone")
    assert (_build(project).functions["ask"].path / "functions/ask/handler.py").is_file()


@pytest.mark.parametrize("record", ["", "{", '{"digest": 1}'])
def test_a_damaged_record_means_building_again(record: str, project: Path) -> None:
    bundle = _build(project).functions["ask"]
    bundle.path.with_name("ask.json").write_text(record, encoding="utf-8")
    assert _build(project).functions["ask"] == bundle


def test_a_function_without_sources_is_named(project: Path) -> None:
    (project / "functions/ask/handler.py").unlink()
    (project / "functions/ask").rmdir()
    with pytest.raises(BundlingError, match="functions/ask needs .*, which isn't there"):
        _build(project)


def test_compiled_modules_hold_no_path_of_this_machine_and_are_used_unchecked(project: Path) -> None:
    [compiled] = _build(project).layers["core"].path.rglob("words.*.pyc")
    content = compiled.read_bytes()
    assert str(project).encode() not in content
    assert int.from_bytes(content[4:8], "little") == 0b01  # PEP 552: hash-based, unchecked


def test_without_a_matching_interpreter_sources_are_shipped_and_the_digest_says_so(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled = _build(project)
    monkeypatch.setattr(bundling, "interpreter_for", lambda _: None)
    plain = _build(project)
    assert not list(plain.layers["core"].path.rglob("*.pyc"))
    assert not set(_digests(compiled).values()) & set(_digests(plain).values())
    assert f"no Python {HOST_PYTHON} here" in capsys.readouterr().err


def test_this_interpreter_is_found_and_an_unknown_one_is_not() -> None:
    found = interpreter_for(HOST_PYTHON)
    assert found is not None
    said = subprocess.run([found, "-c", "import sys; print(*sys.version_info[:2], sep='.')"], capture_output=True)
    assert said.stdout.decode().strip() == HOST_PYTHON
    assert interpreter_for("3.2") is None


def test_a_functions_size_counts_its_layers() -> None:
    def bundle(size: int) -> Bundle:
        return Bundle(Path("unused"), "digest", size)

    megabyte = 2**20
    bundles = Bundles(
        layers={"core": bundle(49 * megabyte), "tokenizer": bundle(25 * megabyte)},
        functions={"ingest": bundle(megabyte), "ask": bundle(megabyte)},
    )
    assert list(size_lines(bundles)) == [
        "ingest     arm64     75.0 of Lambda's 250 MB unpacked, 175.0 MB to spare",
        "ask        arm64     50.0 of Lambda's 250 MB unpacked, 200.0 MB to spare",
    ]
