import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DevchainOptions } from '../../services/devchain/options.ts'
import type { ReaderSettings } from '../../services/filler/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { compareDumps, dumpDatabase } from './database-dump.ts'
import type { DatabaseDump } from './database-dump.ts'
import { indexUntil, startChain } from './index-chain.ts'
import { createIndexedDatabase } from './indexed-database.ts'
import { findViolations } from '../../scripts/simulation/invariants.ts'
import type { TestChain } from './index-chain.ts'

/** Reader settings of consecutive runs on one database. */
type Runs = readonly (Partial<ReaderSettings> & { readonly stop_block: number })[]

const HEAD = 964
/** Last irreversible block at the end of the chain. */
const IRREVERSIBLE = 962
const bothContracts = ['main', 'v2']

/**
 * Indexes a chain in one or more runs. Returns the dump of the database after the last run.
 * @param create creates the database of the first run; default is an empty database.
 */
async function index(
  chain: DevchainOptions | TestChain,
  runs: Runs,
  create: () => Promise<TestDatabase> = createTestDatabase,
): Promise<DatabaseDump> {
  const running = 'chain' in chain ? chain : await startChain(chain)
  const database = await create()
  try {
    for (const settings of runs)
      await indexUntil(running, database.address, settings.stop_block, { settings })
    expect(await findViolations(database.address)).toEqual([])
    return await dumpDatabase(database.address)
  } finally {
    if (running !== chain) await running.chain.stop()
    await database.drop()
  }
}

/** Creates a database that one run with default settings has filled from both recordings. */
const createUsual = () => createIndexedDatabase({ chain: { recordings: bothContracts } })

/** Removes the tables whose content depends on which blocks are reversible. */
function settled(dump: DatabaseDump): DatabaseDump {
  return new Map(
    [...dump].filter(([name]) => !name.startsWith('undo.') && name !== 'chain.reversible_blocks'),
  )
}

describe('indexing the recordings main and v2 gives the same rows with any batch size and any interruption', () => {
  let history: TestChain
  let usual: DatabaseDump

  beforeAll(async () => {
    history = await startChain({ recordings: bothContracts })
    usual = await index(history, [], createUsual)
  })

  afterAll(() => history.chain.stop())

  const variants: Record<string, Runs> = {
    'every changed block in its own transaction': [{ stop_block: HEAD, db_group_blocks: 1 }],
    'transactions of as many blocks as possible': [{ stop_block: HEAD, db_group_blocks: 100_000 }],
    'one block sent at a time': [
      { stop_block: HEAD, ship_prefetch_blocks: 1, ship_min_block_confirmation: 1 },
    ],
    'all blocks sent at once': [{ stop_block: HEAD, ship_prefetch_blocks: 5_000, db_group_blocks: 37 }],
    'several runs that stop in the middle of a commit unit': [1, 61, 62, 333, 500, 846, 901, HEAD].map(
      (stop_block) => ({
        stop_block,
        db_group_blocks: 100,
      }),
    ),
    'a run with delete_data after another run': [
      { stop_block: 700 },
      { stop_block: HEAD, delete_data: true },
    ],
    'a run of irreversible blocks, then a run of the other blocks': [
      { stop_block: IRREVERSIBLE, irreversible_only: true },
      { stop_block: HEAD },
    ],
  }

  it.each(Object.entries(variants))(
    'indexing the recordings main and v2 gives equal rows with default settings and with %s',
    async (_, runs) => {
      expect(compareDumps(usual, await index(history, runs))).toEqual([])
    },
  )

  it('indexing the recordings main and v2 gives equal rows with default settings and with a second run with a stop_block that is already reached', async () => {
    expect(compareDumps(usual, await index(history, [{ stop_block: HEAD }], createUsual))).toEqual([])
  })

  it('indexing the recordings main and v2 gives the same rows while the node still replays them', async () => {
    const lived = await index({ recordings: bothContracts, replay: 'recorded' }, [{ stop_block: HEAD }])
    expect(compareDumps(usual, lived)).toEqual([])
  })

  it('indexing the recordings main and v2 as reversible blocks gives the same rows, except for the undo journal', async () => {
    const reversible = await index({ recordings: bothContracts, libLagBlocks: 10_000 }, [
      { stop_block: HEAD },
    ])
    expect(compareDumps(settled(usual), settled(reversible))).toEqual([])
    expect(reversible.get('chain.reversible_blocks')).toHaveLength(HEAD + 1)
    expect(reversible.get('undo.assets_assets')!.length).toBeGreaterThan(1_000)
  })
})

it.each([500, IRREVERSIBLE])(
  'indexing with and without irreversible_only gives the same rows up to block %i',
  async (stop_block) => {
    const usual = await index({ recordings: bothContracts }, [{ stop_block }])
    for (const replay of ['history', 'recorded'] as const) {
      const found = await index({ recordings: bothContracts, replay }, [
        { stop_block, irreversible_only: true },
      ])
      expect(compareDumps(usual, found)).toEqual([])
    }
    expect(usual.get('chain.readers')![1]).toContain(`,${stop_block},`)
  },
)

it('reading a chain live through three forks gives the same rows as reading only its final branch', async () => {
  const recordings = [join(import.meta.dirname, '../fixtures/recordings/fork')]
  // The recording ended with the last irreversible block 15 behind the head.
  const straight = await index({ recordings, libLagBlocks: 15 }, [{ stop_block: 403 }])
  const lived = await index({ recordings, replay: 'recorded' }, [{ stop_block: 403 }])
  expect(compareDumps(straight, lived)).toEqual([])
})
