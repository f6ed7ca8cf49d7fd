"""What is counted of answers and documents, and what it is estimated to cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from aws_lambda_powertools import Metrics
from aws_lambda_powertools.metrics import MetricUnit

from citewell.core.refusing import CUT_OFF, EMPTY_REPLY, MODEL_DECLINED, NOT_IN_THE_SOURCES, NOTHING_CITED, refuse
from citewell.core.values import Answer, IngestOutcome, IngestResult, Question, Usage
from citewell.errors import RerankerUnavailable
from citewell.settings import Settings
from citewell.telemetry import (
    answer_fields,
    count_answer,
    count_outcome,
    count_search,
    estimated_dollars,
    outcome_fields,
    search_fields,
)
from citewell.usecases.ask_question import Asked, Found
from citewell.usecases.rerank_passages import Reranking

PRICED = Settings(input_price=1.0, output_price=5.0)
ANSWER = Answer("60 EUR [1].", (), None, Usage(1000, 200), "claude-haiku-4-5")


@dataclass
class Recorder:
    """Takes what is counted, in its order."""

    counted: dict[str, float] = field(default_factory=dict)
    units: dict[str, MetricUnit] = field(default_factory=dict)

    def add_metric(self, *, name: str, unit: MetricUnit, value: float) -> None:
        assert name not in self.counted, "counted twice"
        self.counted[str(name)] = value
        self.units[str(name)] = unit


def counted(asked: Asked, settings: Settings = PRICED) -> dict[str, float]:
    recorder = Recorder()
    count_answer(cast(Metrics, recorder), asked, settings)
    return recorder.counted


def counted_of(outcome: IngestOutcome) -> dict[str, float]:
    recorder = Recorder()
    count_outcome(cast(Metrics, recorder), outcome)
    return recorder.counted


def test_an_answer_counts_its_times_tokens_and_dollars() -> None:
    recorder = Recorder()
    count_answer(cast(Metrics, recorder), Asked(ANSWER, (), 0.25, 2.0), PRICED)
    assert recorder.counted == {
        "SearchTime": 250.0,
        "ModelTime": 2000.0,
        "InputTokens": 1000,
        "OutputTokens": 200,
        "EstimatedDollars": pytest.approx(0.002),
    }
    assert recorder.units["SearchTime"] is recorder.units["ModelTime"] is MetricUnit.Milliseconds
    assert recorder.units["EstimatedDollars"] is MetricUnit.NoUnit


@pytest.mark.parametrize(
    ("answer", "by"),
    [
        (refuse("no passage was found"), "RefusedBySearch"),
        (refuse("best score 0.31 below threshold 0.55"), "RefusedBySearch"),
        *[(refuse(each, model="m"), "RefusedByModel") for each in (NOT_IN_THE_SOURCES, MODEL_DECLINED)],
        *[(refuse(each, model="m"), "RefusedByCheck") for each in (NOTHING_CITED, EMPTY_REPLY, CUT_OFF)],
    ],
    ids=lambda value: getattr(value, "reason", value),
)
def test_a_refusal_is_counted_by_the_step_that_refused(answer: Answer, by: str) -> None:
    model_seconds = None if answer.model is None else 1.0
    assert [name for name in counted(Asked(answer, (), 0.25, model_seconds)) if name.startswith("Refused")] == [by]


def test_a_refusal_before_the_model_has_neither_its_time_nor_tokens() -> None:
    assert counted(Asked(refuse("no passage was found"), (), 0.25, None)) == {"SearchTime": 250.0, "RefusedBySearch": 1}


def test_a_refusal_by_the_model_is_paid_for_too() -> None:
    refusal = refuse(NOT_IN_THE_SOURCES, usage=Usage(1000, 10), model="claude-haiku-4-5")
    assert counted(Asked(refusal, (), 0.25, 1.0))["EstimatedDollars"] == pytest.approx(0.00105)


@pytest.mark.parametrize("settings", [Settings(), Settings(input_price=1.0), Settings(output_price=1.0)])
def test_no_dollars_are_guessed_where_a_price_is_unknown(settings: Settings) -> None:
    assert estimated_dollars(Usage(1000, 10), settings) is None
    assert "EstimatedDollars" not in counted(Asked(ANSWER, (), 0.25, 1.0), settings)


def test_a_model_may_cost_nothing() -> None:
    assert estimated_dollars(Usage(1000, 10), Settings(input_price=0.0, output_price=0.0)) == 0.0


def test_the_question_is_logged_only_where_that_was_chosen() -> None:
    asked, question = Asked(ANSWER, (), 0.25, 1.0), Question("What is the limit?")
    assert "question" not in answer_fields(asked, question, Settings())
    assert answer_fields(asked, question, Settings(log_questions="yes"))["question"] == "What is the limit?"


def test_a_reranked_search_counts_the_time_that_it_took() -> None:
    recorder = Recorder()
    count_search(cast(Metrics, recorder), 1.25, Reranking(passages=20, seconds=1.0))
    assert recorder.counted == {"SearchTime": 1250.0, "RerankTime": 1000.0}
    fields = search_fields(Found([], Reranking(passages=20, seconds=1.0)), 1.25, Question("?"), Settings())
    assert fields == {
        "passages": [],
        "search_ms": 1250.0,
        "reranked": 20,
        "rerank_ms": 1000.0,
        "not_reranked": None,
    }


def test_a_search_that_was_not_reranked_in_time_is_counted_and_says_why() -> None:
    reranking = Reranking(passages=20, seconds=3.0, failure=RerankerUnavailable("3 of 20 passages were read in 3 s"))
    asked = Asked(ANSWER, (), 3.25, 1.0, reranking)
    assert counted(asked) == {**counted(Asked(ANSWER, (), 3.25, 1.0)), "RerankTime": 3000.0, "NotReranked": 1}
    fields = answer_fields(asked, Question("?"), Settings())
    assert (fields["reranked"], fields["rerank_ms"]) == (0, 3000.0)
    assert fields["not_reranked"] == "3 of 20 passages were read in 3 s"


def test_where_nothing_reranks_nothing_is_said_of_it() -> None:
    fields = answer_fields(Asked(ANSWER, (), 0.25, 1.0), Question("?"), Settings())
    assert not [name for name in fields if "rerank" in name]


def test_what_did_nothing_is_not_counted() -> None:
    for result in (IngestResult.SUPERSEDED, IngestResult.IGNORED):
        assert counted_of(IngestOutcome(result, chunks=0, embedded=0)) == {}


def test_a_document_counts_its_result_what_was_embedded_and_its_age() -> None:
    uploaded = datetime.now(UTC) - timedelta(minutes=1)
    found = counted_of(IngestOutcome(IngestResult.UPDATED, chunks=9, embedded=2, uploaded=uploaded))
    assert 60 <= found.pop("IndexAge") < 120
    assert found == {"DocumentsUpdated": 1, "ChunksEmbedded": 2}


def test_a_clock_that_is_behind_makes_no_negative_age() -> None:
    uploaded = datetime.now(UTC) + timedelta(minutes=1)
    outcome = IngestOutcome(IngestResult.INDEXED, chunks=9, embedded=0, uploaded=uploaded)
    assert counted_of(outcome) == {"DocumentsIndexed": 1, "IndexAge": 0.0}
    assert outcome_fields(outcome)["index_age_seconds"] == 0.0
