import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectDatabase } from '../../services/core/database/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { createTestDatabase } from '../setup/database.ts'
import type { TestDatabase } from '../setup/database.ts'
import { readMetrics } from '../setup/metrics.ts'
import { describeWithRedis, startTestRedis } from '../setup/redis.ts'
import type { TestRedis } from '../setup/redis.ts'
import { generateRows } from './generated-rows.ts'
import { apiConfig, ask } from './server.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'

const program = join(packageRoot, 'dist/services/cli/main.js')
const WORKERS = 2

/** A running `pronghorn api` with several processes. */
class Api {
  readonly url: string
  readonly metricsUrl: string
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  output = ''
  readonly #child: ChildProcess

  constructor(directory: string, port: number, metricsPort: number) {
    this.url = `http://127.0.0.1:${port}`
    this.metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`
    this.#child = spawn(process.execPath, [program, 'api'], {
      env: { CONFIG_DIR: directory, LOG_LEVEL: 'info', API_WORKERS: String(WORKERS) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()))
    }
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => resolve({ code, signal }))
    })
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Process ids of the workers that have reported that they serve, in that order. */
  pids(): number[] {
    return [...this.output.matchAll(/"workerPid":(\d+),"msg":"a worker serves requests"/g)].map(([, pid]) =>
      Number(pid),
    )
  }

  async untilServing(count: number): Promise<void> {
    while (this.pids().length < count) {
      if (this.#child.exitCode !== null) throw new Error(`the api ended: ${this.output}`)
      await sleep(50)
    }
  }

  async untilSaid(text: string): Promise<void> {
    while (!this.output.includes(text)) await sleep(20)
  }

  async metrics(): Promise<ReadonlyMap<string, number>> {
    return readMetrics(await fetch(this.metricsUrl))
  }
}

/** Sends a request on a new connection, so that any worker process may answer. */
function askAfresh(url: string): ReturnType<typeof ask> {
  return ask(url, { headers: { connection: 'close' } })
}

describeWithRedis('several processes', () => {
  let database: TestDatabase
  let redis: TestRedis
  let directory: string
  const started: Api[] = []

  beforeAll(async () => {
    database = await createTestDatabase()
    redis = await startTestRedis()
    directory = await mkdtemp(join(tmpdir(), 'pronghorn-api-'))
    const client = await connectDatabase(database.address, { applicationName: 'test' })
    await generateRows(client, {
      ...{ collections: 2, schemasPerCollection: 1, templates: 2, assets: 20, owners: 2 },
      ...{ offers: 2, transfers: 4 },
    })
    await client.end()
  })
  afterAll(async () => {
    for (const api of started) api.kill('SIGKILL')
    await Promise.all(started.map(({ ended }) => ended))
    await redis.stop()
    await database.drop()
    await rm(directory, { recursive: true })
  })

  async function start(change: Record<string, unknown> = {}): Promise<Api> {
    const [port, metricsPort] = [await findFreePort(), await findFreePort()]
    const { connections, server } = apiConfig(database.address, {
      metrics_port: metricsPort,
      rate_limit: { interval: 600, requests: 40 },
      max_db_connections: 8,
    })
    const kvstore = { host: '127.0.0.1', port: redis.port }
    await write('connections', { ...connections, kvstore })
    await write('server', { ...server, server_port: port, ...change })
    const api = new Api(directory, port, metricsPort)
    started.push(api)
    return api
  }

  function write(name: string, content: unknown): Promise<void> {
    return writeFile(join(directory, `${name}.config.json`), JSON.stringify(content))
  }

  it('several API processes share port, rate limit and metrics; a killed process is replaced; all stop together', async () => {
    const api = await start()
    await api.untilServing(WORKERS)
    const assets = () => askAfresh(`${api.url}/assets/v1/assets?limit=1`)
    const answers = []
    for (let each = 0; each < 30; each++) answers.push(await assets())
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(30).fill(200))
    // All workers share one window of the rate limit.
    expect(answers.at(-1)?.headers.get('x-ratelimit-remaining')).toBe('10')

    const route = 'namespace="assets",route="/assets/v1/assets",status="2xx",method="GET"'
    const requests = `pronghorn_http_requests_total{${route}}`
    const before = await api.metrics()
    expect(before.get(requests)).toBe(30)
    expect(before.get('pronghorn_workers')).toBe(WORKERS)
    expect(before.get('pronghorn_database_connections_limit{server="primary"}')).toBe(8)
    expect(before.get('pronghorn_worker_restarts_total')).toBe(0)

    process.kill(api.pids()[0]!, 'SIGKILL')
    // Wait for the exit: a connection that is handed to the dying worker would be lost.
    await api.untilSaid('a worker exited')
    for (let each = 0; each < 5; each++) expect((await assets()).status).toBe(200)
    await api.untilServing(WORKERS + 1)
    const after = await api.metrics()
    expect(after.get(requests)).toBe(35)
    expect(after.get('pronghorn_workers')).toBe(WORKERS)
    expect(after.get('pronghorn_worker_restarts_total')).toBe(1)

    const health = await Promise.all(Array.from({ length: 6 }, () => askAfresh(`${api.url}/health`)))
    const [first, ...others] = health.map(({ status, body }) => {
      const { postgres, redis: store } = body.data as Record<string, unknown>
      return { status, postgres, store }
    })
    for (const other of others) expect(other).toEqual(first)

    // A second `pronghorn api` cannot use the port of the first one.
    const second = await start({ server_port: Number(new URL(api.url).port) })
    expect(await second.ended).toEqual({ code: 1, signal: null })
    expect(second.output).toContain('PORT_UNAVAILABLE')
    expect(second.pids()).toEqual([])

    // The processes answer a running request before they exit.
    const client = await connectDatabase(database.address, { applicationName: 'test' })
    await client.query('BEGIN; LOCK TABLE assets.assets IN ACCESS EXCLUSIVE MODE')
    // The URL is requested for the first time, so no process has a cached answer.
    const running = askAfresh(`${api.url}/assets/v1/assets?limit=2`)
    for (let waits = 0; waits === 0;) {
      const { rows } = await client.query<{ waits: number }>(
        "SELECT count(*)::int AS waits FROM pg_locks WHERE NOT granted AND relation = 'assets.assets'::regclass",
      )
      waits = rows[0]!.waits
    }
    api.kill('SIGTERM')
    await sleep(200)
    await client.query('ROLLBACK')
    await client.end()
    expect((await running).status).toBe(200)
    expect(await api.ended).toEqual({ code: 0, signal: null })
    for (const pid of api.pids()) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  it('API processes exit when their supervisor is killed', async () => {
    const api = await start()
    await api.untilServing(WORKERS)
    api.kill('SIGKILL')
    await api.ended
    for (const pid of api.pids()) {
      for (let isAlive = true; isAlive;) {
        try {
          process.kill(pid, 0)
          await sleep(50)
        } catch {
          isAlive = false
        }
      }
    }
    await expect(fetch(`${api.url}/timestamp`)).rejects.toThrow('fetch failed')
  })
})
