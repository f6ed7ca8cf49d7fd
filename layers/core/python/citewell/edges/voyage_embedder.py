"""Embeddings from Voyage AI: OpenAI's format but for what is asked, ``POST /v1/embeddings``.

Source: https://docs.voyageai.com/reference/embeddings-api
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from citewell.core.values import TextKind
from citewell.edges.openai_embedder import OpenAIEmbedder

URL = "https://api.voyageai.com/v1"

_INPUT_TYPES = {TextKind.QUERY: "query", TextKind.PASSAGE: "document"}


class VoyageEmbedder(OpenAIEmbedder):
    """Queries and passages are told apart: Voyage puts another prompt before each.

    A text that is too long is refused rather than embedded in part, which nobody would notice.
    """

    def _request(self, texts: Sequence[str], kind: TextKind) -> dict[str, Any]:
        return {
            "model": self.model_id,
            "input": list(texts),
            "input_type": _INPUT_TYPES[kind],
            "truncation": False,
            "output_dimension": self.dimensions,
        }
