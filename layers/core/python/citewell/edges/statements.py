"""Every statement of the chunk store, whole, in the order of a document's life.

``%(name)s`` is bound by the server. The searches are made by a function each, because what names the index can't be
bound: the generation and its dimension must be literals for the planner to see that the partial index fits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps

from psycopg.sql import SQL, Composed, Literal

from citewell.core.languages import LANGUAGES, SIMPLE
from citewell.ports import IndexGeneration


def _written_once(make: Callable[[IndexGeneration], Composed]) -> Callable[[IndexGeneration], bytes]:
    """A statement as it is sent. psycopg takes such a one apart once only, where it has 4,096 bytes at most."""
    return cache(wraps(make)(lambda generation: make(generation).as_bytes()))


LIVE_GENERATION = """
SELECT generation, model_id, dimensions FROM index_generation WHERE status = 'live'
"""


def dictionary(language: str) -> str:
    """Which of Postgres' dictionaries takes a language's endings off and knows its stop words."""
    return SIMPLE if language == SIMPLE else f"{language}_stem"


# --- ingest ---------------------------------------------------------------------------------------------------

# A counter on the row instead of a sequence: the number says nothing but "newer than the last one of this key", the
# row lock orders racing workers, and a tombstone keeps it.
CLAIM = """
INSERT INTO document AS known (tenant, source, claim)
VALUES (%(tenant)s, %(source)s, 1)
ON CONFLICT (tenant, source) DO UPDATE SET claim = known.claim + 1
RETURNING claim, served_version, served_pipeline, content_hash, chunks
"""

# Of all tenants, tombstones left out.
DOCUMENTS_AFTER = """
SELECT tenant, source FROM document
WHERE status IS NOT NULL AND (tenant, source) > (%(tenant)s, %(source)s)
ORDER BY tenant, source
LIMIT %(limit)s
"""

# What is served keeps its title and groups; a document that serves nothing yet takes those of its coming version.
# Groups that couldn't be read are NULL. Beside what is served they become a group without a name: nobody is in it.
BEGIN = """
UPDATE document
SET status = %(status)s,
    result = NULL,
    error_code = %(error_code)s,
    error_stage = %(error_stage)s,
    error_detail = NULL,
    attempts = %(attempts)s,
    updated_at = now(),
    title = CASE WHEN served_version IS NULL THEN %(title)s ELSE title END,
    collection = CASE WHEN served_version IS NULL THEN %(collection)s ELSE collection END,
    groups = CASE WHEN served_version IS NULL THEN %(groups)s::text[] ELSE groups END,
    next_groups = CASE WHEN served_version IS NOT NULL THEN coalesce(%(groups)s::text[], ARRAY[NULL]::text[]) END,
    effective_date = CASE WHEN served_version IS NULL THEN %(effective_date)s::date ELSE effective_date END,
    series = CASE WHEN served_version IS NULL THEN %(series)s ELSE series END,
    language = CASE WHEN served_version IS NULL THEN %(language)s ELSE language END
WHERE tenant = %(tenant)s AND source = %(source)s AND claim = %(claim)s
"""

# The document's own vectors are safe: only a newer claim could remove them, and then this worker's swap is void.
# Vectors of other documents may go at any moment, so they are copied; kept ones are made young again.
KNOWN_VECTORS = """
WITH wanted AS (
    SELECT DISTINCT reuse_key FROM unnest(%(reuse_keys)s::bytea[]) AS keys (reuse_key)
), own AS (
    SELECT DISTINCT reuse_key
    FROM wanted
    JOIN chunk_vector USING (reuse_key)
    JOIN chunk USING (chunk_id)
    WHERE chunk.tenant = %(tenant)s AND chunk.source = %(source)s
), elsewhere AS (
    SELECT reuse_key, found.embedding
    FROM wanted
    CROSS JOIN LATERAL (
        (SELECT embedding FROM pending_vector AS kept
         WHERE kept.reuse_key = wanted.reuse_key AND kept.tenant = %(tenant)s)
        UNION ALL
        (SELECT embedding FROM chunk_vector AS used
         WHERE used.reuse_key = wanted.reuse_key AND used.tenant = %(tenant)s
         LIMIT 1)
        LIMIT 1
    ) AS found
    WHERE reuse_key NOT IN (SELECT reuse_key FROM own)
), kept AS (
    INSERT INTO pending_vector (tenant, reuse_key, embedding)
    SELECT %(tenant)s, reuse_key, embedding FROM elsewhere ORDER BY reuse_key
    ON CONFLICT (reuse_key, tenant) DO UPDATE SET created_at = now()
    RETURNING reuse_key
)
SELECT reuse_key FROM own UNION ALL SELECT reuse_key FROM kept
"""

# In the order of the keys, here and above, so that two workers with the same texts can't wait for each other.
KEEP_VECTORS = """
INSERT INTO pending_vector (tenant, reuse_key, embedding)
SELECT %(tenant)s, kept.reuse_key, kept.embedding::vector
FROM unnest(%(reuse_keys)s::bytea[], %(embeddings)s::text[]) AS kept (reuse_key, embedding)
ORDER BY kept.reuse_key
ON CONFLICT (reuse_key, tenant) DO UPDATE SET created_at = now()
"""

# Two workers may clean up at once; neither waits for the other.
FORGET_OLD_VECTORS = """
DELETE FROM pending_vector
WHERE (reuse_key, tenant) IN (
    SELECT reuse_key, tenant FROM pending_vector
    WHERE created_at < now() - %(age)s::interval
    ORDER BY created_at
    LIMIT 1000
    FOR UPDATE SKIP LOCKED
)
"""

# The share lock keeps a migration from retiring the generation until this transaction has ended.
HOLD_GENERATION = """
SELECT generation FROM index_generation
WHERE generation = %(generation)s AND status IN ('building', 'live')
FOR SHARE
"""

HOLD_DOCUMENT = """
SELECT served_version IS NOT NULL AS is_served
FROM document
WHERE tenant = %(tenant)s AND source = %(source)s AND claim = %(claim)s
FOR UPDATE
"""

# Two writes that touch different rows. The first is for chunks that only moved: it leaves text and header alone, so
# that no index is touched. Chunks that stayed as they were are not written.
WRITE_CHUNKS = """
WITH wanted AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%(chunks)s::json) AS wanted (
        chunk_id uuid, ordinal integer, section text[], page integer, start_char integer, end_char integer,
        text text, header text
    )
), moved AS (
    UPDATE chunk
    SET ordinal = wanted.ordinal,
        section = wanted.section,
        page = wanted.page,
        start_char = wanted.start_char,
        end_char = wanted.end_char
    FROM wanted
    WHERE chunk.chunk_id = wanted.chunk_id
      AND (chunk.text, chunk.header) = (wanted.text, wanted.header)
      AND (chunk.ordinal, chunk.section, chunk.page, chunk.start_char, chunk.end_char)
          IS DISTINCT FROM (wanted.ordinal, wanted.section, wanted.page, wanted.start_char, wanted.end_char)
)
INSERT INTO chunk (chunk_id, tenant, source, ordinal, section, page, start_char, end_char, text, header)
SELECT wanted.chunk_id, %(tenant)s, %(source)s, wanted.ordinal, wanted.section, wanted.page, wanted.start_char,
       wanted.end_char, wanted.text, wanted.header
FROM wanted
LEFT JOIN chunk USING (chunk_id)
WHERE (chunk.text, chunk.header) IS DISTINCT FROM (wanted.text, wanted.header)
ON CONFLICT (chunk_id) DO UPDATE
SET ordinal = excluded.ordinal,
    section = excluded.section,
    page = excluded.page,
    start_char = excluded.start_char,
    end_char = excluded.end_char,
    text = excluded.text,
    header = excluded.header
"""

# A statement reads the table as it was when it began: vectors that change places between two chunks of this document
# are each read before they are overwritten.
WRITE_VECTORS = """
INSERT INTO chunk_vector (generation, chunk_id, tenant, reuse_key, embedding)
SELECT %(generation)s, wanted.chunk_id, %(tenant)s, wanted.reuse_key, found.embedding
FROM unnest(%(chunk_ids)s::uuid[], %(reuse_keys)s::bytea[]) AS wanted (chunk_id, reuse_key)
LEFT JOIN chunk_vector AS present ON present.chunk_id = wanted.chunk_id AND present.generation = %(generation)s
CROSS JOIN LATERAL (
    (SELECT embedding FROM chunk_vector AS used
     WHERE used.reuse_key = wanted.reuse_key AND used.tenant = %(tenant)s
     LIMIT 1)
    UNION ALL
    (SELECT embedding FROM pending_vector AS kept
     WHERE kept.reuse_key = wanted.reuse_key AND kept.tenant = %(tenant)s)
    LIMIT 1
) AS found
WHERE present.reuse_key IS DISTINCT FROM wanted.reuse_key
ON CONFLICT (chunk_id, generation) DO UPDATE SET reuse_key = excluded.reuse_key, embedding = excluded.embedding
"""

DELETE_OTHER_CHUNKS = """
DELETE FROM chunk
WHERE tenant = %(tenant)s AND source = %(source)s AND chunk_id <> ALL (%(chunk_ids)s::uuid[])
"""

# Vectors of a retired generation serve a return to it; those of a document that changed since are no longer true.
DELETE_RETIRED_VECTORS = """
DELETE FROM chunk_vector
USING chunk, index_generation
WHERE chunk.tenant = %(tenant)s AND chunk.source = %(source)s
  AND chunk_vector.chunk_id = chunk.chunk_id
  AND index_generation.generation = chunk_vector.generation AND index_generation.status = 'retired'
"""

# Which chunks' words aren't those in the index.
LACKING_WORDS = """
SELECT wanted.chunk_id::text AS chunk_id
FROM unnest(%(chunk_ids)s::uuid[], %(fingerprints)s::bytea[]) AS wanted (chunk_id, fingerprint)
LEFT JOIN chunk_words USING (chunk_id)
WHERE chunk_words.fingerprint IS DISTINCT FROM wanted.fingerprint
"""

# Before the chunks go: by the reference, each would take its words along in a statement of its own.
DELETE_WORDS = """
DELETE FROM chunk_words
USING chunk
WHERE chunk.tenant = %(tenant)s AND chunk.source = %(source)s
  AND chunk_words.chunk_id = chunk.chunk_id AND chunk.chunk_id <> ALL (%(kept)s::uuid[])
"""

# A stop word has no lexeme. The terms with a space in their name are no words: they count the tenant's chunks, and
# those in each language.
ADD_WORDS = """
INSERT INTO chunk_words (chunk_id, tenant, fingerprint, readers, terms, impacts)
SELECT wanted.chunk_id, %(tenant)s, decode(wanted.fingerprint, 'hex'),
       keyword_readers(document.groups, document.next_groups), entry.terms, entry.impacts
FROM json_to_recordset(%(words)s::json) AS wanted (chunk_id uuid, fingerprint text, words text[], counts integer[])
JOIN document ON document.tenant = %(tenant)s AND document.source = %(source)s
CROSS JOIN LATERAL (
    SELECT array_agg(term ORDER BY term) AS terms, array_agg(impact ORDER BY term) AS impacts
    FROM (
        SELECT keyword_term(%(tenant)s, lexeme) AS term,
               (often * (%(k1)s + 1)
                / (often + %(k1)s * (1 - %(b)s + %(b)s * sum(often) OVER () / %(average)s)))::real AS impact
        FROM (
            SELECT lexeme, sum(word.count)::double precision AS often
            FROM unnest(wanted.words, wanted.counts) AS word (text, count)
            CROSS JOIN unnest(ts_lexize(%(dictionary)s::regdictionary, word.text)) AS lexeme
            GROUP BY lexeme
        ) AS lexemes
        UNION ALL
        SELECT keyword_term(%(tenant)s, name), 0 FROM unnest(ARRAY[' chunks', ' ' || %(language)s]) AS counted (name)
    ) AS term
) AS entry
"""

COUNT_COMPLETE_CHUNKS = """
SELECT count(*) AS complete
FROM unnest(%(chunk_ids)s::uuid[], %(reuse_keys)s::bytea[]) AS wanted (chunk_id, reuse_key)
JOIN chunk USING (chunk_id)
JOIN chunk_vector USING (chunk_id, reuse_key)
WHERE chunk.tenant = %(tenant)s AND chunk.source = %(source)s AND chunk_vector.generation = %(generation)s
"""

SERVE = """
UPDATE document
SET status = 'READY',
    result = %(result)s,
    title = %(title)s,
    collection = %(collection)s,
    groups = %(groups)s::text[],
    next_groups = NULL,
    effective_date = %(effective_date)s::date,
    series = %(series)s,
    language = %(language)s,
    version = %(version)s,
    served_version = %(version)s,
    served_pipeline = %(pipeline)s,
    content_hash = %(content_hash)s,
    chunks = %(chunks)s,
    embedded = %(embedded)s,
    pages = %(pages)s,
    unread_pages = %(unread_pages)s,
    error_code = NULL,
    error_stage = NULL,
    error_detail = NULL,
    updated_at = now()
WHERE tenant = %(tenant)s AND source = %(source)s
"""

REFRESH = """
UPDATE document
SET status = 'READY',
    result = 'UNCHANGED',
    next_groups = NULL,
    version = %(version)s,
    served_version = %(version)s,
    served_pipeline = %(pipeline)s,
    embedded = 0,
    error_code = NULL,
    error_stage = NULL,
    error_detail = NULL,
    updated_at = now()
WHERE tenant = %(tenant)s AND source = %(source)s AND claim = %(claim)s
RETURNING chunks
"""

DELETE_CHUNKS = """
DELETE FROM chunk WHERE tenant = %(tenant)s AND source = %(source)s
"""

_BURY = SQL("""
UPDATE document
SET status = NULL,
    result = 'DELETED',
    title = NULL,
    collection = '',
    groups = NULL,
    next_groups = NULL,
    effective_date = NULL,
    series = NULL,
    language = NULL,
    version = NULL,
    served_version = NULL,
    served_pipeline = NULL,
    content_hash = NULL,
    chunks = 0,
    embedded = 0,
    pages = NULL,
    unread_pages = '{}',
    error_code = NULL,
    error_stage = NULL,
    error_detail = NULL,
    attempts = 0,
    updated_at = now()
""")

BURY = _BURY + SQL("WHERE tenant = %(tenant)s AND source = %(source)s")

# For an index that must not answer any more. The claims go on, so that whoever is at work on a document loses.
BURY_EVERYTHING = (
    SQL("UPDATE document SET claim = claim + 1"),
    SQL("TRUNCATE chunk, chunk_vector, pending_vector, chunk_words, posting, term_count"),
    _BURY,
)

FAIL = """
UPDATE document
SET status = 'FAILED',
    result = NULL,
    version = coalesce(%(version)s, version),
    error_code = %(error_code)s,
    error_stage = %(error_stage)s,
    error_detail = %(error_detail)s,
    attempts = %(attempts)s,
    updated_at = now()
WHERE tenant = %(tenant)s AND source = %(source)s AND claim = %(claim)s
"""

# --- ask ------------------------------------------------------------------------------------------------------

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
