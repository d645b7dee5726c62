/**
 * Measures the filler, as ratios of measurements of the same run.
 * Usage: node dist/scripts/bench/filler.js [foreign] [empty] [dense] [market] [writes] [--share 1] [--json FILE]
 * --share: part of the blocks to read; --json: file for the ratios by name (greater is better).
 *
 * - foreign, empty: blocks without data for the filler. Blocks/s and MB/s of the filler, compared with a reader that
 *   only acknowledges blocks. Both read the same chain from a separate process.
 * - dense: blocks full of NFT actions. Events/s of the filler, compared with COPY alone of the same rows into the same
 *   tables with their keys. Also compares the filler with all query indexes and without query indexes: rounds
 *   alternate, and the best time counts. Then prints the bytes per row of each table, with query indexes.
 * - market: 30 % mints, 30 % transfers, 15 % edits, 15 % foreign transfers, 10 % sales and purchases. Compares indexing
 *   with the market's derived values, with the market's rows alone, and without the market. Five rounds of each
 *   alternate, and the best time counts.
 * - writes: rows and index entries of one transfer, one edit and one sale, block by block with all query indexes.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { normalizeAbiJson } from '../../services/core/antelope/abi/index.ts'
import { buildQueryIndexes, connectDatabase } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { compileProtocol } from '../../services/filler/index.ts'
import { runReader } from '../../services/filler/index.ts'
import type { ContractEntry } from '../../services/filler/index.ts'
import { createShipSession } from '../../services/filler/index.ts'
import type { ShipSession } from '../../services/filler/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { copyAlone } from './copy-alone.ts'
import { createBareDatabase, createDatabase } from './databases.ts'
import { assetsContract, marketContracts, readerSettings } from './reader-settings.ts'
import { storeFigures } from './report.ts'
import { describeSizes } from './tables.ts'
import { describeWrites, readWrites } from './writes.ts'

/** Chain processes; they end with this process. */
const chains: ChildProcess[] = []

interface BenchChain {
  readonly process: ChildProcess
  readonly shipUrl: string
  readonly httpUrl: string
  readonly chainId: string
  readonly last: number
}

interface Reading {
  readonly seconds: number
  readonly bytes: number
}

/** Last block of the bundled recordings. Measurements start after it. */
const RECORDED = 964
const kinds = ['foreign', 'empty', 'dense', 'market', 'writes'] as const
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { share: { type: 'string', default: '1' }, json: { type: 'string' } },
})
const blocksOf = (count: number): number => Math.max(10, Math.round(count * Number(options.share)))
const loads = {
  foreign: blocksOf(4_000),
  empty: blocksOf(400_000),
  dense: blocksOf(300),
  market: blocksOf(60),
  writes: 100,
}
/** Measured ratios, by name. A greater ratio is better. */
const ratios: Record<string, number> = {}
/** Rounds of the market benchmark. One round takes seconds, so a single disturbance would decide its result. */
const MARKET_ROUNDS = 5
/** Rounds of the dense benchmark, alternately without and with query indexes. */
const DENSE_ROUNDS = 2
const logger = createLogger({ name: 'bench', level: 'warn', pretty: true })

async function startChain(kind: string, blocks: number): Promise<BenchChain> {
  const file = import.meta.filename.replace(/filler\.(js|ts)$/, 'chain-process.$1')
  const child = spawn(process.execPath, ['--max-old-space-size=8192', file, kind, String(blocks)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  chains.push(child)
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  return { process: child, ...(JSON.parse(line) as Omit<BenchChain, 'process'>) }
}

/** Reads a chain with a reader that only acknowledges blocks: the upper bound for the filler. */
async function acknowledge(chain: BenchChain): Promise<Reading> {
  let bytes = 0
  const session: ShipSession = createShipSession(
    {
      urls: [chain.shipUrl],
      startBlock: RECORDED + 1,
      stopBlock: chain.last,
      prefetchBlocks: 200,
      compileProtocol: (abi) => compileProtocol(normalizeAbiJson(abi)),
      logger,
    },
    {
      resumePosition: () => ({ lastApplied: null, havePositions: [], irreversibleFloor: 0 }),
      onProtocol: () => undefined,
      onBlock: (block) => {
        bytes += block.bytes
        session.release(1, block.bytes)
      },
      onFork: () => undefined,
    },
  )
  const startedAt = performance.now()
  await session.run(new AbortController().signal)
  return { seconds: (performance.now() - startedAt) / 1_000, bytes }
}

/** How a measured filler differs from a filler that indexes only the assets family. */
interface Variant {
  readonly contracts?: readonly ContractEntry[]
  readonly withoutDerived?: readonly string[]
}

async function fill(
  chain: BenchChain,
  database: DatabaseAddress,
  stopBlock: number,
  variant: Variant = {},
): Promise<number> {
  const startedAt = performance.now()
  await runReader(
    {
      settings: readerSettings({
        stop_block: stopBlock,
        contracts: [assetsContract, ...(variant.contracts ?? [])],
      }),
      database,
      chain: { chainId: chain.chainId, http: chain.httpUrl, ship: [chain.shipUrl] },
      logger,
      buildQueryIndexes: false,
      ...(variant.withoutDerived ? { withoutDerived: variant.withoutDerived } : {}),
    },
    new AbortController().signal,
  )
  return (performance.now() - startedAt) / 1_000
}

/** Indexes the same blocks without the market, with the market's rows, and also with the values derived from them. */
async function measureMarket(admin: DatabaseAddress): Promise<void> {
  const blocks = loads.market
  const chain = await startChain('market', blocks)
  const variants: readonly [name: string, variant: Variant][] = [
    ['assets alone', {}],
    [
      'assets and the rows of the market',
      { contracts: marketContracts, withoutDerived: ['market', 'oracle'] },
    ],
    ['assets and market with derived values', { contracts: marketContracts }],
  ]
  const best = variants.map(() => Infinity)
  for (const [place, [, variant]] of variants.entries())
    await fill(chain, await createDatabase(admin, `bench_market_${place}`), RECORDED, variant)
  for (let round = 1; round <= MARKET_ROUNDS; round++) {
    for (const [place, [, variant]] of variants.entries()) {
      const database = await createBareDatabase(
        admin,
        `bench_market_${place}_${round}`,
        `bench_market_${place}`,
      )
      best[place] = Math.min(best[place]!, await fill(chain, database, chain.last, variant))
      if (round === MARKET_ROUNDS && place === 2) await describeMarket(database)
    }
  }
  chain.process.kill()
  for (const [place, [name]] of variants.entries())
    console.log(`  ${name}: ${best[place]!.toFixed(2)} s, ${Math.round(blocks / best[place]!)} blocks/s`)
  ratios['market: time without derived values / time with derived values'] = best[1]! / best[2]!
  console.log(
    `  with derived values, indexing takes ${(best[2]! / best[1]!).toFixed(2)} times as long as without`,
  )
}

async function describeMarket(database: DatabaseAddress): Promise<void> {
  const client = await connectDatabase(database, { applicationName: 'bench' })
  const { rows } = await client.query<{ sales: bigint; trades: bigint; assets: bigint }>(
    'SELECT (SELECT count(*) FROM market.sales) AS sales, (SELECT count(*) FROM market.trades) AS trades, (SELECT count(*) FROM assets.assets) AS assets',
  )
  await client.end()
  const { sales, trades, assets: minted } = rows[0]!
  console.log(`market: ${loads.market} blocks; ${minted} assets, ${sales} sales, ${trades} trades`)
}

/**
 * Measures how fast dense blocks are indexed, without and with query indexes.
 * @param at database with all blocks before the dense blocks.
 */
async function measureDense(chain: BenchChain, admin: DatabaseAddress, at: DatabaseAddress): Promise<void> {
  const before = await countEvents(at)
  const indexed = await createBareDatabase(admin, `${at.database}_indexed`, at.database)
  const client = await connectDatabase(indexed, { applicationName: 'bench' })
  await buildQueryIndexes(client, 'assets')
  await client.end()
  const best = [Infinity, Infinity]
  let last = at
  for (let round = 1; round <= DENSE_ROUNDS; round++) {
    for (const [place, from] of [at, indexed].entries()) {
      last = await createBareDatabase(admin, `${from.database}_${round}`, from.database)
      best[place] = Math.min(best[place]!, await fill(chain, last, chain.last))
    }
  }
  const [seconds, withIndexes] = best as [number, number]
  const events = (await countEvents(last)) - before
  const copy = await copyAlone(last, await createDatabase(admin, 'bench_copy'))
  console.log(
    `  ${events} NFT events in ${seconds.toFixed(2)} s: ${Math.round(events / seconds)} events/s; with query indexes the same blocks take ` +
      `${withIndexes.toFixed(2)} s, ${(withIndexes / seconds).toFixed(2)} times as long`,
  )
  console.log(
    `  COPY of the same ${copy.rows} rows takes ${copy.seconds.toFixed(2)} s; the filler takes ${(seconds / copy.seconds).toFixed(2)} times as long`,
  )
  ratios['dense: time without query indexes / time with query indexes'] = seconds / withIndexes
  ratios['dense: time of COPY alone / time of the filler'] = copy.seconds / seconds
  console.log(await describeSizes(last))
}

/** Measures how many row versions and index entries one transfer, edit or sale writes at the head. */
async function measureWrites(admin: DatabaseAddress): Promise<void> {
  for (const kind of ['transfer', 'edit', 'sale']) {
    const chain = await startChain(kind, loads.writes)
    const database = await createDatabase(admin, `bench_writes_${kind}`)
    await fill(chain, database, RECORDED, { contracts: marketContracts })
    const client = await connectDatabase(database, { applicationName: 'bench' })
    for (const family of ['assets', 'oracle', 'market']) await buildQueryIndexes(client, family)
    await client.end()
    const before = await readWrites(database)
    await fill(chain, database, chain.last, { contracts: marketContracts })
    const after = await readWrites(database)
    const table = { transfer: 'assets.transfers', edit: 'assets.logs', sale: 'market.sales' }[kind]!
    const events = (after.get(table)?.versions ?? 0) - (before.get(table)?.versions ?? 0)
    console.log(`  one ${kind} (of ${events}): ${describeWrites(before, after, events)}`)
    chain.process.kill()
  }
}

async function countEvents(database: DatabaseAddress): Promise<number> {
  const client = await connectDatabase(database, { applicationName: 'bench' })
  const { rows } = await client.query<{ events: bigint }>(
    'SELECT (SELECT count(*) FROM assets.logs) + (SELECT count(*) FROM assets.transfers) + (SELECT count(*) FROM assets.assets) AS events',
  )
  await client.end()
  return Number(rows[0]!.events)
}

const wanted = kinds.filter((kind) => positionals.length === 0 || positionals.includes(kind))
const server = await startEmbeddedPostgres({
  settings: { shared_buffers: '512MB', synchronous_commit: 'on' },
})
const { host, port, user, password } = server
const admin = { host, port, user, password, database: 'postgres' }
try {
  for (const kind of wanted) {
    if (kind === 'market' || kind === 'writes') {
      await (kind === 'market' ? measureMarket(admin) : measureWrites(admin))
      continue
    }
    const blocks = loads[kind]
    const chain = await startChain(kind, blocks)
    const database = await createDatabase(admin, `bench_${kind}`)
    await fill(chain, database, RECORDED)
    const ack = await acknowledge(chain)
    const measured = await createBareDatabase(admin, `${database.database}_once`, database.database)
    const seconds = await fill(chain, measured, chain.last)
    const megabytes = ack.bytes / 1e6
    const rates = (time: number) =>
      `${Math.round(blocks / time)} blocks/s, ${Math.round(megabytes / time)} MB/s`
    console.log(`${kind}: ${blocks} blocks, ${Math.round(megabytes)} MB`)
    console.log(`  only acknowledging: ${rates(ack.seconds)}`)
    console.log(
      `  filler: ${rates(seconds)}, ${(ack.seconds / seconds).toFixed(3)} of the rate of only acknowledging; memory of this process: ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`,
    )
    if (kind !== 'dense')
      ratios[`${kind}: time of a reader that only acknowledges / time of the filler`] = ack.seconds / seconds
    if (kind === 'dense') await measureDense(chain, admin, database)
    chain.process.kill()
  }
  await storeFigures(options.json, ratios)
} finally {
  for (const chain of chains) chain.kill()
  await server.stop()
}
