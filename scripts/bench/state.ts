/**
 * Measures the state service: ABI requests over HTTP at a fixed rate (open loop), each with a token that is checked.
 * Prints the achieved rate, latencies and memory. A second, closed-loop run gives the greatest rate of the machine.
 * Starts its own PostgreSQL, chain and reader; the service is a separate process.
 * Usage: node dist/scripts/bench/state.js [--rate 2000] [--seconds 10] [--connections 32]
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { createLogger } from '../../services/core/log/index.ts'
import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import { runReader } from '../../services/filler/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { createApiKey } from '../../services/state/index.ts'
import type { StateProcessReport, StateProcessStart } from './state-process.ts'
import { LoadGenerator } from './load.ts'
import type { Load, LoadOptions } from './load.ts'
import { readerSettings } from './reader-settings.ts'
import { percentile, PrintedTable } from './report.ts'

const { values: flags } = parseArgs({
  options: {
    rate: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '32' },
  },
})
const rate = Number(flags.rate)
const seconds = Number(flags.seconds)
const LAST_BLOCK = 964
const accounts = ['atomicassets', 'atomicmarket', 'delphioracle', 'eosio.token', 'karmatoken', 'eosio']

const postgres = await startEmbeddedPostgres({})
const chain = createDevchain({ recordings: ['main', 'v2'] })
let service: ChildProcess | undefined
try {
  const { shipUrl, httpUrl } = await chain.start()
  const { host, port, user, password } = postgres
  const database: DatabaseAddress = { host, port, user, password, database: 'postgres' }
  const key = await prepare(database, shipUrl, httpUrl)
  service = fork(processFile())
  const { url } = await ask(service, {
    database,
    chainId: chain.chainId,
    httpUrl,
  } satisfies StateProcessStart)
  const generator = await LoadGenerator.open(url, Number(flags.connections))
  const headers = [`Authorization: Bearer ${await login(url, key)}`]
  const paths = makePaths()
  let sent = 0
  const next = () => ({ path: paths[sent++ % paths.length]!, headers })
  await generator.run({ next, perSecond: Math.min(rate, 500), seconds: 2 })
  const cells = ['run', 'requests/s', 'p50', 'p95', 'p99', 'max', 'failed', 'processor time each', 'memory']
  const table = new PrintedTable(cells)
  const measure = async (name: string, options: LoadOptions): Promise<void> => {
    const before = await ask(service!, 'report')
    const load = await generator.run(options)
    table.row([name, ...cellsOf(load, before, await ask(service!, 'report'))])
  }
  for (const run of [1, 2, 3]) await measure(`${rate}/s offered, ${run}`, { next, perSecond: rate, seconds })
  await measure('as fast as it goes', { next, seconds })
  generator.close()
} finally {
  service?.kill()
  await chain.stop()
  await postgres.stop()
}

async function ask(asked: ChildProcess, message: StateProcessStart | 'report'): Promise<StateProcessReport> {
  const answer = once(asked, 'message') as Promise<[StateProcessReport]>
  asked.send(message)
  return (await answer)[0]
}

function processFile(): string {
  const ending = import.meta.filename.endsWith('.ts') ? 'ts' : 'js'
  return `${import.meta.dirname}/state-process.${ending}`
}

/** Indexes the recorded chain and creates an API key. */
async function prepare(address: DatabaseAddress, shipUrl: string, httpUrl: string): Promise<string> {
  const client = await connectDatabase(address, { applicationName: 'bench' })
  try {
    await migrate(client)
    await runReader(
      {
        settings: readerSettings({
          stop_block: LAST_BLOCK,
          ship_prefetch_blocks: 50,
          ship_min_block_confirmation: 10,
          db_group_blocks: 10,
          contracts: [{ handler: 'state', args: { accounts, permissions: true, history_blocks: 0 } }],
        }),
        database: address,
        chain: { chainId: chain.chainId, http: httpUrl, ship: [shipUrl] },
        logger: createLogger({ name: 'bench', level: 'silent' }),
      },
      new AbortController().signal,
    )
    return (await createApiKey(client, { label: 'bench', expiresAt: null, tokensPerMinute: null })).key
  } finally {
    await client.end()
  }
}

async function login(url: string, key: string): Promise<string> {
  const response = await fetch(`${url}/v1/auth/issue`, {
    method: 'POST',
    body: JSON.stringify({ api_key: key }),
  })
  return ((await response.json()) as { token: string }).token
}

/** Request paths: every account at the head and at many blocks, packed and as JSON. */
function makePaths(): string[] {
  return accounts.flatMap((account) =>
    [0, 100, 400, 862, 863, 900].flatMap((block) =>
      [true, false].map((json) => `/v0/state/abi?account=${account}&block_num=${block}&json=${String(json)}`),
    ),
  )
}

/** Status 400 is not a failure here: some accounts have no ABI at some blocks. */
function cellsOf(load: Load, before: StateProcessReport, after: StateProcessReport): (string | number)[] {
  const times = load.times()
  const micros = Math.round((after.cpuMicros - before.cpuMicros) / load.requests)
  return [
    Math.round(load.perSecond),
    ...[0.5, 0.95, 0.99, 1].map((share) => `${percentile(times, share).toFixed(1)} ms`),
    ...[load.failures(200, 400), `${micros} µs`, `${Math.round(after.rssBytes / 2 ** 20)} MB`],
  ]
}
