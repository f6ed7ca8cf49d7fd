-- The keyword search's own inverted index. Postgres' tsvector knows neither how many chunks hold a lexeme nor in which of
-- them it counts most, so a ranking by rare words would have to read every chunk that holds a common one.

-- What a tenant's lexeme is called: 64 bits instead of two texts, in every posting. Two of a million lexemes share a
-- number with a probability of 1 to 37 million, and then a chunk is found that doesn't hold the word.
CREATE FUNCTION keyword_term(tenant text, lexeme text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN hashtextextended(tenant || E'\x1f' || lexeme, 0);

-- What the number of its chunks is kept under, for those who have that group ('' for everyone in the tenant).
CREATE FUNCTION keyword_count(term bigint, readers text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN hashtextextended(readers, term);

-- Whose word counts a document is part of: of everyone's in the tenant ({""}), of each of these groups', or of nobody's.
-- A count then holds only what its reader may find: nobody can tell from a score what stands in a document that is
-- closed to them. Who has several of the groups counts the document that often, in all of its words alike.
CREATE FUNCTION keyword_readers(groups text[], next_groups text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN groups IS NULL THEN '{}'
    WHEN cardinality(coalesce(next_groups, '{}')) = 0 AND cardinality(groups) = 0 THEN '{""}'
    ELSE ARRAY(
        SELECT DISTINCT name
        FROM unnest(groups || coalesce(next_groups, '{}')) AS name
        WHERE (cardinality(groups) = 0 OR name = ANY (groups))
          AND (cardinality(coalesce(next_groups, '{}')) = 0 OR name = ANY (next_groups))
        ORDER BY name
    )
END;

-- The words of one chunk; postings and counts follow from these rows, by the triggers below, whoever removes a row and
-- however. Of a row only its readers are ever changed. Candidates of a search are scored from it, so it stays in the page.
CREATE TABLE chunk_words (
    -- Instead of the chunk's id, as it is in every posting: 4 bytes for 16. From the least number on, to last.
    number      integer GENERATED ALWAYS AS IDENTITY (MINVALUE -2147483648 START -2147483648) PRIMARY KEY,
    chunk_id    uuid NOT NULL UNIQUE REFERENCES chunk ON DELETE CASCADE,
    tenant      text COLLATE "C" NOT NULL,
    -- Of what the words were made of and how: a chunk with another one is to be indexed again.
    fingerprint bytea NOT NULL,
    readers     text[] NOT NULL,
    -- In ascending order.
    terms       bigint[] STORAGE EXTERNAL NOT NULL,
    -- What a term adds to the chunk's score when it is asked for, to be multiplied by how rare it is. 0 for the terms
    -- that no word is, which are counted only.
    impacts     real[] STORAGE EXTERNAL NOT NULL,
    CONSTRAINT impact_for_each CHECK (cardinality(impacts) = cardinality(terms))
) WITH (toast_tuple_target = 8160);

-- Without a key or a reference: the triggers write it, and each check would cost as much as the row.
-- Vacuumed early, because an index-only scan looks into the table for what has been written since.
CREATE TABLE posting (
    term   bigint NOT NULL,
    impact real NOT NULL,
    number integer NOT NULL
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_scale_factor = 0.05);
-- In the order in which a search reads: of a common word, only the chunks in which it counts most.
CREATE INDEX posting_by_impact ON posting (term, impact DESC, number);

-- In how many chunks a term stands, for each of its readers, and how many chunks a tenant has whoever may find them (' all',
-- as no group is called): what that tells is only how far a search must read. The table is small and its rows are often written: with
-- room in the pages, without touching the index.
CREATE TABLE term_count (
    key    bigint PRIMARY KEY,
    chunks integer NOT NULL CHECK (chunks > 0)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- Who counts waits for whoever counts in the same tenant, before it touches a count: rows that two workers need in
-- another order each are then no deadlock. It would wait anyway: the count of all chunks is one row.
-- Whether a table is read through or by its index is not the planner's to choose: it can't know how few rows a
-- transition table has.
CREATE FUNCTION keep_postings() RETURNS trigger
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    sign CONSTANT integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO posting (term, impact, number)
        SELECT word.term, word.impact, changed.number
        FROM changed CROSS JOIN unnest(changed.terms, changed.impacts) AS word (term, impact)
        WHERE word.impact > 0
        ORDER BY word.term, word.impact DESC, changed.number;
    ELSE
        DELETE FROM posting
        USING changed CROSS JOIN unnest(changed.terms, changed.impacts) AS word (term, impact)
        WHERE posting.term = word.term AND posting.impact = word.impact AND posting.number = changed.number
          AND word.impact > 0;
    END IF;
    PERFORM pg_advisory_xact_lock(keyword_term(tenant, ' counting'))
    FROM (SELECT DISTINCT tenant FROM changed ORDER BY tenant) AS counted;
    MERGE INTO term_count
    USING (
        SELECT keyword_count(word.term, reader.name) AS key, sign * count(*)::integer AS chunks
        FROM changed CROSS JOIN unnest(changed.terms) AS word (term) CROSS JOIN unnest(changed.readers) AS reader (name)
        GROUP BY 1
        UNION ALL
        SELECT keyword_count(keyword_term(tenant, ' chunks'), ' all'), sign * count(*)::integer
        FROM changed
        GROUP BY 1
    ) AS difference
    ON term_count.key = difference.key
    WHEN MATCHED AND term_count.chunks + difference.chunks = 0 THEN DELETE
    WHEN MATCHED THEN UPDATE SET chunks = term_count.chunks + difference.chunks
    WHEN NOT MATCHED THEN INSERT (key, chunks) VALUES (difference.key, difference.chunks);
    RETURN NULL;
END
$$;
CREATE TRIGGER words_added AFTER INSERT ON chunk_words
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_postings();
CREATE TRIGGER words_removed AFTER DELETE ON chunk_words
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION keep_postings();

-- A document that is opened or closed to somebody is counted anew at once, not only when its next version answers.
-- Only the counts: who may find a chunk is nothing to its postings, and closing a document must not take as long as
-- indexing it.
CREATE FUNCTION keep_readers() RETURNS trigger
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    coming CONSTANT text[] := keyword_readers(NEW.groups, NEW.next_groups);
BEGIN
    PERFORM pg_advisory_xact_lock(keyword_term(NEW.tenant, ' counting'));
    MERGE INTO term_count
    USING (
        SELECT keyword_count(word.term, reader.name) AS key, sum(word.chunks * reader.sign)::integer AS chunks
        FROM (
            SELECT term, chunk_words.readers, count(*) AS chunks
            FROM chunk JOIN chunk_words USING (chunk_id) CROSS JOIN unnest(chunk_words.terms) AS term
            WHERE chunk.tenant = NEW.tenant AND chunk.source = NEW.source
            GROUP BY 1, 2
        ) AS word
        CROSS JOIN LATERAL (
            SELECT name, -1 AS sign FROM unnest(word.readers) AS name
            UNION ALL
            SELECT name, 1 FROM unnest(coming) AS name
        ) AS reader
        GROUP BY 1
        HAVING sum(word.chunks * reader.sign) <> 0
    ) AS difference
    ON term_count.key = difference.key
    WHEN MATCHED AND term_count.chunks + difference.chunks = 0 THEN DELETE
    WHEN MATCHED THEN UPDATE SET chunks = term_count.chunks + difference.chunks
    WHEN NOT MATCHED THEN INSERT (key, chunks) VALUES (difference.key, difference.chunks);
    UPDATE chunk_words SET readers = coming
    FROM chunk
    WHERE chunk.tenant = NEW.tenant AND chunk.source = NEW.source AND chunk_words.chunk_id = chunk.chunk_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER readers_changed AFTER UPDATE OF groups, next_groups ON document
    FOR EACH ROW
    WHEN (keyword_readers(OLD.groups, OLD.next_groups) IS DISTINCT FROM keyword_readers(NEW.groups, NEW.next_groups))
    EXECUTE FUNCTION keep_readers();

-- What the last release searched. Until it has gone it finds by their words what it has indexed itself, without the
-- index, which would cost a third of every ingest; a later migration drops the column.
DROP INDEX chunk_lexemes;
ALTER TABLE chunk ALTER COLUMN lexemes DROP EXPRESSION;
ALTER TABLE chunk ALTER COLUMN lexemes SET DEFAULT '';
