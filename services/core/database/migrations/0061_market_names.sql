-- Lists in the order of names are read from indexes that hold names whole.
DROP INDEX IF EXISTS market.sales_name_idx, market.sales_any_name_idx, market.auctions_name_idx, market.buyoffers_name_idx;
