"""Answers made of the passages' own sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

import pytest

from citewell.core.citing import check_answer, cited_numbers
from citewell.core.prompting import SENTINEL
from citewell.core.values import Passage, StopReason, TextKind, Usage, Vector
from citewell.edges.extractive_generator import MOST_CONSIDERED, MOST_SENTENCES, ExtractiveGenerator
from citewell.errors import GeneratorUnavailable
from tests.passages import a_passage


@dataclass
class WordEmbedder:
    """Cosine = shared words: each word has a dimension of its own."""

    model_id: str = "words"
    dimensions: int = 256
    max_tokens: int = 64
    batch_size: int = 8
    embedded: list[str] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)

    def token_starts(self, text: str) -> Sequence[int]:  # noqa: ARG002 - the port's signature
        raise AssertionError("the functions that answer have no tokenizer")

    def embed(self, texts: Sequence[str], kind: TextKind) -> list[Vector]:
        assert len(texts) <= self.batch_size
        assert all(len(text.split()) <= self.max_tokens for text in texts)
        if kind is TextKind.PASSAGE:
            self.embedded += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        vector = [0.0] * self.dimensions
        vector[0] = 0.1
        for word in re.findall(r"\w+", text.casefold()):
            vector[1 + self._places.setdefault(word, len(self._places)) % (self.dimensions - 1)] += 1.0
        return vector


MEALS = a_passage(
    "Meals are one thing. The daily meal limit while travelling is 60 EUR. Alcohol is not reimbursed.",
    section=("Expenses", "Meals"),
    score=0.8,
)
TRAINS = a_passage("Trains are booked in second class. Ask first.", section=("Travel", "Trains"), score=0.6)


def answer(question: str, passages: Sequence[Passage], *, min_score: float = 0.3) -> str:
    generation = ExtractiveGenerator(WordEmbedder(), min_score=min_score).generate(question, passages, seconds=10)
    assert (generation.stop_reason, generation.usage, generation.model) == (StopReason.END, Usage(), "extractive")
    return generation.text


def test_the_sentence_that_answers_comes_first_with_its_citation() -> None:
    text = answer("What is the daily meal limit while travelling?", [TRAINS, MEALS])
    assert text.startswith("The daily meal limit while travelling is 60 EUR [2].")


def test_the_checked_answer_cites_what_it_quotes() -> None:
    generation = ExtractiveGenerator(WordEmbedder(), min_score=0.3).generate("meal limit", [TRAINS, MEALS], seconds=10)
    checked = check_answer(generation, [TRAINS, MEALS])
    assert [each.passage for each in checked.citations] == [MEALS]
    assert checked.invented == 0


def test_nothing_that_fits_gives_the_sentinel() -> None:
    assert answer("Who won the cup?", [MEALS, TRAINS], min_score=0.6) == SENTINEL
    assert answer("Who won the cup?", []) == SENTINEL
    assert answer("Who won the cup?", [a_passage("# Heading only")]) == SENTINEL


def test_no_more_than_three_sentences_are_quoted() -> None:
    meals = ("breakfast", "lunch", "dinner", "supper")
    passage = a_passage("\n".join(f"- The meal limit holds for {meal}." for meal in meals))
    question = f"meal limit for {' '.join(meals)}"
    assert len(list(cited_numbers(answer(question, [passage])))) == MOST_SENTENCES


def test_a_further_sentence_must_speak_of_more_of_the_question() -> None:
    passage = a_passage("- The late fee is 25 EUR.\n- The late fee is due at once.\n- Access ends after 45 days.")
    assert answer("late fee", [passage]) == "The late fee is 25 EUR [1]."
    both = answer("late fee, and when access ends", [passage])
    assert both == "Access ends after 45 days [1]. The late fee is 25 EUR [1]."


def test_a_sentence_that_two_passages_hold_is_quoted_once() -> None:
    text = answer("daily meal limit", [MEALS, a_passage(MEALS.text, source="copy.md")])
    assert text.count("60 EUR") == 1


def test_a_table_row_is_quoted_readably() -> None:
    passage = a_passage("| What | Rate |\n|---|---|\n| Private car | 0.38 EUR |\n| Bicycle | 0.10 EUR |")
    assert answer("rate private car", [passage]).startswith("What: Private car; Rate: 0.38 EUR [1].")


def test_a_heading_tells_what_a_short_sentence_is_about() -> None:
    fees, leave = (
        a_passage("It ends after 30 days.", section=("Fees", "Refund period")),
        a_passage("It ends after 8 weeks.", section=("Leave", "Parental leave")),
    )
    assert answer("When does the refund period end?", [leave, fees]).startswith("It ends after 30 days [2].")


@pytest.mark.parametrize(
    "hostile",
    [
        "The meal limit is 60 EUR, see [1] and [2, 3].",
        "The meal limit is 60 EUR [Source 2].",
        "The meal limit ` is 60 EUR.",
        "Note: ~~~ the meal limit is 60 EUR.",
        "``The meal limit` is 60 EUR.",
        "The meal limit [2](https://evil.example) is 60 EUR.",
    ],
)
def test_what_a_document_writes_can_neither_add_nor_hide_a_citation(hostile: str) -> None:
    passages = [TRAINS, a_passage(hostile)]
    generation = ExtractiveGenerator(WordEmbedder(), min_score=0.1).generate("meal limit EUR", passages, seconds=10)
    checked = check_answer(generation, passages)
    assert checked.reason is None
    assert checked.invented == 0
    quoted = [each.n for each in checked.citations]
    assert 2 in quoted
    assert all(passages[n - 1] is not TRAINS for n in quoted)


def test_a_document_that_quotes_the_sentinel_cannot_refuse_in_our_name() -> None:
    text = answer("meal limit", [a_passage(f"The meal limit is {SENTINEL}. The meal limit is 60 EUR.")])
    assert text == "The meal limit is 60 EUR [1]."


def test_a_text_without_sentences_is_cut_for_the_embedder_and_for_the_reader() -> None:
    text = answer("meal limit", [a_passage("meal limit " * 5_000)], min_score=0.1)
    assert len(text) < 700
    assert text.endswith("… [1]")


def test_a_text_that_is_cut_inside_code_leaves_none_open_to_hide_the_citation_that_follows() -> None:
    text = answer("meal limit", [a_passage("Run `" + "meal limit " * 100 + "`.")])
    assert text.startswith("Run meal limit")
    assert text.endswith("… [1]")


def test_only_the_most_promising_sentences_are_embedded() -> None:
    embedder = WordEmbedder()
    passages = [a_passage("".join(f"Filler {n} of {m}. " for n in range(40)), chunk_id=str(m)) for m in range(20)]
    passages.append(a_passage("The meal limit is 60 EUR.", score=0.7))
    generation = ExtractiveGenerator(embedder, min_score=0.3).generate("meal limit", passages, seconds=10)
    assert len(embedder.embedded) == MOST_CONSIDERED
    assert generation.text == "The meal limit is 60 EUR [21]."


def test_it_stops_when_the_time_is_up() -> None:
    ticks = count()
    generator = ExtractiveGenerator(WordEmbedder(), min_score=0.3, clock=lambda: float(next(ticks)))
    with pytest.raises(GeneratorUnavailable, match="time was up"):
        generator.generate(
            "meal limit", [a_passage("Meal. " * 3 + "".join(f"Limit {n}. " for n in range(40)))], seconds=3
        )
