"""Sentences of several scripts, with what looks like their ends inside of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("The limit is 60. It holds.", ["The limit is 60.", "It holds."]),
        ("Version 2.5 is out. Use it.", ["Version 2.5 is out.", "Use it."]),
        ("Ask Dr. Otter. He knows.", ["Ask Dr. Otter.", "He knows."]),
        ("Tools, e.g. Hammers, help. Take them.", ["Tools, e.g. Hammers, help.", "Take them."]),
        ("It costs approx. 5 EUR. Pay.", ["It costs approx. 5 EUR.", "Pay."]),
        ("See example.com. Then write.", ["See example.com.", "Then write."]),
        ("The file. md is odd.", ["The file. md is odd."]),
        ("Am 3. Mai ist frei. Am 4. auch.", ["Am 3. Mai ist frei.", "Am 4. auch."]),
        ("Das gilt z.B. Montags. Sonst nicht.", ["Das gilt z.B. Montags.", "Sonst nicht."]),
        ("1. First step. Second sentence.", ["1. First step.", "Second sentence."]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("Sixty EUR. [1] Then more [2].", ["Sixty EUR. [1]", "Then more [2]."]),
        ("这是一句。那是两句！真的吗？", ["这是一句。", "那是两句！", "真的吗？"]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("六十欧元。[1]二等座。【2】", ["六十欧元。[1]", "二等座。【2】"]),
        ("one line\nanother line", ["one line", "another line"]),
        ("no end", ["no end"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet="aB1. \n。!?\"'[]()e.g", max_size=80))
def test_nothing_but_white_space_is_lost_and_no_sentence_is_empty(text: str) -> None:
    spans = sentence_spans(text)
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)
    assert spans == sorted(spans)
    between = text
    for start, end in reversed(spans):
        between = between[:start] + between[end:]
    assert between.strip() == ""


def test_a_megabyte_without_an_end_is_one_sentence() -> None:
    assert sentence_spans("a" * 1_000_000) == [(0, 1_000_000)]
    assert len(sentence_spans("Dr. A. B " * 50_000)) == 1
    assert sentence_spans("." * 1_000_000 + "x") == [(0, 1_000_001)]
    assert sentence_spans("." + '"' * 1_000_000 + "x") == [(0, 1_000_002)]
