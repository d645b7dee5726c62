-- Query indexes whose columns are in another order now; the successors are built online.

DROP INDEX IF EXISTS assets.assets_burns_idx;
DROP INDEX IF EXISTS market.party_stats_marketplace_idx;
