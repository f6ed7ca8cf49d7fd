"""Words as the keyword search knows them: of passages when they are indexed, of questions when they are asked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

WORDS_VERSION = "1"
"""Part of the pipeline's version: raise it with any change that gives other words."""

MAX_WORD_CHARACTERS = 64
"""Longer words are cut: nobody types them, and what is left of them still finds a pasted one."""

# Marks that \w leaves out although they stand within words: accents, points, and the vowel signs of India.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff"
)

# Written without spaces between words (Chinese, Japanese, Thai, Lao, Burmese, Khmer), or with endings grown on to words
# that no stemmer of Postgres knows (Korean): pairs of neighbouring characters stand in for words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])[\w{_MARKS}])+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")

# Parts of an identifier: HTTPServer -> HTTP, Server; parse_question -> parse, question; sha256 stays whole.
_PART = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+|[^\W_A-Za-z0-9]+")
_IDENTIFIER = re.compile(r"\w*(?:[a-z][A-Z]|[A-Z]{2}[a-z]|[^\W_]_+[^\W_])\w*")

# E-4711, 10.4.2, 2025-03-31, A/17: several words and one code. Possessive, so that no text takes quadratic time.
_CODE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]++(?:[-./:][A-Za-z0-9]++)++")

_APOSTROPHES = "'’"


def words(text: str) -> list[str]:
    """The words of ``text`` in order, in lower case and NFKC, each as often as it stands there.

    Identifiers and codes are there as a whole and in parts; a code's whole has no separators, so that ``E4711`` finds
    ``E-4711``. What is written without spaces is cut into overlapping pairs of characters.
    """
    normal = unicodedata.normalize("NFKC", text)
    whole = [(match.start(), re.sub(r"[-./:]", "", match[0])) for match in _CODE.finditer(normal) if _has_digit(match)]
    found = [*whole, *_plain(normal)]
    return [word.lower()[:MAX_WORD_CHARACTERS] for _, word in sorted(found, key=lambda each: each[0])]


def _has_digit(match: re.Match[str]) -> bool:
    return any(character.isdigit() for character in match[0])


def _plain(text: str) -> Iterator[tuple[int, str]]:
    """(offset, word) of everything but codes as a whole."""
    for match in _WORD.finditer(text):
        word, start = match[0], match.start()
        if _IS_UNSPACED.match(word):
            pairs = [word[at : at + 2] for at in range(len(word) - 1)] or [word]
            yield from ((start + at, pair) for at, pair in enumerate(pairs))
        elif len(word) == 1 and start > 0 and text[start - 1] in _APOSTROPHES:
            continue  # the s of "company's", the t of "don't"
        else:
            word = word[:MAX_WORD_CHARACTERS]
            yield start, word
            if _IDENTIFIER.fullmatch(word):
                yield from ((start + part.start(), part[0]) for part in _PART.finditer(word))


@dataclass(frozen=True, slots=True)
class AskedWords:
    """What a question says by its words: see :func:`parse_question`.

    ``words`` are all that should be found, those of the phrases included; each of ``phrases`` is words that stand next
    to each other; no passage may hold one of ``excluded``.
    """

    words: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    excluded: tuple[str, ...]


_PHRASE = re.compile(r"[\"“„«「『]([^\"“”„«»「」『』]*)[\"”“»」』]")

# Flags such as -m and --path and numbers below zero are words of the question.
_EXCLUDED = re.compile(rf"(?:^|(?<=\s))-(?:\"([^\"]*)\"|((?:[{_UNSPACED}]{{2,}}|[^\W\d_]{{3,}})))(?=$|[\s,.;:!?])")


def parse_question(text: str) -> AskedWords:
    """Read the operators that web searches know: ``"late fee"`` is a phrase, ``-school`` excludes a word.

    A hyphen excludes only in front of three letters or more (two where characters are words), and only where something
    else is asked for: ``-f`` and ``--path`` are what a question about a command is about. A quoted single word is a
    word. An identifier is excluded as a whole: what has a script in it is not about JavaScript. Whole phrases can't be
    excluded, and aren't asked for.
    """
    without = _EXCLUDED.sub(" ", text)
    asked = words(without.replace('"', " "))
    excluded = tuple(word for match in _EXCLUDED.finditer(text) for word in _excluded(match))
    if not asked:
        return AskedWords(tuple(words(text)), (), ())
    phrases = [tuple(words(match[1])) for match in _PHRASE.finditer(without)]
    return AskedWords(tuple(asked), tuple(phrase for phrase in phrases if len(phrase) > 1), excluded)


def _excluded(match: re.Match[str]) -> list[str]:
    phrase, word = match.groups()
    found = words(phrase if word is None else word)
    if word is None:
        return found if len(found) == 1 else []
    return found[:1] if _IDENTIFIER.fullmatch(word) else found
