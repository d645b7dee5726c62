import { oracleTables } from '../../../core/model/tables/index.ts'
import type { CommitUnit } from '../../store/index.ts'
import { literal } from './copy-parts.ts'
import type { UndoneSource } from './old-undo.ts'

/**
 * Writes the oracle pairs from the source database. The source stores no data points and lacks some columns of a pair.
 * The missing columns get defaults.
 */
export async function putOracleFromSource(
  undone: UndoneSource,
  account: string,
  unit: CommitUnit,
): Promise<void> {
  const rows = await undone.query<{
    delphi_pair_name: string
    base_symbol: string
    base_precision: number
    quote_symbol: string
    quote_precision: number
    median: bigint | null
    median_precision: number
    updated_at_time: bigint
    updated_at_block: bigint
  }>(`SELECT * FROM delphioracle_pairs WHERE contract = ${literal(account)} ORDER BY delphi_pair_name`)
  for (const row of rows)
    unit.insert(oracleTables.pairs, {
      pair_name: row.delphi_pair_name,
      median: row.median,
      median_time: Number(row.updated_at_time) === 0 ? null : row.updated_at_time,
      median_precision: row.median_precision,
      base_symbol: row.base_symbol,
      base_precision: row.base_precision,
      base_type: 0,
      base_contract: '',
      quote_symbol: row.quote_symbol,
      quote_precision: row.quote_precision,
      quote_type: 0,
      quote_contract: '',
      active: true,
      bounty_awarded: false,
      bounty_edited_by_custodians: false,
      proposer: '',
      bounty_amount: '',
      approving_custodians: [],
      approving_oracles: [],
      updated_at_time: Number(row.updated_at_time),
      updated_at_block: Number(row.updated_at_block),
    })
}
