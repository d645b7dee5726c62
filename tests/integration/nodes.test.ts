import { afterEach, beforeEach, expect, it } from 'vitest'
import { MirrorNode } from '../../scripts/lab/index.ts'
import type { ReaderStatus } from '../../services/filler/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { compareDumps, dumpDatabase } from './database-dump.ts'
import { indexUntil, startChain } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'

/** Rate limit of each node, bytes a second: slow enough that faults hit nodes in the middle of their work. */
const BYTES_PER_SECOND = 1_500_000
/** All nodes use the same lag: it determines which blocks can be undone, and so the content of the undo tables. */
const LIB_LAG_BLOCKS = 2

let running: TestChain
let straight: TestDatabase
let database: TestDatabase
const mirrors: MirrorNode[] = []

beforeEach(async () => {
  ;[straight, database] = await Promise.all([createTestDatabase(), createTestDatabase()])
  running = await startChain({
    recordings: ['main'],
    blocks: 400,
    rate: 6,
    seed: 5,
    libLagBlocks: LIB_LAG_BLOCKS,
  })
})

afterEach(async () => {
  await Promise.all(mirrors.splice(0).map((mirror) => mirror.stop()))
  await running.chain.stop()
  await Promise.all([straight.drop(), database.drop()])
})

it('a reader that catches up ends with the same rows although nodes stop, freeze, slow down or serve another chain', async () => {
  const { chain } = running
  const stop = chain.head().num
  mirrors.push(
    ...[{}, {}, {}, { chainId: 'ab'.repeat(32) }, {}].map(
      (options) => new MirrorNode(chain, { ...options, libLagBlocks: LIB_LAG_BLOCKS }),
    ),
  )
  const [first, second, third, , fifth] = mirrors
  for (const mirror of mirrors) {
    mirror.conduct.bytesPerSecond = BYTES_PER_SECOND
    await mirror.start()
  }
  const faults = [
    { at: 100, happen: () => void second!.kill() },
    { at: 300, happen: () => (third!.conduct.frozen = true) },
    { at: 500, happen: () => (fifth!.conduct.bytesPerSecond = 2_000) },
    { at: 700, happen: () => void second!.start() },
  ]
  const statuses: ReaderStatus[] = []
  const watch = setInterval(() => {
    const block = statuses.at(-1)?.receivedBlocks ?? 0
    while (faults[0] !== undefined && faults[0].at <= block) faults.shift()!.happen()
  }, 20)
  const ship = mirrors.map(({ url }) => url)
  await indexUntil(running, database.address, stop, {
    options: {
      chain: { chainId: chain.chainId, http: running.httpUrl, ship },
      onStatus: (status) => statuses.push(status),
    },
  }).finally(() => clearInterval(watch))
  await indexUntil(running, straight.address, stop)
  expect(compareDumps(await dumpDatabase(straight.address), await dumpDatabase(database.address))).toEqual([])
  const { nodes } = statuses.at(-2)!
  expect(nodes.map(({ faults }) => faults > 0)).toEqual([false, true, true, true, true])
  expect(nodes[3]).toMatchObject({
    blocksReceived: 0,
    lastFault: expect.stringContaining('serves chain abab') as string,
  })
  expect(first!.head.num).toBe(stop)
})
