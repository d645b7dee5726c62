import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startApi } from '../../services/api/index.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { connectDatabase, migrate } from '../../services/core/database/index.ts'
import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { createDevchain } from '../../services/devchain/index.ts'
import type { Devchain } from '../../services/devchain/index.ts'
import { runReader } from '../../services/filler/index.ts'
import { startEmbeddedPostgres } from '../../services/standalone/index.ts'
import type { EmbeddedPostgres } from '../../services/standalone/index.ts'
import { compareDumps, dumpDatabase } from '../integration/database-dump.ts'
import { testSettings } from '../integration/index-chain.ts'
import { startTestRedis } from '../setup/redis.ts'
import type { TestRedis } from '../setup/redis.ts'
import { Gate } from './gate.ts'
import { copyForReplica, promote, startReplica } from './replica.ts'
import { SmallDisk } from './small-disk.ts'

const logger = createLogger({ name: 'faults', level: 'silent' })
const DATABASE = 'faults'
/** A small number of PostgreSQL connections, so that one fault can use them all up. */
const rigSettings = {
  max_connections: '40',
  superuser_reserved_connections: '0',
  max_wal_size: '128MB',
  // WAL that the primary keeps for a replica that was disconnected.
  wal_keep_size: '64MB',
}
const DISK_MB = 600
const RECOVERY_MS = 3_000
const RESTART_MS = 1_000
const BLOCK_MS = 500

/** Facts from the answer of `/health`. */
export interface Health {
  readonly status: string
  readonly reasons: readonly string[]
  readonly block: number
}

/**
 * The whole system on one machine: a chain that produces blocks, a filler that is restarted when it exits, an API,
 * Redis and PostgreSQL.
 */
export class Rig {
  readonly #base = mkdtempSync(join(tmpdir(), 'pronghorn-faults-'))
  readonly #dataDir = join(this.#base, 'primary')
  readonly #replicaDir = join(this.#base, 'replica')
  readonly stopping = new AbortController()
  postgres!: EmbeddedPostgres
  disk!: SmallDisk
  redis!: TestRedis
  chain!: Devchain
  node!: { readonly shipUrl: string; readonly httpUrl: string }
  databaseGate!: Gate
  nodeGate!: Gate
  #replica: EmbeddedPostgres | undefined
  #api!: RunningApi
  #filler!: Promise<void>
  #fillerRun = new AbortController()
  #producing: NodeJS.Timeout | undefined
  #firstBlockMs = 0
  #produced = 0
  #isPaused = false

  async start(): Promise<void> {
    // If the tests run as root, the servers run as another user, who must be able to enter the folder.
    chmodSync(this.#base, 0o755)
    mkdirSync(this.#dataDir)
    this.disk = SmallDisk.mount(this.#dataDir, DISK_MB)
    await this.startPostgres()
    this.databaseGate = await Gate.open(this.postgres)
    const admin = await connectDatabase({ ...this.direct, database: 'postgres' }, { applicationName: 'test' })
    await admin.query(`CREATE DATABASE ${DATABASE}`)
    await admin.end()
    const client = await connectDatabase(this.direct, { applicationName: 'test' })
    await migrate(client)
    await client.end()
    await this.postgres.stop()
    await copyForReplica(this.#dataDir, this.#replicaDir)
    await this.startPostgres()
    this.databaseGate.lead(this.postgres)
    this.#replica = await startReplica(this.#replicaDir, this.address, rigSettings)
    this.redis = await startTestRedis()
    this.#firstBlockMs = Date.now()
    this.chain = createDevchain({ recordings: ['main'], startTimeMs: this.#firstBlockMs })
    this.node = await this.chain.start()
    this.#producing = setInterval(() => {
      this.#produce()
    }, BLOCK_MS / 5)
    this.nodeGate = await Gate.open(targetOf(this.node.shipUrl))
    this.#filler = this.#keepFilling()
    const { config } = parseConfig({
      connections: {
        sqldb: { ...this.address },
        kvstore: { host: '127.0.0.1', port: this.redis.port },
        chain: { name: 'test', chain_id: this.chain.chainId, http: this.node.httpUrl, ship: this.shipUrl },
      },
      server: {
        server_addr: '127.0.0.1',
        namespaces: [{ name: 'assets', path: '/assets', args: { assets_account: 'atomicassets' } }],
      },
    })
    this.#api = await startApi({
      config: { connections: config.connections, server: { ...config.server, server_port: 0 } },
      logger,
      waitMs: 60_000,
    })
  }

  /** Address of the gate, a proxy that forwards connections to the database. */
  get address(): DatabaseAddress {
    return { ...this.direct, host: '127.0.0.1', port: this.databaseGate.port }
  }

  /** Address of the PostgreSQL server itself, without the gate. */
  get direct(): DatabaseAddress {
    const { host, port, user, password } = this.postgres
    return { host, port, user, password, database: DATABASE }
  }

  get shipUrl(): string {
    return `ws://127.0.0.1:${this.nodeGate.port}`
  }

  async startPostgres(): Promise<void> {
    this.postgres = await startEmbeddedPostgres({ dataDir: this.#dataDir, settings: rigSettings })
  }

  /**
   * Stops the primary, promotes the replica, and makes the gate (a proxy in front of the database) forward to the
   * replica.
   */
  async failOver(): Promise<void> {
    if (!this.#replica) throw new Error('there is no replica')
    await this.postgres.stop()
    this.postgres = this.#replica
    this.#replica = undefined
    await promote(this.direct)
    this.databaseGate.lead(this.postgres)
  }

  /** Waits until PostgreSQL answers again without help. If PostgreSQL does not recover, starts the server again. */
  async revivePostgres(): Promise<void> {
    const untilMs = performance.now() + RECOVERY_MS
    while (performance.now() < untilMs) {
      const client = await connectDatabase(this.direct, { applicationName: 'test' }).catch(() => undefined)
      await client?.end()
      if (client) return
      await sleep(100)
    }
    await this.postgres.stop()
    await this.startPostgres()
    this.databaseGate.lead(this.postgres)
  }

  /** Sends a signal to every process of the database server. */
  signalPostgres(signal: NodeJS.Signals): void {
    const { pid } = this.postgres
    const children = execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    for (const each of [pid, ...children.trim().split('\n').map(Number)]) {
      try {
        process.kill(each, signal)
      } catch {
        // A process that ended meanwhile.
      }
    }
  }

  async health(): Promise<Health> {
    const response = await fetch(`${this.#api.url}/health`, { signal: AbortSignal.timeout(5_000) })
    const { data } = (await response.json()) as {
      data: {
        postgres: { readers: { block_num: string }[] }
        chain: { service: { status: string; reasons: string[] } }
      }
    }
    const { status, reasons } = data.chain.service
    return { status, reasons, block: Number(data.postgres.readers[0]?.block_num ?? 0) }
  }

  /** HTTP status of a list request. The random bound makes the API ask the database instead of its cache. */
  async listStatus(): Promise<number> {
    const at = Math.floor(Math.random() * 1e9)
    const response = await fetch(`${this.#api.url}/assets/v1/assets?limit=3&upper_bound=${at + 2 ** 41}`)
    await response.arrayBuffer()
    return response.status
  }

  /** Produces the blocks that are due by the chain clock. */
  #produce(): void {
    while (!this.#isPaused && this.#firstBlockMs + this.#produced * BLOCK_MS <= Date.now()) {
      this.chain.produceBlock()
      this.#produced++
    }
  }

  /** Number of rows that differ from a database that indexes the same blocks without faults. */
  async lostRows(): Promise<number> {
    const admin = await connectDatabase({ ...this.direct, database: 'postgres' }, { applicationName: 'test' })
    await admin.query('CREATE DATABASE straight')
    this.#isPaused = true
    const straight = { ...this.direct, database: 'straight' }
    try {
      const client = await connectDatabase(straight, { applicationName: 'test' })
      await migrate(client)
      await client.end()
      const last = this.chain.head().num
      await runReader(this.#readerOptions(straight, this.node.shipUrl, last), new AbortController().signal)
      while ((await this.health()).block < last) await sleep(100)
      const differences = compareDumps(await dumpDatabase(straight), await dumpDatabase(this.direct))
      for (const difference of differences.slice(0, 5)) console.log(difference)
      return differences.length
    } finally {
      this.#isPaused = false
      await admin.query('DROP DATABASE straight WITH (FORCE)')
      await admin.end()
    }
  }

  async stop(): Promise<void> {
    this.stopping.abort()
    clearInterval(this.#producing)
    await this.#api.close()
    await this.#filler
    await Promise.all([
      this.databaseGate.close(),
      this.nodeGate.close(),
      this.chain.stop(),
      this.redis.stop(),
    ])
    await this.postgres.stop()
    await this.#replica?.stop()
    this.disk.unmount()
    rmSync(this.#base, { recursive: true, force: true })
  }

  #readerOptions(database: DatabaseAddress, shipUrl: string, stopBlock: number) {
    return {
      settings: { ...testSettings, stop_block: stopBlock },
      database,
      chain: { chainId: this.chain.chainId, http: this.node.httpUrl, ship: [shipUrl] },
      logger,
      buildQueryIndexes: false,
    }
  }

  /** Restarts the filler: a new filler connects at once, while a filler after failures waits with back-off. */
  async restartFiller(): Promise<void> {
    const before = this.#fillerRun
    before.abort()
    while (this.#fillerRun === before) await sleep(100)
  }

  /** Restarts the filler whenever it exits, like a container with a restart policy. */
  async #keepFilling(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      this.#fillerRun = new AbortController()
      try {
        const signal = AbortSignal.any([this.stopping.signal, this.#fillerRun.signal])
        await runReader(this.#readerOptions(this.address, this.shipUrl, 0), signal)
      } catch {
        // A container that has exited is started again.
      }
      await sleep(RESTART_MS)
    }
  }
}

/** Host and port of a URL. */
export function targetOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}
