import { literal } from './copy-parts.ts'
import type { PartContext } from './copy-parts.ts'

/**
 * `contract_traces`, the log of the source database, has no index on the global sequence, and only a block-range (BRIN)
 * index on the time. The lowest and the highest sequence are therefore searched only in the first and the last DAY_MS
 * of the log.
 */
const DAY_MS = 86_400_000

/**
 * Earliest creation time of the rows in the source database (collections, assets, transfers, listings, claim links), in
 * ms since 1970; null if there are no such rows. The import copies the log from this time on.
 */
export async function findFirstTime({ source, accounts }: PartContext): Promise<number | null> {
  const times: string[] = []
  const of = (table: string, column: string, condition: string) =>
    times.push(`(SELECT min(${column}) FROM ${table} WHERE ${condition})`)
  const { assets, market, tools } = accounts
  if (assets !== null) {
    for (const table of ['atomicassets_collections', 'atomicassets_transfers'])
      of(table, 'created_at_time', `contract = ${literal(assets)}`)
    of('atomicassets_assets', 'minted_at_time', `contract = ${literal(assets)}`)
  }
  if (market !== null)
    for (const table of [
      'atomicmarket_marketplaces',
      'atomicmarket_sales',
      'atomicmarket_auctions',
      'atomicmarket_buyoffers',
    ])
      of(table, 'created_at_time', `market_contract = ${literal(market)}`)
  if (tools !== null && source.has('atomictools_links'))
    of('atomictools_links', 'created_at_time', `tools_contract = ${literal(tools)}`)
  const [row] = await source.query<{ time: bigint | null }>(`SELECT least(${times.join(', ')}) AS time`)
  return row?.time == null ? null : Number(row.time)
}

/**
 * Finds a range that contains the global sequences of all log entries and transfers in the source database up to the
 * time `lastMs`. The range may be wider than necessary.
 */
export async function findSequences(
  context: PartContext,
  lastMs: number,
): Promise<readonly [bigint, bigint]> {
  const contract = literal(context.accounts.assets ?? '')
  const firstMs = (await findFirstTime(context)) ?? lastMs
  const [row] = await context.source.query<{ low: string | null; high: string | null }>(
    `SELECT least(
         (SELECT min(global_sequence) FROM contract_traces
          WHERE created_at_time >= ${firstMs} AND created_at_time < ${firstMs + DAY_MS}),
         (SELECT min(transfer_id) FROM atomicassets_transfers WHERE contract = ${contract}))::text AS low,
       greatest(
         (SELECT max(global_sequence) FROM contract_traces
          WHERE created_at_time > ${lastMs - DAY_MS} AND created_at_time <= ${lastMs}),
         (SELECT max(transfer_id) FROM atomicassets_transfers WHERE contract = ${contract}))::text AS high`,
  )
  return [BigInt(row?.low ?? 0), BigInt(row?.high ?? row?.low ?? 0)]
}
