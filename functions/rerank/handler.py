"""Scores passages for a question with the local reranker, for the stack's function ``ask`` only.

Event:  ``{"question": "...", "texts": ["...", ...]}``, 100 texts at most.
Result: ``{"scores": [8.1, -3.2, ...]}``, one a text, in order, higher being better.

No Powertools here: model and runtime take most of what Lambda lets a function hold. What is raised, Lambda logs.
"""

from __future__ import annotations

import traceback
from typing import Any

from citewell.errors import CitewellError, ConfigurationError, InvalidRequest, RerankerUnavailable
from citewell.ports import Reranker
from citewell.wiring import wiring

MAX_TEXTS = 100


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    try:
        return score_texts(event, wiring().reranker)
    except CitewellError:
        raise
    except Exception as error:
        # Without the cause: a library's message may quote the texts.
        where = traceback.extract_tb(error.__traceback__)[-1]
        raise RerankerUnavailable(f"{type(error).__name__} at {where.filename}:{where.lineno}") from None


def score_texts(event: object, reranker: Reranker | None) -> dict[str, Any]:
    """The result for ``event``. Raises InvalidRequest, and what the reranker does."""
    question, texts = _parse(event)
    if reranker is None:
        raise ConfigurationError("CITEWELL_RERANKER is 'none' in the function that reranks")
    return {"scores": reranker.rerank(question, texts)}


def _parse(event: object) -> tuple[str, list[str]]:
    if not isinstance(event, dict) or event.keys() != {"question", "texts"}:
        raise InvalidRequest("the event must hold 'question' and 'texts', and nothing else")
    question, texts = event["question"], event["texts"]
    if not isinstance(question, str):
        raise InvalidRequest("'question' must be a string")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InvalidRequest("'texts' must be a list of strings")
    if not 1 <= len(texts) <= MAX_TEXTS:
        raise InvalidRequest(f"'texts' must hold 1 to {MAX_TEXTS} texts, not {len(texts)}")
    return question, texts
