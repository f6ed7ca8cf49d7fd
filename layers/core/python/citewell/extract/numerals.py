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
_MOST_TIMES = 30  # the alphabet is gone through, then Word stops too
_LATIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_RUSSIAN = "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ"
_HEBREW = "אבגדהוזחטיכלמנסעפצקרשת"
_GANADA = "가나다라마바사아자차카타파하"
_CHOSUNG = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_IROHA = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"
_AIUEO = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
_GREEK = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ"
_ARABIC = "أبتثجحخدذرزسشصضطظعغفقكلمنهوي"
_ABJAD = "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ"
_THAI = "กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ"
_STEMS = "甲乙丙丁戊己庚辛壬癸"
_BRANCHES = "子丑寅卯辰巳午未申酉戌亥"
_MARKS = "*†‡§"
_HEBREW_SPECIAL = {15: "טו", 16: "טז"}  # else they would spell the name of God
_MOST_HEBREW = 499
_ONES = (
    *("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}  # fmt: skip
_MOST_WORDS = 99
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
    return _repeated(_LATIN, number)


def _repeated(alphabet: str, number: int) -> str:
    times, index = divmod(number - 1, len(alphabet))
    return alphabet[index] * (times + 1) if 0 <= times < _MOST_TIMES else str(number)


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


def hexadecimal(number: int) -> str:
    return f"{number:X}"


def in_dashes(number: int) -> str:
    return f"- {number} -"


def russian(number: int) -> str:
    return _repeated(_RUSSIAN, number)


def lower_russian(number: int) -> str:
    return russian(number).lower()


def hebrew_letters(number: int) -> str:
    return _repeated(_HEBREW, number)


def ganada(number: int) -> str:
    return _repeated(_GANADA, number)


def chosung(number: int) -> str:
    return _repeated(_CHOSUNG, number)


def iroha(number: int) -> str:
    return _repeated(_IROHA, number)


def aiueo(number: int) -> str:
    return _repeated(_AIUEO, number)


def greek(number: int) -> str:
    return _repeated(_GREEK, number)


def lower_greek(number: int) -> str:
    return "".join(map(str.lower, greek(number)))  # letter by letter: none of them is the last one of a word


def arabic(number: int) -> str:
    return _repeated(_ARABIC, number)


def abjad(number: int) -> str:
    """Arabic letters in the order of their values."""
    return _repeated(_ABJAD, number)


def thai(number: int) -> str:
    return _repeated(_THAI, number)


def stems(number: int) -> str:
    """``乙`` for 2: the ten heavenly stems of the Chinese calendar."""
    return _repeated(_STEMS, number)


def branches(number: int) -> str:
    """``丑`` for 2: the twelve earthly branches."""
    return _repeated(_BRANCHES, number)


def marks(number: int) -> str:
    """``*``, ``†``, ``‡``, ``§``, ``**``: the Chicago Manual of Style's."""
    return _repeated(_MARKS, number)


def hebrew(number: int) -> str:
    """``כג`` for 23."""
    if not 0 < number <= _MOST_HEBREW:
        return str(number)
    hundreds, rest = divmod(number, 100)
    tens, ones = divmod(rest, 10)
    of_tens = _HEBREW[8 + tens] if tens else ""
    of_ones = _HEBREW[ones - 1] if ones else ""
    return (_HEBREW[17 + hundreds] if hundreds else "") + _HEBREW_SPECIAL.get(rest, of_tens + of_ones)


def cardinal_words(number: int) -> str:
    """``Twenty-three`` for 23: in English, whatever the document's language."""
    return _words(number).capitalize() or str(number)


def ordinal_words(number: int) -> str:
    """``Twenty-third`` for 23."""
    before, dash, last = _words(number).rpartition("-")
    if not last:
        return str(number)
    last = _ORDINALS.get(last) or (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
    return f"{before}{dash}{last}".capitalize()


def _words(number: int) -> str:
    if not 0 < number <= _MOST_WORDS:
        return ""
    if number < len(_ONES):
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return "-".join(filter(None, (_TENS[tens], _ONES[ones])))


Numeral = Callable[[int], str]
