"""Everything that could make a run's figures differ from another's."""

from __future__ import annotations

import dataclasses
import platform
import re
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from citewell.core.chunking import CHUNKER_VERSION
from citewell.core.headers import HEADER_VERSION
from citewell.core.refusing import KNOWN_FITS, RefusalFit
from citewell.extract import EXTRACTOR_VERSION
from citewell.settings import Settings
from citewell.wiring import Wiring

ROOT = Path(__file__).parents[1]
MODEL_DIR = ROOT / "build/model/bge-small-en-v1.5"
RERANKER_MODEL_DIR = ROOT / "build/model/ms-marco-MiniLM-L-12-v2"

_NAMES_A_PLACE = re.compile("database|bucket|queue|url|arn|_dir|contact|_function|claim|^auth$")
"""Settings that say where things are or who may ask: they shape no ranking, and don't leave the machine."""

_PACKAGES = ("onnxruntime", "numpy", "psycopg", "pgvector")


def eval_settings(*, rerank: bool = False) -> Settings:
    """The environment's, with the models that `make setup` put under build/.

    ``rerank`` turns the bundled reranker on where the environment names no other, with all the time that there is:
    what a model is worth shouldn't depend on how busy this machine is.
    """
    settings = Settings.from_environment()
    if settings.embedder == "local" and settings.model_dir is None:
        settings = dataclasses.replace(settings, model_dir=str(MODEL_DIR))
    if rerank and settings.reranker == "none":
        settings = dataclasses.replace(settings, reranker="local", rerank_seconds=600.0)
    if settings.reranker == "local" and settings.reranker_model_dir is None:
        settings = dataclasses.replace(settings, reranker_model_dir=str(RERANKER_MODEL_DIR))
    return settings


def refusal_in_force(product: Wiring) -> RefusalFit:
    """The product's; one that refuses nothing where the product would find none, so that one can be fitted.

    Raises ConfigurationError for a fit that is given and can't be used.
    """
    given = product.settings.refusal_fit is not None or product.settings.min_score is not None
    model_id = product.embedder.model_id
    if given or any(known.model_id == model_id for known in KNOWN_FITS):
        return product.refusal
    return RefusalFit(model_id, coverage_weight=0.0, threshold=-1.0)


def configuration(product: Wiring) -> dict[str, Any]:
    """JSON values: code, settings, versions, models and date."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "git": {"revision": _git("rev-parse", "HEAD"), "dirty": _git("status", "--porcelain") not in ("", None)},
        "embedder": product.embedder.model_id,
        "dimensions": product.embedder.dimensions,
        **_shaping(product.settings),
        "reranker": product.reranker.model_id if product.reranker else None,
        "refusal": dataclasses.asdict(refusal_in_force(product)),
        "versions": {
            "extractor": EXTRACTOR_VERSION,
            "chunker": CHUNKER_VERSION,
            "header": HEADER_VERSION,
            "migrations": _last_migration(),
            "python": platform.python_version(),
            "machine": platform.machine(),
            **dict(_versions(_PACKAGES)),
        },
    }


def _shaping(settings: Settings) -> dict[str, Any]:
    values = {each.name: getattr(settings, each.name) for each in dataclasses.fields(settings)}
    return {
        name: value
        for name, value in values.items()
        if name not in ("embedder", "reranker", "refusal_fit", "min_score")
        and value is not None
        and not _NAMES_A_PLACE.search(name)
    }


def _git(*arguments: str) -> str | None:
    """None outside of a checkout, or where there is no git."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _last_migration() -> str:
    return max(file.stem for file in (ROOT / "migrations").glob("*.sql"))


def _versions(packages: Iterable[str]) -> Iterable[tuple[str, str]]:
    for package in packages:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue
