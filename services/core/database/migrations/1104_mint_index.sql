-- The highest and lowest mint numbers of all assets are read by one index of them; those of some schemas through their
-- templates.
DROP INDEX IF EXISTS assets.assets_schema_mint_idx;
