import type { NodeBlock } from '../../../core/chain-node/index.ts'
import { CommitUnit } from '../../store/index.ts'
import { accountsOf, createReaderHandlers } from '../reader-handlers.ts'
import type { Accounts } from '../reader-handlers.ts'
import { putConfigs } from './configs.ts'
import { literal } from './copy-parts.ts'
import type { ImportDatabaseOptions } from './import-database.ts'
import { findUnindexed, openOldSource, requireFamilies } from './old-source.ts'
import type { OldSource } from './old-source.ts'
import { undoReversible } from './old-undo.ts'
import { findBlock } from './source-block.ts'
import { describeDifferences } from './report.ts'
import type { Difference } from './report.ts'

/** Rows of a table of the source. */
export interface TableCount {
  readonly table: string
  /** By the server's statistics where it has any. */
  readonly rows: number
  /** Bytes of the table without indexes. */
  readonly bytes: number
}

/** What an import would do. */
export interface ImportPlan {
  readonly version: string
  readonly block: NodeBlock
  /** Reversible blocks of the source that are left out: they are read from the chain. */
  readonly reversibleBlocks: number
  readonly counts: readonly TableCount[]
  readonly rows: number
  /** Bytes that the tables will take here, with their keys and without the indexes that queries need. */
  readonly bytes: number
  readonly seconds: number
  /** Data that is not imported. */
  readonly leftOut: readonly Difference[]
  /** Large tables without an index: every step reads them whole. */
  readonly unindexed: readonly string[]
  readonly differences: readonly Difference[]
}

/** Rows a second of the slow parts, and of the rest, as `bench/import` measured them on two cores with two workers. */
const rates: Readonly<Record<string, number>> = {
  atomicassets_transfers: 20_000,
  contract_traces: 20_000,
  atomicassets_offers: 15_000,
  atomicmarket_sales: 5_000,
  atomicmarket_auctions: 5_000,
  atomicmarket_buyoffers: 5_000,
  atomicmarket_template_buyoffers: 5_000,
}
const RATE_OF_THE_REST = 80_000
/** Bytes in this database, with keys, for a byte of the source's tables without indexes; measured alike. */
const BYTES_PER_BYTE = 0.7

/** Tables of which nothing is taken, and why. */
const notTaken: Readonly<Record<string, string>> = {
  simpleassets_assets: 'this version does not index the family simpleassets',
  atomicassets_original_mints: 'no endpoint shows on which contract an asset was minted first',
  lists: 'named lists are read from their sources again (list_polls)',
}

/** Does everything that an import checks before it writes, and counts. Changes nothing, here or there. */
export async function planImport(options: ImportDatabaseOptions): Promise<ImportPlan> {
  const source = await openOldSource(options.source, options.sourceReader)
  try {
    const accounts = accountsOf(createReaderHandlers(options.settings))
    requireFamilies(source, accounts)
    const block = await findBlock(source, options.chain)
    const context = { source, reader: options.settings.name, block: block.num, accounts }
    // Shows that the journal can be played back, and that the source has the contracts.
    const undone = await undoReversible(source)
    await putConfigs(context, undone, new CommitUnit(false)).finally(() => undone.close())
    const counts = await countTables(source)
    const taken = counts.filter(({ table }) => !(table in notTaken))
    const sum = (of: (count: TableCount) => number) => taken.reduce((total, count) => total + of(count), 0)
    return {
      version: source.version,
      block,
      reversibleBlocks: source.position.reversible.length,
      counts,
      rows: sum(({ rows }) => rows),
      bytes: Math.round(sum(({ bytes }) => bytes) * BYTES_PER_BYTE),
      seconds: Math.ceil(sum(({ table, rows }) => rows / (rates[table] ?? RATE_OF_THE_REST))),
      leftOut: await listLeftOut(source, accounts, counts),
      unindexed: await findUnindexed(source),
      differences: describeDifferences({
        context,
        totals: { unknown: new Map(), unpacked: 0 },
        hasNodeTables: true,
        lostTemplates: [],
      }),
    }
  } finally {
    await source.close()
  }
}

async function countTables(source: OldSource): Promise<TableCount[]> {
  const rows = await source.query<{ table: string; estimate: number; bytes: bigint }>(
    `SELECT c.relname AS table, c.reltuples::float8 AS estimate, pg_table_size(c.oid) AS bytes FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
       AND c.relname ~ '^(atomicassets|atomicmarket|atomictools|delphioracle|simpleassets|contract)_|^lists$'
       AND c.relname !~ '_(updates|counts|prices|readers)$|sales_filters|stats_markets' ORDER BY c.relname`,
  )
  const counts: TableCount[] = []
  for (const { table, estimate, bytes } of rows) {
    let count = estimate
    if (count <= 0) {
      const [row] = await source.query<{ count: bigint }>(`SELECT count(*) AS count FROM "${table}"`)
      count = Number(row?.count ?? 0n)
    }
    if (count > 0) counts.push({ table, rows: count, bytes: Number(bytes) })
  }
  return counts
}

async function listLeftOut(
  source: OldSource,
  accounts: Accounts,
  counts: readonly TableCount[],
): Promise<Difference[]> {
  const leftOut = counts.flatMap(({ table, rows }) => {
    const why = notTaken[table]
    return why === undefined ? [] : [{ what: `${table} (${rows} rows)`, why }]
  })
  const configs = [
    ['assets', 'atomicassets_config', 'contract'],
    ['market', 'atomicmarket_config', 'market_contract'],
    ['tools', 'atomictools_config', 'tools_contract'],
  ] as const
  for (const [family, table, column] of configs) {
    if (!source.has(table)) continue
    const others = await source.query<{ account: string }>(
      `SELECT ${column} AS account FROM ${table} WHERE ${column} <> ${literal(accounts[family] ?? '')}`,
    )
    for (const { account } of others)
      leftOut.push({
        what: `everything of contract ${account}`,
        why: `the reader does not index it as its ${family} contract`,
      })
  }
  return leftOut
}
