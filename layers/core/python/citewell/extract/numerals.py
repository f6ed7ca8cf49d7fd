"""Numbers of lists and headings as a reader sees them."""

from __future__ import annotations

from collections.abc import Callable

_ROMAN = (
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
)
_MOST_ROMAN = 3_999
_MOST_LETTERS = 780  # thirty times the alphabet, at which Word stops too
_CHINESE_DIGITS = "〇一二三四五六七八九"
_MOST_CHINESE = 99
_CIRCLED = range(1, 21)


def roman(number: int) -> str:
    """``IV`` for 4. What Roman numerals can't write stays decimal."""
    if not 0 < number <= _MOST_ROMAN:
        return str(number)
    letters = ""
    for value, sign in _ROMAN:
        letters += sign * (number // value)
        number %= value
    return letters


def letters(number: int) -> str:
    """``A`` to ``Z``, then ``AA``, ``BB``: as word processors count."""
    if not 0 < number <= _MOST_LETTERS:
        return str(number)
    times, index = divmod(number - 1, 26)
    return chr(ord("A") + index) * (times + 1)


def chinese(number: int) -> str:
    """``二十三`` for 23."""
    if not 0 <= number <= _MOST_CHINESE:
        return "".join(_CHINESE_DIGITS[int(digit)] for digit in str(number)) if number >= 0 else str(number)
    tens, ones = divmod(number, 10)
    if not tens:
        return _CHINESE_DIGITS[ones]
    return (_CHINESE_DIGITS[tens] if tens > 1 else "") + "十" + (_CHINESE_DIGITS[ones] if ones else "")


def ordinal(number: int) -> str:
    """``2nd`` for 2."""
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def circled(number: int) -> str:
    """``②`` for 2."""
    return chr(ord("①") + number - 1) if number in _CIRCLED else str(number)


def lower_roman(number: int) -> str:
    return roman(number).lower()


def lower_letters(number: int) -> str:
    return letters(number).lower()


def two_digits(number: int) -> str:
    return f"{number:02d}"


Numeral = Callable[[int], str]
