-- A further part of a table that was cut begins with the table's head, which lies outside of its span. NOT VALID: what
-- is stored already keeps to the stricter rule, and to read all of it would take the table from everyone meanwhile.
ALTER TABLE chunk DROP CONSTRAINT span_of_text;
ALTER TABLE chunk ADD CONSTRAINT span_of_text
    CHECK (end_char > start_char AND char_length(text) >= end_char - start_char) NOT VALID;

-- What a person has to know to mend a document: why its newest version failed, beside the code, and which pages of what
-- is served show something that couldn't be read.
ALTER TABLE document ADD COLUMN error_detail text;
ALTER TABLE document ADD COLUMN unread_pages integer[] NOT NULL DEFAULT '{}';

-- What failed is asked for by itself, and is little among much.
CREATE INDEX document_failed ON document (tenant, source) WHERE status = 'FAILED';
