import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll } from 'vitest'
import { buildQueryIndexes, connectDatabase, listIndexFamilies } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import type { Devchain } from '../../services/devchain/index.ts'
import type { ReaderSettings } from '../../services/filler/index.ts'
import { indexUntil, testSettings } from '../integration/index-chain.ts'
import { compareDumps, dumpDatabase } from '../integration/database-dump.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { describeWithRedis, startTestRedis } from '../setup/redis.ts'
import type { TestRedis } from '../setup/redis.ts'
import { makeKey } from '../state/service.ts'
import { ShipRelay } from './ship-relay.ts'

const dist = join(packageRoot, 'dist')
/** Heap limit of each program, megabytes: small, so that memory leaks show. */
const HEAP_MB = 384
const OUTPUT_KEPT = 100_000
/** Time after which the worker processes of a program are looked up again to measure their memory, ms. */
const LOOKUP_MS = 5_000
const START_MS = 300_000
const MEGABYTE = 2 ** 20

/** A reader that stores all optional data. */
const settings: ReaderSettings = {
  ...testSettings,
  contracts: [
    ...testSettings.contracts,
    {
      handler: 'state',
      args: { accounts: ['atomicassets', 'eosio', 'eosio.token'], permissions: true, history_blocks: 0 },
    },
  ],
}

/** Namespaces of the API. */
export const namespaces = [
  {
    name: 'assets',
    path: '/assets',
    aliases: ['/atomicassets'],
    args: { assets_account: 'atomicassets', connected_reader: testSettings.name },
  },
  {
    name: 'market',
    path: '/market',
    args: { market_account: 'atomicmarket', connected_reader: testSettings.name },
  },
  {
    name: 'tools',
    path: '/tools',
    args: { tools_account: 'atomictoolsx', connected_reader: testSettings.name },
  },
]

/** A started program, with the name under which the report lists it. */
export class Program {
  readonly name: string
  readonly child: ChildProcess
  output = ''
  #workers: readonly number[] = []
  #lookedUpMs = -Infinity

  constructor(name: string, file: string, args: readonly string[], variables: Record<string, string>) {
    this.name = name
    this.child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MB}`, join(dist, file), ...args], {
      env: { PATH: process.env.PATH, LOG_LEVEL: 'warn', ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on(
        'data',
        (chunk: Buffer) => (this.output = (this.output + chunk.toString()).slice(-OUTPUT_KEPT)),
      )
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }

  /**
   * Resident memory of the program and its worker processes, megabytes. Worker processes are looked up again after
   * LOOKUP_MS, or if one has ended: a look through /proc takes 15 ms of processor time (measured 2026-11-30).
   */
  get megabytes(): number {
    const known = this.#knownMegabytes()
    if (!Number.isNaN(known) && performance.now() - this.#lookedUpMs < LOOKUP_MS) return known
    this.lookUpWorkers()
    return this.#knownMegabytes()
  }

  /** Looks up the worker processes of which `megabytes` contains the memory. */
  lookUpWorkers(): void {
    this.#workers = this.children
    this.#lookedUpMs = performance.now()
  }

  #knownMegabytes(): number {
    return [this.child.pid ?? 0, ...this.#workers].reduce((sum, each) => sum + residentMegabytes(each), 0)
  }

  /** Process ids of the program's worker processes. */
  get children(): readonly number[] {
    return childrenOf(this.child.pid ?? 0)
  }

  async stop(): Promise<void> {
    if (this.hasEnded) return
    const ended = new Promise((resolve) => this.child.once('close', resolve))
    this.child.kill('SIGTERM')
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 20_000)
    await ended
    clearTimeout(timer)
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number)
}

function parentOf(pid: string): number {
  try {
    return Number(/PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    // The process has ended since its id was read.
    return NaN
  }
}

function residentMegabytes(pid: number): number {
  try {
    const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return found ? (Number(found[1]) * 1_024) / MEGABYTE : NaN
  } catch {
    return NaN
  }
}

/** Ids of processes that are no PostgreSQL processes. */
const otherProcesses = new Set<string>()

/**
 * Mean private memory of a database's PostgreSQL backends, megabytes. The sum is no measure, because it changes with
 * the number of pooled connections. Backends are found by their process title.
 */
function backendMegabytes(database: string): number {
  let sum = 0
  let count = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name) && !otherProcesses.has(name))) {
    try {
      const title = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
      if (!title.includes('postgres')) otherProcesses.add(pid)
      if (!title.includes(` ${database} `)) continue
      const found = /RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
      if (!found) continue
      sum += (Number(found[1]) * 1_024) / MEGABYTE
      count++
    } catch {
      // A process that ended meanwhile.
    }
  }
  return count === 0 ? 0 : sum / count
}

/** All services as separate processes, on a live chain, with a relay between node and filler. */
export class Programs {
  readonly chain: Devchain
  readonly relay: ShipRelay
  readonly database: TestDatabase
  readonly redis: TestRedis
  readonly api: Program
  readonly state: Program
  readonly filler: Program
  readonly apiUrl: string
  readonly stateUrl: string
  /** URL of the API's metrics. */
  readonly metricsUrl: string
  /** URL of the filler's health endpoint. */
  readonly fillerUrl: string
  /** API key of the state service. */
  readonly key: string
  /** Memory samples by program, megabytes, one a second. */
  readonly memory = new Map<string, { atS: number; megabytes: number }[]>()
  readonly #directory: string
  readonly #httpUrl: string
  readonly #shipUrl: string
  readonly #startedMs = performance.now()
  readonly #sampling: NodeJS.Timeout

  private constructor(parts: {
    chain: Devchain
    relay: ShipRelay
    database: TestDatabase
    redis: TestRedis
    directory: string
    httpUrl: string
    shipUrl: string
    ports: readonly [number, number, number, number]
    key: string
  }) {
    const [apiPort, statePort, metricsPort, fillerPort] = parts.ports
    this.chain = parts.chain
    this.relay = parts.relay
    this.database = parts.database
    this.redis = parts.redis
    this.key = parts.key
    this.#directory = parts.directory
    this.#httpUrl = parts.httpUrl
    this.#shipUrl = parts.shipUrl
    this.apiUrl = `http://127.0.0.1:${apiPort}`
    this.stateUrl = `http://127.0.0.1:${statePort}`
    this.metricsUrl = `http://127.0.0.1:${metricsPort}`
    this.fillerUrl = `http://127.0.0.1:${fillerPort}`
    const main = 'services/cli/main.js'
    const variables = { CONFIG_DIR: parts.directory }
    this.api = new Program('api', main, ['api'], variables)
    this.state = new Program('state', main, ['state'], {
      ...variables,
      STATE_ADDR: '127.0.0.1',
      STATE_PORT: String(statePort),
      STATE_TRUST_PROXY: 'true',
    })
    const options = {
      settings,
      database: parts.database.address,
      chain: { chainId: parts.chain.chainId, http: parts.httpUrl, ship: [parts.relay.url] },
      buildQueryIndexes: false,
      handoverMs: 2_000,
      shipTiming: {
        backoffMinMs: 5,
        backoffMaxMs: 20,
        replyTimeoutMs: 2_000,
        idleTimeoutMs: 5_000,
        slowMessageTimeoutMs: 500,
      },
    }
    this.filler = new Program(
      'filler',
      'scripts/hostile/reader.js',
      [JSON.stringify(options), String(fillerPort)],
      {},
    )
    this.#sampling = setInterval(() => {
      this.#sample()
    }, 1_000)
  }

  /** Starts all programs. The chain produces a block every `intervalMs`. */
  static async start(intervalMs = 500): Promise<Programs> {
    const database = await createTestDatabase()
    const redis = await startTestRedis()
    const chain = createDevchain({
      recordings: ['main', 'v2'],
      blocks: 200,
      live: { intervalMs },
      libLagBlocks: 12,
    })
    const { shipUrl, httpUrl } = await chain.start()
    await indexUntil({ chain, shipUrl, httpUrl, hasRoots: true }, database.address, chain.head().num, {
      settings: { contracts: settings.contracts },
    })
    const client = await connectDatabase(database.address, { applicationName: 'test' })
    for (const family of await listIndexFamilies()) await buildQueryIndexes(client, family)
    await client.end()
    const { key } = await makeKey(database, { tokensPerMinute: 1_000_000 })
    const relay = await ShipRelay.open(shipUrl)
    const ports = [
      await findFreePort(),
      await findFreePort(),
      await findFreePort(),
      await findFreePort(),
    ] as const
    const directory = await mkdtemp(join(tmpdir(), 'pronghorn-hostile-'))
    const write = (name: string, content: unknown): Promise<void> =>
      writeFile(join(directory, `${name}.config.json`), JSON.stringify(content))
    await write('connections', {
      sqldb: database.address,
      kvstore: { host: '127.0.0.1', port: redis.port },
      chain: { name: 'test', chain_id: chain.chainId, http: httpUrl, ship: relay.url },
    })
    await write('readers', [settings])
    await write('server', {
      server_addr: '127.0.0.1',
      server_port: ports[0],
      trust_proxy: true,
      max_db_connections: 20,
      metrics_port: ports[2],
      // The message limit is high, because these tests attack the content of messages; other tests check the rate
      // limit.
      live: { messages_per_second: 10_000 },
      namespaces,
    })
    const programs = new Programs({ chain, relay, database, redis, directory, httpUrl, shipUrl, ports, key })
    try {
      await programs.#untilServing()
    } catch (error) {
      await programs.stop()
      throw error
    }
    return programs
  }

  /** Programs that have exited, with their last output. Tests expect an empty list. */
  get crashed(): string[] {
    return [this.api, this.state, this.filler]
      .filter(({ hasEnded }) => hasEnded)
      .map(({ name, output }) => `${name} ended: ${output.slice(-2_000)}`)
  }

  /** Waits until the filler is at the head, and compares all rows with an undisturbed reader's rows. */
  async differences(): Promise<string[]> {
    this.relay.calm()
    this.chain.setPaused(true)
    const last = this.chain.head().num
    const straight = await createTestDatabase()
    try {
      await indexUntil(
        { chain: this.chain, shipUrl: this.#shipUrl, httpUrl: this.#httpUrl, hasRoots: true },
        straight.address,
        last,
        { settings: { contracts: settings.contracts } },
      )
      const client = await connectDatabase(this.database.address, { applicationName: 'test' })
      const untilMs = performance.now() + START_MS
      for (;;) {
        const { rows } = await client.query<{ block_num: number }>('SELECT block_num FROM chain.readers')
        if (Number(rows[0]?.block_num) >= last) break
        if (performance.now() > untilMs)
          throw new Error(`the filler stays at ${String(rows[0]?.block_num)} of ${last}`)
        await sleep(100)
      }
      await client.end()
      await this.filler.stop()
      const found = compareDumps(
        await dumpDatabase(straight.address),
        await dumpDatabase(this.database.address),
      )
      // API keys are generated, not read from the chain, so the databases have different keys.
      return found.filter((difference) => !difference.startsWith('access.'))
    } finally {
      await straight.drop()
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#sampling)
    await Promise.all([this.api.stop(), this.state.stop(), this.filler.stop()])
    await this.relay.close()
    await this.chain.stop()
    await this.redis.stop()
    await this.database.drop()
    await rm(this.#directory, { recursive: true, force: true })
  }

  #sample(): void {
    const atS = (performance.now() - this.#startedMs) / 1_000
    const note = (name: string, megabytes: number): void => {
      if (Number.isNaN(megabytes)) return
      const samples = this.memory.get(name) ?? []
      samples.push({ atS, megabytes })
      this.memory.set(name, samples)
    }
    for (const program of [this.api, this.state, this.filler]) note(program.name, program.megabytes)
    note('postgres backend', backendMegabytes(this.database.address.database))
  }

  async #untilServing(): Promise<void> {
    const untilMs = performance.now() + START_MS
    for (const url of [`${this.apiUrl}/alive`, `${this.stateUrl}/healthz`]) {
      for (;;) {
        const answer = await fetch(url).catch(() => undefined)
        await answer?.arrayBuffer()
        if (answer && answer.status < 500) break
        if (this.crashed.length > 0) throw new Error(this.crashed.join('\n'))
        if (performance.now() > untilMs) throw new Error(`${url} does not answer`)
        await sleep(100)
      }
    }
    this.api.lookUpWorkers()
  }
}

/**
 * Memory of a program over a run: means of the second and of the last fifth, maximum, and slope over the last four
 * fifths.
 */
export interface MemoryCourse {
  readonly name: string
  /** Memory of a program at the start of the run, after a quarter of the run, after half of it, and at the end. */
  readonly courseMegabytes: readonly number[]
  readonly earlyMegabytes: number
  readonly lateMegabytes: number
  readonly mostMegabytes: number
  readonly slopePerHour: number
}

/** Memory statistics of each program from `fromS` seconds after the start on. */
export function memoryCourses(programs: Programs, fromS = 0): MemoryCourse[] {
  return [...programs.memory].map(([name, all]) => {
    const samples = all.filter(({ atS }) => atS >= fromS)
    const part = (from: number, to: number): number =>
      mean(samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to)))
    return {
      name,
      courseMegabytes: [0, 0.25, 0.5, 1].map(
        (at) => samples[Math.round((samples.length - 1) * at)]?.megabytes ?? NaN,
      ),
      earlyMegabytes: part(0.2, 0.4),
      lateMegabytes: part(0.8, 1),
      mostMegabytes: Math.max(...samples.map(({ megabytes }) => megabytes)),
      slopePerHour: slope(samples.slice(Math.floor(samples.length / 5))) * 3_600,
    }
  })
}

function mean(samples: readonly { readonly megabytes: number }[]): number {
  return samples.reduce((sum, { megabytes }) => sum + megabytes, 0) / samples.length
}

/** Slope of the least-squares line, megabytes a second. */
function slope(samples: readonly { readonly atS: number; readonly megabytes: number }[]): number {
  const time = samples.reduce((sum, { atS }) => sum + atS, 0) / samples.length
  const memory = mean(samples)
  let [above, below] = [0, 0]
  for (const { atS, megabytes } of samples) {
    above += (atS - time) * (megabytes - memory)
    below += (atS - time) ** 2
  }
  return below === 0 ? 0 : above / below
}

/** Formats memory statistics as a table. */
export function memoryTable(courses: readonly MemoryCourse[]): string {
  const lines = courses.map(
    ({ name, courseMegabytes, earlyMegabytes, lateMegabytes, mostMegabytes, slopePerHour }) =>
      `| ${name} | ${[...courseMegabytes, earlyMegabytes, lateMegabytes, mostMegabytes, slopePerHour].map((value) => value.toFixed(0)).join(' | ')} |`,
  )
  return [
    '| Memory, MB | start | quarter | half | end | second fifth | last fifth | most | slope, MB an hour |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n')
}

/** Defines a test suite that starts the attacked programs before its tests and stops them afterwards. */
export function describeWithPrograms(title: string, suite: (programs: () => Programs) => void): void {
  describeWithRedis(title, () => {
    let programs: Programs | undefined
    beforeAll(async () => {
      programs = await Programs.start()
    }, 600_000)
    afterAll(async () => {
      // `programs` is undefined if the start failed.
      await programs?.stop()
    }, 60_000)
    suite(() => programs!)
  })
}
