import type { Accounts } from '../reader-handlers.ts'
import { literal } from './copy-parts.ts'
import type { OldSource } from './old-source.ts'
import type { Difference } from './report.ts'

/** Number of rows and bytes of a source table. */
export interface TableCount {
  readonly table: string
  /** Number of rows that PostgreSQL estimates (`reltuples`), or the exact number if there is no estimate. */
  readonly rows: number
  /** Table size in bytes without indexes. */
  readonly bytes: number
}

/** Tables of the source database whose rows are imported. */
const taken: readonly RegExp[] = [
  /^atomicassets_(assets|assets_backed_tokens|balances|collections|config|mints|offers|offers_assets|schemas)$/,
  /^atomicassets_(templates|tokens|transfers|transfers_assets)$/,
  /^atomicmarket_(auctions|auctions_assets|auctions_bids|balances|bonusfees|buyoffers|buyoffers_assets|config)$/,
  /^atomicmarket_(marketplaces|royalties_(attributes|config|templates)|royalty_payouts|sales|symbol_pairs)$/,
  /^atomicmarket_(template_buyoffers|template_buyoffers_assets|tokens)$/,
  /^atomictools_(config|links|links_assets)$/,
  /^contract_(abis|codes|traces)$/,
  /^delphioracle_pairs$/,
]

const isTaken = (table: string): boolean => taken.some((names) => names.test(table))

/** Source tables that eosio-contract-api derives from other tables, or that contain only its internal state. */
const OWN_TABLES =
  '^(dbinfo|contract_readers|reversible_(blocks|queries))$|_(updates|counts|template_prices)$|_(sales_filters|stats_markets)'

/**
 * Source tables that the import omits, by a pattern of their names, with the reason. The first pattern that matches a
 * name gives the reason.
 */
const notTaken: readonly (readonly [names: RegExp, why: string])[] = [
  [/^simpleassets_/, 'this version does not index the family simpleassets'],
  [/^atomicassets_original_mints$/, 'no endpoint shows on which contract an asset was minted first'],
  [/^list(s|_items)$/, 'named lists are read from their sources again (list_polls)'],
  [/./, 'this version does not know the table'],
]

/**
 * Counts the rows of the non-empty source tables.
 * @param areTaken true for the imported tables, false for the omitted tables.
 */
export async function countTables(source: OldSource, areTaken: boolean): Promise<TableCount[]> {
  const rows = await source.query<{ table: string; estimate: number; bytes: bigint }>(
    `SELECT c.relname AS table, c.reltuples::float8 AS estimate, pg_table_size(c.oid) AS bytes FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname !~ $1
       AND has_table_privilege(c.oid, 'SELECT') ORDER BY c.relname`,
    [OWN_TABLES],
  )
  const counts: TableCount[] = []
  for (const { table, estimate, bytes } of rows.filter((row) => isTaken(row.table) === areTaken)) {
    let count = estimate
    if (count <= 0) {
      const [row] = await source.query<{ count: bigint }>(`SELECT count(*) AS count FROM "${table}"`)
      count = Number(row?.count ?? 0n)
    }
    if (count > 0) counts.push({ table, rows: count, bytes: Number(bytes) })
  }
  return counts
}

/** Lists the source tables and contracts that the import omits entirely. */
export async function listLeftOut(source: OldSource, accounts: Accounts): Promise<Difference[]> {
  const leftOut: Difference[] = (await countTables(source, false)).map(({ table, rows }) => ({
    what: `${table} (${Math.round(rows)} rows)`,
    why: notTaken.find(([names]) => names.test(table))![1],
  }))
  const contracts = [
    ['assets', 'atomicassets_config', 'contract'],
    ['market', 'atomicmarket_config', 'market_contract'],
    ['oracle', 'delphioracle_pairs', 'contract'],
    ['tools', 'atomictools_config', 'tools_contract'],
  ] as const
  for (const [family, table, column] of contracts) {
    if (!source.has(table)) continue
    const others = await source.query<{ account: string }>(
      `SELECT DISTINCT ${column} AS account FROM ${table} WHERE ${column} <> ${literal(accounts[family] ?? '')} ORDER BY 1`,
    )
    for (const { account } of others)
      leftOut.push({
        what: `all rows of contract ${account}`,
        why: `the reader does not index this account as its ${family} contract`,
      })
  }
  return leftOut
}
