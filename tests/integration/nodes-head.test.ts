import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MirrorNode, nodeFaults } from '../../scripts/lab/index.ts'
import type { ReaderStatus } from '../../services/filler/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { compareDumps, dumpDatabase } from './database-dump.ts'
import { indexUntil, startChain } from './index-chain.ts'
import type { TestChain } from './index-chain.ts'

/** Repetitions of each fault. For 100 repetitions with measurements run scripts/bench/head-faults.ts. */
const times = Number(process.env.PRONGHORN_NODE_FAULTS ?? 1)
const INTERVAL_MS = 150
const LIB_LAG_BLOCKS = 40

let running: TestChain
let followed: TestDatabase
let straight: TestDatabase
let mirrors: MirrorNode[] = []
let ending: AbortController

beforeEach(async () => {
  ;[followed, straight] = await Promise.all([createTestDatabase(), createTestDatabase()])
  running = await startChain({
    recordings: ['main'],
    blocks: 20,
    rate: 4,
    seed: 6,
    libLagBlocks: LIB_LAG_BLOCKS,
  })
  mirrors = [1, 2, 3].map(() => new MirrorNode(running.chain, { libLagBlocks: LIB_LAG_BLOCKS }))
  for (const mirror of mirrors) await mirror.start()
  ending = new AbortController()
})

afterEach(async () => {
  ending.abort()
  await Promise.all(mirrors.map((mirror) => mirror.stop()))
  await running.chain.stop()
  await Promise.all([followed.drop(), straight.drop()])
})

it('a reader loses no block and applies no block twice when its node fails', async () => {
  const { chain } = running
  let status: ReaderStatus | null = null
  const count = { committed: 0, undone: 0 }
  let failure: unknown
  const reading = indexUntil(running, followed.address, 0, {
    signal: ending.signal,
    options: {
      chain: { chainId: chain.chainId, http: running.httpUrl, ship: mirrors.map(({ url }) => url) },
      shipTiming: { backoffMinMs: 20, backoffMaxMs: 200, otherBranchMs: 600 },
      onStatus: (next) => (status = next),
      observer: {
        committed: ({ blocks }) => (count.committed += blocks),
        rolledBack: (blocks) => (count.undone += blocks),
        interrupted: () => undefined,
        published: () => undefined,
      },
    },
  })
  reading.catch((error: unknown) => (failure = error))
  const current = (): ReaderStatus | null => status
  const height = () => count.committed - count.undone
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    for (let round = 0; !holds(); round++) {
      if (failure !== undefined) throw new Error('the reader ended', { cause: failure })
      if (round > 1_500) throw new Error(`never happened: ${what}`)
      await delay(20)
    }
  }
  /** Waits until all nodes are up and everything is committed; returns the index of the streaming node. */
  const settled = async (): Promise<number> => {
    const place = () => current()?.nodes.findIndex(({ state }) => state === 'followed') ?? -1
    const isWell = () =>
      place() !== -1 &&
      current()!.nodes.every(({ state, lagBlocks }) => state !== 'failed' && (lagBlocks ?? 9) <= 1) &&
      height() >= chain.head().num - 1
    await until('all nodes are well', isWell)
    return place()
  }
  const live = setInterval(() => chain.produceBlock(), INTERVAL_MS)
  try {
    for (let time = 0; time < times; time++) {
      for (const [kind, fault] of Object.entries(nodeFaults)) {
        const place = await settled()
        await fault.happen(mirrors[place]!)
        const isLeft = () => current()!.nodes[place]!.state !== 'followed'
        await until(`a node that was ${kind} is left`, isLeft)
        const next = chain.head().num + 1
        await until(`block ${next} is committed, node ${kind}`, () => height() >= next)
        await fault.end(mirrors[place]!)
      }
    }
    await settled()
  } finally {
    clearInterval(live)
  }
  const head = chain.head()
  await until('the last block', () => height() === head.num)
  ending.abort()
  await reading
  const { forks } = current()!
  // Only the fault that switches to another branch causes forks; the other faults cause none.
  expect(forks).toBeGreaterThanOrEqual(times)
  expect(forks).toBeLessThanOrEqual(3 * times)
  const ofMirror = { chainId: chain.chainId, http: running.httpUrl, ship: [mirrors[0]!.url] }
  await indexUntil(running, straight.address, head.num, { options: { chain: ofMirror } })
  const withoutUndo = (dump: Awaited<ReturnType<typeof dumpDatabase>>) =>
    new Map([...dump].filter(([name]) => !name.startsWith('undo.')))
  const dumps = await Promise.all([straight, followed].map(({ address }) => dumpDatabase(address)))
  expect(compareDumps(withoutUndo(dumps[0]!), withoutUndo(dumps[1]!))).toEqual([])
})
