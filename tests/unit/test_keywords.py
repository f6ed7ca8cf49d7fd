"""The keyword search's arithmetic, against the formula written down again and against its limits."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.keywords import (
    HEADER_WEIGHT,
    AskedTerms,
    Term,
    counted_words,
    depths,
    fingerprint,
    holds_phrase,
    rarity,
)
from citewell.core.values import Chunk


def chunk(text: str, header: str = "") -> Chunk:
    return Chunk(0, (), 0, 0, 0, len(text), text, header)


def test_words_of_the_header_count_more_than_those_of_the_text() -> None:
    assert counted_words(chunk("A fee, a late fee", "Fee")) == {"a": 2, "fee": 2 + HEADER_WEIGHT, "late": 1}
    assert counted_words(chunk("...")) == {}


def test_a_fingerprint_tells_apart_all_that_the_words_are_made_of() -> None:
    prints = [
        fingerprint(chunk("text", "header"), "english"),
        fingerprint(chunk("text", "header"), "german"),
        fingerprint(chunk("text", "other"), "english"),
        fingerprint(chunk("other", "header"), "english"),
        fingerprint(chunk("header", "text"), "english"),
        fingerprint(chunk("headertext", ""), "english"),
        fingerprint(chunk("\ud800", ""), "english"),
    ]
    assert len(set(prints)) == len(prints)
    assert {len(each) for each in prints} == {16}
    assert fingerprint(chunk("text", "header"), "english") == prints[0]


@given(chunks=st.integers(1, 10**7), data=st.data())
def test_a_word_is_the_rarer_the_fewer_hold_it_and_never_worth_nothing(chunks: int, data: st.DataObject) -> None:
    few, many = sorted(data.draw(st.tuples(st.integers(0, chunks), st.integers(0, chunks))))
    assert rarity(chunks, few) >= rarity(chunks, many) > 0


def test_rarity_is_robertsons_with_one_added() -> None:
    assert rarity(1000, 10) == pytest.approx(math.log(1 + (1000 - 10 + 0.5) / (10 + 0.5)))


@given(holding=st.lists(st.integers(0, 10_000), min_size=1, max_size=120), postings=st.integers(0, 5_000))
def test_what_is_read_is_bounded_and_goes_to_the_rare_words_first(holding: list[int], postings: int) -> None:
    shares = depths(holding, postings)
    assert sum(shares) <= postings
    assert all(share <= held for share, held in zip(shares, holding, strict=True))
    assert sum(shares) == min(postings, sum(holding)) or sum(holding) > postings
    by_rarity = [share for _, share in sorted(zip(holding, shares, strict=True))]
    assert by_rarity == sorted(by_rarity)


def test_common_words_share_what_rare_ones_leave() -> None:
    assert depths([9_000, 10, 8_000], 1_010) == [500, 10, 500]
    assert depths([3, 5], 100) == [3, 5]


# Two words: the first is one term, the second one term in each of two languages.
ASKED = AskedTerms.of(100, [Term(7, 0, 10), Term(8, 1, 50), Term(9, 1, 2), Term(5, 2, 0)])


def test_terms_that_no_chunk_holds_are_not_looked_for_and_weigh_in_the_coverage() -> None:
    assert [term.number for term in ASKED.known] == [7, 8, 9]
    everything = ASKED.coverage([1.0, 1.0, 1.0])
    assert everything == pytest.approx(1 - rarity(100, 0) / (rarity(100, 10) + rarity(100, 50) + rarity(100, 0)))


def test_a_word_of_several_terms_counts_by_the_best_of_them() -> None:
    assert ASKED.score([None, 2.0, 1.0]) == pytest.approx(max(2 * rarity(100, 50), rarity(100, 2)))
    assert ASKED.score([1.5, None, None]) == pytest.approx(1.5 * rarity(100, 10))
    assert ASKED.score([None, None, None]) == 0
    assert ASKED.coverage([None, 1.0, None]) == ASKED.coverage([None, 1.0, 1.0])


def test_two_words_of_one_term_are_one() -> None:
    asked = AskedTerms.of(100, [Term(7, 1, 10), Term(7, 0, 10), Term(8, 2, 5)])
    assert [(term.number, term.word) for term in asked.terms] == [(7, 0), (8, 2)]
    assert asked.coverage([1.0, 1.0]) == pytest.approx(1.0)


def test_nothing_known_covers_nothing() -> None:
    for asked in (AskedTerms.of(0, []), AskedTerms.of(5, [Term(1, 0, 0)])):
        assert (asked.score([]), asked.coverage([]), asked.weights) == (0, 0, ())


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        ("a late fee is", "late fee", True),
        ("late", "late fee", False),
        ("fee late", "late fee", False),
        ("late late fee", "late fee", True),
        ("", "late fee", False),
        ("the fee is late", "late fee", False),
    ],
)
def test_a_phrase_is_words_side_by_side(text: str, phrase: str, expected: bool) -> None:
    assert holds_phrase(text.split(), phrase.split()) is expected
