"""Who is asked, in which order, and who isn't."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn, cast

import pytest

from citewell.core.prompting import SENTINEL
from citewell.core.ranking import fuse_ranks
from citewell.core.refusing import RefusalFit
from citewell.core.values import Answer, Audience, Generation, Passage, Question, StopReason, Usage, Vector
from citewell.errors import EmbedderMismatch, GeneratorUnavailable, RerankerUnavailable
from citewell.ports import ChunkStore, IndexGeneration
from citewell.usecases.ask_question import Asked, AskQuestion, SearchPassages
from citewell.usecases.rerank_passages import Reranking, RerankPassages
from tests.fakes import HashEmbedder
from tests.passages import a_passage

EVERYONE = Audience("default")
MEALS = replace(a_passage("The daily meal limit is 60 EUR."), vector_rank=1, score=0.8)
TRAINS = replace(a_passage("Trains come first."), vector_rank=2, keyword_rank=1, score=0.6)


class FoundAlready:
    """A chunk store that finds the same passages whatever is asked, and remembers what was."""

    def __init__(self, *passages: Passage, model_id: str = "hash-embedder") -> None:
        self.passages = list(passages)
        self.model_id = model_id
        self.asked: list[tuple[Audience, Question, int]] = []

    def live_generation(self) -> IndexGeneration:
        return IndexGeneration(generation=1, model_id=self.model_id, dimensions=8)

    def candidates(
        self, audience: Audience, _generation: IndexGeneration, question: Question, _vector: Vector, *, limit: int
    ) -> list[Passage]:
        self.asked.append((audience, question, limit))
        return self.passages


class Says:
    """A generator with one reply."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.given: list[tuple[str, list[Passage], float]] = []

    def generate(self, question: str, passages: Sequence[Passage], *, seconds: float) -> Generation:
        self.given.append((question, list(passages), seconds))
        return Generation(self.text, StopReason.END, Usage(900, 30), "claude-haiku-4-5")

    def check(self, *, seconds: float) -> NoReturn:
        pytest.fail(f"the model was checked within {seconds} seconds, which only a deploy does")


class Prefers:
    """A reranker that scores by whether a text holds ``word``, or that is away."""

    model_id = "prefers@1"

    def __init__(self, word: str, *, away: bool = False) -> None:
        self.word = word
        self.away = away

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:  # noqa: ARG002
        if self.away:
            raise RerankerUnavailable("too slow")
        return [float(self.word in text) for text in texts]


def no_generator() -> NoReturn:
    pytest.fail("the model was called")


def search(
    store: FoundAlready, embedder: HashEmbedder | None = None, reranker: Prefers | None = None
) -> SearchPassages:
    rerank = None if reranker is None else RerankPassages(reranker, candidates=20, clock=lambda: 0.0)
    return SearchPassages(
        chunks=cast(ChunkStore, store),
        embedder=embedder or HashEmbedder(),
        candidates=30,
        fuse=fuse_ranks,
        rerank=rerank,
    )


def ask(store: FoundAlready, generator: Says | None, *, text: str = "What is the meal limit?") -> Answer:
    return asked(store, generator, text=text).answer


def asked(
    store: FoundAlready,
    generator: Says | None,
    *,
    text: str = "What is the meal limit?",
    reranker: Prefers | None = None,
) -> Asked:
    """By a clock that moves on by 1, 2, 4, ... seconds between the looks at it."""
    use_case = AskQuestion(
        search=search(store, reranker=reranker),
        generator=(lambda: generator) if generator else no_generator,
        refusal=RefusalFit("model", coverage_weight=0.0, threshold=0.55),
        clock=iter([100.0, 101.0, 103.0, 107.0]).__next__,
    )
    return use_case(Question(text), EVERYONE, seconds_left=lambda: 12.5)


def test_a_question_is_answered_from_the_fused_passages() -> None:
    store, generator = FoundAlready(MEALS, TRAINS), Says("It is 60 EUR [2].")
    answer = ask(store, generator)
    assert answer.text == "It is 60 EUR [2]."
    assert [(citation.n, citation.passage.text) for citation in answer.citations] == [(2, MEALS.text)]
    assert (answer.model, answer.usage, answer.reason) == ("claude-haiku-4-5", Usage(900, 30), None)
    [(question, passages, seconds)] = generator.given
    assert (question, seconds) == ("What is the meal limit?", 12.5)
    assert [passage.text for passage in passages] == [TRAINS.text, MEALS.text], "found by both arms comes first"
    assert store.asked == [(EVERYONE, Question("What is the meal limit?"), 30)]


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ([], "no passage was found"),
        ([replace(MEALS, score=0.31), replace(TRAINS, score=0.2)], "best score 0.31 below threshold 0.55"),
    ],
    ids=["nothing", "too far"],
)
def test_below_the_threshold_no_model_is_called(found: list[Passage], reason: str) -> None:
    answer = ask(FoundAlready(*found), generator=None)
    assert answer.text == "I don't know based on the available documents."
    assert (answer.reason, answer.citations, answer.model, answer.usage) == (reason, (), None, Usage())


def test_what_was_found_and_how_long_it_took_comes_with_the_answer() -> None:
    answered = asked(FoundAlready(MEALS, TRAINS), Says("It is 60 EUR [2]."))
    assert [passage.text for passage in answered.passages] == [TRAINS.text, MEALS.text]
    assert (answered.search_seconds, answered.model_seconds) == (1.0, 2.0)


def test_a_refusal_shows_what_was_found_and_no_time_of_a_model() -> None:
    refused = asked(FoundAlready(replace(MEALS, score=0.31)), generator=None)
    assert [passage.score for passage in refused.passages] == [0.31]
    assert (refused.search_seconds, refused.model_seconds) == (1.0, None)


def test_the_threshold_looks_at_what_would_be_sent_only() -> None:
    """A passage beyond the top k doesn't lift a question over the threshold, however near it is."""
    far = [replace(a_passage(f"Passage {n}.", source=f"{n}.md"), vector_rank=n, score=0.3) for n in range(1, 6)]
    near_but_last = replace(a_passage("The best.", source="last.md"), vector_rank=30, score=0.9)
    assert ask(FoundAlready(*far, near_but_last), generator=None).reason == "best score 0.30 below threshold 0.55"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (SENTINEL, "the sources do not contain the answer"),
        ("It is 60 EUR.", "the answer cited no source"),
        ("It is 60 EUR [9].", "the answer cited no source"),
        ("", "the model gave an empty reply"),
    ],
)
def test_a_reply_that_is_no_cited_answer_is_a_refusal_that_says_what_it_cost(reply: str, reason: str) -> None:
    answer = ask(FoundAlready(MEALS), Says(reply))
    assert (answer.reason, answer.citations) == (reason, ())
    assert (answer.model, answer.usage) == ("claude-haiku-4-5", Usage(900, 30))


def test_another_embedders_index_is_not_searched_and_nothing_is_embedded() -> None:
    embedder, store = HashEmbedder(), FoundAlready(MEALS, model_id="another")
    with pytest.raises(EmbedderMismatch, match="set the embedder back, or deploy with replaceIndex=true"):
        search(store, embedder)(Question("?"), EVERYONE)
    assert (embedder.embedded, store.asked) == ([], [])


def test_a_model_that_is_away_is_not_taken_for_a_refusal() -> None:
    class Away(Says):
        def generate(self, question: str, passages: Sequence[Passage], *, seconds: float) -> Generation:  # noqa: ARG002
            raise GeneratorUnavailable("overloaded")

    with pytest.raises(GeneratorUnavailable):
        ask(FoundAlready(MEALS), Away(""))


def test_a_reranker_decides_what_the_answer_is_written_from() -> None:
    generator = Says("It is 60 EUR [1].")
    answered = asked(FoundAlready(MEALS, TRAINS), generator, reranker=Prefers("meal"))
    assert [citation.passage.text for citation in answered.answer.citations] == [MEALS.text]
    assert [(passage.text, passage.score, passage.rerank_score) for passage in answered.passages] == [
        (MEALS.text, 0.8, 1.0),
        (TRAINS.text, 0.6, 0.0),
    ]
    assert answered.reranking == Reranking(passages=2, seconds=0.0)


def test_a_reranker_chooses_among_more_than_the_top_k() -> None:
    found = [replace(a_passage(f"Passage {n}.", source=f"{n}.md"), vector_rank=n, score=0.7) for n in range(1, 11)]
    best = search(FoundAlready(*found), reranker=Prefers("9"))(Question("?", top_k=2), EVERYONE)
    assert [passage.text for passage in best.passages] == ["Passage 9.", "Passage 1."]


def test_without_its_reranker_a_question_is_answered_from_the_fused_passages() -> None:
    answered = asked(FoundAlready(MEALS, TRAINS), Says("It is 60 EUR [2]."), reranker=Prefers("meal", away=True))
    assert answered.answer.text == "It is 60 EUR [2]."
    assert [passage.text for passage in answered.passages] == [TRAINS.text, MEALS.text]
    assert answered.reranking is not None
    assert isinstance(answered.reranking.failure, RerankerUnavailable)


def test_no_rerankers_score_lifts_a_question_over_the_threshold() -> None:
    far = [replace(MEALS, score=0.31), replace(TRAINS, score=0.2)]
    refused = asked(FoundAlready(*far), generator=None, reranker=Prefers("meal"))
    assert refused.answer.reason == "best score 0.31 below threshold 0.55"
    assert refused.reranking == Reranking(passages=2, seconds=0.0)
