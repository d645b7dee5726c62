-- The oracle family: price pairs and their data points. One database holds one oracle contract.

CREATE SCHEMA oracle;
COMMENT ON SCHEMA oracle IS 'Price oracle: pairs, their newest medians, and the data points of the contract';

CREATE TABLE oracle.pairs (
  pair_name text COLLATE "C" PRIMARY KEY,
  median numeric,
  median_time bigint,
  median_precision integer NOT NULL,
  base_symbol text COLLATE "C" NOT NULL,
  base_precision integer NOT NULL,
  base_type integer NOT NULL,
  base_contract text COLLATE "C" NOT NULL,
  quote_symbol text COLLATE "C" NOT NULL,
  quote_precision integer NOT NULL,
  quote_type integer NOT NULL,
  quote_contract text COLLATE "C" NOT NULL,
  active boolean NOT NULL,
  bounty_awarded boolean NOT NULL,
  bounty_edited_by_custodians boolean NOT NULL,
  proposer text COLLATE "C" NOT NULL,
  bounty_amount text COLLATE "C" NOT NULL,
  approving_custodians text[] COLLATE "C" NOT NULL,
  approving_oracles text[] COLLATE "C" NOT NULL,
  updated_at_time bigint NOT NULL,
  updated_at_block integer NOT NULL
);
COMMENT ON TABLE oracle.pairs IS 'Price pairs with their newest median: a price is median / 10^median_precision, in quote units per base unit';
COMMENT ON COLUMN oracle.pairs.pair_name IS 'Name of the pair';
COMMENT ON COLUMN oracle.pairs.median IS 'Newest median; null before the first data point, may be 0 while data points are few';
COMMENT ON COLUMN oracle.pairs.median_time IS 'Time of the data point that carries it, ms since 1970';
COMMENT ON COLUMN oracle.pairs.median_precision IS 'Decimal places of the median';
COMMENT ON COLUMN oracle.pairs.base_symbol IS 'Symbol code of what is priced';
COMMENT ON COLUMN oracle.pairs.base_precision IS 'Its decimal places';
COMMENT ON COLUMN oracle.pairs.base_type IS 'Kind of asset, as the contract numbers it';
COMMENT ON COLUMN oracle.pairs.base_contract IS 'Its token contract; may be empty';
COMMENT ON COLUMN oracle.pairs.quote_symbol IS 'Symbol code of the unit of the price';
COMMENT ON COLUMN oracle.pairs.quote_precision IS 'Its decimal places';
COMMENT ON COLUMN oracle.pairs.quote_type IS 'Kind of asset, as the contract numbers it';
COMMENT ON COLUMN oracle.pairs.quote_contract IS 'Its token contract; may be empty';
COMMENT ON COLUMN oracle.pairs.active IS 'Whether the pair takes data points';
COMMENT ON COLUMN oracle.pairs.bounty_awarded IS 'Whether the bounty of its proposal was awarded';
COMMENT ON COLUMN oracle.pairs.bounty_edited_by_custodians IS 'Whether custodians changed the proposal';
COMMENT ON COLUMN oracle.pairs.proposer IS 'Account that proposed the pair';
COMMENT ON COLUMN oracle.pairs.bounty_amount IS 'Bounty as the contract writes it, e.g. 1.00000000 WAX';
COMMENT ON COLUMN oracle.pairs.approving_custodians IS 'Custodians that approved the proposal';
COMMENT ON COLUMN oracle.pairs.approving_oracles IS 'Oracles that approved the proposal';
COMMENT ON COLUMN oracle.pairs.updated_at_time IS 'Time of the block that last wrote a median, ms since 1970; 0 before the first';
COMMENT ON COLUMN oracle.pairs.updated_at_block IS 'Block that last wrote a median; 0 before the first';

CREATE TABLE oracle.datapoints (
  pair_name text COLLATE "C",
  id bigint,
  value numeric NOT NULL,
  median numeric NOT NULL,
  point_time bigint NOT NULL,
  owner text COLLATE "C" NOT NULL,
  PRIMARY KEY (pair_name, id)
);
COMMENT ON TABLE oracle.datapoints IS 'The data points that the contract holds: a ring of 21 for each pair';
COMMENT ON COLUMN oracle.datapoints.pair_name IS 'Pair';
COMMENT ON COLUMN oracle.datapoints.id IS 'Place in the ring';
COMMENT ON COLUMN oracle.datapoints.value IS 'Price that the owner gave';
COMMENT ON COLUMN oracle.datapoints.median IS 'Median of the ring when this point was written';
COMMENT ON COLUMN oracle.datapoints.point_time IS 'When it was written, ms since 1970; 0 for a place not used yet';
COMMENT ON COLUMN oracle.datapoints.owner IS 'Account that wrote it';

SELECT chain.create_undo_twin(t::regclass) FROM unnest(ARRAY['oracle.pairs', 'oracle.datapoints']) t;
