"""Where sentences end: rules for scripts with and without spaces, good enough to quote or to cut at."""

from __future__ import annotations

import re

_ABBREVIATIONS = (
    "approx", "art", "ca", "cf", "co", "corp", "dr", "e.g", "fig", "i.e", "inc", "incl", "ltd", "max", "min",
    "mr", "mrs", "ms", "no", "nr", "p", "pp", "prof", "sec", "st", "tel", "vs",
    "abs", "bzw", "d.h", "evtl", "ggf", "inkl", "s", "sog", "u.a", "usw", "vgl", "z.b", "zzgl",
)  # fmt: skip
_LONGEST_ABBREVIATION = 8
_ENDS_IN_ABBREVIATION = re.compile(
    rf"(?:^|[\s(\[\"'“„])(?:{'|'.join(map(re.escape, _ABBREVIATIONS))}|[^\W\d_])\.$", re.IGNORECASE
)
_LIST_NUMBER = re.compile(r"\s*\d{1,3}\.$")
_GOES_ON = re.compile(r"[ \t]+[a-zß-öø-ÿ]")
_GERMAN_DATE = re.compile(r"[ \t]+(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")

_CLOSERS = r"[\"'”’»)\]*_`]*+"
_CITATION_MARKS = r"(?:[ \t]*[\[【［]\^?\d[\d ,;–-]*[\]】］])*"
# A run of stops is looked at once, as a whole: leaders of dots are as long as somebody likes.
_END = re.compile(
    rf"[。！？｡]+[”’」』）】]*{_CITATION_MARKS}|(?<![.!?…])[.!?…]++{_CLOSERS}{_CITATION_MARKS}(?=\s|$)|\n"
)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence of ``text``, in order, without the white space around it.

    A line end always ends a sentence: join the lines of a wrapped paragraph first. Citation marks behind a full
    stop belong to the sentence before them.
    """
    spans = []
    start = 0
    for match in _END.finditer(text):
        if match.group() == "." and not _is_full_stop(text, match.start(), sentence_start=start):
            continue
        spans.append((start, match.end()))
        start = match.end()
    spans.append((start, len(text)))
    return [trimmed for span in spans if (trimmed := _trim(text, *span))[0] < trimmed[1]]


def _is_full_stop(text: str, dot: int, *, sentence_start: int) -> bool:
    if _GOES_ON.match(text, dot + 1):
        return False
    if _LIST_NUMBER.fullmatch(text, sentence_start, dot + 1):
        return False
    if text[dot - 1 : dot].isdecimal() and _GERMAN_DATE.match(text, dot + 1):
        return False
    before = text[max(sentence_start, dot - _LONGEST_ABBREVIATION) : dot + 1]
    return _ENDS_IN_ABBREVIATION.search(before) is None


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
