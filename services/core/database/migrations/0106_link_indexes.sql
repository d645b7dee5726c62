-- Two query indexes of links that gave way to one (see indexes/tools.sql).

DROP INDEX IF EXISTS tools.links_assets_idx, tools.links_collections_idx;
