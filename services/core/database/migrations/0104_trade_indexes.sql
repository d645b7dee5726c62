-- Rankings in a range of time are summed up from the trades of the range, and best bids for a template are read in order.
DROP INDEX IF EXISTS market.trades_template_time_idx, market.trades_seller_idx, market.trades_buyer_idx, market.trades_collection_idx,
  market.template_buyoffers_template_idx;
