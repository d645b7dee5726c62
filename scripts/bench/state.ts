/**
 * Measures the state service: ABI requests over HTTP at a fixed rate, as many clients would send them, each with its
 * token checked. Prints the rate that was reached, latencies and memory; a second, closed-loop run shows the most that
 * the machine gives. It brings its own PostgreSQL, chain and reader. The service runs in its own process.
 * Usage: node dist/scripts/bench/state.js [--rate 2000] [--seconds 10] [--connections 32]
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { parseArgs } from 'node:util'
import { createLogger } from '../../services/core/log/index.ts'
import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import { runReader } from '../../services/filler/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import { createApiKey } from '../../services/state/index.ts'
import type { StateProcessReport, StateProcessStart } from './state-process.ts'
import { readerSettings } from './reader-settings.ts'

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
  const agent = new Agent({ keepAlive: true, maxSockets: Number(flags.connections) })
  const token = await login(url, key)
  const paths = makePaths()
  await openLoop(agent, url, token, paths, Math.min(rate, 500), 2)
  console.log(`| run | requests/s | p50 | p95 | p99 | max | failed | processor time each | memory |`)
  console.log(`| --- | --- | --- | --- | --- | --- | --- | --- | --- |`)
  for (const run of [1, 2, 3]) {
    await measure(service, `${rate}/s offered, ${run}`, () =>
      openLoop(agent, url, token, paths, rate, seconds),
    )
  }
  await measure(service, 'as fast as it goes', () => closedLoop(agent, url, token, paths, seconds))
  agent.destroy()
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

/** Runs a load and prints it, with the processor time and memory that the service took for it. */
async function measure(asked: ChildProcess, name: string, load: () => Promise<Result>): Promise<void> {
  const before = await ask(asked, 'report')
  const result = await load()
  print(name, result, before, await ask(asked, 'report'))
}

function processFile(): string {
  const ending = import.meta.filename.endsWith('.ts') ? 'ts' : 'js'
  return `${import.meta.dirname}/state-process.${ending}`
}

/** Indexes the recorded chain and makes a key. */
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

/** Every account at the head and at many blocks, packed and as JSON. */
function makePaths(): string[] {
  return accounts.flatMap((account) =>
    [0, 100, 400, 862, 863, 900].flatMap((block) =>
      [true, false].map((json) => `/v0/state/abi?account=${account}&block_num=${block}&json=${String(json)}`),
    ),
  )
}

interface Result {
  readonly perSecond: number
  /** Milliseconds, ascending. */
  readonly latencies: readonly number[]
  readonly failed: number
}

/** Sends at a fixed rate, whatever the answers do; a request counts from the time when it was due. */
async function openLoop(
  agent: Agent,
  url: string,
  token: string,
  paths: readonly string[],
  perSecond: number,
  duration: number,
): Promise<Result> {
  const total = perSecond * duration
  const latencies: number[] = []
  let failed = 0
  let sent = 0
  const startedMs = performance.now()
  const running: Promise<void>[] = []
  while (sent < total) {
    const due = Math.min(total, Math.floor(((performance.now() - startedMs) / 1_000) * perSecond))
    for (; sent < due; sent++) {
      const dueMs = startedMs + (sent / perSecond) * 1_000
      running.push(
        send(agent, url, token, paths[sent % paths.length]!).then((isGood) => {
          if (!isGood) failed++
          latencies.push(performance.now() - dueMs)
        }),
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(running)
  const elapsed = (performance.now() - startedMs) / 1_000
  return { perSecond: total / elapsed, latencies: latencies.sort((a, b) => a - b), failed }
}

/** Each connection sends its next request when the last is answered. */
async function closedLoop(
  agent: Agent,
  url: string,
  token: string,
  paths: readonly string[],
  duration: number,
): Promise<Result> {
  const latencies: number[] = []
  let failed = 0
  let next = 0
  const startedMs = performance.now()
  const endMs = startedMs + duration * 1_000
  const work = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const sentMs = performance.now()
      if (!(await send(agent, url, token, paths[next++ % paths.length]!))) failed++
      latencies.push(performance.now() - sentMs)
    }
  }
  await Promise.all(Array.from({ length: Number(flags.connections) }, work))
  const elapsed = (performance.now() - startedMs) / 1_000
  return { perSecond: latencies.length / elapsed, latencies: latencies.sort((a, b) => a - b), failed }
}

function send(agent: Agent, url: string, token: string, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request(url + path, { agent, headers: { Authorization: `Bearer ${token}` } }, (response) => {
      // Accounts have no ABI before they set one.
      const isGood = response.statusCode === 200 || response.statusCode === 400
      response.resume().once('end', () => {
        resolve(isGood)
      })
    })
    sent.once('error', () => {
      resolve(false)
    })
    sent.end()
  })
}

function print(
  run: string,
  { perSecond, latencies, failed }: Result,
  before: StateProcessReport,
  after: StateProcessReport,
): void {
  const at = (part: number): string =>
    `${latencies[Math.floor((latencies.length - 1) * part)]!.toFixed(1)} ms`
  const micros = Math.round((after.cpuMicros - before.cpuMicros) / latencies.length)
  const cells = [run, Math.round(perSecond), at(0.5), at(0.95), at(0.99), at(1), failed, `${micros} µs`]
  console.log(`| ${[...cells, `${Math.round(after.rssBytes / 2 ** 20)} MB`].join(' | ')} |`)
}
