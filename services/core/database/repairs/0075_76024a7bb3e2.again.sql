-- Traits were numbers of the server's own hash function, without columns. Indexes on these functions go with them; the
-- filler builds those of this version.
DROP FUNCTION market.asset_traits(bigint[]) CASCADE;
DROP FUNCTION market.data_traits(jsonb) CASCADE;
DROP FUNCTION market.trait(text, text) CASCADE;
