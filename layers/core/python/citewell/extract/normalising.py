"""One form of text, whatever system wrote it."""

from __future__ import annotations

import functools
import re
import unicodedata

_CONTROLS: dict[int, str] = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ") | {
    ord("\t"): "\t",
    ord("\n"): "\n",
    0x0B: "\n",  # vertical tab
    0x0C: "\n\n",  # form feed: a new page is a new paragraph
    0x85: "\n",  # next line, as mainframes end theirs
    0x2028: "\n",  # line separator
    0x2029: "\n\n",  # paragraph separator
    0xFEFF: "",  # a byte order mark, left where files were concatenated
}
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_VISIBLE = re.compile(
    r"[^\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
# Latin, Greek, punctuation, symbols, kana, ideographs, Hangul: to look for marks among them takes far longer.
_WITHOUT_MARKS = re.compile(
    "[\x00-\u02ff\u0370-\u0482\u2000-\u20cf\u2100-\u2cee\u3000-\u3029\u3030-\u3098\u309b-\ua66e\uac00-\ufb1d\uff00-\uffff]*"
)
_FIRST_COMBINING = "\u0300"
_LAST_COMBINING = 0x1E94A
_MARKS_IN_A_ROW = 30


def normalise(text: str) -> str:
    """Line ends become ``\\n``, composed characters NFC, other control characters spaces (they'd part words too).

    Halves of a character that stand together become it, others the replacement character.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _CONTROL.search(text):  # most texts hold none, and to look is faster than to translate
        text = text.translate(_CONTROLS)
    if not text.isascii():
        if _SURROGATE.search(text):
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        text = unicodedata.normalize("NFC", _break_mark_runs(text))
    return text


def is_blank(text: str) -> bool:
    """Whether nothing of ``text`` can be seen: white space and invisible format characters only."""
    return _VISIBLE.search(text) is None


def _break_mark_runs(text: str) -> str:
    """Bound the runs of combining marks: ordering a run takes quadratic time, so one of a megabyte takes hours.

    A combining grapheme joiner after 30 marks, as the Stream-Safe Text Format of UAX #15 has it.
    """
    if _WITHOUT_MARKS.fullmatch(text):
        return text
    return _long_mark_run().sub(lambda run: run[0] + "\u034f", text)


@functools.cache
def _long_mark_run() -> re.Pattern[str]:
    marks = "".join(
        chr(code) for code in range(ord(_FIRST_COMBINING), _LAST_COMBINING + 1) if unicodedata.combining(chr(code))
    )
    return re.compile(f"[{marks}]{{{_MARKS_IN_A_ROW}}}")
