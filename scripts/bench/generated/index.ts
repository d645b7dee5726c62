import { availableParallelism } from 'node:os'
import { connectDatabase } from '../../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../../services/core/database/index.ts'
import { listIndexStatements } from '../../../services/core/database/restoring/index.ts'
import { makeCatalogue } from './catalogue.ts'
import { ChainClock, sequenceAfter } from './chain-clock.ts'
import { Random } from './choice.ts'
import { CopySink, leftOut } from './copy-sink.ts'
import type { RowSink } from './copy-sink.ts'
import { writeCatalogue, writeSettings } from './entities.ts'
import { History } from './history.ts'
import { writeMarket } from './market.ts'
import { offerColumns } from './offers.ts'
import { generatedParts } from './parts.ts'
import type { GeneratedPart } from './parts.ts'
import type { GeneratedSizes } from './sizes.ts'
import { writeAssets, writeDerived, writeOpenOffers } from './tables.ts'

export { generatedChainId } from './entities.ts'
export { fullSizes, scaledSizes } from './sizes.ts'
export { generatedParts, readParts } from './parts.ts'
export type { GeneratedPart } from './parts.ts'

/** Contents of a generated database. */
export interface GeneratedContents {
  readonly sizes: GeneratedSizes
  /** Equal sizes and seed give equal rows. */
  readonly seed: string
  /** Parts of the database to write; other tables stay empty. The rows of a part do not depend on the other parts. */
  readonly parts?: readonly GeneratedPart[]
  /** Called with a progress message after each step of the generation. */
  readonly note?: (step: string) => void
}

/** Width of a partition of an append-only table, as a number of sequence numbers; see chain.ensure_partition. */
const PARTITION_WIDTH = 8_589_934_592

/**
 * Fills an empty migrated database with rows as of a large chain: few large and many small collections, a few
 * rich accounts, templates with one asset, burned assets, attributes, edits, offers, logs, listings. Also builds the
 * query indexes and runs ANALYZE.
 */
export async function generateDatabase(
  address: DatabaseAddress,
  { sizes, seed, parts = generatedParts, note = () => undefined }: GeneratedContents,
): Promise<void> {
  const random = new Random(seed)
  await preparePartitions(address, sizes)
  await writeSettings(address)
  const sinks = await openSinks(address, parts)
  const { logs, transfers, blocks, offers } = sinks
  const clock = new ChainClock(blocks, random, eventsOf(sizes))
  const catalogue = makeCatalogue(sizes, random)
  const writeTemplates = await writeCatalogue(address, catalogue, { sizes, clock, logs, random })
  const history = new History(catalogue, { sizes, clock, transfers, logs, offers, random })
  await live(history, sizes, random, async () => {
    for (const sink of Object.values(sinks)) await sink.flush()
  })
  clock.end()
  await history.offers.end(history.assets)
  for (const sink of Object.values(sinks)) await sink.close()
  note(`${transfers.rows} transfers, ${logs.rows} logs, ${blocks.rows} blocks, ${offers.rows} offers`)
  await writeTemplates(history.supply)
  await writeAssets(address, catalogue, history)
  if (parts.includes('offers')) await writeOpenOffers(address, history)
  note(`${history.assets.count} assets`)
  await writeDerived(address, clock.block)
  note('counts of assets')
  if (parts.includes('market')) {
    const { assets } = history
    await writeMarket(address, { sizes, lastBlock: clock.block, seed, catalogue, assets }, note)
  }
  await buildIndexes(address)
  note('indexes')
  await vacuum(address)
  note('statistics')
}

/** Opens the writers of logs, transfers, blocks and offers. */
async function openSinks(
  address: DatabaseAddress,
  parts: readonly GeneratedPart[],
): Promise<Readonly<Record<'logs' | 'transfers' | 'blocks' | 'offers', RowSink>>> {
  const open = (isWritten: boolean, table: string, columns: readonly string[]): Promise<RowSink> =>
    isWritten ? CopySink.open(address, `assets.${table}`, columns) : Promise.resolve(leftOut)
  const [hasLogs, hasTransfers] = [parts.includes('logs'), parts.includes('transfers')]
  return {
    logs: await open(hasLogs, 'logs', ['seq', 'subject', 'action', 'data', 'packed']),
    transfers: await open(hasTransfers, 'transfers', [
      'transfer_id, sender, recipient, collection_name, memo, asset_ids',
    ]),
    blocks: await open(hasLogs || hasTransfers, 'blocks', [
      'first_seq, block_time, block_num, tx_offsets, txids',
    ]),
    offers: await open(parts.includes('offers'), 'offers', offerColumns),
  }
}

/** Estimated number of events of a database with these sizes, with a margin. */
function eventsOf(sizes: GeneratedSizes): number {
  const made = sizes.collections * 40 + sizes.templates
  return made + Math.round(sizes.assets * 1.06) + sizes.transfers + sizes.edits + sizes.offers * 2
}

async function preparePartitions(address: DatabaseAddress, sizes: GeneratedSizes): Promise<void> {
  const client = await connectDatabase(address, { applicationName: 'generate' })
  try {
    for (const table of ['assets.blocks', 'assets.transfers', 'assets.logs']) {
      for (let seq = 0; seq < sequenceAfter(eventsOf(sizes)); seq += PARTITION_WIDTH) {
        await client.query('SELECT chain.ensure_partition($1, $2)', [table, seq])
      }
    }
  } finally {
    await client.end()
  }
}

/**
 * Generates mints, transfers, edits, burns and offers in random order. `sizes` has the number of events of each kind.
 */
async function live(
  history: History,
  sizes: GeneratedSizes,
  random: Random,
  flush: () => Promise<void>,
): Promise<void> {
  const kinds = [
    { left: sizes.assets, happen: () => history.mint() },
    { left: sizes.transfers, happen: () => history.transfer() },
    { left: sizes.edits, happen: () => history.edit() },
    { left: Math.round(sizes.assets * 0.06), happen: () => history.burn() },
    { left: sizes.offers, happen: () => history.offer() },
    { left: Math.round(sizes.offers * 0.93), happen: () => history.offers.close() },
  ]
  let left = kinds.reduce((sum, kind) => sum + kind.left, 0)
  for (let steps = 0; left > 0; steps++) {
    let dice = random.below(left)
    // Other events need assets: mint the first percent before anything else.
    const isEarly = history.assets.count < sizes.assets / 100
    const kind = isEarly ? kinds[0]! : kinds.find((each) => (dice -= each.left) < 0)!
    if (kind.happen()) {
      kind.left--
      left--
    }
    if (steps % 1_024 === 0) await flush()
  }
}

/** Limit of concurrent index builds, each with `maintenance_work_mem`. */
const MOST_BUILDS = 4

/** Builds the query indexes, several at a time. */
async function buildIndexes(address: DatabaseAddress): Promise<void> {
  const statements = await listIndexStatements()
  const build = async (): Promise<void> => {
    const client = await connectDatabase(address, { applicationName: 'generate' })
    try {
      for (let sql = statements.shift(); sql !== undefined; sql = statements.shift()) await client.query(sql)
    } finally {
      await client.end()
    }
  }
  await Promise.all(Array.from({ length: Math.min(MOST_BUILDS, availableParallelism()) }, build))
}

/** Vacuums and analyzes every table, for the planner and for index-only scans. */
async function vacuum(address: DatabaseAddress): Promise<void> {
  const client = await connectDatabase(address, { applicationName: 'generate' })
  try {
    await client.query('VACUUM ANALYZE')
  } finally {
    await client.end()
  }
}
