"""The keyword index in Postgres: the words of chunks go in by their documents' language, and questions are asked of it.

The ranking is :mod:`citewell.core.keywords`'; the tables, and how they are kept right, are explained in the migration
that makes them. Every function works within the transaction of the cursor that it is given.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from citewell.core import keywords
from citewell.core.keywords import AskedTerms, Term
from citewell.core.languages import SIMPLE, language_of
from citewell.core.values import Audience, DocumentKey
from citewell.core.words import parse_question, words
from citewell.edges import search_statements, statements
from citewell.edges.postgres import Cursor
from citewell.ports import ChunkToStore, IndexGeneration

# How many postings a search reads at most, however few of the tenant's chunks may be found.
_MAX_POSTINGS = 200_000

# To look at the words of one chunk costs as much as to read so many postings of each of the question's.
_POSTINGS_OF_A_CHUNK = 4

# How many times as many passages as are wanted are scored by all of their words: where each was found by all of them,
# some in reserve for those that are not in the live index; else those that may be better than they seem.
_PROMISING = 1.2
_PROMISING_IN_PART = 3.0
_MAX_PROMISING = 20_000

# How many postings of a phrase's rarest word are read, and in how many passages with all of them it is looked for.
_PHRASE_POSTINGS = 2_000
_PHRASE_PASSAGES = 100
_MAX_PHRASES = 3


# --- ingest ---------------------------------------------------------------------------------------------------


def write_words(cursor: Cursor, key: DocumentKey, language: str, chunks: Sequence[ChunkToStore]) -> None:
    """Bring the index in step with ``chunks``, all that the document will have; those that go are still there."""
    fingerprints = {each.chunk_id: keywords.fingerprint(each.chunk, language) for each in chunks}
    stored = {"chunk_ids": list(fingerprints), "fingerprints": list(fingerprints.values())}
    lacking = {row.chunk_id for row in cursor.execute(statements.LACKING_WORDS, stored).fetchall()}
    delete_words(cursor, key, kept=[each for each in fingerprints if each not in lacking])
    add_words(cursor, key, language, [each for each in chunks if each.chunk_id in lacking])


def delete_words(cursor: Cursor, key: DocumentKey, *, kept: Sequence[str] = ()) -> None:
    """Take the document's words out, but those of the chunks ``kept``."""
    cursor.execute(statements.DELETE_WORDS, {"tenant": key.tenant, "source": key.source, "kept": list(kept)})


def add_words(cursor: Cursor, key: DocumentKey, language: str, chunks: Sequence[ChunkToStore]) -> None:
    """Index ``chunks``, which are stored and have no words in the index yet."""
    if not chunks:
        return
    cursor.execute(
        statements.ADD_WORDS,
        {
            "tenant": key.tenant,
            "source": key.source,
            "language": language,
            "dictionary": _dictionary(language),
            "words": json.dumps([_entry(each, language) for each in chunks], ensure_ascii=False),
            "k1": keywords.SATURATION,
            "b": keywords.LENGTH_NORMALISATION,
            "average": keywords.AVERAGE_LENGTH,
        },
    )


def _entry(stored: ChunkToStore, language: str) -> dict[str, Any]:
    counts = keywords.counted_words(stored.chunk)
    return {
        "chunk_id": stored.chunk_id,
        "fingerprint": keywords.fingerprint(stored.chunk, language).hex(),
        "words": list(counts),
        "counts": list(counts.values()),
    }


def _dictionary(language: str) -> str:
    """Which of Postgres' dictionaries takes a language's endings off and knows its stop words."""
    return SIMPLE if language == SIMPLE else f"{language}_stem"


# --- ask ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the index knows it. Each of ``phrases`` is its words with their terms.

    ``flags`` are LIKE's patterns for an excluded word that is written as in the question, behind its hyphen.
    ``chunks_of_all`` is how many chunks the tenant has, whoever may find them; ``terms.chunks`` those of the caller.
    """

    terms: AskedTerms
    chunks_of_all: int
    phrases: tuple[tuple[tuple[str, ...], AskedTerms], ...]
    excluded: tuple[int, ...]
    flags: tuple[str, ...]


def asked_of(cursor: Cursor, audience: Audience, question: str) -> Asked:
    """Looks the question's words up, in every language in which there are documents for ``audience``."""
    text = question.encode(errors="replace").decode()  # halves of surrogate pairs can't be sent
    parsed, language = parse_question(text), language_of(text)
    phrases = parsed.phrases[:_MAX_PHRASES]
    terms, chunks_of_all = look_up(cursor, audience, parsed.words, language)
    excluded = look_up(cursor, audience, parsed.excluded, language)[0].known if parsed.excluded else ()
    return Asked(
        terms=terms,
        chunks_of_all=chunks_of_all,
        phrases=tuple((phrase, look_up(cursor, audience, phrase, language)[0]) for phrase in phrases),
        excluded=tuple(term.number for term in excluded),
        flags=tuple(f"%-{word}%" for word in parsed.excluded),
    )


def look_up(cursor: Cursor, audience: Audience, asked: Iterable[str], language: str) -> tuple[AskedTerms, int]:
    """What ``asked``, words of a question in ``language``, are in the index, and the chunks of the whole tenant."""
    rows = cursor.execute(
        search_statements.ASKED_TERMS,
        {
            "tenant": audience.tenant,
            "groups": list(audience.groups),
            "words": list(dict.fromkeys(asked)),
            "dictionary": _dictionary(language),
        },
    ).fetchall()
    terms = (Term(row.number, row.word, row.holding) for row in rows if row.number is not None)
    return AskedTerms.of(rows[0].chunks, terms), rows[0].chunks_of_all


@dataclass(frozen=True, slots=True)
class KeywordSearch:
    """One search. ``search`` are the parameters of its filters, ``searched`` of ``chunks`` chunks of the tenant pass
    them; up to ``exact_chunks`` are each looked at rather than read around."""

    cursor: Cursor
    generation: IndexGeneration
    search: Mapping[str, Any]
    searched: int
    chunks: int
    exact_chunks: int
    postings: int

    def __call__(self, asked: Asked, *, limit: int) -> list[Any]:
        """The rows of the ``limit`` chunks with the most of a question's words: of those that hold its phrases, if
        any do."""
        phrases = [self._holding(phrase, terms, asked.terms) for phrase, terms in asked.phrases]
        if phrases and (held := _in_all(phrases) or _in_any(phrases)):
            best = sorted(held.values(), key=lambda row: (-asked.terms.score(row.impacts), row.chunk_id))
            return best[:limit]
        return self._rows(asked.terms, limit=limit)

    def _holding(self, phrase: Sequence[str], within: AskedTerms, asked: AskedTerms) -> dict[str, Any]:
        """The chunks in whose text or header the words of ``phrase`` stand next to each other, by their ids."""
        if not within.known:
            return {}
        found = self._rows(asked, limit=_PHRASE_PASSAGES, every=within)
        return {
            row.chunk_id: row
            for row in found
            if any(keywords.holds_phrase(words(text), phrase) for text in (row.text, row.header))
        }

    def _rows(self, asked: AskedTerms, *, limit: int, every: AskedTerms | None = None) -> list[Any]:
        """The chunks with the most of the terms asked, or those of them with a term of ``every`` word."""
        if not asked.known:
            return []
        required = every.known if every else ()
        numbers = [term.number for term in asked.known]
        parameters = {
            **self.search,
            "terms": numbers,
            "weights": list(asked.weights),
            "every": [term.number for term in required],
            "every_word": [term.word for term in required],
            "worded_limit": limit,
        }
        # As many times more as there are chunks for each that may be found, so that as many of those are read.
        thinned = max(1.0, self.chunks / self.searched)
        postings = min(math.ceil(self.postings * thinned), _MAX_POSTINGS)
        looks = _POSTINGS_OF_A_CHUNK * len(numbers) * self.searched
        if self.searched <= self.exact_chunks and looks < postings:
            return self.cursor.execute(search_statements.worded_alike_by_chunks(self.generation), parameters).fetchall()
        # A posting that isn't the caller's to find is in nobody's count.
        hidden = max(0, self.chunks - asked.chunks)
        holding = [term.holding + hidden for term in asked.known]
        depths = keywords.depths(holding, postings)
        if hidden and not required and self._crowded_out(asked, depths):
            return self.cursor.execute(search_statements.worded_alike_by_chunks(self.generation), parameters).fetchall()
        if required:
            rarest = min(required, key=lambda term: term.holding)
            depths = [
                max(depth, _PHRASE_POSTINGS) if number == rarest.number else depth
                for number, depth in zip(numbers, depths, strict=True)
            ]
        in_part = any(map(operator.lt, depths, holding))
        promising = (
            _PHRASE_POSTINGS
            if required
            else math.ceil(limit * thinned * (_PROMISING_IN_PART if in_part else _PROMISING))
        )
        query = search_statements.worded_alike_by_postings(self.generation)
        rows: list[Any] = []
        # To look at the most promising alone is cheaper by far, and nearly always enough.
        for looked_at in (promising, _MAX_PROMISING):
            bounds = {"depths": depths, "promising": min(looked_at, _MAX_PROMISING)}
            rows = self.cursor.execute(query, {**parameters, **bounds}).fetchall()
            if len(rows) >= limit or required or promising >= sum(depths):
                break
        return rows

    def _crowded_out(self, asked: AskedTerms, depths: Sequence[int]) -> bool:
        """Whether a word that is rare for the caller is so common in what is closed to him that its postings would be
        read to no end, and his own not be among them."""
        rare = [(term.number, depth) for term, depth in zip(asked.known, depths, strict=True) if term.holding <= depth]
        numbers, bounds = [number for number, _ in rare], [depth for _, depth in rare]
        return bool(
            self.cursor.execute(search_statements.LONGER_LISTS, {"terms": numbers, "depths": bounds}).fetchall()
        )


Rows = Mapping[str, Any]


def _in_all(found: Sequence[Rows]) -> Rows:
    return {key: found[0][key] for key in found[0] if all(key in each for each in found)}


def _in_any(found: Sequence[Rows]) -> Rows:
    return {key: row for each in found for key, row in each.items()}
