"""The order that a reranker gives to passages, and what is left of it when the reranker fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.reranking import reordered, text_to_rerank
from citewell.core.values import Passage
from citewell.errors import CitewellError, ConfigurationError, RerankerUnavailable, SecretNotSet, SecretUnavailable
from citewell.usecases.rerank_passages import Reranking, RerankPassages
from tests.passages import a_passage


@dataclass
class Scores:
    """A reranker that gives each text the score its last word names, or fails."""

    failure: CitewellError | None = None
    model_id: str = "scores@1"
    asked: list[tuple[str, list[str]]] = field(default_factory=list)

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((question, list(texts)))
        if self.failure is not None:
            raise self.failure
        return [float(text.split()[-1]) for text in texts]


def passages(*scores: float) -> list[Passage]:
    return [a_passage(f"It counts {score}", source=f"{place}.md") for place, score in enumerate(scores)]


def reranking(reranker: Scores, *, candidates: int = 20) -> RerankPassages:
    """By a clock that moves on by half a second at each look."""
    ticks = iter([7.0, 7.5])
    return RerankPassages(reranker, candidates=candidates, clock=lambda: next(ticks))


def texts(found: Sequence[Passage]) -> list[str]:
    return [each.text for each in found]


def test_passages_come_by_the_rerankers_scores_which_they_carry() -> None:
    ordered, report = reranking(Scores())("How much?", passages(-2.5, 3, 0.5))
    assert texts(ordered) == ["It counts 3", "It counts 0.5", "It counts -2.5"]
    assert [each.rerank_score for each in ordered] == [3, 0.5, -2.5]
    assert report == Reranking(passages=3, seconds=0.5)


def test_the_reranker_reads_the_question_and_each_passage_under_its_header() -> None:
    reranker = Scores()
    found = a_passage("60 EUR 1", title="Expenses", section=("Meals", "Daily limit"))
    plain = a_passage("It counts 2", title="", section=())
    reranking(reranker)("How much?", [found, plain])
    assert reranker.asked == [("How much?", ["Expenses > Meals > Daily limit\n\n60 EUR 1", "It counts 2"])]


def test_the_title_is_not_said_twice() -> None:
    passage = a_passage("60 EUR", title="Expenses", section=("Expenses", "Meals"))
    assert text_to_rerank(passage) == "Expenses > Meals\n\n60 EUR"


def test_passages_beyond_the_candidates_follow_in_the_order_they_had() -> None:
    reranker = Scores()
    ordered, report = reranking(reranker, candidates=2)("How much?", passages(1, 2, 9, 3))
    assert texts(ordered) == ["It counts 2", "It counts 1", "It counts 9", "It counts 3"]
    assert [each.rerank_score for each in ordered] == [2, 1, None, None]
    assert len(reranker.asked[0][1]) == 2
    assert report == Reranking(passages=2, seconds=0.5)


@pytest.mark.parametrize("found", [[], passages(1)], ids=["none", "one"])
def test_where_there_is_nothing_to_order_nobody_is_asked(found: list[Passage]) -> None:
    reranker = Scores()
    assert reranking(reranker)("How much?", found) == (found, None)
    assert reranker.asked == []


@pytest.mark.parametrize(
    "failure",
    [
        RerankerUnavailable("too slow"),
        SecretUnavailable("no answer"),
        SecretNotSet("fill it"),
        ConfigurationError("HTTP 401"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_a_reranker_that_fails_leaves_the_order_and_says_why(failure: CitewellError) -> None:
    found = passages(1, 3, 2)
    ordered, report = reranking(Scores(failure))("How much?", found)
    assert ordered == found
    assert report == Reranking(passages=3, seconds=0.5, failure=failure)


@given(st.lists(st.floats(-12, 12), max_size=30))
def test_every_passage_is_there_once_and_equal_scores_keep_their_order(scores: list[float]) -> None:
    found = [a_passage(f"{place}") for place in range(len(scores))]
    ordered = reordered(found, scores)
    expected = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    assert texts(ordered) == [str(place) for place in expected]
