"""Numbers of lists, in the forms of word processors."""

from __future__ import annotations

import pytest

from citewell.extract import numerals
from citewell.extract.numerals import Numeral


@pytest.mark.parametrize(
    ("numeral", "number", "shown"),
    [
        (numerals.letters, 27, "AA"),
        (numerals.letters, 780, "Z" * 30),
        (numerals.letters, 781, "781"),
        (numerals.letters, 0, "0"),
        (numerals.lower_russian, 29, "я"),
        (numerals.russian, 30, "АА"),
        (numerals.hebrew, 15, "טו"),
        (numerals.hebrew, 123, "קכג"),
        (numerals.hebrew, 500, "500"),
        (numerals.hebrew_letters, 22, "ת"),
        (numerals.chosung, 14, "ㅎ"),
        (numerals.aiueo, 46, "ン"),
        (numerals.greek, 24, "Ω"),
        (numerals.lower_greek, 42, "σσ"),
        (numerals.arabic, 3, "ت"),
        (numerals.arabic, 28, "ي"),
        (numerals.abjad, 3, "ج"),
        (numerals.abjad, 28, "غ"),
        (numerals.thai, 3, "ค"),
        (numerals.thai, 41, "ฮ"),
        (numerals.stems, 10, "癸"),
        (numerals.branches, 12, "亥"),
        (numerals.marks, 5, "**"),
        (numerals.hexadecimal, 26, "1A"),
        (numerals.cardinal_words, 12, "Twelve"),
        (numerals.cardinal_words, 23, "Twenty-three"),
        (numerals.cardinal_words, 100, "100"),
        (numerals.cardinal_words, 0, "0"),
        (numerals.ordinal_words, 3, "Third"),
        (numerals.ordinal_words, 20, "Twentieth"),
        (numerals.ordinal_words, 31, "Thirty-first"),
        (numerals.ordinal_words, 100, "100"),
    ],
)
def test_numbers_are_written_in_their_form_or_in_digits(numeral: Numeral, number: int, shown: str) -> None:
    assert numeral(number) == shown
