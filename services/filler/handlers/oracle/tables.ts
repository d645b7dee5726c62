import { keyedTable } from '../../rows/table.ts'

/** Row of oracle.pairs. */
export interface PairRow {
  pair_name: string
  median: bigint | null
  median_time: bigint | null
  median_precision: number
  base_symbol: string
  base_precision: number
  base_type: number
  base_contract: string
  quote_symbol: string
  quote_precision: number
  quote_type: number
  quote_contract: string
  active: boolean
  bounty_awarded: boolean
  bounty_edited_by_custodians: boolean
  proposer: string
  bounty_amount: string
  approving_custodians: readonly string[]
  approving_oracles: readonly string[]
  updated_at_time: number
  updated_at_block: number
}

/** Row of oracle.datapoints. */
export interface DatapointRow {
  pair_name: string
  id: bigint
  value: bigint
  median: bigint
  point_time: bigint
  owner: string
}

/** The tables of the oracle family. The newest median outlives changes of its pair. */
export const tables = {
  pairs: keyedTable<PairRow>(
    'oracle.pairs',
    ['pair_name'],
    ['median', 'median_time', 'updated_at_time', 'updated_at_block'],
  ),
  datapoints: keyedTable<DatapointRow>('oracle.datapoints', ['pair_name', 'id']),
} as const
