"""How many passages an edit of one paragraph makes new: each costs a call of the embedder."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator
from functools import cache

import pytest

from citewell.core.chunking import split_chunks
from citewell.core.hashing import reuse_key
from citewell.core.tokens import estimate_token_starts
from citewell.core.values import Chunk, TextKind
from citewell.extract.markdown import read_markdown

Document = list[tuple[str, list[str]]]

INTRODUCTION = ("## Introduction", ["This is the handbook."])
SYLLABLES = ["ka", "lo", "mi", "ren", "tas", "vor", "ne", "sul", "pe", "dra"]


def sentence(rng: random.Random) -> str:
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 3))) for _ in range(rng.randint(6, 16))]
    return " ".join(words).capitalize() + "."


def paragraph(rng: random.Random) -> str:
    return " ".join(sentence(rng) for _ in range(rng.randint(2, 6)))


def a_document(rng: random.Random) -> Document:
    """100 sections, every third of them longer than a chunk, after an introduction."""
    return [
        INTRODUCTION,
        *(
            (f"## Section {number}", [paragraph(rng) for _ in range(rng.randint(12, 20) if number % 3 == 0 else 3)])
            for number in range(1, 100)
        ),
    ]


def chunks_of(document: Document) -> list[Chunk]:
    text = "# Handbook\n\n" + "\n\n".join("\n\n".join([heading, *body]) for heading, body in document)
    return split_chunks(
        read_markdown(text), title="Handbook", max_tokens=450, overlap_tokens=40, token_starts=estimate_token_starts
    )


def keys_of(document: Document) -> frozenset[bytes]:
    return frozenset(reuse_key("model", 384, TextKind.PASSAGE, chunk.embedded_text) for chunk in chunks_of(document))


def edits(document: Document, kind: str, rng: random.Random) -> Iterator[tuple[int, list[str]]]:
    """Each section's number with its paragraphs after an edit, for every place of such an edit."""
    for number, (_, body) in enumerate(document[1:], start=1):
        for place in range(len(body) + (kind == "insert")):
            if kind == "delete":
                yield number, body[:place] + body[place + 1 :]
            else:
                yield number, [*body[:place], paragraph(rng), *body[place + (kind == "change") :]]


@cache
def baseline() -> tuple[Document, frozenset[bytes]]:
    document = a_document(random.Random(1))  # noqa: S311 - not for secrets
    return document, keys_of(document)


@pytest.mark.parametrize("kind", ["change", "insert", "delete"])
def test_an_edited_paragraph_makes_at_most_two_passages_new_on_average(kind: str) -> None:
    document, before = baseline()
    new = []
    for number, body in edits(document, kind, random.Random(2)):  # noqa: S311 - not for secrets
        # Sections don't touch each other (a test below says so), so the edited one is cut alone.
        after = keys_of([INTRODUCTION, (document[number][0], body)])
        new.append(len(after - before))
    print(f"{kind}: {statistics.mean(new):.2f} new passages on average, {max(new)} at worst, {len(new)} edits")  # noqa: T201 - the figure, for who runs it with -s
    assert statistics.mean(new) <= 1.6
    assert max(new) <= 6


def test_an_edit_leaves_every_other_section_as_it_was() -> None:
    document, before = baseline()
    heading, body = document[50]
    edited = [*document[:50], (heading, [*body, "One more paragraph."]), *document[51:]]
    assert len(keys_of(edited) - before) == 1
    whole = [*document[:60], ("## New section", ["Text."]), *document[60:]]
    assert len(keys_of(whole) - before) == 1


def test_chunks_that_an_edit_leaves_alone_keep_their_names() -> None:
    document, _ = baseline()
    edited = [*document[:10], (document[10][0], ["Changed."]), *document[11:]]
    names = {(chunk.section, chunk.occurrence, chunk.part) for chunk in chunks_of(document)}
    assert {(chunk.section, chunk.occurrence, chunk.part) for chunk in chunks_of(edited)} <= names


def test_a_paragraph_moved_within_a_long_section_disturbs_both_places_only() -> None:
    document, before = baseline()
    heading, body = document[3]
    moved = [*body[1:9], body[0], *body[9:]]
    assert len(keys_of([INTRODUCTION, (heading, moved)]) - before) <= 5


def test_the_same_document_gives_the_same_keys() -> None:
    document, before = baseline()
    assert keys_of(document) == before
