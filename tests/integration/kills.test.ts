import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { DevchainOptions } from '../../services/devchain/options.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import type { ReaderSettings } from '../../services/filler/index.ts'
import type { DatabaseDigest } from '../../services/verify/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import { compareDumps, countRows, dumpDatabase } from './database-dump.ts'
import type { DatabaseDump } from './database-dump.ts'
import { digestOf } from '../../scripts/simulation/digests.ts'
import { createFillerHome } from './filler-process.ts'
import type { FillerHome } from './filler-process.ts'
import { startChain, testSettings } from './index-chain.ts'
import { createIndexedDatabase } from './indexed-database.ts'
import { findViolations } from '../../scripts/simulation/invariants.ts'
import { PositionWatch } from './position.ts'
import { createRandom } from './seeded-random.ts'
import type { SeededRandom } from './seeded-random.ts'
import { patient } from '../setup/patience.ts'
import { rounds } from '../setup/rounds.ts'

/** A chain, and how often fillers are killed while they index it. */
interface Scenario {
  readonly chain: DevchainOptions
  /** Last block with an action. If the block is reversible, undo rows exist when the test compares. */
  readonly stopBlock: number
  readonly kills: number
  readonly seed: number
  readonly settings?: Partial<ReaderSettings>
}

/** Maximum running time of a filler that is killed before it commits anything, ms. */
const EARLY_MS = 700
/** Maximum delay of a kill after the commit it waits for, ms: about the duration of one commit. */
const PAUSE_MS = 12

/**
 * Number of blocks that the node sends after the position at which the next kill is due. If the kill is late, it still
 * hits near this position.
 */
const BLOCKS_BEYOND = 20

/** Maximum number of blocks that the chain's node sends in one session; undefined means no limit. */
interface Supply {
  blocks?: number
}

/**
 * Runs a task with a chain, an empty database (not even a schema), and fillers configured to index the chain into it.
 */
async function withFillers<T>(
  { chain: options, stopBlock, settings }: Scenario,
  task: (home: FillerHome, database: DatabaseAddress, supply: Supply) => Promise<T>,
): Promise<T> {
  const supply: Supply = {}
  const isHistory = options.replay === 'history'
  const chain = await startChain({
    ...options,
    faults: () => (isHistory && supply.blocks !== undefined ? { silentAfter: supply.blocks } : undefined),
  })
  const database = await createTestDatabase('template0')
  const home = await createFillerHome(chain, database.address, { stop_block: stopBlock, ...settings })
  try {
    return await task(home, database.address, supply)
  } finally {
    await home.remove()
    await chain.chain.stop()
    await database.drop()
  }
}

/** Returns dump and digest of a database whose reader was not interrupted. */
async function readUninterrupted({ chain, stopBlock }: Scenario): Promise<{
  readonly expected: DatabaseDump
  readonly expectedDigest: DatabaseDigest
}> {
  const database = await createIndexedDatabase({ chain, stopBlock })
  try {
    return {
      expected: await dumpDatabase(database.address),
      expectedDigest: await digestOf(database.address),
    }
  } finally {
    await database.drop()
  }
}

/** Runs a filler up to the stop block and returns the dump of the database. */
async function finish(home: FillerHome, database: DatabaseAddress): Promise<DatabaseDump> {
  const filler = home.start()
  const end = await filler.ended
  if (end.code !== 0) throw new Error(`the filler failed: ${filler.output()}`)
  return dumpDatabase(database)
}

/** Kills `kills` fillers, spread over the blocks to read, and returns the position that each had reached. */
async function killMany(
  { stopBlock, kills, seed }: Scenario,
  home: FillerHome,
  database: DatabaseAddress,
  supply: Supply,
): Promise<number[]> {
  const random = createRandom(seed)
  const watch = await PositionWatch.open(database, testSettings.name)
  const reached: number[] = []
  try {
    for (let lives = 0; reached.length < kills; lives++) {
      if (lives > 2 * kills) throw new Error(`most fillers ended before they could be killed`)
      const from = (await watch.read())?.num ?? 0
      const goal = from + pickAdvance(random, stopBlock - from, kills - reached.length)
      supply.blocks = goal - from + BLOCKS_BEYOND
      const filler = home.start()
      if (goal === from) await delay(random.between(0, EARLY_MS))
      else {
        await watch.until((position) => (position?.num ?? 0) >= goal, filler.hasEnded)
        await delay(random.fraction() * PAUSE_MS)
      }
      if (await filler.kill()) reached.push((await watch.read())?.num ?? 0)
      else if ((await filler.ended).code !== 0) throw new Error(`the filler failed: ${filler.output()}`)
    }
  } finally {
    await watch.close()
    delete supply.blocks
  }
  return reached
}

/**
 * Random number of blocks to read before the next kill, such that the kills share the remaining blocks evenly on
 * average.
 */
function pickAdvance(random: SeededRandom, blocksLeft: number, killsLeft: number): number {
  const most = Math.floor((2 * blocksLeft) / (killsLeft + 1))
  return Math.min(random.between(0, most), Math.max(0, blocksLeft - 1))
}

const fork = join(import.meta.dirname, '../fixtures/recordings/fork')

const scenarios: Record<string, Scenario> = {
  'recordings main and v2, replayed as they arrived': {
    chain: { recordings: ['main', 'v2'], replay: 'recorded' },
    stopBlock: 952,
    kills: rounds(3, 100),
    seed: 41,
  },
  'recordings main and v2, replayed as history': {
    chain: { recordings: ['main', 'v2'], replay: 'history' },
    stopBlock: 952,
    kills: rounds(4, 20),
    seed: 42,
    settings: { db_group_blocks: 1, ship_prefetch_blocks: 4 },
  },
  'a chain with three rewinds': {
    chain: { recordings: [fork], replay: 'recorded' },
    stopBlock: 329,
    kills: rounds(4, 30),
    seed: 43,
  },
}

describe.concurrent('the filler killed at random moments', () => {
  it.each(Object.entries(scenarios))(
    'the filler killed at random moments ends with the rows of an uninterrupted run: %s',
    { timeout: patient(300_000) },
    async (_, scenario) => {
      const { expected, expectedDigest } = await readUninterrupted(scenario)
      const { reached, found, digest, violations } = await withFillers(
        scenario,
        async (home, database, supply) => ({
          reached: await killMany(scenario, home, database, supply),
          found: await finish(home, database),
          digest: await digestOf(database),
          violations: await findViolations(database),
        }),
      )
      expect(compareDumps(expected, found)).toEqual([])
      expect(digest).toEqual(expectedDigest)
      expect(violations).toEqual([])
      expect(countRows(expected)).toBeGreaterThan(400)
      if (scenario.chain.replay === 'recorded')
        expect(expected.get('undo.assets_assets')!.length).toBeGreaterThan(1)
      expect(reached).toHaveLength(scenario.kills)
      // The kills must hit different tenths of the chain, six or as many as half of the kills, and more than half of the
      // kills must follow a new commit.
      const tenths = new Set(reached.map((num) => Math.floor((10 * num) / scenario.stopBlock)))
      expect(tenths.size).toBeGreaterThanOrEqual(Math.min(6, scenario.kills / 2))
      expect(new Set(reached).size).toBeGreaterThan(scenario.kills / 2)
    },
  )
})
