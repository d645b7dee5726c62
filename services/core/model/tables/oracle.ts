import { action, block, orNull, row } from '../column.ts'
import { keyedTable } from '../table.ts'

/** The tables of the oracle family. An upsert of a pair does not overwrite the stored median of the pair. */
export const oracleTables = {
  pairs: keyedTable(
    'oracle.pairs',
    ['pair_name'],
    {
      pair_name: row.text,
      median: orNull(action.numeric),
      median_time: orNull(action.bigint),
      median_precision: row.integer,
      base_symbol: row.text,
      base_precision: row.integer,
      base_type: row.integer,
      base_contract: row.text,
      quote_symbol: row.text,
      quote_precision: row.integer,
      quote_type: row.integer,
      quote_contract: row.text,
      active: row.boolean,
      bounty_awarded: row.boolean,
      bounty_edited_by_custodians: row.boolean,
      proposer: row.text,
      bounty_amount: row.text,
      approving_custodians: row.texts,
      approving_oracles: row.texts,
      updated_at_time: block.time,
      updated_at_block: block.integer,
    },
    ['median', 'median_time', 'updated_at_time', 'updated_at_block'],
  ),
  datapoints: keyedTable('oracle.datapoints', ['pair_name', 'id'], {
    pair_name: row.text,
    id: row.bigint,
    value: row.numeric,
    median: row.numeric,
    point_time: row.bigint,
    owner: row.text,
  }),
} as const
