"""What a question's words find: in every language, by phrases and without words, and as a member of a small group."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from citewell.core.keywords import rarity
from citewell.core.values import Audience, DocumentKey, Metadata, Passage, Question
from citewell.edges.postgres_chunk_store import PostgresChunkStore
from citewell.ports import IndexGeneration
from tests.integration.chunks import EVERYONE, index, to_store, vector_of, version

GERMAN = "Die Mitarbeiter erhalten dreißig Urlaubstage im Jahr."
RUSSIAN = "Сотрудники получают тридцать дней отпуска в год."
CHINESE = "员工每年有三十天年假,使用 HTTPServer 登录。"
ENGLISH = "Employees receive thirty days of leave a year."
LANGUAGES = {"german": GERMAN, "russian": RUSSIAN, "simple": CHINESE, "english": ENGLISH}


@pytest.fixture(params=[{}, {"exact_chunks": 0}], ids=["exact", "by index"])
def store(database: str, generation: IndexGeneration, request: pytest.FixtureRequest) -> Iterator[PostgresChunkStore]:  # noqa: ARG001 - made live
    with closing(PostgresChunkStore(database, **request.param)) as store:
        yield store


def add(store: PostgresChunkStore, text: str, *, language: str = "english", groups: tuple[str, ...] = ()) -> None:
    """One document of one chunk."""
    key = DocumentKey("default", f"{text[:40]}.md")
    chunks = to_store([text], key=key, header="")
    generation = store.live_generation()
    store.keep_vectors("default", generation, {chunks[0].reuse_key: vector_of(text)})
    served = replace(version("v1", metadata=Metadata(groups=groups)), search_language=language)
    store.swap(store.claim(key), generation, served, chunks)


def ask(store: PostgresChunkStore, text: str, *, audience: Audience = EVERYONE, limit: int = 30) -> list[Passage]:
    return store.candidates(audience, store.live_generation(), Question(text), vector_of(text), limit=limit)


def by_keyword(passages: list[Passage]) -> list[str]:
    ranked = sorted((each.keyword_rank, each.text) for each in passages if each.keyword_rank is not None)
    return [text for _, text in ranked]


def the(passages: list[Passage], text: str) -> Passage:
    [passage] = [each for each in passages if each.text == text]
    return passage


# --- languages ------------------------------------------------------------------------------------------------------


@pytest.fixture
def languages(store: PostgresChunkStore) -> PostgresChunkStore:
    for language, text in LANGUAGES.items():
        add(store, text, language=language)
    return store


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Wie viele Tage Urlaub hat ein Mitarbeiter? Urlaubstag", GERMAN),
        ("Сколько дней отпуска у сотрудника?", RUSSIAN),
        ("年假有几天", CHINESE),
        ("How do I log in to the HTTPServer?", CHINESE),
        ("http server", CHINESE),
        ("Is an employee receiving leave?", ENGLISH),
    ],
)
def test_a_question_finds_its_answer_in_its_language(
    languages: PostgresChunkStore, question: str, expected: str
) -> None:
    assert by_keyword(ask(languages, question))[0] == expected


def test_a_chinese_question_with_an_english_word_uses_both(languages: PostgresChunkStore) -> None:
    add(languages, "员工每年有三十天病假。", language="simple")
    assert by_keyword(ask(languages, "每年 httpserver")) == [CHINESE, "员工每年有三十天病假。"]


def test_a_word_of_another_language_is_found_by_the_stem_it_has_there(languages: PostgresChunkStore) -> None:
    passages = ask(languages, "What does Urlaubstag mean?")
    assert by_keyword(passages) == [GERMAN]


def test_stop_words_of_the_questions_language_find_nothing_in_another(store: PostgresChunkStore) -> None:
    add(store, "was will the man in war", language="simple")
    add(store, ENGLISH)
    assert by_keyword(ask(store, "What was the leave in the year?")) == [ENGLISH]
    assert by_keyword(ask(store, "was war")) == ["was will the man in war"]


def test_a_word_that_two_languages_make_two_terms_of_counts_once(store: PostgresChunkStore) -> None:
    text = "Kosten kost"
    add(store, text, language="german")
    add(store, "kosten", language="simple")
    found = the(ask(store, "kosten"), text)
    assert found.coverage == 1.0


# --- scores ---------------------------------------------------------------------------------------------------------


def test_every_passage_of_either_arm_has_its_score_and_coverage(store: PostgresChunkStore) -> None:
    for text in ("apple pear", "apple plum", "fig"):
        add(store, text)
    passages = ask(store, "apple pear quince")
    common, rare, unknown = rarity(3, 2), rarity(3, 1), rarity(3, 0)
    total = common + rare + unknown
    assert the(passages, "apple pear").coverage == pytest.approx((common + rare) / total)
    assert the(passages, "apple plum").coverage == pytest.approx(common / total)
    assert (the(passages, "fig").coverage, the(passages, "fig").keyword_score) == (0.0, 0.0)
    assert the(passages, "fig").keyword_rank is None
    ratio = (the(passages, "apple pear").keyword_score or 0) / (the(passages, "apple plum").keyword_score or 1)
    assert ratio == pytest.approx((common + rare) / common)


def test_a_word_asked_twice_counts_once(store: PostgresChunkStore) -> None:
    for text in ("apple pear", "fig"):
        add(store, text)
    once = the(ask(store, "apple pear"), "apple pear")
    again = the(ask(store, "apples pear apple pears"), "apple pear")
    assert (again.keyword_score, again.coverage) == (once.keyword_score, once.coverage)


def test_a_question_without_a_known_word_covers_nothing(store: PostgresChunkStore) -> None:
    add(store, "apple")
    for question in ("quince", "the of", "???"):
        [passage] = ask(store, question)
        assert (passage.keyword_rank, passage.keyword_score, passage.coverage) == (None, 0.0, 0.0)


def test_of_many_chunks_with_a_common_word_those_with_the_rare_one_come_first(
    database: str, generation: IndexGeneration
) -> None:
    assert generation.generation
    with closing(PostgresChunkStore(database, postings=40, exact_chunks=0)) as store:
        filler = " ".join(f"w{number}" for number in range(60))
        many = [f"{'travel' if number % 2 else 'canteen'} {number}" for number in range(150)]
        index(store, many, key=DocumentKey("default", "a.md"), header="")
        index(store, [f"travel visa {filler}", f"visa {filler}"], key=DocumentKey("default", "b.md"), header="")
        passages = ask(store, "travel visa", limit=5)
    assert [text.split(" w")[0] for text in by_keyword(passages)[:2]] == ["travel visa", "visa"]
    assert the(passages, f"travel visa {filler}").coverage == 1.0


# --- operators ------------------------------------------------------------------------------------------------------

LATE_FEE = "A late fee is due."
FEE_LATE = "The fee comes late, and the late payer pays a fee."
SCHOOL = "The school has a fee."


@pytest.fixture
def fees(store: PostgresChunkStore) -> PostgresChunkStore:
    for text in (LATE_FEE, FEE_LATE, SCHOOL):
        add(store, text)
    return store


def test_a_phrase_finds_only_what_holds_its_words_side_by_side(fees: PostgresChunkStore) -> None:
    assert set(by_keyword(ask(fees, "late fee"))) == {LATE_FEE, FEE_LATE, SCHOOL}
    for question in ('"late fee"', 'Is there a "late fee"?', "“Late Fee”", '"late fee" school'):
        assert by_keyword(ask(fees, question)) == [LATE_FEE], question


def test_a_phrase_that_stands_nowhere_is_its_words(fees: PostgresChunkStore) -> None:
    assert by_keyword(ask(fees, '"fee school"'))[0] == SCHOOL
    assert set(by_keyword(ask(fees, '"fee late payer"'))) == {LATE_FEE, FEE_LATE, SCHOOL}


def test_of_two_phrases_both_are_held_or_else_any(fees: PostgresChunkStore) -> None:
    assert by_keyword(ask(fees, '"late payer" "pays a fee"')) == [FEE_LATE]
    assert set(by_keyword(ask(fees, '"late fee" "late payer"'))) == {LATE_FEE, FEE_LATE}


def test_a_phrase_may_stand_in_the_header(store: PostgresChunkStore) -> None:
    index(store, ["Nothing of it."], key=DocumentKey("default", "a.md"), header="Annual leave")
    index(store, ["Leave it to the annual report."], key=DocumentKey("default", "b.md"), header="")
    assert by_keyword(ask(store, '"annual leave"')) == ["Nothing of it."]


def test_a_phrase_is_found_among_many_passages_that_hold_its_words_apart(store: PostgresChunkStore) -> None:
    index(store, [f"fee {n} comes late" for n in range(60)], key=DocumentKey("default", "a.md"), header="")
    add(store, LATE_FEE + " " + " ".join(f"w{number}" for number in range(80)))
    assert len(by_keyword(ask(store, '"late fee"', limit=5))) == 1


def test_what_holds_an_excluded_word_is_found_by_neither_arm(fees: PostgresChunkStore) -> None:
    for question in ("fee -school", "-schools fee", "fee -SCHOOL"):
        assert {passage.text for passage in ask(fees, question)} == {LATE_FEE, FEE_LATE}, question
    assert {passage.text for passage in ask(fees, "fee -university")} == {LATE_FEE, FEE_LATE, SCHOOL}


def test_a_flag_that_the_passages_write_as_the_question_does_is_no_exclusion(store: PostgresChunkStore) -> None:
    add(store, "Give find a -name to look for.")
    add(store, "Find out the name of your manager.")
    assert by_keyword(ask(store, "how does find -name work")) == ["Give find a -name to look for."]


def test_an_excluded_phrase_of_other_tenants_words_excludes_nothing(fees: PostgresChunkStore) -> None:
    index(fees, ["university"], key=DocumentKey("them", "a.md"))
    assert len(ask(fees, "fee -university")) == 3


# --- few among many -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact_chunks", [1000, 0], ids=["by chunks", "by postings"])
def test_a_member_of_a_small_group_finds_all_of_its_hits_in_a_large_tenant(
    database: str, generation: IndexGeneration, exact_chunks: int
) -> None:
    assert generation.generation
    with closing(PostgresChunkStore(database, postings=20, exact_chunks=exact_chunks)) as store:
        closed = [f"budget travel {number}" for number in range(400)]
        index(store, closed, key=DocumentKey("default", "board.md"), metadata=Metadata(groups=("board",)), header="")
        filler = " ".join(f"w{number}" for number in range(40))
        for number in range(8):
            add(store, f"{number} budget {filler}", groups=("hr",))
        hits = by_keyword(ask(store, "budget travel", audience=Audience("default", ("hr",))))
    assert {text.split()[0] for text in hits} == {str(number) for number in range(8)}


def test_what_is_closed_to_a_caller_does_not_crowd_out_what_he_may_find(
    database: str,
    generation: IndexGeneration,  # noqa: ARG001 - made live
) -> None:
    with closing(PostgresChunkStore(database, exact_chunks=0, postings=20)) as store:
        add(store, "The salary of office staff is paid monthly, and the bank needs two days for it to arrive.")
        for number in range(60):
            add(store, f"salary salary {number}", groups=("board",))
        for number in range(30):
            add(store, f"The office is open on day {number}.")
        found = ask(store, "What is the salary of office staff?", limit=5)
        [best] = [each for each in found if each.keyword_rank == 1]
        assert best.text.startswith("The salary of office staff")


def test_who_has_two_groups_scores_by_what_both_may_read(store: PostgresChunkStore) -> None:
    add(store, "budget one", groups=("hr",))
    add(store, "budget two", groups=("it",))
    add(store, "canteen")
    add(store, "garden", groups=("board",))
    both = ask(store, "budget", audience=Audience("default", ("hr", "it", "hr")))
    assert len(by_keyword(both)) == 2
    alone = ask(store, "budget", audience=Audience("default", ("hr",)))
    rarer = the(alone, "budget one").keyword_score or 0
    assert rarer / (the(both, "budget one").keyword_score or 1) == pytest.approx(rarity(2, 1) / rarity(3, 2))
    assert not math.isclose(rarity(2, 1), rarity(3, 2))


def test_the_longest_question_of_many_words_is_answered(store: PostgresChunkStore) -> None:
    add(store, "苹果" + "梨子" * 40, language="simple")
    add(store, "apple")
    assert by_keyword(ask(store, "苹果" * 200 + " apple" * 16))[0] in ("apple", "苹果" + "梨子" * 40)
    many = " ".join(f"a{number}" for number in range(120))[:490]
    assert by_keyword(ask(store, many + " apple")) == ["apple"]
