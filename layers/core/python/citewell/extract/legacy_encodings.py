"""Tells the encoding of a text from before Unicode, where that is certain.

Nearly every byte string can be read in several legacy encodings, and a wrong reading is worse than none: it would be
indexed and cited. So a reading counts only if it looks like something people write (letters of one language, words
cased as words are, signs where signs stand, the language's own letter frequencies), and an encoding is named only if
all readings that count give the same characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from charset_normalizer import from_bytes

_EVIDENCE_CHARACTERS = 20_000


def guess_encoding(data: bytes) -> str | None:
    """The Python name of the encoding of ``data``, which isn't valid UTF-8; None when it can't be told for certain."""
    readings = [*_latin_readings(data), *_alphabetic_readings(data), *_cjk_readings(data)]
    if len({evidence for _, evidence in readings}) != 1:
        return None
    encoding, evidence = readings[0]
    letters = {character for character in evidence if character.isalpha() and not character.isascii()}
    return encoding if encoding != "cp1250" or len(letters) >= _LEAST_DISTINCT else None


def _evidence(data: bytes, encoding: str) -> str | None:
    """The lines with other than ASCII characters, which alone tell encodings apart; None for an invalid reading."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    lines = (line for line in text.split("\n") if not line.isascii())
    evidence: list[str] = []
    size = 0
    for line in lines:
        evidence.append(line[: _EVIDENCE_CHARACTERS - size])
        size += len(evidence[-1]) + 1
        if size >= _EVIDENCE_CHARACTERS:
            break
    return "\n".join(evidence)


# --- languages written in an alphabet ---


def _alphabets(*letters: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(each + each.upper()) for each in letters)


# Together: an English text names people and places of all of these.
_WESTERN = _alphabets("äöüßàâæçéèêëîïôœùûÿáíóúñãõìíòåø")
_CENTRAL = _alphabets(
    "ąćęłńóśźż",  # Polish
    "áčďéěíňóřšťúůýž",  # Czech
    "áäčďéíĺľňóôŕšťúýž",  # Slovak
    "áéíóöőúüű",  # Hungarian
    "ăâîşţ",  # Romanian
    "čćđšž",  # Croatian, Slovene
    "äöüßé",  # German, the same bytes as Western's
)
_TURKISH = (frozenset("çğıöşüâîûÇĞİÖŞÜÂÎÛ"),)
_BALTIC = _alphabets("ąčęėįšųūž", "āčēģīķļņšūž", "äöõüšž")
_CYRILLIC = _alphabets(
    "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",  # Russian, Bulgarian
    "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",  # Ukrainian
    "абвгдеёжзійклмнопрстуўфхцчшыьэюя",  # Belarusian
    "абвгдђежзијклљмнњопрстћуфхцчџш",  # Serbian
)
_GREEK = _alphabets("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ")
_HEBREW = (frozenset(map(chr, range(0x5D0, 0x5EB))),)
_ARABIC = (
    frozenset(map(chr, range(0x621, 0x64B))) | frozenset(map(chr, range(0x64B, 0x653))) | frozenset("ـپچژگکی،؛؟"),
)
_THAI = (frozenset(map(chr, range(0xE01, 0xE5C))),)

_LATIN = (
    ("cp1252", _WESTERN),
    ("cp1250", _CENTRAL),
    ("iso8859_2", _CENTRAL),
    ("cp1254", _TURKISH),
    ("cp1257", _BALTIC),
)
_OTHER = (
    ("cp1251", _CYRILLIC),
    ("koi8_r", _CYRILLIC),
    ("cp866", _CYRILLIC),
    ("iso8859_5", _CYRILLIC),
    ("mac_cyrillic", _CYRILLIC),
    ("cp1253", _GREEK),
    ("cp1255", _HEBREW),
    ("cp1256", _ARABIC),
    ("cp874", _THAI),
)
_SIGNS = frozenset("€‚„…‘’“”•–—™‹›¡¢£¥§©ª«®°±²³´·º»¼½¾¿×÷µ¶\xa0\xad№")
_LETTER = r"[^\W\d_]"
_MISPLACED_SIGN = re.compile(
    rf"{_LETTER}[¡¿„‚£¢¥§•¶¼½¾±×÷µ©]"  # signs that don't follow a letter
    r"|â€"  # what UTF-8's dashes and quotation marks begin with; elsewhere letters precede a euro, as in "120k€"
    rf"|{_LETTER}[“”‘…«»‹›™®°²³´\xa0]{_LETTER}"  # signs that don't stand inside a word
    rf"|{_LETTER}[–—][ \n]|\b{_LETTER}{{1,2}}[–—]{_LETTER}|{_LETTER}[–—]{_LETTER}{{1,2}}\b"  # dashes join words
    rf"|(?<=[a-z])’(?!(?:s|t|re|ve|ll|d|m|em|n)\b)[a-z]"  # an apostrophe makes an ending, or elides before a vowel
)
_ELISION = re.compile(
    r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quelqu|presqu|aujourd|un|dell|all|nell|sull|dall|quell|quest)’(?=[aeiouyhàâéèêëîïôœù])",
    re.IGNORECASE,
)
# Slovak's ŕ and ĺ stand before a consonant, and no word is a single č, but for "č. 5": else they were à, å and è.
_MISPLACED_CENTRAL = re.compile(r"[ŕĺ](?![^\W\d_aáäeéiíoóôuúyý])|\bč\b(?![.)])", re.IGNORECASE)
_HUNGARIAN = frozenset("áéíóöőúüűä")
"""With an ä of foreign names. No language of the West has both the õ and the û that its ő and ű would be."""

_ROMANCE_WORDS = frozenset({
    "le", "les", "des", "du", "est", "une", "et", "dans", "aux", "qui", "sur", "avec", "nous", "vous", "pour",
    "il", "lo", "gli", "che", "della", "di", "per", "con", "sono", "nel", "que", "uma", "das", "em", "com", "las",
})  # fmt: skip
_LEAST_ROMANCE_WORDS = 3
_NEVER_LACKING = frozenset("яюьј")
_LETTERS_TO_LACK_NONE = 200
"""Of Cyrillic: in so long a text of any language one of those stands. Hebrew has the same bytes, but for them."""

_LETTER_BEFORE_DIGIT = re.compile(rf"(?![\x00-\x7fªº]){_LETTER}\d")  # where a currency sign stands in the right reading
_WORD = re.compile(rf"{_LETTER}+")
_MOST_FOREIGN_IN_LATIN = 0.35
_LEAST_DISTINCT = 3
_LEAST_LETTERS = 30
_LEAST_COHERENCE = 0.3


def _latin_readings(data: bytes) -> Iterator[tuple[str, str]]:
    for encoding, alphabets in _LATIN:
        evidence = _evidence(data, encoding)
        if evidence is None or not _is_written(evidence, alphabets) or _LETTER_BEFORE_DIGIT.search(evidence):
            continue
        is_hungarian = _is_hungarian(evidence, encoding)
        if alphabets is _CENTRAL and (
            _MISPLACED_CENTRAL.search(evidence) or (_is_romance(evidence) and not is_hungarian)
        ):
            continue
        if alphabets is _WESTERN and is_hungarian:
            continue
        letters = [character for character in evidence if character.isalpha()]
        foreign = [letter for letter in letters if not letter.isascii()]
        # One or two odd letters make no Turkish; but they do make a č of what might be an è.
        told = encoding in {"cp1252", "cp1250"} or len(set(foreign)) >= _LEAST_DISTINCT
        if told and len(foreign) <= _MOST_FOREIGN_IN_LATIN * len(letters):
            yield encoding, evidence


def _is_hungarian(text: str, encoding: str) -> bool:
    """Whether the bytes of ``text`` are letters of Hungarian alone, its own two among them."""
    letters = {letter for letter in text.encode(encoding).decode("cp1250", "replace").lower() if letter.isalpha()}
    foreign = {letter for letter in letters if not letter.isascii()}
    return {"ő", "ű"} <= foreign <= _HUNGARIAN


def _is_romance(text: str) -> bool:
    """Whether its small words are those of a language that no Central European encoding was made for."""
    words = [word for word in _WORD.findall(text.lower()) if word in _ROMANCE_WORDS]
    return len(words) >= _LEAST_ROMANCE_WORDS and len(set(words)) > 1


def _alphabetic_readings(data: bytes) -> Iterator[tuple[str, str]]:
    for encoding, alphabets in _OTHER:
        evidence = _evidence(data, encoding)
        if evidence is None or not _is_written(evidence, alphabets):
            continue
        letters = [character for character in evidence if character.isalpha() and not character.isascii()]
        is_long = len(letters) >= _LETTERS_TO_LACK_NONE
        if alphabets is _CYRILLIC and is_long and _NEVER_LACKING.isdisjoint(evidence.lower()):
            continue
        mostly_capitals = sum(map(str.isupper, letters)) > len(letters) / 2
        if len(letters) >= _LEAST_LETTERS and not mostly_capitals and _is_coherent(evidence, encoding):
            yield encoding, evidence


def _is_written(text: str, alphabets: tuple[frozenset[str], ...]) -> bool:
    foreign = {character for character in text if not character.isascii()}
    letters = foreign - _SIGNS
    return (
        any(letters <= alphabet for alphabet in alphabets)
        and not _MISPLACED_SIGN.search(_ELISION.sub("", text))
        and _words_are_cased(text)
    )


def _words_are_cased(text: str) -> bool:
    """Words are lower, upper or title case, a few names apart. A misread word is not, unless its script has no case."""
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    odd = sum(
        1
        for word in words
        if word.upper() != word.lower() and not (word.isupper() or word[1:].islower() or len(word) == 1)
    )
    return odd <= 0.02 * len(words)


def _is_coherent(text: str, encoding: str) -> bool:
    """Whether the letters are as frequent as a language of that alphabet has them."""
    match = from_bytes(text.encode(encoding), cp_isolation=[encoding], enable_fallback=False).best()
    return match is not None and match.coherence >= _LEAST_COHERENCE


# --- Chinese, Japanese, Korean ---


class _Code(NamedTuple):
    """``everyday`` tells what nearly all text in a code is made of, ``frequent`` are a language's top characters."""

    encoding: str
    everyday: Callable[[str], bool]
    frequent: frozenset[str]


def _led_by(encoding: str, *ranges: tuple[int, int]) -> Callable[[str], bool]:
    def everyday(character: str) -> bool:
        encoded = character.encode(encoding)
        return len(encoded) == 2 and any(first <= encoded[0] <= last for first, last in ranges)

    return everyday


_BOTH_CHINESE = (
    "的一是不了在人有我他中大上到和你地出道也年得就那要下以生自着去之家可里小心多天而能好都然日"
    "起成事只作想看文手用主行方又如前所本面公同三已老知民分外但身些高意把法此理二月工休假司提交"
)
_CODES = (
    _Code(
        "gb18030",
        _led_by("gb18030", (0xA1, 0xA3), (0xB0, 0xD7)),
        frozenset(_BOTH_CHINESE + "这来国个说们为时会过学对后么没于发当开无经头从动两长样现将与进实请员间期须规定"),
    ),
    _Code(
        "big5",
        _led_by("big5", (0xA1, 0xC6)),
        frozenset(_BOTH_CHINESE + "這來國個說們為時會過學對後麼沒於發當開無經頭從動兩長樣現將與進實請員間期須規定"),
    ),
    _Code(
        "cp949",
        _led_by("cp949", (0xA1, 0xA3), (0xB0, 0xC8)),
        frozenset(
            "이다의는에을가고하지로도한은를사어기리서자인으나들시대해그아과정수일있부제라스게여보장전상만주성구동니까요것연신조공원우업세위안무비할및용회습된면적했되"
        ),
    ),
    _Code("euc_jp", _led_by("euc_jp", (0xA1, 0xA5), (0xB0, 0xCF)), frozenset(map(chr, range(0x3041, 0x30FF)))),
    _Code(
        "cp932", _led_by("cp932", (0x81, 0x83), (0x88, 0x98), (0xFA, 0xFC)), frozenset(map(chr, range(0x3041, 0x30FF)))
    ),
)
_INSIDE_A_WORD = re.compile(r"[A-Za-z][^\x00-\x7f](?=[a-z])")
_LEAST_CJK = 8
_LEAST_EVERYDAY = 0.95
_LEAST_FREQUENT = 0.15


def _cjk_readings(data: bytes) -> Iterator[tuple[str, str]]:
    for code in _CODES:
        evidence = _evidence(data, code.encoding)
        if evidence is None:
            continue
        foreign = [character for character in evidence if not character.isascii()]
        frequent = sum(character in code.frequent for character in foreign)
        # Shift-JIS alone puts second bytes among the ASCII letters, so even a list of names is told by its form.
        told_by_form = code.encoding == "cp932" and any(
            0x40 <= character.encode("cp932")[-1] <= 0x7E for character in foreign
        )
        if (
            len(foreign) >= _LEAST_CJK
            and len(_INSIDE_A_WORD.findall(evidence)) <= 0.1 * len(foreign)
            and sum(map(code.everyday, foreign)) >= _LEAST_EVERYDAY * len(foreign)
            and (told_by_form or frequent >= _LEAST_FREQUENT * len(foreign))
        ):
            yield code.encoding, evidence
