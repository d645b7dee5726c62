-- What an oracle cannot price has no price: least() leaves out nulls. Powers of ten are exact whatever their exponent.

CREATE OR REPLACE VIEW market.rates AS
  SELECT s.listing_symbol, s.settlement_symbol, p.median, p.median_precision, s.pair_name, s.invert_pair,
    CASE WHEN p.median > 0 AND p.median_precision <= 40 THEN
      CASE WHEN s.invert_pair THEN p.median
        ELSE ('1e' || (p.median_precision + p.base_precision - p.quote_precision)::text)::numeric END END AS factor,
    CASE WHEN NOT s.invert_pair THEN p.median
      WHEN p.median_precision <= 40
        THEN ('1e' || (p.median_precision + p.base_precision - p.quote_precision)::text)::numeric END AS divisor
  FROM market.symbol_pairs s JOIN oracle.pairs p USING (pair_name);
COMMENT ON COLUMN market.rates.factor IS 'Factor; null while the median is null or 0, or has more than 40 decimal places, which gives no price';

CREATE OR REPLACE FUNCTION market.settlement_price(listing_price bigint, factor numeric, divisor numeric) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN factor IS NOT NULL THEN least(div(listing_price * factor, divisor), 9223372036854775807)::bigint END
$$;
COMMENT ON FUNCTION market.settlement_price IS 'Price in the settlement token of a sale that an oracle prices, rounded down, at most 2^63 - 1; null without a factor; factor and divisor from market.rates';
