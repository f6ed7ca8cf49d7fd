"""Check a generated answer: every mark in its text names a source that was sent, every citation has a mark.

A citation mark is ``[1]`` outside of code. Understood as well, and rewritten to that form: ``[1, 2]``, ``[1-3]``,
``[1–3]``, ``[^1]``, ``[Source 1]``, ``【1】``, ``［1］`` and a mark made into a link, ``[1](https://...)``, whose
address is dropped: a reader takes it for a citation, and it would lead where no source is. Marks keep their numbers.

Left alone: links with another text, brackets that hold anything but numbers (``[2024-05-01]``, ``[sic]``), and code,
fenced or between backticks, where ``argv[1]`` is an index. Outside of code ``argv[1]`` can't be told from ``60
EUR[1]``, and is read as a mark. A number that names no source is removed and counted, whatever its size: a reader
would look for it in vain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citewell.core.prompting import SENTINEL
from citewell.core.refusing import CUT_OFF, EMPTY_REPLY, MODEL_DECLINED, NOT_IN_THE_SOURCES, NOTHING_CITED, refuse
from citewell.core.sentences import sentence_spans
from citewell.core.values import Answer, Citation, Generation, Passage, StopReason

CUT_MARK = " …"
"""Ends an answer that hit the output limit and was cut back to its last cited sentence."""

_NUMBERS = r"(?:\^|sources?\s*)?\d+(?:\s*[-–—~]\s*\d+)?"
_MARK = (
    rf"[\[【［]\s*{_NUMBERS}(?:\s*(?:[,;、，；&]|and)\s*{_NUMBERS})*"
    r"\s*(?:†[^\]】］\n]*)?[\]】］]"
    r"(?:\((?:[a-z][a-z0-9+.-]*:|[/#.?])[^\s()]*\))?"
)
_SEPARATOR = r"[ \t]*[,;]?[ \t]*"

_TOKEN = re.compile(
    r"(?P<fence>^[ ]{0,3}(?P<ticks>```+|~~~+)[^\n]*(?:\n.*?(?:^[ ]{0,3}(?P=ticks)[`~]*[ \t]*$|\Z)|\Z))"
    r"|(?P<code>(?<!`)(?P<quotes>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=quotes)(?!`))"
    rf"|(?P<marks>(?<![ \t])[ \t]*(?:\({_MARK}\)|{_MARK}(?:{_SEPARATOR}{_MARK})*))"
    r"|(?P<link>\[[^\[\]\n]*\]\([^\s()]*\))",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_ENDS_IN_MARK = re.compile(rf"{_MARK}[.!?。！？]?$", re.IGNORECASE)
_NOT_NUMBERS = re.compile(r"(?<=[\]】］])\([^)]*\)|†[^\]】］]*")
_BRACKETS_TO_PARENTHESES = str.maketrans("[]【】［］", "()()()")
_RANGE = re.compile(r"(\d+)(?:\s*[-–—~]\s*(\d+))?")
_DIGITS_OF_A_SOURCE = 4
"""Longer numbers name no source; and int() refuses thousands of digits."""

_SENTINEL = re.compile(r"[\"'“”*_`]*" + SENTINEL.replace("_", r"\\?[_ ]") + r"[\"'“”*_`]*", re.IGNORECASE)
_REST_UNANSWERED = "The rest is not in the available documents"
_PART_UNANSWERED = "not in the available documents"


@dataclass(frozen=True, slots=True)
class CheckedText:
    """``text`` holds no mark but ``[n]`` with ``n`` among ``cited``; ``cited`` is ascending, each ``n`` in the text.

    ``invented`` counts the written numbers that named no source.
    """

    text: str
    cited: tuple[int, ...]
    invented: int


def check_answer(generation: Generation, passages: Sequence[Passage]) -> Answer:
    """The answer as it may be shown, or a refusal, from a reply to ``passages`` numbered from 1.

    ============================================  ====================================================
    the reply                                     what becomes of it
    ============================================  ====================================================
    was declined by the model                     refusal: the model declined to answer
    is empty                                      refusal: the model gave an empty reply
    says that the sources hold no answer          refusal: the sources do not contain the answer
    does so for a part, with another part cited   answer, with words in place of the sentinel
    cites no source that exists                   refusal: the answer cited no source
    hit the output limit                          answer up to its last complete sentence with a citation,
                                                  ending in an ellipsis; without one, refusal: the answer
                                                  was cut off before it cited a source
    anything else                                 answer, marks normalised, invented numbers removed
    ============================================  ====================================================
    """
    text = generation.text.strip()
    if generation.stop_reason is StopReason.REFUSAL:
        return _refuse(MODEL_DECLINED, generation)
    if not text:
        return _refuse(EMPTY_REPLY, generation)
    text, said_unanswered = _replace_sentinel(text)
    checked = check_citations(text, sources=len(passages))
    was_cut = generation.stop_reason is StopReason.MAX_TOKENS
    if was_cut and checked.cited:
        checked = _cut_back(checked, sources=len(passages))
    if not checked.cited:
        reason = NOT_IN_THE_SOURCES if said_unanswered else CUT_OFF if was_cut else NOTHING_CITED
        return _refuse(reason, generation, invented=checked.invented)
    return Answer(
        text=checked.text,
        citations=tuple(Citation(n=n, passage=passages[n - 1]) for n in checked.cited),
        reason=None,
        usage=generation.usage,
        model=generation.model,
        invented=checked.invented,
    )


def _refuse(reason: str, generation: Generation, *, invented: int = 0) -> Answer:
    return refuse(reason, usage=generation.usage, model=generation.model, invented=invented)


def _replace_sentinel(text: str) -> tuple[str, bool]:
    """``text`` with words in place of the sentinel, and whether it was there.

    A reply that begins with it is a refusal, whatever follows: nothing is left of it.
    """
    if _SENTINEL.match(text):
        return "", True
    replaced, count = _SENTINEL.subn(_in_words, text)
    return replaced, count > 0


def _in_words(sentinel: re.Match[str]) -> str:
    before = sentinel.string[: sentinel.start()].rstrip(" \t")
    return _REST_UNANSWERED if before.endswith(("\n", ".", "!", "?", "]", "。")) else _PART_UNANSWERED


def check_citations(text: str, *, sources: int) -> CheckedText:
    """Normalise the marks of ``text`` and remove the numbers outside of 1..``sources``."""
    invented = 0
    while True:
        rewritten, found = _rewrite_marks(text, sources=sources)
        invented += found
        # A removal can bring brackets together that make another mark: "[[9]1]".
        if rewritten == text:
            return CheckedText(text=text, cited=tuple(sorted(set(cited_numbers(text)))), invented=invented)
        text = rewritten


def cited_numbers(text: str) -> Iterator[int]:
    """The numbers of all marks of ``text``, in order, repeated as they are; those too long to be a source's as 0."""
    for token in _TOKEN.finditer(text):
        if token["marks"]:
            for low, high in _ranges(token["marks"]):
                yield from (low, high) if low != high else (low,)


def without_marks(text: str) -> str:
    """``text`` with parentheses around the numbers of its marks: for quoting what has references of its own."""

    def in_parentheses(token: re.Match[str]) -> str:
        return token[0] if not token["marks"] else token[0].translate(_BRACKETS_TO_PARENTHESES)

    return _TOKEN.sub(in_parentheses, text)


def _rewrite_marks(text: str, *, sources: int) -> tuple[str, int]:
    pieces: list[str] = []
    position = 0
    invented = 0
    for token in _TOKEN.finditer(text):
        if not token["marks"]:
            continue
        pieces.append(text[position : token.start()])
        position = token.end()
        numbers, unknown = _resolve(token["marks"], sources=sources)
        invented += unknown
        if numbers:
            pieces.append(_written(token["marks"], numbers))
            pieces.append(" " if _makes_link(text, token.start(), position) else "")
        elif _joins_words(text, token.start(), position):
            pieces.append(" ")
    pieces.append(text[position:])
    return "".join(pieces).strip(), invented


def _resolve(marks: str, *, sources: int) -> tuple[list[int], int]:
    """The numbers that exist, in order and each once; and how many of those written name no source."""
    numbers: list[int] = []
    unknown = 0
    for low, high in _ranges(marks):
        unknown += sum(not 1 <= end <= sources for end in {low, high})
        numbers.extend(range(max(low, 1), min(high, sources) + 1))
    return list(dict.fromkeys(numbers)), unknown


def _ranges(marks: str) -> Iterator[tuple[int, int]]:
    for match in _RANGE.finditer(_NOT_NUMBERS.sub("", marks)):
        low = _number(match[1])
        high = _number(match[2]) if match[2] else low
        yield min(low, high), max(low, high)


def _number(digits: str) -> int:
    significant = digits.lstrip("0")
    return int(significant or "0") if len(significant) <= _DIGITS_OF_A_SOURCE else 0


def _written(marks: str, numbers: Sequence[int]) -> str:
    space = marks[: len(marks) - len(marks.lstrip(" \t"))]
    joined = "".join(f"[{n}]" for n in numbers)
    return f"{space}({joined})" if marks.lstrip(" \t").startswith("(") else f"{space}{joined}"


def _makes_link(text: str, start: int, end: int) -> bool:
    """Whether what follows makes a link of the mark ``text[start:end]`` where Markdown is rendered.

    "[1](60 EUR)" and "[1][note]" do so by themselves; "[1]: ..." at the beginning of a line does so to every [1].
    """
    line_before = text[text.rfind("\n", 0, start) + 1 : start]
    defines = text.startswith(":", end) and not any(map(str.isalpha, line_before))
    return defines or text.startswith(("(", "["), end)


def _joins_words(text: str, start: int, end: int) -> bool:
    """Whether removing ``text[start:end]`` would run together what stands before and behind it."""
    before, behind = text[start - 1 : start], text[end : end + 1]
    return bool(before and behind) and not before.isspace() and (behind.isalnum() or behind in '(*_`"“„')


def _cut_back(checked: CheckedText, *, sources: int) -> CheckedText:
    """``checked`` up to its last sentence that is complete and holds a mark, and no cut through code."""
    text = checked.text
    tokens = list(_TOKEN.finditer(text))
    for start, end in reversed(_complete_sentences(text)):
        cited = any(token["marks"] and start < token.end() <= end for token in tokens)
        inside = any(token.start() < end < token.end() for token in tokens)
        if cited and not inside:
            kept = check_citations(text[:end], sources=sources)
            return CheckedText(text=kept.text + CUT_MARK, cited=kept.cited, invented=checked.invented)
    return CheckedText(text="", cited=(), invented=checked.invented)


def _complete_sentences(text: str) -> list[tuple[int, int]]:
    """All sentences but the last, and that one too when it ends in a mark: "It costs 3." may have been cut in 3.50."""
    spans = sentence_spans(text)
    start, end = spans[-1]
    return spans if _ENDS_IN_MARK.search(text, start, end) else spans[:-1]
