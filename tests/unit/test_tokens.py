"""The estimate for embedders without a tokenizer at hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.tokens import estimate_token_starts, spaced


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("leave", ["leav", "e"]),
        ("Annual leave: 25 days", ["Annua", "l", "leav", "e", ":", "25", "days"]),
        ("年假25天", ["年", "假", "25", "天"]),
        ("a\n\n  b", ["a", "\n\n", "b"]),
        ("HTTP2", ["HT", "TP", "2"]),
    ],
)
def test_where_tokens_are_taken_to_start(text: str, tokens: list[str]) -> None:
    starts = estimate_token_starts(text)
    ends = [*starts[1:], len(text)]
    assert [text[start:end].rstrip(" ") for start, end in zip(starts, ends, strict=True)] == tokens


@given(st.text(max_size=200))
def test_starts_ascend_and_no_visible_text_is_left_uncounted(text: str) -> None:
    starts = estimate_token_starts(text)
    assert starts == sorted(set(starts))
    assert bool(starts) >= bool(text.strip())


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        ([], []),
        ([0], [0]),
        ([0, 6, 12], [0, 6, 12]),
        ([0, 7, 20], [0, 6, 7, 13, 19, 20]),
        ([3, 30], [3, 9, 15, 21, 27, 30]),
    ],
)
def test_no_token_stays_longer_than_allowed(starts: list[int], expected: list[int]) -> None:
    assert list(spaced(starts, longest=6)) == expected
