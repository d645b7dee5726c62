-- What an imported database lacks, where the operator accepted that.
ALTER TABLE chain.imports ADD accepted_gaps text[];
COMMENT ON COLUMN chain.imports.accepted_gaps IS 'Rows that the source lacked and that the operator accepted to lack; null when it lacked none';
