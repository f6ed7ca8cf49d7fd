"""Every statement by which the chunk store searches and shows documents, whole.

``%(name)s`` is bound by the server. The searches are made by a function each, because what names the index can't be
bound: the generation and its dimension must be literals for the planner to see that the partial index fits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps

from psycopg.sql import SQL, Composed, Literal

from citewell.core.languages import LANGUAGES
from citewell.ports import IndexGeneration


def _written_once(make: Callable[[IndexGeneration], Composed]) -> Callable[[IndexGeneration], bytes]:
    """A statement as it is sent. psycopg takes such a one apart once only, where it has 4,096 bytes at most."""
    return cache(wraps(make)(lambda generation: make(generation).as_bytes()))


# Fail closed: where groups is NULL (not known) the condition is NULL too. A version that is yet to come may close what
# is served, and never opens it.
_VISIBLE = SQL("""document.tenant = %(tenant)s
  AND (cardinality(document.groups) = 0 OR document.groups && %(groups)s::text[])
  AND (document.next_groups IS NULL OR cardinality(document.next_groups) = 0
       OR document.next_groups && %(groups)s::text[])""")

# ^@ takes its right side literally, unlike LIKE. The planner folds empty filters away.
_SEARCHED = SQL("""{visible}
  AND (cardinality(%(collections)s::text[]) = 0 OR document.collection = ANY (%(collections)s::text[]))
  AND (cardinality(%(sources)s::text[]) = 0 OR document.source ^@ ANY (%(sources)s::text[]))""").format(
    visible=_VISIBLE
)

# Not where an excluded word stands in the text or the header, but where it is written with a hyphen before it: that is
# no exclusion, but a flag that the question is about.
_ALLOWED = SQL("""{searched}
  AND (cardinality(%(excluded)s::bigint[]) = 0 OR chunk.text ILIKE ANY (%(flags)s::text[]) OR NOT EXISTS (
      SELECT FROM chunk_words
      WHERE chunk_words.chunk_id = chunk.chunk_id AND chunk_words.terms && %(excluded)s::bigint[]
  ))""").format(searched=_SEARCHED)

_PASSAGE = SQL("""chunk.chunk_id::text AS chunk_id, chunk.source, document.title, chunk.section, chunk.page,
       chunk.ordinal, chunk.start_char, chunk.end_char, chunk.text, chunk.header""")

# Beside what may be found, all that the tenant has.
COUNT_SEARCHED_CHUNKS = SQL("""
SELECT coalesce(sum(chunks) FILTER (WHERE {searched}), 0)::bigint AS searched,
       coalesce(sum(chunks), 0)::bigint AS chunks
FROM document
WHERE tenant = %(tenant)s
""").format(searched=_SEARCHED)

# Each word in every language in which there are documents for the caller. What is a stop word in the question's own
# language is none of its words, unless all of them are. How many chunks hold a term is known for each group by itself,
# '' being everyone in the tenant. Each count is looked up by a subquery of its own: a join the planner, who can't know
# how few they are, likes to make by reading all counts there are.
ASKED_TERMS = (
    SQL("""
WITH reader AS MATERIALIZED (
    SELECT name, chunks
    FROM (
        SELECT name, (
            SELECT chunks FROM term_count WHERE key = keyword_count(keyword_term(%(tenant)s, ' chunks'), name)
        )
        FROM (SELECT DISTINCT unnest(ARRAY[''] || %(groups)s::text[]) AS name) AS given
        OFFSET 0
    ) AS reader
    WHERE chunks IS NOT NULL
), language AS MATERIALIZED (
    SELECT (CASE name WHEN 'simple' THEN name ELSE name || '_stem' END)::regdictionary AS dictionary
    FROM unnest({languages}::text[]) AS known (name)
    WHERE 0 < (
        SELECT sum((
            SELECT chunks FROM term_count
            WHERE key = keyword_count(keyword_term(%(tenant)s, ' ' || known.name), reader.name)
        ))
        FROM reader
    )
), word AS MATERIALIZED (
    SELECT text, place, cardinality(ts_lexize(%(dictionary)s::regdictionary, text)) = 0 AS is_stop_word
    FROM unnest(%(words)s::text[]) WITH ORDINALITY AS word (text, place)
), term AS MATERIALIZED (
    SELECT DISTINCT word.place, keyword_term(%(tenant)s, lexeme) AS number
    FROM word CROSS JOIN language CROSS JOIN unnest(ts_lexize(language.dictionary, word.text)) AS lexeme
    WHERE NOT word.is_stop_word OR (SELECT every(is_stop_word) FROM word)
)
SELECT term.number, term.place::integer - 1 AS word,
       (
           SELECT coalesce(sum((SELECT chunks FROM term_count WHERE key = keyword_count(term.number, reader.name))), 0)
           FROM reader
       )::bigint AS holding,
       (SELECT coalesce(sum(chunks), 0) FROM reader)::bigint AS chunks,
       coalesce(
           (SELECT chunks FROM term_count WHERE key = keyword_count(keyword_term(%(tenant)s, ' chunks'), ' all')), 0
       )::bigint AS chunks_of_all
FROM (VALUES (true)) AS always (here)
LEFT JOIN term ON always.here
""")
    .format(languages=Literal(list(LANGUAGES)))
    .as_bytes()
)


# What each of the question's terms adds to a chunk; NULL where it doesn't hold the term. In the order of the terms, as
# unnest gives them: to sort them by their places would take longer than to find them. A chunk's terms are in order, and
# width_bucket is the one function that searches an array by halves.
_IMPACTS = SQL("""ARRAY(
        SELECT CASE WHEN chunk_words.terms[width_bucket(asked.term, chunk_words.terms)] = asked.term
                    THEN chunk_words.impacts[width_bucket(asked.term, chunk_words.terms)] END
        FROM unnest(%(terms)s::bigint[]) AS asked (term)
    )""")

_SCORE = SQL("""(
        SELECT sum(asked.weight * asked.impact)
        FROM unnest(%(weights)s::double precision[], impacts) AS asked (weight, impact)
    )""")

# A chunk with each of ``every`` terms' words, where there are any.
_HOLDS_EVERY = SQL("""(cardinality(%(every)s::bigint[]) = 0 OR (
        SELECT count(DISTINCT wanted.word)
        FROM unnest(%(every)s::bigint[], %(every_word)s::integer[]) AS wanted (term, word)
        WHERE wanted.term = ANY (chunk_words.terms)
    ) = (SELECT count(DISTINCT word) FROM unnest(%(every_word)s::integer[]) AS word))""")


# The terms with more postings than that many.
LONGER_LISTS = """
SELECT asked.term
FROM unnest(%(terms)s::bigint[], %(depths)s::bigint[]) AS asked (term, depth)
WHERE EXISTS (SELECT FROM posting WHERE posting.term = asked.term OFFSET asked.depth)
"""


@_written_once
def nearest_exactly(generation: IndexGeneration) -> Composed:
    """Compare every chunk that may be found. Misses nothing, whatever the filter; for few chunks."""
    return SQL("""
WITH compared AS MATERIALIZED (
    SELECT chunk_id, embedding::vector({dimensions}) <=> %(vector)s::vector({dimensions}) AS distance
    FROM document
    JOIN chunk USING (tenant, source)
    JOIN chunk_vector USING (chunk_id)
    WHERE chunk_vector.generation = {generation} AND {allowed}
), nearest AS MATERIALIZED (
    SELECT * FROM compared ORDER BY distance, chunk_id LIMIT %(limit)s
)
SELECT {passage}, {impacts} AS impacts, nearest.distance
FROM nearest
JOIN chunk USING (chunk_id)
JOIN document USING (tenant, source)
LEFT JOIN chunk_words USING (chunk_id)
""").format(passage=_PASSAGE, impacts=_IMPACTS, allowed=_ALLOWED, **_index(generation))


@_written_once
def nearest_by_index(generation: IndexGeneration) -> Composed:
    """Walk the HNSW index, nearest first, until enough of what it yields passes the filters; for many chunks.

    OFFSET 0 keeps the look at each chunk's document from becoming a join, which the planner, who then doesn't know how
    few are looked at, likes to turn around: it would begin with all documents.
    """
    return SQL("""
SELECT near.*, chunk_vector.embedding::vector({dimensions}) <=> %(vector)s::vector({dimensions}) AS distance
FROM chunk_vector
CROSS JOIN LATERAL (
    SELECT {passage}, {impacts} AS impacts
    FROM chunk
    JOIN document USING (tenant, source)
    LEFT JOIN chunk_words USING (chunk_id)
    WHERE chunk.chunk_id = chunk_vector.chunk_id AND {allowed}
    OFFSET 0
) AS near
WHERE chunk_vector.generation = {generation} AND chunk_vector.tenant = %(tenant)s
ORDER BY chunk_vector.embedding::vector({dimensions}) <=> %(vector)s::vector({dimensions})
LIMIT %(limit)s
""").format(passage=_PASSAGE, impacts=_IMPACTS, allowed=_ALLOWED, **_index(generation))


@_written_once
def worded_alike_by_postings(generation: IndexGeneration) -> Composed:
    """The chunks with the greatest sum of their terms' impacts times their rarity, by the index over the impacts.

    Of each term no more than its depth of postings are read, those with the greatest impact: a chunk beyond them would
    have to make up for it by its other terms, and is found by those. The ``promising`` chunks with the greatest sums
    of what was read are scored anew by all of their terms, and looked at, best first, until enough of them pass the
    filters. That is what the OFFSETs are for: the planner, who can't know how many chunks hold a term, likes to look
    at all documents first.
    """
    return SQL("""
SELECT worded.*, worded.embedding <=> %(vector)s::vector({dimensions}) AS distance
FROM (
    SELECT hit.*, scored.impacts
    FROM (
        SELECT chunk_id, impacts, {score} AS score
        FROM (
            SELECT found.number, sum(asked.weight * found.impact) AS part
            FROM unnest(%(terms)s::bigint[], %(weights)s::double precision[], %(depths)s::integer[])
                 AS asked (term, weight, depth)
            CROSS JOIN LATERAL (
                SELECT posting.number, posting.impact
                FROM posting
                WHERE posting.term = asked.term
                ORDER BY posting.impact DESC, posting.number
                LIMIT asked.depth
            ) AS found
            GROUP BY found.number
            ORDER BY part DESC, found.number
            LIMIT %(promising)s
        ) AS promising
        CROSS JOIN LATERAL (
            SELECT chunk_words.chunk_id, {impacts} AS impacts
            FROM chunk_words
            WHERE chunk_words.number = promising.number AND {holds_every}
            OFFSET 0
        ) AS held
        ORDER BY score DESC, chunk_id
        OFFSET 0
    ) AS scored
    CROSS JOIN LATERAL (
        SELECT {passage}, chunk_vector.embedding::vector({dimensions}) AS embedding
        FROM chunk
        JOIN document USING (tenant, source)
        JOIN chunk_vector USING (chunk_id)
        WHERE chunk.chunk_id = scored.chunk_id AND chunk_vector.generation = {generation} AND {allowed}
        OFFSET 0
    ) AS hit
    ORDER BY scored.score DESC, scored.chunk_id
    LIMIT %(worded_limit)s
) AS worded
""").format(
        score=_SCORE,
        impacts=_IMPACTS,
        holds_every=_HOLDS_EVERY,
        passage=_PASSAGE,
        allowed=_ALLOWED,
        **_index(generation),
    )


@_written_once
def worded_alike_by_chunks(generation: IndexGeneration) -> Composed:
    """The same by the words of every chunk that may be found. Misses nothing; for few chunks among many."""
    return SQL("""
WITH held AS MATERIALIZED (
    SELECT chunk.chunk_id, {impacts} AS impacts
    FROM document
    JOIN chunk USING (tenant, source)
    JOIN chunk_words USING (chunk_id)
    WHERE {allowed} AND {holds_every}
), scored AS MATERIALIZED (
    SELECT chunk_id, impacts, {score} AS score FROM held
), best AS MATERIALIZED (
    SELECT scored.*, chunk_vector.embedding::vector({dimensions}) AS embedding
    FROM scored
    JOIN chunk_vector USING (chunk_id)
    WHERE scored.score > 0 AND chunk_vector.generation = {generation}
    ORDER BY scored.score DESC, scored.chunk_id
    LIMIT %(worded_limit)s
)
SELECT {passage}, best.impacts, best.embedding <=> %(vector)s::vector({dimensions}) AS distance
FROM best
JOIN chunk USING (chunk_id)
JOIN document USING (tenant, source)
""").format(
        score=_SCORE,
        impacts=_IMPACTS,
        holds_every=_HOLDS_EVERY,
        passage=_PASSAGE,
        allowed=_ALLOWED,
        **_index(generation),
    )


def _index(generation: IndexGeneration) -> dict[str, Literal]:
    return {"generation": Literal(generation.generation), "dimensions": Literal(generation.dimensions)}


_DOCUMENT = SQL("""
SELECT source, title, status, result, chunks, embedded, pages, unread_pages, version, updated_at, error_code,
       error_stage, error_detail, attempts
FROM document
WHERE {visible} AND status IS NOT NULL""").format(visible=_VISIBLE)

DOCUMENT = _DOCUMENT + SQL(" AND source = %(source)s")


@cache
def documents(status: str | None) -> Composed:
    """A page of the documents by source. The status is a literal, so that the index of what failed is seen to fit."""
    of_status = SQL("") if status is None else SQL(" AND status = {}").format(Literal(status))
    return (
        _DOCUMENT
        + of_status
        + SQL("""
  AND source > %(after)s AND source ^@ %(prefix)s
ORDER BY source
LIMIT %(limit)s
""")
    )


# No row: no such document for this audience. A row without a chunk: the document is there, the page is empty.
DOCUMENT_CHUNKS = SQL("""
SELECT {passage}
FROM document
LEFT JOIN LATERAL (
    SELECT * FROM chunk
    WHERE chunk.tenant = document.tenant AND chunk.source = document.source
    ORDER BY chunk.ordinal
    OFFSET %(offset)s LIMIT %(limit)s
) AS chunk ON true
WHERE {visible} AND document.source = %(source)s AND document.status IS NOT NULL
ORDER BY chunk.ordinal
""").format(passage=_PASSAGE, visible=_VISIBLE)
