CREATE EXTENSION IF NOT EXISTS vector;

-- One row per object key that was ever seen. A removed document leaves its row as a tombstone, because the claim
-- must go on growing: a worker that is still busy with the removed version has to lose against whatever comes next.
-- Texts that are compared or looked up by prefix are COLLATE "C", so that no server's locale changes an order.
CREATE TABLE document (
    tenant          text COLLATE "C" NOT NULL CHECK (tenant <> ''),
    source          text COLLATE "C" NOT NULL CHECK (source <> ''),
    -- Counts the workers that took this key; only the newest may write. Per row: no two keys ever wait for another.
    claim           bigint NOT NULL CHECK (claim > 0),
    -- NULL: there is no document (a key that was only claimed, or a tombstone).
    status          text CHECK (status IN ('PROCESSING', 'READY', 'FAILED')),
    result          text CHECK (result IN ('INDEXED', 'UPDATED', 'UNCHANGED', 'DELETED')),
    title           text,
    collection      text COLLATE "C" NOT NULL DEFAULT '',
    -- Empty: everyone in the tenant. NULL: not known yet, so nobody.
    groups          text[],
    effective_date  date,
    series          text,
    language        text,
    -- The newest object version that was looked at; the served_* columns tell what answers.
    version         text,
    served_version  text,
    served_pipeline text,
    content_hash    bytea,
    chunks          integer NOT NULL DEFAULT 0 CHECK (chunks >= 0),
    embedded        integer NOT NULL DEFAULT 0 CHECK (embedded >= 0),
    pages           integer CHECK (pages >= 0),
    error_code      text,
    error_stage     text,
    attempts        integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, source),
    CONSTRAINT served_completely CHECK (num_nulls(served_version, served_pipeline, content_hash) IN (0, 3)),
    CONSTRAINT served_to_somebody CHECK (served_version IS NULL OR num_nulls(status, title, groups) = 0),
    CONSTRAINT unserved_has_no_chunks CHECK (served_version IS NOT NULL OR chunks = 0),
    CONSTRAINT ready_is_served CHECK (status <> 'READY' OR served_version IS NOT NULL),
    CONSTRAINT failed_says_why CHECK (
        CASE WHEN status = 'FAILED' THEN num_nulls(error_code, error_stage) = 0
             ELSE num_nonnulls(error_code, error_stage) = 0 END
    )
);

-- What answers. start_char and end_char count code points of the extracted text, so text can be checked against them.
CREATE TABLE chunk (
    chunk_id   uuid PRIMARY KEY,
    tenant     text COLLATE "C" NOT NULL,
    source     text COLLATE "C" NOT NULL,
    ordinal    integer NOT NULL CHECK (ordinal >= 0),
    section    text[] NOT NULL,
    page       integer CHECK (page >= 1),
    start_char integer NOT NULL CHECK (start_char >= 0),
    end_char   integer NOT NULL,
    text       text NOT NULL CHECK (text <> ''),
    header     text NOT NULL,
    -- The header (title and headings) is labelled A, so that the query can weigh a match there by itself.
    lexemes    tsvector NOT NULL GENERATED ALWAYS AS (
                   setweight(to_tsvector('english', header), 'A') || to_tsvector('english', text)
               ) STORED,
    FOREIGN KEY (tenant, source) REFERENCES document ON DELETE CASCADE,
    CONSTRAINT span_of_text CHECK (end_char - start_char = char_length(text))
-- An edit at the top of a document moves all chunks below it. Where no indexed column changes and the page has room,
-- Postgres updates a row without touching an index (HOT). Entering 2,500 chunks into the GIN index anew took 13 times as
-- long as that.
) WITH (fillfactor = 50);

-- Without the ordinal, for the same reason. A document's chunks are few enough to sort.
CREATE INDEX chunk_document ON chunk (tenant, source);
-- No pending list: a list that waits for vacuum is read in full by every search.
CREATE INDEX chunk_lexemes ON chunk USING gin (lexemes) WITH (fastupdate = off);

-- One complete set of vectors, named by the embedder that made it. Vectors stand apart from chunks so that a second
-- set can be built beside the one that answers. 2000 dimensions are what an HNSW index of pgvector can hold.
CREATE TABLE index_generation (
    generation integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model_id   text NOT NULL CHECK (model_id <> ''),
    dimensions integer NOT NULL CHECK (dimensions BETWEEN 1 AND 2000),
    status     text NOT NULL CHECK (status IN ('building', 'live', 'retired')),
    min_score  double precision CHECK (min_score BETWEEN -1 AND 1),
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX index_generation_one_live ON index_generation (status) WHERE status = 'live';

-- The HNSW index of a generation is made with the generation (its dimension is part of the index), as a partial index
-- over the cast column. No key starts with tenant or generation: a B-tree on either would tempt the planner to read
-- and sort all of a tenant's vectors where the HNSW index is the better way.
CREATE TABLE chunk_vector (
    generation integer NOT NULL REFERENCES index_generation,
    chunk_id   uuid NOT NULL REFERENCES chunk ON DELETE CASCADE,
    tenant     text COLLATE "C" NOT NULL,
    -- Hash of model, dimensions, input kind and the embedded text: equal keys have equal vectors.
    reuse_key  bytea NOT NULL,
    embedding  vector NOT NULL,
    PRIMARY KEY (chunk_id, generation)
);
CREATE INDEX chunk_vector_reuse ON chunk_vector (reuse_key, tenant);

-- Vectors that were paid for and stand in no document yet. Removed by age alone: several documents may wait for one.
CREATE TABLE pending_vector (
    tenant     text COLLATE "C" NOT NULL,
    reuse_key  bytea NOT NULL,
    embedding  vector NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (reuse_key, tenant)
);
CREATE INDEX pending_vector_age ON pending_vector (created_at);
