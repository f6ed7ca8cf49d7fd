"""Embeds texts with the local model, for the stack's other functions only.

Event:  ``{"texts": ["...", ...], "input": "query" | "passage"}``, 64 texts at most.
Result: ``{"model": "...", "dimensions": 384, "vectors": ["...", ...]}``, one vector a text, in order, each the base64
of little-endian 32-bit floats.

No Powertools here: model and runtime take most of what Lambda lets a function hold. What is raised, Lambda logs.
"""

from __future__ import annotations

import base64
import struct
import traceback
from typing import Any

from citewell.core.values import TextKind, Vector
from citewell.errors import CitewellError, EmbedderUnavailable, InvalidRequest
from citewell.ports import Embedder
from citewell.wiring import wiring

MAX_TEXTS = 64


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    try:
        return embed_texts(event, wiring().embedder)
    except CitewellError:
        raise
    except Exception as error:
        # Without the cause: a library's message may quote the texts.
        where = traceback.extract_tb(error.__traceback__)[-1]
        raise EmbedderUnavailable(f"{type(error).__name__} at {where.filename}:{where.lineno}") from None


def embed_texts(event: object, embedder: Embedder) -> dict[str, Any]:
    """The result for ``event``. Raises InvalidRequest, and ConfigurationError for a text over the model's limit."""
    texts, kind = _parse(event)
    vectors = embedder.embed(texts, kind)
    return {
        "model": embedder.model_id,
        "dimensions": embedder.dimensions,
        "vectors": [_encoded(vector) for vector in vectors],
    }


def _parse(event: object) -> tuple[list[str], TextKind]:
    if not isinstance(event, dict) or event.keys() != {"texts", "input"}:
        raise InvalidRequest("the event must hold 'texts' and 'input', and nothing else")
    texts = event["texts"]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InvalidRequest("'texts' must be a list of strings")
    if not 1 <= len(texts) <= MAX_TEXTS:
        raise InvalidRequest(f"'texts' must hold 1 to {MAX_TEXTS} texts, not {len(texts)}")
    if event["input"] not in list(TextKind):
        raise InvalidRequest("'input' must be 'query' or 'passage'")
    return texts, TextKind(event["input"])


def _encoded(vector: Vector) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")
