-- The planner of the API merges one index range for each schema of a collection, as many as the statistics say. With the
-- default, only the 100 collections with the most schemas have their own number.
ALTER TABLE assets.schemas ALTER collection_name SET STATISTICS 1000;
ANALYZE assets.schemas;
