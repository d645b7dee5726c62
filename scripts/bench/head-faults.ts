/**
 * Measures how soon the next block is committed after the node that the reader follows at the head fails.
 * Usage: node dist/scripts/bench/head-faults.js [--times 100] [--interval 500] [--nodes 3]
 *
 * Three nodes serve a generated chain with a block every half second. The followed node is in turn frozen, killed, set
 * back and moved to another branch, `times` times each, and repaired before the next fault. Measures the time from the
 * fault to the commit of the first block that was produced after the fault. At the end all committed blocks are
 * compared with the chain.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import { runReader } from '../../services/filler/index.ts'
import type { ReaderStatus } from '../../services/filler/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { MirrorNode, nodeFaults } from '../lab/index.ts'
import { readerSettings } from './reader-settings.ts'
import { percentile } from './report.ts'

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '100' },
    interval: { type: 'string', default: '500' },
    nodes: { type: 'string', default: '3' },
    log: { type: 'string', default: 'silent' },
  },
})
const [times, intervalMs, nodeCount] = [Number(values.times), Number(values.interval), Number(values.nodes)]
const kinds = Object.keys(nodeFaults) as (keyof typeof nodeFaults)[]
const logger = createLogger({ name: 'bench', level: values.log as 'silent', pretty: true })

const server = await startEmbeddedPostgres({ settings: { shared_buffers: '256MB' } })
const { host, port, user, password } = server
const database = { host, port, user, password, database: 'postgres' }
const admin = await connectDatabase(database, { applicationName: 'bench' })
await migrate(admin)

const chain = createDevchain({ recordings: ['main'], blocks: 40, rate: 4, libLagBlocks: 12 })
const { httpUrl } = await chain.start()
const mirrors = Array.from({ length: nodeCount }, () => new MirrorNode(chain, { libLagBlocks: 12 }))
for (const mirror of mirrors) await mirror.start()

let status: ReaderStatus | null = null
let committed = 0
let undone = 0
let waiting: { readonly block: number; readonly done: () => void } | null = null
const ending = new AbortController()
const reading = runReader(
  {
    settings: readerSettings({ ship_prefetch_blocks: 50, ship_min_block_confirmation: 10 }),
    database,
    chain: { chainId: chain.chainId, http: httpUrl, ship: mirrors.map(({ url }) => url) },
    logger,
    buildQueryIndexes: false,
    onStatus: (next) => (status = next),
    observer: {
      committed: ({ blocks }) => {
        committed += blocks
        if (waiting !== null && committed - undone >= waiting.block) waiting.done()
      },
      rolledBack: (blocks) => (undone += blocks),
      interrupted: () => undefined,
      published: () => undefined,
    },
  },
  ending.signal,
)
let failure: unknown
reading.catch((error: unknown) => (failure = error))

/**
 * Waits until all nodes are healthy and the reader has committed all blocks, except possibly the last block.
 * @returns the mirror that the reader follows.
 */
async function settled() {
  for (;;) {
    if (failure !== undefined) throw new Error('the reader stopped', { cause: failure })
    const nodes = status?.nodes ?? []
    const followed = nodes.findIndex(({ state }) => state === 'followed')
    const isWell = nodes.every(
      ({ state, lagBlocks }) => (state === 'followed' || state === 'watched') && (lagBlocks ?? 9) <= 1,
    )
    if (isWell && followed !== -1 && committed - undone >= chain.head().num - 1) return mirrors[followed]!
    await delay(20)
  }
}

const live = setInterval(() => chain.produceBlock(), intervalMs)
const taken = new Map<string, number[]>(kinds.map((kind) => [kind, []]))
for (let time = 0; time < times; time++) {
  for (const kind of kinds) {
    const node = await settled()
    // The fault occurs at a random time between two blocks.
    await delay(Math.random() * intervalMs)
    const at = performance.now()
    await nodeFaults[kind].happen(node)
    const block = chain.head().num + 1
    await new Promise<void>((resolve) => {
      waiting = { block, done: resolve }
    })
    taken.get(kind)!.push(performance.now() - at)
    waiting = null
    // After a node has moved to another branch, the reader leaves the node within 4 s.
    if (kind === 'branched') await delay(4_000)
    await nodeFaults[kind].end(node)
    // The reader notices that a node has restarted at its next attempt to connect.
    await delay(1_000)
  }
  if ((time + 1) % 10 === 0) report()
}
clearInterval(live)
await settled()
while (committed - undone < chain.head().num) await delay(20)
ending.abort()
await reading

function report(): void {
  for (const [kind, all] of taken) {
    const at = (share: number) => Math.round(percentile(all, share))
    const within = all.filter((ms) => ms <= 2_000).length
    console.log(
      `${kind}: ${all.length} times; next commit after ${at(0.5)} ms (median), ${at(0.99)} ms (p99), ${at(1)} ms (most); ${within} within 2,000 ms`,
    )
  }
}

report()
const { rows } = await admin.query<{ num: number; id: Buffer }>(
  'SELECT block_num AS num, block_id AS id FROM chain.readers',
)
const [last] = rows
const isWhole = last?.num === chain.head().num && last.id.toString('hex') === chain.head().id
console.log(
  `${committed} blocks committed, ${undone} of them undone; the chain has ${chain.head().num} blocks`,
)
console.log(
  isWhole && committed - undone === chain.head().num
    ? 'every block is committed once'
    : 'THE COMMITTED BLOCKS DIFFER FROM THE CHAIN',
)
await admin.end()
await Promise.all(mirrors.map((mirror) => mirror.stop()))
await chain.stop()
await server.stop()
