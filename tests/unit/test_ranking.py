"""Fusing and collapsing what the search arms found."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.ranking import MAX_MERGED_CHARACTERS, collapse, fuse_ranks, fuse_scores, reciprocal_rank_fusion
from citewell.core.values import Passage
from tests.passages import a_passage

RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8), max_size=4)


def test_a_score_is_the_sum_of_reciprocal_ranks() -> None:
    fused = reciprocal_rank_fusion([["a", "b"], ["b", "c"]], k=60)
    assert fused == pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62})
    assert list(fused) == ["b", "a", "c"]


def test_a_small_k_makes_the_first_rank_weigh_more() -> None:
    rankings = [["a", "x", "b"], ["y", "z", "b"]]
    assert next(iter(reciprocal_rank_fusion(rankings, k=60))) == "b"
    assert next(iter(reciprocal_rank_fusion(rankings, k=0))) == "a"


def test_ties_go_to_the_better_single_rank_and_then_to_the_id() -> None:
    assert list(reciprocal_rank_fusion([["b", "a"], ["a", "b"]])) == ["a", "b"]
    assert list(reciprocal_rank_fusion([["z"], ["y"], ["x"]])) == ["x", "y", "z"]


def test_an_id_named_twice_by_a_ranking_counts_once() -> None:
    assert reciprocal_rank_fusion([["a", "a", "b"]]) == pytest.approx({"a": 1 / 61, "b": 1 / 62})


def test_nothing_found_gives_nothing() -> None:
    assert reciprocal_rank_fusion([]) == {}
    assert reciprocal_rank_fusion([[], []]) == {}
    assert fuse_ranks([]) == []
    assert fuse_scores([]) == []


@given(RANKINGS, st.randoms())
def test_the_order_of_the_arms_does_not_matter(rankings: list[list[str]], shuffler: random.Random) -> None:
    shuffled = list(rankings)
    shuffler.shuffle(shuffled)
    assert list(reciprocal_rank_fusion(rankings).items()) == list(reciprocal_rank_fusion(shuffled).items())


@given(RANKINGS)
def test_everything_found_is_ranked_once_by_falling_score(rankings: list[list[str]]) -> None:
    fused = reciprocal_rank_fusion(rankings)
    assert fused.keys() == {each for ranking in rankings for each in ranking}
    assert list(fused.values()) == sorted(fused.values(), reverse=True)


def test_passages_are_fused_by_their_ranks_whatever_order_they_come_in() -> None:
    both = a_passage("both", vector_rank=2, keyword_rank=1)
    vector = a_passage("vector", vector_rank=1)
    keyword = a_passage("keyword", keyword_rank=2)
    fused = fuse_ranks([keyword, vector, both], k=60)
    assert [each.text for each in fused] == ["both", "vector", "keyword"]
    assert fused[0].fused_score == pytest.approx(1 / 62 + 1 / 61)
    assert fuse_ranks([both, keyword, vector], k=60) == fused


def test_scores_are_fused_half_and_half() -> None:
    near = a_passage("near", score=0.8, vector_rank=1)
    far = a_passage("far", score=0.4, keyword_score=12.0, coverage=0.9, keyword_rank=1)
    between = a_passage("between", score=0.7, keyword_score=9.0, coverage=0.6, vector_rank=2, keyword_rank=2)
    fused = fuse_scores([near, far, between])
    assert [each.text for each in fused] == ["between", "far", "near"]
    assert [each.fused_score for each in fused] == pytest.approx([0.75 / 2 + 0.75 / 2, 0 + 1 / 2, 1 / 2 + 0])
    assert fuse_scores([between, near, far]) == fused


def test_cosines_that_hardly_differ_do_not_overrule_the_words() -> None:
    near = a_passage("near", score=0.55, vector_rank=1)
    worded = a_passage("worded", score=0.50, keyword_score=12.0, coverage=0.9, keyword_rank=1)
    assert [each.text for each in fuse_scores([near, worded])] == ["worded", "near"]


def test_a_keyword_ranking_whose_best_passage_holds_little_of_the_question_counts_for_little() -> None:
    near = a_passage("near", score=0.9, vector_rank=1)
    worded = a_passage("worded", score=0.6, keyword_score=2.0, coverage=0.03, keyword_rank=1)
    assert [(each.text, round(each.fused_score, 6)) for each in fuse_scores([near, worded])] == [
        ("near", 0.5),
        ("worded", 0.05),
    ]


def test_without_any_shared_word_the_vectors_decide() -> None:
    first, second = a_passage("first", score=0.5, vector_rank=1), a_passage("second", score=0.4, vector_rank=2)
    assert [each.text for each in fuse_scores([second, first])] == ["first", "second"]


def test_a_score_next_to_nothing_is_no_division_by_it() -> None:
    [passage] = fuse_scores([a_passage(score=0.5, keyword_score=5e-324, coverage=0.3)])
    assert passage.fused_score == 1.0


def test_equal_fused_scores_are_ordered_by_the_better_single_rank_and_then_by_id() -> None:
    alike = [a_passage(text, score=0.5, vector_rank=rank) for text, rank in [("b", 2), ("a", 2), ("z", 1)]]
    assert [each.text for each in fuse_scores(alike)] == ["z", "a", "b"]


@given(
    st.lists(
        st.builds(
            a_passage,
            st.uuids().map(str),
            score=st.floats(-1, 1),
            keyword_score=st.none() | st.floats(0, 50),
            coverage=st.floats(0, 1),
        ),
        max_size=8,
        unique_by=lambda each: each.chunk_id,
    ),
    st.randoms(),
)
def test_whatever_the_scores_each_passage_is_ranked_once_between_zero_and_one(
    passages: list[Passage], shuffler: random.Random
) -> None:
    fused = fuse_scores(passages)
    assert {each.chunk_id for each in fused} == {each.chunk_id for each in passages}
    assert all(-1e-9 <= each.fused_score <= 1 + 1e-9 for each in fused)
    shuffler.shuffle(passages)
    assert fuse_scores(passages) == fused


_DOCUMENT = "".join(chr(ord("a") + place % 26) for place in range(20_000))


def _slice(start: int, end: int, **fields: object) -> Passage:
    return a_passage(_DOCUMENT[start:end], start=start, chunk_id=f"{start}-{end}", **fields)


def test_an_equal_text_is_collapsed_into_the_better_one() -> None:
    better = a_passage("Same  text.\n", source="a.md", vector_rank=3, score=0.7, fused_score=0.03)
    worse = a_passage("Same text.", source="b.md", vector_rank=1, keyword_rank=2, score=0.9, fused_score=0.02)
    [kept] = collapse([better, worse], top_k=5)
    assert (kept.source, kept.text) == ("a.md", "Same  text.\n")
    assert (kept.vector_rank, kept.keyword_rank, kept.score, kept.fused_score) == (1, 2, 0.9, 0.03)


def test_overlapping_spans_become_the_text_of_both_once() -> None:
    second = _slice(80, 200, score=0.6, keyword_score=1.5, section=("Expenses", "Second"), page=4)
    first = _slice(0, 100, score=0.9, section=("Expenses", "First"), page=3)
    [merged] = collapse([second, first], top_k=5)
    assert (merged.start, merged.end, merged.text) == (0, 200, _slice(0, 200).text)
    assert (merged.chunk_id, merged.section, merged.page) == ("80-200", ("Expenses", "Second"), 4)
    assert (merged.score, merged.keyword_score) == (0.9, 1.5)


def test_a_span_inside_another_leaves_the_larger_text() -> None:
    [merged] = collapse([_slice(10, 20), _slice(0, 100)], top_k=5)
    assert (merged.start, merged.end, merged.text) == (0, 100, _slice(0, 100).text)


def test_spans_that_touch_are_merged_and_spans_with_a_gap_are_not() -> None:
    assert len(collapse([_slice(0, 100), _slice(100, 200)], top_k=5)) == 1
    assert len(collapse([_slice(0, 100), _slice(101, 200)], top_k=5)) == 2


def test_a_third_passage_can_close_the_gap_between_two() -> None:
    merged = collapse([_slice(0, 100), _slice(180, 300), _slice(90, 190)], top_k=5)
    assert [(each.start, each.end) for each in merged] == [(0, 300)]
    assert merged[0].text == _slice(0, 300).text


def test_the_same_span_of_two_documents_is_two_passages() -> None:
    one, other = a_passage("aaaa", source="a.md"), a_passage("bbbb", source="b.md")
    assert collapse([one, other], top_k=5) == [one, other]


def test_spans_whose_texts_disagree_are_never_joined() -> None:
    old, new = a_passage("0123456789", start=0), a_passage("56789abcde", start=4)
    assert collapse([old, new], top_k=5) == [old, new]


def test_a_chain_of_overlaps_does_not_grow_into_a_whole_document() -> None:
    chain = [_slice(start, start + 1100) for start in range(0, 19_000, 1000)]
    collapsed = collapse(chain, top_k=5)
    assert len(collapsed) > 1
    assert all(len(each.text) <= MAX_MERGED_CHARACTERS for each in collapsed)


def test_passages_behind_the_last_one_needed_are_not_merged_in() -> None:
    ranked = [_slice(0, 100), _slice(500, 600), _slice(1000, 1100), _slice(90, 200)]
    assert collapse(ranked, top_k=2) == ranked[:2]


def test_a_merge_makes_room_for_another_passage() -> None:
    ranked = [_slice(0, 100), _slice(90, 200), _slice(500, 600), _slice(900, 1000)]
    assert [(each.start, each.end) for each in collapse(ranked, top_k=2)] == [(0, 200), (500, 600)]


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(1, 300)), max_size=12), st.integers(1, 6))
def test_what_is_kept_is_distinct_exact_and_in_order(spans: list[tuple[int, int]], top_k: int) -> None:
    passages = [_slice(start, start + length) for start, length in spans]
    kept = collapse(passages, top_k=top_k)
    assert len(kept) <= top_k
    for each in kept:
        assert each.text == _slice(each.start, each.end).text
    places = [next(n for n, each in enumerate(passages) if each.chunk_id == one.chunk_id) for one in kept]
    assert places == sorted(places)
    assert all(a.end < b.start or b.end < a.start for n, a in enumerate(kept) for b in kept[n + 1 :])
