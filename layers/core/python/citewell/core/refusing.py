"""When and how to say "I don't know": every refusal's text and reason stands here."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from citewell.core.values import Answer, Passage, Usage
from citewell.errors import ConfigurationError

REFUSAL = "I don't know based on the available documents."

NOTHING_FOUND = "no passage was found"
NOT_IN_THE_SOURCES = "the sources do not contain the answer"
NOTHING_CITED = "the answer cited no source"
EMPTY_REPLY = "the model gave an empty reply"
MODEL_DECLINED = "the model declined to answer"
CUT_OFF = "the answer was cut off before it cited a source"


@dataclass(frozen=True, slots=True)
class RefusalFit:
    """When passages are too far from a question to answer it, fitted for one embedder by ``python -m eval calibrate``.

    A cosine means something else with every model, so a fit is good for ``model_id`` alone. ``coverage_weight``, from
    0 to 1, is how much of its cosine a passage loses when it holds none of the question's words; a question whose best
    :meth:`support` is under ``threshold`` is refused.
    """

    model_id: str
    coverage_weight: float
    threshold: float

    def __post_init__(self) -> None:
        if not (0 <= self.coverage_weight <= 1 and -1 <= self.threshold <= 1):  # false for NaN, too
            raise ConfigurationError(
                "a refusal fit needs a coverage_weight between 0 and 1 and a threshold between -1 and 1, "
                f"not {self.coverage_weight} and {self.threshold}"
            )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Raises ConfigurationError for anything but an object with exactly these three fields."""
        try:
            match json.loads(text):
                case {"model_id": str(model_id), "coverage_weight": weight, "threshold": threshold, **others} if (
                    not others and {type(weight), type(threshold)} <= {int, float}
                ):
                    return cls(model_id, float(weight), float(threshold))
        except (ValueError, OverflowError, RecursionError) as error:
            raise ConfigurationError(f"not a refusal fit as `python -m eval calibrate` writes it: {error}") from error
        raise ConfigurationError(
            "not a refusal fit as `python -m eval calibrate` writes it: it has a model_id, which is text, the numbers "
            "coverage_weight and threshold, and nothing else"
        )

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    def support(self, passage: Passage) -> float:
        """How far ``passage`` justifies an answer: its cosine, less for what it lacks of the question's words."""
        return passage.score * (1 - self.coverage_weight * (1 - passage.coverage))


KNOWN_FITS = (RefusalFit("bge-small-en-v1.5-int8@68807e3ff2ab", coverage_weight=0.2, threshold=0.476),)
"""For the model that comes with the product; how it was fitted stands in docs/retrieval.md."""


def fit_for(model_id: str, *, fit: RefusalFit | None = None, min_score: float | None = None) -> RefusalFit:
    """The fit in force: the one that is configured, as itself or as a plain ``min_score``, else the known one.

    Raises ConfigurationError for a fit that was made for another embedder, and where there is none.
    """
    if fit is not None and min_score is not None:
        raise ConfigurationError("CITEWELL_REFUSAL_FIT and CITEWELL_MIN_SCORE are both set: one decides, take one away")
    if min_score is not None:
        return RefusalFit(model_id, coverage_weight=0.0, threshold=min_score)
    if fit is not None and fit.model_id != model_id:
        raise ConfigurationError(
            f"the refusal fit was made for the embedder {fit.model_id}, and questions are embedded by {model_id}: "
            "run `python -m eval calibrate` with this one"
        )
    found = fit or next((known for known in KNOWN_FITS if known.model_id == model_id), None)
    if found is None:
        raise ConfigurationError(
            f"no refusal threshold is known for the embedder {model_id}: fit one with `python -m eval calibrate` "
            "and set CITEWELL_REFUSAL_FIT, or set CITEWELL_MIN_SCORE to the best cosine similarity under which a "
            "question should be refused"
        )
    return found


def refusal_reason(passages: Sequence[Passage], fit: RefusalFit) -> str | None:
    """Why ``passages`` don't justify an answer; None when they do, that is when the best support reaches the threshold.

    It looks at cosine and coverage, never at the fusion's score: that one says nothing about how well a passage fits.
    """
    if not passages:
        return NOTHING_FOUND
    best = max(fit.support(passage) for passage in passages)
    if best >= fit.threshold:
        return None
    return "best score {} below threshold {}".format(*_told_apart(best, fit.threshold))


def _told_apart(low: float, high: float) -> tuple[str, str]:
    """Both with two decimals, or as many as it takes to show that they differ."""
    for decimals in range(2, 7):
        shown = f"{low:.{decimals}f}", f"{high:.{decimals}f}"
        if shown[0] != shown[1]:
            return shown
    return repr(low), repr(high)


def refuse(reason: str, *, usage: Usage | None = None, model: str | None = None, invented: int = 0) -> Answer:
    """The refusal. ``usage``, ``model`` and ``invented`` are those of the call that was made, if one was."""
    return Answer(text=REFUSAL, citations=(), reason=reason, usage=usage or Usage(), model=model, invented=invented)
