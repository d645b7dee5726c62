-- Names and integers beside attributes in one GIN index.
CREATE EXTENSION IF NOT EXISTS btree_gin;
