"""The embed function's event and result."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence
from typing import Any

import pytest

from citewell.core.values import TextKind, Vector
from citewell.errors import InvalidRequest
from functions.embed.handler import MAX_TEXTS, embed_texts


class LengthEmbedder:
    """A text's vector is its length and its kind."""

    model_id = "length@1"
    dimensions = 2
    max_tokens = 512
    batch_size = 64

    def token_starts(self, text: str) -> Sequence[int]:
        return range(len(text))

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[Vector]:
        return [[float(len(text)), 1.0 if kind is TextKind.QUERY else -1.5] for text in texts]


@pytest.mark.parametrize(("kind", "mark"), [("query", 1.0), ("passage", -1.5)])
def test_vectors_come_back_in_order_as_base64_of_little_endian_floats(kind: str, mark: float) -> None:
    result = embed_texts({"texts": ["abc", "", "日本"], "input": kind}, LengthEmbedder())
    assert result == {
        "model": "length@1",
        "dimensions": 2,
        "vectors": [base64.b64encode(struct.pack("<2f", length, mark)).decode() for length in (3, 0, 2)],
    }
    assert json.loads(json.dumps(result)) == result


def test_as_many_texts_as_are_allowed_are_embedded() -> None:
    result = embed_texts({"texts": ["x"] * MAX_TEXTS, "input": "passage"}, LengthEmbedder())
    assert len(result["vectors"]) == MAX_TEXTS


@pytest.mark.parametrize(
    "event",
    [
        None,
        [],
        "x",
        {},
        {"texts": ["x"]},
        {"input": "query"},
        {"texts": ["x"], "input": "query", "more": 1},
        {"texts": "x", "input": "query"},
        {"texts": [], "input": "query"},
        {"texts": ["x"] * (MAX_TEXTS + 1), "input": "query"},
        {"texts": ["x", 1], "input": "query"},
        {"texts": [None], "input": "query"},
        {"texts": ["x"], "input": "document"},
        {"texts": ["x"], "input": None},
        {"texts": ["x"], "input": ["query"]},
    ],
    ids=lambda event: repr(event)[:50],
)
def test_any_other_event_is_refused(event: Any) -> None:
    with pytest.raises(InvalidRequest):
        embed_texts(event, LengthEmbedder())
