import { afterEach, beforeEach, expect, it } from 'vitest'
import { compareDumps, countRows, dumpDatabase } from '../integration/database-dump.ts'
import { indexUntil, startChain, testSettings } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { createIndexedDatabase } from '../integration/indexed-database.ts'
import { PositionWatch } from '../integration/position.ts'
import { createRandom } from '../integration/seeded-random.ts'
import type { TestDatabase } from '../setup/database.ts'
import { patient } from '../setup/patience.ts'

const FORK_COUNT = 40
const DEEPEST = 20
const LIB_LAG_BLOCKS = 20
const contracts = [
  {
    handler: 'state',
    args: { accounts: ['atomicassets', 'atomicmarket', 'eosio.token'], permissions: true, history_blocks: 0 },
  },
]

/** The recorded blocks are irreversible; only blocks after them are reversible. */
const recorded = { chain: { recordings: ['main'] }, settings: { contracts } }

let followed: TestDatabase
let replayed: TestDatabase
let running: TestChain

beforeEach(async () => {
  followed = await createIndexedDatabase(recorded)
  replayed = await createIndexedDatabase(recorded)
  running = await startChain({
    ...recorded.chain,
    libLagBlocks: LIB_LAG_BLOCKS,
    blocks: LIB_LAG_BLOCKS,
    rate: 6,
    seed: 11,
  })
})

afterEach(async () => {
  await running.chain.stop()
  await followed.drop()
  await replayed.drop()
})

it(
  `the stored state after ${FORK_COUNT} random forks equals that of the final branch, byte for byte`,
  async () => {
    const random = createRandom(1_125)
    const { chain } = running
    const watch = await PositionWatch.open(followed.address, testSettings.name)
    const ending = new AbortController()
    let forks = 0
    let failure: unknown
    const following = indexUntil(running, followed.address, 0, {
      settings: { contracts },
      signal: ending.signal,
      options: { onStatus: (status) => (forks = status.forks) },
    })
    following.catch((error: unknown) => (failure = error))
    const hasFailed = () => failure !== undefined
    for (let fork = 1; fork <= FORK_COUNT; fork++) {
      chain.generate(random.between(0, 2))
      const depth = random.between(1, random.between(1, DEEPEST))
      const goal = chain.head().num - random.between(0, depth - 1)
      await watch.until(
        (at) => at !== null && at.num >= goal && chain.block(at.num)?.id.toString('hex') === at.id,
        hasFailed,
      )
      chain.fork(depth, depth + random.between(0, 2))
    }
    const head = chain.head()
    await watch.until((at) => at?.id === head.id, hasFailed)
    await watch.close()
    ending.abort()
    await following
    await indexUntil(running, replayed.address, head.num, {
      settings: { contracts, db_group_blocks: 100_000 },
    })
    const expected = await dumpDatabase(replayed.address)
    expect(compareDumps(expected, await dumpDatabase(followed.address))).toEqual([])
    expect(forks).toBeGreaterThan(FORK_COUNT / 2)
    expect(countRows(expected)).toBeGreaterThan(500)
    for (const table of ['state.rows', 'state.past_rows', 'state.blocks'])
      expect(expected.get(table)!.length).toBeGreaterThan(50)
  },
  patient(120_000),
)
