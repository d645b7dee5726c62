import { missingIds, numberedTables } from '../../../core/derived/index.ts'
import { FatalError } from '../../../core/errors/index.ts'
import type { Store } from '../../store/index.ts'
import type { PartContext } from './copy-parts.ts'

/** Ranges of each table that a message names. */
const MOST_NAMED = 5

/**
 * The source names the templates that it lost in its logs: they are reported apart. It does not store the counters of the
 * contracts, and those of the node are of a later block: ids are counted up to the greatest one.
 */
const countedTables = numberedTables
  .filter(({ table }) => table !== 'assets.templates')
  .map((numbered) => ({ ...numbered, next: `SELECT max(${numbered.id}) + 1 FROM ${numbered.table}` }))

/** Assets that transfers move and that have no row. */
const UNKNOWN_ASSETS = `
  SELECT concat_ws(' ', 'transfer', t.transfer_id, 'moves asset', asset) AS text
  FROM assets.transfers t, unnest(t.asset_ids) asset
  WHERE NOT EXISTS (SELECT 1 FROM assets.assets a WHERE a.asset_id = asset)`

const EMPTY_TRANSFERS = `SELECT concat_ws(' ', 'transfer', transfer_id, 'moves no asset') AS text
  FROM assets.transfers WHERE cardinality(asset_ids) = 0`

/** Finds ids without a row and transfers without their assets among the copied rows; one text for each table. */
export async function findLacking(store: Store, { accounts }: PartContext): Promise<string[]> {
  const checks = [
    ...countedTables
      .filter(({ family }) => accounts[family] !== null)
      .map((table) => ({ table: table.table, statement: missingIds(table, table.first) })),
    ...(accounts.assets === null
      ? []
      : [UNKNOWN_ASSETS, EMPTY_TRANSFERS].map((statement) => ({ table: 'assets.transfers', statement }))),
  ]
  const lacking: string[] = []
  for (const { table, statement } of checks) {
    const rows = await store.query<{ text: string; count: bigint }>(
      `SELECT text, count(*) OVER () AS count FROM (${statement}) v LIMIT ${MOST_NAMED}`,
    )
    if (rows.length === 0) continue
    const more = Number(rows[0]!.count) - rows.length
    lacking.push(`${table}: ${rows.map(({ text }) => text).join(', ')}${more > 0 ? ` and ${more} more` : ''}`)
  }
  return lacking
}

/** Refuses a source that lacks rows, unless the operator accepts that. @throws FatalError `IMPORT_SOURCE_INCOMPLETE`. */
export function requireComplete(lacking: readonly string[], mayLack: boolean): void {
  if (lacking.length === 0 || mayLack) return
  throw new FatalError('IMPORT_SOURCE_INCOMPLETE', `the source lacks rows: ${lacking.join('; ')}`)
}
