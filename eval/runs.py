"""Runs, and where they are kept: one JSON file each, with the configuration and every question's outcome."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from citewell.settings import Settings
from citewell.wiring import Wiring
from eval.configuration import configuration, eval_settings, refusal_in_force
from eval.dataset import Dataset, DatasetError
from eval.embedding_cache import cached
from eval.indexing import database, index
from eval.outcomes import Outcome
from eval.retrieving import Retrieval
from eval.scoring import Figures, figures, timings

RUNS = Path(__file__).parent / "runs"

_FORMAT = 1


class RunError(Exception):
    """A kept run that isn't there or can't be read; the message names it."""


@dataclass(frozen=True, slots=True)
class Run:
    """One set's questions, asked once. ``config`` is what produced the outcomes; ``figures`` follow from them."""

    name: str
    config: Mapping[str, Any]
    figures: Figures
    outcomes: tuple[Outcome, ...]

    @property
    def dataset_name(self) -> str:
        return str(self.config["dataset"]["name"])

    @property
    def threshold(self) -> float:
        return float(self.config["refusal"]["threshold"])

    def contract(self) -> dict[str, Any]:
        """What `run --json` writes."""
        return {**self.figures, "config": dict(self.config)}

    def to_json(self) -> str:
        values = {
            "format": _FORMAT,
            "name": self.name,
            "config": dict(self.config),
            "figures": self.figures,
            "outcomes": [each.to_dict() for each in self.outcomes],
        }
        return json.dumps(values, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        values = json.loads(text)
        if values["format"] != _FORMAT:
            raise ValueError(f"format {values['format']}")
        outcomes = tuple(Outcome.from_dict(each) for each in values["outcomes"])
        return cls(values["name"], values["config"], values["figures"], outcomes)


def perform(dataset: Dataset, *, settings: Settings | None = None) -> Run:
    """Index ``dataset``, ask its questions, and score what was found. Raises DatasetError where it has none."""
    if not dataset.questions:
        raise DatasetError(f"{dataset.name}: no question to ask ({dataset.half})")
    settings = settings or eval_settings()
    product = Wiring(settings)
    refusal = refusal_in_force(product)
    with cached(product.embedder) as embedder, database(embedder) as store:
        began = time.monotonic()
        index(dataset, store=store, embedder=embedder, settings=settings)
        index_seconds = time.monotonic() - began
        outcomes = Retrieval(store, embedder, product, refusal)(dataset)
    config = configuration(product)
    config["dataset"] = {"name": dataset.name, "half": dataset.half.value, "sha256": dataset.content_hash()}
    result = figures(outcomes, threshold=refusal.threshold)
    result["time"] = timings(outcomes, index_seconds=index_seconds)
    return Run(_name(config, outcomes), config, result, tuple(outcomes))


def _name(config: Mapping[str, Any], outcomes: Sequence[Outcome]) -> str:
    date = config["date"].replace("-", "").replace(":", "")[:15]
    found = hashlib.sha256(json.dumps([each.rankings for each in outcomes], sort_keys=True).encode()).hexdigest()
    return f"{date}-{config['dataset']['name']}-{config['dataset']['half']}-{found[:6]}"


def keep(run: Run, folder: Path | None = None) -> Path:
    """Write ``run`` into ``folder``, and give its file."""
    file = (folder or RUNS) / f"{run.name}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(run.to_json(), encoding="utf-8")
    return file


def kept(name: str, folder: Path | None = None) -> Run:
    """The run in the file ``name``, or the one kept under that name or a beginning of it. Raises RunError."""
    file = Path(name)
    if not file.is_file():
        found = sorted((folder or RUNS).glob(f"{name}*.json"))
        if len(found) != 1:
            raise RunError(f"{name} names {len(found) or 'no'} kept runs, not one")
        [file] = found
    try:
        return Run.from_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{file} isn't a run that this version can read: {error}") from error
