-- Two texts had the collation of the database.
ALTER TABLE chain.list_sources ALTER address TYPE text COLLATE "C", ALTER problem TYPE text COLLATE "C";
