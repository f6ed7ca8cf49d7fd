"""Words as the keyword search knows them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.words import MAX_WORD_CHARACTERS, AskedWords, parse_question, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  -- ?!\n", []),
        ("The Late FEE", ["the", "late", "fee"]),
        ("the company's; don't", ["the", "company", "don"]),
        ("l'école naïve, Straße", ["l", "école", "naïve", "straße"]),
        ("plan B, class 5", ["plan", "b", "class", "5"]),
        ("error E-4711", ["error", "e4711", "e", "4711"]),
        ("from 2025-03-31", ["from", "20250331", "2025", "03", "31"]),
        ("1,800 EUR and/or 60", ["1", "800", "eur", "and", "or", "60"]),
        ("run_target", ["run_target", "run", "target"]),
        ("DiffExecutor HTTPServer", ["diffexecutor", "diff", "executor", "httpserver", "http", "server"]),
        ("sha256 NASA Contoso", ["sha256", "nasa", "contoso"]),
        ("ﬁle ①", ["file", "1"]),  # compatibility characters
        ("cafe\u0301", ["café"]),
        ("退款政策", ["退款", "款政", "政策"]),
        ("退", ["退"]),
        ("ω-force合作", ["ω", "force", "合作"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("환불 정책은", ["환불", "정책", "책은"]),
        ("किताब हिंदी में है।", ["किताब", "हिंदी", "में", "है"]),
        ("كتاب جديد", ["كتاب", "جديد"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_code_is_found_however_it_is_separated() -> None:
    for asked in ("E4711", "e-4711", "E.4711"):
        assert "e4711" in words(asked)


def test_a_long_word_is_cut_the_same_way_wherever_it_stands() -> None:
    assert words("x" * 1_000_000) == ["x" * MAX_WORD_CHARACTERS]


@given(st.text())
def test_every_word_is_in_lower_case_and_short(text: str) -> None:
    for word in words(text):
        assert word
        assert not any(character.isspace() for character in word)
        assert len(word) <= MAX_WORD_CHARACTERS


@given(st.text(), st.text())
def test_words_of_two_texts_are_those_of_each(first: str, second: str) -> None:
    assert words(f"{first}\n \n{second}") == words(first) + words(second)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the late fee?", AskedWords(("what", "is", "the", "late", "fee"), (), ())),
        ('the "late fee" policy', AskedWords(("the", "late", "fee", "policy"), (("late", "fee"),), ())),
        ("die „fristlose Kündigung“", AskedWords(("die", "fristlose", "kündigung"), (("fristlose", "kündigung"),), ())),
        ('what is a "deductible"', AskedWords(("what", "is", "a", "deductible"), (), ())),
        ("late fee -school", AskedWords(("late", "fee"), (), ("school",))),
        ("fees -school, -music", AskedWords(("fees",), (), ("school", "music"))),
        ("what does -f do, or --path?", AskedWords(("what", "does", "f", "do", "or", "path"), (), ())),
        ("below -20 degrees", AskedWords(("below", "20", "degrees"), (), ())),
        ("pre-school fees", AskedWords(("pre", "school", "fees"), (), ())),
        ("5-year - old", AskedWords(("5year", "5", "year", "old"), (), ())),
        ("茶馆 -龙井", AskedWords(("茶馆",), (), ("龙井",))),
        ("茶馆 「龙井茶」", AskedWords(("茶馆", "龙井", "井茶"), (("龙井", "井茶"),), ())),
        ("-school", AskedWords(("school",), (), ())),
        ("python -JavaScript", AskedWords(("python",), (), ("javascript",))),
        ('fees -"school"', AskedWords(("fees",), (), ("school",))),
        ('fees -"late fee" for music', AskedWords(("fees", "for", "music"), (), ())),
        ('-"late fee"', AskedWords(("late", "fee"), (), ())),
        ('an "unfinished quote', AskedWords(("an", "unfinished", "quote"), (), ())),
        ('""', AskedWords((), (), ())),
        ("?", AskedWords((), (), ())),
    ],
)
def test_a_question_s_operators(question: str, expected: AskedWords) -> None:
    assert parse_question(question) == expected
