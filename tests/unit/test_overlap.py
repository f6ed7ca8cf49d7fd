"""Shared words, rare ones first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.overlap import word_overlap


def test_all_words_shared_is_one_and_none_is_zero() -> None:
    assert word_overlap("meal limit", ["the limit of a meal", "nothing else"]) == pytest.approx([1.0, 0.0])


def test_a_rare_word_counts_more_than_one_that_all_texts_hold() -> None:
    texts = ["what is the alarm", "what is the price", "what is the rule"]
    overlaps = word_overlap("what is the price", texts)
    assert overlaps[1] == pytest.approx(1.0)
    assert overlaps[0] < 0.5


def test_inflected_words_meet_and_codes_must_be_equal() -> None:
    assert word_overlap("travelling", ["travelled", "trade"]) == pytest.approx([1.0, 0.0])
    assert word_overlap("VPN-4044", ["vpn-4044.", "VPN-4041", "vpn-404"]) == pytest.approx([1.0, 0.0, 0.0])


def test_text_without_spaces_is_compared_by_pairs_of_characters() -> None:
    near, far = word_overlap("访客登记", ["访客须提前一天登记。", "年假为十五天。"])
    assert near > 0.4
    assert far == 0.0


def test_a_question_without_words_overlaps_with_nothing() -> None:
    assert word_overlap("?!", ["a", "b"]) == [0.0, 0.0]
    assert word_overlap("a question", []) == []


@given(st.text(max_size=30), st.lists(st.text(max_size=30), max_size=6))
def test_an_overlap_is_a_share(question: str, texts: list[str]) -> None:
    overlaps = word_overlap(question, texts)
    assert len(overlaps) == len(texts)
    assert all(0.0 <= each <= 1.0 + 1e-9 for each in overlaps)
