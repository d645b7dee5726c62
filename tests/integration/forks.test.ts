import { afterEach, beforeEach, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { readRawAbi } from '../../services/core/chain-node/index.ts'
import type { ReaderSettings } from '../../services/filler/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { compareDumps, countRows, dumpDatabase } from './database-dump.ts'
import { digestOf } from '../../scripts/simulation/digests.ts'
import { indexUntil, startChain, testSettings } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'
import { createIndexedDatabase } from './indexed-database.ts'
import { findViolations } from '../../scripts/simulation/invariants.ts'
import { PositionWatch } from './position.ts'
import { createRandom } from './seeded-random.ts'
import { patient } from '../setup/patience.ts'
import { rounds } from '../setup/rounds.ts'

const forkCount = rounds(15, 300)
const DEEPEST = 30
/** Number of reversible blocks: the deepest fork replaces all of them. No fork shortens the chain. */
const LIB_LAG_BLOCKS = 30
/**
 * CHECK_EVERY: number of forks between two checks of the invariants. RESTART_EVERY: number of forks between two
 * restarts of the reader.
 */
const CHECK_EVERY = 30
const RESTART_EVERY = 45

/** The generated blocks follow the recorded blocks; only generated blocks are reversible. */
const recorded = { chain: { recordings: ['main', 'v2'] } }

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
    rate: 4,
    seed: 4,
  })
})

afterEach(async () => {
  await running.chain.stop()
  await followed.drop()
  await replayed.drop()
})

/** Starts a reader in this process that follows the chain until `stop`. */
function follow(settings: Partial<ReaderSettings> = {}) {
  const ending = new AbortController()
  let forks = 0
  const done = indexUntil(running, followed.address, 0, {
    signal: ending.signal,
    settings,
    options: { onStatus: (status) => (forks = status.forks) },
  })
  // Remember the error of the reader, so that waits for a position can end.
  let failure: unknown
  done.catch((error: unknown) => (failure = error))
  return {
    failed: () => failure !== undefined,
    async stop(): Promise<number> {
      ending.abort()
      await done
      return forks
    },
  }
}

it(
  `${forkCount} random forks end with the same rows as a replay of only the final branch`,
  async () => {
    const random = createRandom(20_260)
    const { chain } = running
    const watch = await PositionWatch.open(followed.address, testSettings.name)
    let reader = follow()
    let undone = 0
    for (let fork = 1; fork <= forkCount; fork++) {
      chain.generate(random.between(0, 2))
      const depth = random.between(1, random.between(1, DEEPEST))
      const goal = chain.head().num - random.between(0, depth - 1)
      await watch.until(
        (at) => at !== null && at.num >= goal && chain.block(at.num)?.id.toString('hex') === at.id,
        reader.failed,
      )
      const isStopped = fork % RESTART_EVERY === 0
      if (isStopped) undone += await reader.stop()
      chain.fork(depth, depth + random.between(0, 2))
      // Sometimes a second fork replaces the branch before the reader has read it.
      if (random.fraction() < 0.2) chain.fork(random.between(1, 10))
      if (isStopped) reader = follow()
      if (fork % CHECK_EVERY === 0) expect(await findViolations(followed.address)).toEqual([])
    }
    const head = chain.head()
    await watch.until((at) => at?.id === head.id, reader.failed)
    await watch.close()
    undone += await reader.stop()

    // Index again with commit units of as many blocks as possible. The reader of the forks committed each block alone.
    await indexUntil(running, replayed.address, head.num, { settings: { db_group_blocks: 100_000 } })
    const expected = await dumpDatabase(replayed.address)
    expect(compareDumps(expected, await dumpDatabase(followed.address))).toEqual([])
    expect((await digestOf(followed.address)).digest).toBe((await digestOf(replayed.address)).digest)
    expect(await findViolations(followed.address)).toEqual([])
    expect(undone).toBeGreaterThanOrEqual(forkCount)
    // Each fork adds rows, on top of the thousands of rows of the recorded blocks.
    expect(countRows(expected)).toBeGreaterThan(Math.min(10_000, 80 * forkCount))
    expect(expected.get('undo.assets_assets')!.length).toBeGreaterThan(10)
  },
  patient(300_000),
)

it(
  'a reader that has just caught up follows a fork of all reversible blocks',
  async () => {
    const { chain } = running
    const watch = await PositionWatch.open(followed.address, testSettings.name)
    const reader = follow()
    await watch.until((at) => at?.id === chain.head().id, reader.failed)
    chain.fork(LIB_LAG_BLOCKS)
    await watch.until((at) => at?.id === chain.head().id, reader.failed)
    await watch.close()
    expect(await reader.stop()).toBe(1)
    expect(await findViolations(followed.address)).toEqual([])
  },
  patient(60_000),
)

it(
  'a reader stopped during a fork that becomes irreversible ends with the rows of a replay of the final branch',
  async () => {
    const { chain } = running
    const watch = await PositionWatch.open(followed.address, testSettings.name)
    for (let time = 0; time < 5; time++) {
      chain.generate(12)
      const reader = follow()
      await watch.until((at) => at?.id === chain.head().id, reader.failed)
      await reader.stop()
      chain.fork(20)
      chain.generate(2 * LIB_LAG_BLOCKS)
    }
    const reader = follow()
    await watch.until((at) => at?.id === chain.head().id, reader.failed)
    await watch.close()
    await reader.stop()
    await indexUntil(running, replayed.address, chain.head().num, { settings: { db_group_blocks: 100_000 } })
    expect(compareDumps(await dumpDatabase(replayed.address), await dumpDatabase(followed.address))).toEqual(
      [],
    )
    expect(await findViolations(followed.address)).toEqual([])
  },
  patient(120_000),
)

it(
  'a reader started after its contracts set their ABIs follows forks, also a fork that undoes the first ABI of the reader',
  async () => {
    const { chain } = running
    await followed.drop()
    followed = await createTestDatabase()
    const watch = await PositionWatch.open(followed.address, testSettings.name)
    const start = { start_block: chain.head().num - 5 }
    const reachHead = (reader: ReturnType<typeof follow>) =>
      watch.until((at) => at?.id === chain.head().id, reader.failed)
    let reader = follow(start)
    await reachHead(reader)
    for (const depth of [3, 4]) {
      chain.fork(depth, depth + 4)
      await reachHead(reader)
    }
    expect(await reader.stop()).toBe(2)

    const client = await connectDatabase(followed.address, { applicationName: 'test' })
    const contracts = ['atomicassets', 'atomicmarket', 'delphioracle', 'atomictoolsx']
    const abis = () => client.query('SELECT FROM chain.abis WHERE account = ANY($1)', [contracts])
    expect((await abis()).rowCount).toBe(0)
    for (const account of contracts)
      await client.query('INSERT INTO chain.abis VALUES ($1, $2, $3, $4)', [
        account,
        chain.head().num,
        testSettings.name,
        await readRawAbi(running.httpUrl, account),
      ])
    reader = follow(start)
    chain.fork(2, 8)
    await reachHead(reader)
    expect((await abis()).rowCount).toBe(0)
    expect(await reader.stop()).toBe(1)
    await client.end()
    await watch.close()
  },
  patient(60_000),
)
