-- One row: how keys were read as tenants when the documents were indexed. Under the other reading the name of a tenant
-- would mean somebody else.
CREATE TABLE deployment (
    single_row boolean PRIMARY KEY DEFAULT true CHECK (single_row),
    tenancy    text NOT NULL CHECK (tenancy IN ('single', 'prefix'))
);
