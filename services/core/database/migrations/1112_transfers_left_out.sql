-- Blocks whose transfers the settings left out: verify compares owners with the transfers that are stored.
ALTER TABLE chain.sources ADD transfers_left_out int4multirange NOT NULL DEFAULT '{}';
COMMENT ON COLUMN chain.sources.transfers_left_out IS 'Blocks in which store_transfers was off; open at its end while it is';
