-- The collation of every text column is that of bytes.
ALTER TABLE chain.sealed ALTER reason TYPE text COLLATE "C";
