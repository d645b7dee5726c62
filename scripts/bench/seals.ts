/**
 * Measures how much sealing slows the reader at the head.
 * Usage: node dist/scripts/bench/seals.js [--blocks 200] [--rounds 3]
 *
 * Each round starts a reader on a copy of an indexed database, with `seal_history` off and on in turns, `rounds` times
 * each. When the reader is at the head, the chain produces `blocks` blocks of NFT actions, each after the commit of the
 * block before. Measures the time from a block to its commit. With `seal_history`, the reader meanwhile seals the
 * history of the copy. As in production, sealing uses at most a tenth of the time. Ranges have 50 blocks, so that
 * sealing lasts for the whole round.
 */
import { parseArgs } from 'node:util'
import { buildQueryIndexes, connectDatabase, listIndexFamilies } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import { runReader } from '../../services/filler/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { createBareDatabase, createDatabase } from './databases.ts'
import { assetsContract, marketContracts, readerSettings } from './reader-settings.ts'
import { percentile } from './report.ts'

const { values } = parseArgs({
  options: { blocks: { type: 'string', default: '200' }, rounds: { type: 'string', default: '3' } },
})
const [blocks, rounds] = [Number(values.blocks), Number(values.rounds)]
/** Blocks of history before the measurement. */
const HISTORY_BLOCKS = 1_500
const RANGE_BLOCKS = 50
const logger = createLogger({ name: 'bench', level: 'warn', pretty: true })

const server = await startEmbeddedPostgres({
  settings: { shared_buffers: '256MB', synchronous_commit: 'on' },
})
const { host, port, user, password } = server
const admin = { host, port, user, password, database: 'postgres' }
const chain = createDevchain({
  recordings: ['main'],
  blocks: HISTORY_BLOCKS,
  rate: 8,
  libLagBlocks: 12,
  seed: 46,
})
const { shipUrl, httpUrl } = await chain.start()

/** Last block of the indexed database. Each reader gets a copy of that database. */
const indexedTo = chain.head().num

/**
 * Starts a reader.
 * @returns `reading`, which settles when the reader ends; `reach`, which waits until a block is committed; and `end`,
 * which stops the reader.
 */
function startReader(database: DatabaseAddress, isSealing: boolean, stopBlock = 0) {
  const ending = new AbortController()
  let at = stopBlock === 0 ? indexedTo : 0
  let waiting: { readonly block: number; readonly done: () => void } | null = null
  const reading = runReader(
    {
      settings: readerSettings({
        seal_history: isSealing,
        stop_block: stopBlock,
        contracts: [assetsContract, ...marketContracts],
      }),
      database,
      chain: { chainId: chain.chainId, http: httpUrl, ship: [shipUrl] },
      logger,
      buildQueryIndexes: false,
      sealing: { rangeBlocks: RANGE_BLOCKS },
      observer: {
        committed: (commit) => {
          at += commit.blocks
          if (waiting !== null && at >= waiting.block) waiting.done()
        },
        rolledBack: () => undefined,
        interrupted: () => undefined,
        published: () => undefined,
      },
    },
    ending.signal,
  )
  return {
    reading,
    reach: (block: number): Promise<void> =>
      new Promise((done) => {
        waiting = { block, done }
        if (at >= block) done()
      }),
    end: async () => {
      ending.abort()
      await reading
    },
  }
}

const history = await createDatabase(admin, 'bench_seals')
await startReader(history, false, indexedTo).reading
const client = await connectDatabase(history, { applicationName: 'bench' })
for (const family of await listIndexFamilies()) await buildQueryIndexes(client, family)
await client.end()

const taken: Record<'off' | 'on', number[]> = { off: [], on: [] }
let seals = 0
for (let round = 0; round < rounds * 2; round++) {
  const name = round % 2 === 0 ? 'off' : 'on'
  const database = await createBareDatabase(admin, `bench_seals_${round}`, 'bench_seals')
  const reader = startReader(database, name === 'on')
  // Sealing begins when the reader is at the head. The reader concludes this from commits of single blocks: produce
  // three blocks, each after the commit of the block before.
  for (let first = 0; first < 3; first++) {
    chain.generate(1)
    await reader.reach(chain.head().num)
  }
  const watch = await connectDatabase(database, { applicationName: 'bench' })
  const count = async () =>
    Number((await watch.query<{ n: bigint }>('SELECT count(*) AS n FROM chain.seals')).rows[0]!.n)
  const before = await count()
  for (let block = 0; block < blocks; block++) {
    chain.generate(1)
    const startedMs = performance.now()
    await reader.reach(chain.head().num)
    taken[name].push(performance.now() - startedMs)
  }
  seals += (await count()) - before
  await watch.end()
  await reader.end()
}
const mean = (all: readonly number[]) => all.reduce((sum, ms) => sum + ms, 0) / all.length
for (const [name, all] of Object.entries(taken)) {
  console.log(
    `  seal_history ${name}: ${(1_000 / mean(all)).toFixed(1)} blocks/s; ${mean(all).toFixed(2)} ms a block, p50 ${percentile(all, 0.5).toFixed(2)}, p95 ${percentile(all, 0.95).toFixed(2)} (${all.length} blocks)`,
  )
}
console.log(
  `  with seal_history a block takes ${((mean(taken.on) / mean(taken.off) - 1) * 100).toFixed(1)} % longer; ${seals} seals were written`,
)
await chain.stop()
await server.stop()
