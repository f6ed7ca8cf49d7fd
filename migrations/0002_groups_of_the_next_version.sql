-- Whom the version that is being processed is for. While it isn't served yet, or never will be because it failed, the
-- served one answers only those who may read both: whoever closes a document must not wait for its new text to be read.
-- Empty: everyone in the tenant, as in groups. NULL: no other version is known than the served one.
-- Without a constraint: a release that doesn't know the column leaves it as it is, which shows a document to too few.
ALTER TABLE document ADD COLUMN next_groups text[];
