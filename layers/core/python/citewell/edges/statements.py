"""Every statement by which the chunk store writes, whole, in the order of a document's life.

``%(name)s`` is bound by the server.
"""

from __future__ import annotations

from psycopg.sql import SQL

LIVE_GENERATION = """
SELECT generation, model_id, dimensions FROM index_generation WHERE status = 'live'
"""


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
