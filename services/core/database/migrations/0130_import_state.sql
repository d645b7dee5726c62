-- What an import of the chain's present state cannot know.

ALTER TABLE market.auctions ALTER starting_price DROP NOT NULL;
COMMENT ON COLUMN chain.imports.history_since IS 'First block whose history is whole: times before it are 0, mint numbers null; null when it is whole from the start';
