"""What the tests of PDFs have in common: prose in lines, and what is read of a document."""

from __future__ import annotations

from citewell.core.values import BlockKind, ExtractedText
from citewell.extract import extract
from citewell.extract.options import Limits, ReadOptions, RecognisePage
from tests.documents.pdfs import lines, text

PROSE = [
    "Every employee may take leave once the trial",
    "period has come to its end, which it does as",
    "a rule after six months of work. Whoever has",
    "worked for more than five years may take two",
    "days more in each year, and up to ten in all.",
]
MORE_PROSE = [
    "Travel is booked by the office that pays for",
    "it, two weeks ahead where that can be done at",
    "all. Receipts are kept for ten years, and are",
    "shown to whoever has a right to see them then",
    "without being asked for a second time at all.",
]
PRICES = [["Plan", "Price", "Term"], ["Basic", "10", "a month"], ["Plus", "25", "a year"], ["Team", "90", "a year"]]


def read(data: bytes, *, limits: Limits | None = None, recognise: RecognisePage | None = None) -> ExtractedText:
    return extract(data, ReadOptions(limits=limits or Limits(), recognise_page=recognise))


def blocks(extracted: ExtractedText, kind: BlockKind) -> list[str]:
    return [extracted.text[each.start : each.end] for each in extracted.blocks if each.kind is kind]


def in_order(extracted: ExtractedText, *words: str) -> bool:
    places = [extracted.text.find(each) for each in words]
    return -1 not in places and places == sorted(places)


def with_running_lines(pages: int, head: str = "Contoso handbook", foot: str = "Page {} of 9") -> list[str]:
    return [
        text(72, 760, head) + lines(72, 700, [f"Chapter text {n}", *PROSE]) + text(280, 30, foot.format(n + 1))
        for n in range(pages)
    ]
