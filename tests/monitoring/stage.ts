import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { generate } from 'selfsigned'
import { connectDatabase } from '../../services/core/database/index.ts'
import { findFreePort } from '../../services/core/http/listener/index.ts'
import { packageRoot } from '../../services/core/paths/index.ts'
import { Gate } from '../faults/gate.ts'
import { startChain } from '../integration/index-chain.ts'
import type { TestChain } from '../integration/index-chain.ts'
import { StreamClient, WebsocketClient } from '../live/clients.ts'
import { startTestRedis } from '../setup/redis.ts'
import type { TestRedis } from '../setup/redis.ts'
import { startReplicatedPostgres } from '../setup/replicated-postgres.ts'
import type { ReplicatedPostgres } from '../setup/replicated-postgres.ts'

const program = join(packageRoot, 'dist/services/cli/main.js')
const DAY_MS = 86_400_000
const GB = 2 ** 30
/** Number of database connections of the api. Small, so that a test can occupy all of them. */
const CONNECTIONS = 4
const ROUTE = '/atomicassets/v1/assets?limit=2'

type Service = 'filler' | 'api' | 'state'

/** The demo chain with one process for each service, a replica, Redis, a proxy with a certificate, and clients. */
export class Stage {
  readonly #running = new Map<Service, ChildProcess>()
  readonly #closing: (() => unknown)[] = []
  readonly #said = new Map<Service, string>()
  #dir!: string
  #postgres!: ReplicatedPostgres
  #replicaGate!: Gate
  #chain!: TestChain
  redis!: TestRedis
  #ports!: Record<'filler' | 'api' | 'apiMetrics' | 'state' | 'stateMetrics', number>
  #proxy!: ReturnType<typeof createTlsServer>
  #lock: Awaited<ReturnType<typeof connectDatabase>> | undefined
  /** Exports the metrics of a simulated disk, because a test cannot fill a real disk within seconds. */
  readonly #disk = createServer((_, response) => {
    this.#freeBytes -= this.isDiskFilling ? GB : 0
    response.end(
      `pronghorn_database_disk_free_bytes ${this.#freeBytes}\npronghorn_database_disk_bytes ${1_000 * GB}\n`,
    )
  })
  #freeBytes = 900 * GB
  isDiskFilling = false
  isBusy = false

  async start(): Promise<void> {
    this.#dir = await mkdtemp(join(tmpdir(), 'pronghorn-watched-'))
    this.#postgres = await startReplicatedPostgres()
    this.#replicaGate = await Gate.open(this.#postgres.replica.address)
    this.redis = await startTestRedis()
    this.#chain = await startChain({ recordings: ['main', 'v2'], live: { intervalMs: 500 } })
    this.#ports = {
      filler: await findFreePort(),
      api: await findFreePort(),
      apiMetrics: await findFreePort(),
      state: await findFreePort(),
      stateMetrics: await findFreePort(),
    }
    this.#proxy = createTlsServer({ ...(await certificate(5)) })
    this.#proxy.listen(0, '127.0.0.1')
    this.#disk.listen(0, '127.0.0.1')
    await Promise.all([once(this.#proxy, 'listening'), once(this.#disk, 'listening')])
    await this.#writeConfiguration()
    await this.sql("SELECT chain.note_task('backup', NULL, 86400), chain.note_task('verify', NULL)")
    for (const service of ['filler', 'api', 'state'] as const) this.startService(service)
    await this.#untilAnswered()
    const url = `http://127.0.0.1:${this.#ports.api}`
    const socket = await WebsocketClient.open(`${url}/atomicassets/v1/live`)
    await socket.subscribe()
    const stream = new StreamClient(`${url}/atomicassets/v1/events`)
    this.#closing.push(
      () => socket.socket.terminate(),
      () => stream.close(),
    )
    const asking = setInterval(() => void this.#ask(), 200)
    this.#closing.push(() => clearInterval(asking))
  }

  /** Addresses to scrape, by job. */
  targets(): Record<string, string> {
    const { filler, apiMetrics, stateMetrics } = this.#ports
    const disk = (this.#disk.address() as AddressInfo).port
    return Object.fromEntries(
      Object.entries({ filler, api: apiMetrics, state: stateMetrics, disk }).map(([job, port]) => [
        job,
        `127.0.0.1:${port}`,
      ]),
    )
  }

  startService(service: Service): void {
    const { state, stateMetrics } = this.#ports
    const words = service === 'filler' ? [service, '--disk', this.#dir] : [service]
    const child = spawn(process.execPath, [program, ...words], {
      env: {
        CONFIG_DIR: this.#dir,
        API_WORKERS: '2',
        STATE_ADDR: '127.0.0.1',
        STATE_PORT: String(state),
        STATE_METRICS_PORT: String(stateMetrics),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => {
        this.#said.set(service, ((this.#said.get(service) ?? '') + text.toString()).slice(-5_000))
      })
    this.#running.set(service, child)
  }

  async stopService(service: Service): Promise<void> {
    const child = this.#running.get(service)
    if (!child || child.exitCode !== null) return
    const ended = once(child, 'close')
    child.kill('SIGTERM')
    await ended
  }

  /** The last output lines of every service, for the message of a failed test. */
  said(): string {
    return [...this.#said].map(([service, text]) => `${service}: ${text}`).join('\n')
  }

  async sql(text: string): Promise<void> {
    const client = await connectDatabase(this.#postgres.primary.address, { applicationName: 'test' })
    await client.query(text)
    await client.end()
  }

  /** Locks a table from another session, so that commits and requests wait. */
  async lockTable(): Promise<void> {
    this.#lock = await connectDatabase(this.#postgres.primary.address, { applicationName: 'test' })
    await this.#lock.query('BEGIN')
    await this.#lock.query('LOCK TABLE assets.assets IN ACCESS EXCLUSIVE MODE')
    this.isBusy = true
  }

  async unlockTable(): Promise<void> {
    this.isBusy = false
    await this.#lock?.end()
    this.#lock = undefined
  }

  cutReplica(): void {
    this.#replicaGate.lead(undefined)
  }

  joinReplica(): void {
    this.#replicaGate.lead(this.#postgres.replica.address)
  }

  async renewCertificate(): Promise<void> {
    this.#proxy.setSecureContext(await certificate(90))
  }

  async stop(): Promise<void> {
    for (const close of this.#closing) close()
    await this.unlockTable()
    await Promise.all([...this.#running.keys()].map((service) => this.stopService(service)))
    this.#proxy.close()
    this.#disk.closeAllConnections()
    this.#disk.close()
    await this.#chain.chain.stop()
    await this.redis.stop()
    await this.#replicaGate.close()
    await this.#postgres.remove()
    await rm(this.#dir, { recursive: true, force: true })
  }

  async #writeConfiguration(): Promise<void> {
    const { filler, api, apiMetrics } = this.#ports
    const { chain, httpUrl, shipUrl } = this.#chain
    const address = '127.0.0.1'
    const accounts = { assets_account: 'atomicassets', market_account: 'atomicmarket' }
    const files = {
      connections: {
        sqldb: {
          ...this.#postgres.primary.address,
          replicas: [{ host: address, port: this.#replicaGate.port }],
        },
        kvstore: { host: address, port: this.redis.port },
        chain: { name: 'demo', chain_id: chain.chainId, http: httpUrl, ship: shipUrl },
      },
      server: {
        server_addr: address,
        server_port: api,
        metrics_port: apiMetrics,
        metrics_addr: address,
        max_db_connections: CONNECTIONS,
        ip_whitelist: [address],
        tls_proxy: `${address}:${(this.#proxy.address() as AddressInfo).port}`,
        server_name: 'localhost',
        namespaces: [
          {
            name: 'assets',
            path: '/atomicassets',
            args: { assets_account: 'atomicassets', connected_reader: 'main' },
          },
          { name: 'market', path: '/atomicmarket', args: accounts },
        ],
      },
      readers: [
        {
          name: 'main',
          server_addr: address,
          server_port: filler,
          contracts: [
            { handler: 'assets', args: { assets_account: 'atomicassets' } },
            { handler: 'oracle', args: { oracle_account: 'delphioracle' } },
            { handler: 'market', args: { ...accounts, oracle_account: 'delphioracle' } },
          ],
        },
      ],
    }
    for (const [name, content] of Object.entries(files))
      await writeFile(join(this.#dir, `${name}.config.json`), JSON.stringify(content))
  }

  async #untilAnswered(): Promise<void> {
    while (!(await this.#ask())) {
      for (const [service, { exitCode }] of this.#running)
        if (exitCode !== null) throw new Error(`${service} ended: ${this.said()}`)
      await sleep(200)
    }
  }

  /**
   * Sends one request to the api. While `isBusy` is set, sends as many requests as the api has database connections.
   */
  async #ask(): Promise<boolean> {
    const base = `http://127.0.0.1:${this.#ports.api}${ROUTE}`
    const wanted = this.isBusy ? 4 : 1
    const answers = Array.from({ length: wanted }, () =>
      fetch(`${base}&page=${Math.ceil(Math.random() * 1_000)}`).then(
        async (response) => {
          await response.arrayBuffer()
          return response.ok
        },
        () => false,
      ),
    )
    return (await Promise.all(answers)).every((isGood) => isGood)
  }
}

/** Creates a certificate for localhost that expires in `days` days. */
async function certificate(days: number): Promise<{ cert: string; key: string }> {
  const created = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + days * DAY_MS),
  })
  return { cert: created.cert, key: created.private }
}
