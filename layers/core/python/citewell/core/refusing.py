"""When and how to say "I don't know": every refusal's text and reason stands here."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.values import Answer, Passage, Usage
from citewell.errors import ConfigurationError

REFUSAL = "I don't know based on the available documents."

NOTHING_FOUND = "no passage was found"
NOT_IN_THE_SOURCES = "the sources do not contain the answer"
NOTHING_CITED = "the answer cited no source"
EMPTY_REPLY = "the model gave an empty reply"
MODEL_DECLINED = "the model declined to answer"
CUT_OFF = "the answer was cut off before it cited a source"

PROVISIONAL_MIN_SCORES = {"bge-small-en-v1.5-int8@68807e3ff2ab": 0.55}
"""Best cosine under which a question is refused, by the embedder's model id, until a deployment calibrates its own.

A cosine means something else with every model, so a model without an entry needs a setting.
"""


def min_score_for(model_id: str, configured: float | None) -> float:
    """The threshold in force: ``configured`` where given, else the one known for ``model_id``.

    Raises ConfigurationError when neither is there.
    """
    if configured is not None:
        return configured
    if model_id not in PROVISIONAL_MIN_SCORES:
        raise ConfigurationError(
            f"no refusal threshold is known for the embedder {model_id}: set CITEWELL_MIN_SCORE to the best cosine "
            "similarity under which a question should be refused"
        )
    return PROVISIONAL_MIN_SCORES[model_id]


def refusal_reason(passages: Sequence[Passage], min_score: float) -> str | None:
    """Why ``passages`` don't justify an answer; None when they do, that is when the best cosine reaches the threshold.

    It looks at ``score``, never at the fusion's: that one says nothing about how well a passage fits.
    """
    if not passages:
        return NOTHING_FOUND
    best = max(passage.score for passage in passages)
    if best >= min_score:
        return None
    return "best score {} below threshold {}".format(*_told_apart(best, min_score))


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
