"""The rerank function's event and result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from citewell.errors import ConfigurationError, InvalidRequest, RerankerUnavailable
from citewell.settings import Settings
from functions.rerank.handler import MAX_TEXTS, score_texts


class LengthReranker:
    """A text scores by what its length has over the question's."""

    model_id = "length@1"

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        return [float(len(text) - len(question)) for text in texts]


def test_scores_come_back_in_order() -> None:
    result = score_texts({"question": "ab", "texts": ["abc", "", "日本"]}, LengthReranker())
    assert result == {"scores": [1.0, -2.0, 0.0]}
    assert json.loads(json.dumps(result)) == result


def test_as_many_texts_as_are_allowed_are_scored() -> None:
    assert len(score_texts({"question": "?", "texts": ["x"] * MAX_TEXTS}, LengthReranker())["scores"]) == MAX_TEXTS


def test_no_deployment_may_ask_for_more() -> None:
    variable = "CITEWELL_RERANK_CANDIDATES"
    assert Settings.from_environment({variable: str(MAX_TEXTS)}).rerank_candidates == MAX_TEXTS
    with pytest.raises(ConfigurationError, match=variable):
        Settings.from_environment({variable: str(MAX_TEXTS + 1)})


@pytest.mark.parametrize(
    "event",
    [
        None,
        [],
        "x",
        {},
        {"texts": ["x"]},
        {"question": "?"},
        {"question": "?", "texts": ["x"], "more": 1},
        {"question": None, "texts": ["x"]},
        {"question": "?", "texts": "x"},
        {"question": "?", "texts": []},
        {"question": "?", "texts": ["x"] * (MAX_TEXTS + 1)},
        {"question": "?", "texts": ["x", 1]},
        {"question": "?", "texts": [None]},
    ],
    ids=lambda event: repr(event)[:50],
)
def test_any_other_event_is_refused(event: Any) -> None:
    with pytest.raises(InvalidRequest):
        score_texts(event, LengthReranker())


def test_a_function_without_a_reranker_says_so() -> None:
    with pytest.raises(ConfigurationError, match="CITEWELL_RERANKER is 'none'"):
        score_texts({"question": "?", "texts": ["x"]}, None)


def test_what_another_library_says_of_a_text_does_not_leave_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    class Quoting(LengthReranker):
        def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
            raise RuntimeError(f"can't read {question} and {texts}")

    class Wired:
        reranker = Quoting()

    from functions.rerank import handler

    monkeypatch.setattr(handler, "wiring", Wired)
    with pytest.raises(RerankerUnavailable, match=r"^RuntimeError at .*test_rerank_handler.py:\d+$") as raised:
        handler.handler({"question": "a secret", "texts": ["x"]}, None)
    assert raised.value.__cause__ is None
