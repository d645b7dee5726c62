-- Burned assets by schema before account: who burned of a collection is read from its part of the index. The successor is
-- built online.

DROP INDEX IF EXISTS assets.assets_burned_idx;
