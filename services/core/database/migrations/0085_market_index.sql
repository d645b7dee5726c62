-- The index of sales by template holds more now, and has another name (see indexes/market.sql).
DROP INDEX IF EXISTS market.sales_template_idx;
