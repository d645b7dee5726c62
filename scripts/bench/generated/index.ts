import {
  buildQueryIndexes,
  connectDatabase,
  listIndexFamilies,
} from '../../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../../services/core/database/index.ts'
import type { Catalogue } from './catalogue.ts'
import { makeCatalogue } from './catalogue.ts'
import { ChainClock, sequenceAfter } from './chain-clock.ts'
import { Random } from './choice.ts'
import { CopySink } from './copy-sink.ts'
import { writeCatalogue, writeSettings } from './entities.ts'
import { History } from './history.ts'
import { writeMarket } from './market.ts'
import type { GeneratedSizes } from './sizes.ts'
import { writeAssets, writeDerived, writeOffers } from './tables.ts'

export { generatedChainId } from './entities.ts'
export { fullSizes, scaledSizes } from './sizes.ts'
export type { GeneratedSizes } from './sizes.ts'

/** The generated chain, from which further families derive their rows. */
export interface GeneratedWorld {
  readonly sizes: GeneratedSizes
  readonly random: Random
  readonly catalogue: Catalogue
  readonly history: History
  readonly lastBlock: number
}

/** Width of a partition of an append-only table, in sequences; see chain.ensure_partition. */
const PARTITION_WIDTH = 8_589_934_592

/**
 * Fills an empty migrated database of the assets family with rows like those of a large chain: few large and many
 * small collections, a few rich accounts, burned assets, attributes, edits, offers, logs. Equal sizes and seed give
 * equal rows. Also builds the query indexes and runs ANALYZE.
 */
export async function generateDatabase(
  address: DatabaseAddress,
  sizes: GeneratedSizes,
  seed: string,
  note: (step: string) => void = () => undefined,
): Promise<GeneratedWorld> {
  const random = new Random(seed)
  await preparePartitions(address, sizes)
  await writeSettings(address)
  const logs = await CopySink.open(address, 'assets.logs', ['seq', 'subject', 'action', 'data', 'packed'])
  const transfers = await CopySink.open(address, 'assets.transfers', [
    'transfer_id, sender, recipient, collection_name, memo, asset_ids',
  ])
  const blocks = await CopySink.open(address, 'assets.blocks', [
    'first_seq, block_time, block_num, tx_offsets, txids',
  ])
  const clock = new ChainClock(blocks, random, eventsOf(sizes))
  const catalogue = makeCatalogue(sizes, random)
  const writeTemplates = await writeCatalogue(address, catalogue, { sizes, clock, logs, random })
  const history = new History(catalogue, { sizes, clock, transfers, logs, random })
  await live(history, sizes, random, async () => {
    for (const sink of [logs, transfers, blocks]) await sink.flush()
  })
  clock.end()
  for (const sink of [logs, transfers, blocks]) await sink.close()
  note(`${transfers.rows} transfers, ${logs.rows} logs, ${blocks.rows} blocks`)
  await writeTemplates(history.supply)
  await writeAssets(address, catalogue, history)
  await writeOffers(address, catalogue, history)
  note(`${history.assets.count} assets, ${history.offers.all.length} offers`)
  await writeDerived(address, clock.block)
  await writeMarket(address, { sizes, lastBlock: clock.block, seed }, note)
  await finish(address)
  note('derived values, indexes, statistics')
  return { sizes, random, catalogue, history, lastBlock: clock.block }
}

/** Estimated number of events, with a margin. */
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

/** Generates events of every kind, in the numbers of `sizes` and in random order. */
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

/** Builds the query indexes, and vacuums and analyzes every table, for the planner and for index-only scans. */
async function finish(address: DatabaseAddress): Promise<void> {
  const client = await connectDatabase(address, { applicationName: 'generate' })
  try {
    for (const family of await listIndexFamilies()) await buildQueryIndexes(client, family)
    await client.query('VACUUM ANALYZE')
  } finally {
    await client.end()
  }
}
