import type { NodeBlock } from '../../../core/chain-node/index.ts'
import { CommitUnit } from '../../store/index.ts'
import { accountsOf, createReaderHandlers } from '../reader-handlers.ts'
import { putConfigs } from './configs.ts'
import type { ImportDatabaseOptions } from './import-database.ts'
import { countTables, listLeftOut } from './left-out.ts'
import type { TableCount } from './left-out.ts'
import { findUnindexed, openOldSource, requireFamilies } from './old-source.ts'
import { undoReversible } from './old-undo.ts'
import { findBlock } from './source-block.ts'
import { describeDifferences } from './report.ts'
import type { Difference } from './report.ts'

/** Result of a dry run: the data that an import of this source would copy, and the estimated duration. */
export interface ImportPlan {
  readonly version: string
  readonly block: NodeBlock
  /**
   * Number of reversible blocks of the source that the import omits; the reader fetches these blocks from the chain.
   */
  readonly reversibleBlocks: number
  readonly counts: readonly TableCount[]
  readonly rows: number
  /** Estimated size in bytes of the target tables with their primary keys, without other indexes. */
  readonly bytes: number
  readonly seconds: number
  /** Source tables and contracts that the import omits entirely. */
  readonly leftOut: readonly Difference[]
  /** Large tables of the source database that have no index. Each import step of such a table scans the whole table. */
  readonly unindexed: readonly string[]
  readonly differences: readonly Difference[]
}

/**
 * Rows per second that an import writes, by source table. The other tables have the rate RATE_OF_THE_REST. Measured by
 * `bench/import` on two cores with two workers.
 */
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
/**
 * Bytes of the target tables (with primary keys) per byte of the source tables (without indexes). Measured by
 * `bench/import`.
 */
const BYTES_PER_BYTE = 0.7

/**
 * Runs all checks that an import runs before it writes, and counts the rows of the source. Changes neither source nor
 * target.
 */
export async function planImport(options: ImportDatabaseOptions): Promise<ImportPlan> {
  const source = await openOldSource(options.source, options.sourceReader)
  try {
    const accounts = accountsOf(createReaderHandlers(options.settings))
    requireFamilies(source, accounts)
    const block = await findBlock(source, options.chain)
    const context = { source, reader: options.settings.name, block: block.num, accounts }
    // The next two calls throw the errors that also stop an import: the undo journal of the source cannot be replayed,
    // or the source lacks the contracts of the reader.
    const undone = await undoReversible(source)
    await putConfigs(context, undone, new CommitUnit(false)).finally(() => undone.close())
    const counts = await countTables(source, true)
    const sum = (of: (count: TableCount) => number) => counts.reduce((total, count) => total + of(count), 0)
    return {
      version: source.version,
      block,
      reversibleBlocks: source.position.reversible.length,
      counts,
      rows: sum(({ rows }) => rows),
      bytes: Math.round(sum(({ bytes }) => bytes) * BYTES_PER_BYTE),
      seconds: Math.ceil(sum(({ table, rows }) => rows / (rates[table] ?? RATE_OF_THE_REST))),
      leftOut: await listLeftOut(source, accounts),
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
