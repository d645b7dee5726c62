-- Query indexes of offers, templates, collections and schemas that gave way to fewer, which hold more: these are built
-- online when a reader is at the head (see indexes/assets.sql).

DROP INDEX IF EXISTS
  assets.offers_demands_idx, assets.offers_swaps_idx, assets.offers_collections_idx, assets.offers_memo_idx,
  assets.offers_assets_idx;
DROP INDEX IF EXISTS
  assets.templates_data_idx, assets.templates_mutable_data_idx, assets.templates_immutable_name_idx,
  assets.templates_mutable_name_idx, assets.templates_fixed_idx, assets.templates_lasting_idx, assets.templates_nameless_idx;
DROP INDEX IF EXISTS
  assets.collections_author_idx, assets.collections_authorized_idx, assets.collections_notify_idx,
  assets.schema_counts_rank_idx;
