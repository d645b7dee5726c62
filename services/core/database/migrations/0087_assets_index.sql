-- The indexes of assets by burner and by first owner hold more now, and have other names (see indexes/assets.sql).
DROP INDEX IF EXISTS assets.assets_burner_idx, assets.assets_receiver_idx;
