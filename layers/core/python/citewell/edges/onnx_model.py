"""A model file run by onnxruntime on this machine's processors."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.errors import ConfigurationError

if TYPE_CHECKING:
    # Over a second of import and 100 MB: paid when a model is first run, not by who imports this module.
    from onnxruntime import InferenceSession


def model_hash(model: Path, *, setting: str) -> str:
    """The file's sha256. Raises ConfigurationError, naming ``setting``, when there is none."""
    if not model.is_file():
        raise ConfigurationError(f"the local model is missing: {model}; {setting} names its folder")
    with model.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_session(model: Path) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count() or 1
    # Spinning threads burn the CPU that the next text, or another process, needs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
