-- Indexes that no measured request uses (see docs/indexes.md).
DROP INDEX IF EXISTS market.party_stats_collection_idx, market.template_prices_suggested_median_idx,
  market.template_prices_suggested_average_idx, market.template_prices_median_idx, market.template_prices_average_idx,
  market.trades_unburned_idx, market.trades_bare_idx, market.trades_burned_idx;
