import { resolve } from 'node:path'
import { startApi } from '../api/index.ts'
import { readChainInfo } from '../core/chain-node/index.ts'
import { connectDatabase, migrate } from '../core/database/index.ts'
import type { DatabaseAddress } from '../core/database/index.ts'
import { FatalError } from '../core/errors/index.ts'
import { createMemoryStore } from '../core/kvstore/index.ts'
import type { Logger } from '../core/log/index.ts'
import { runFiller } from '../filler/index.ts'
import { startStateService } from './state-service.ts'
import { startDemoChain } from './demo-chain.ts'
import type { DemoChain } from './demo-chain.ts'
import { startEmbeddedPostgres } from './embedded-postgres/index.ts'
import type { EmbeddedPostgres } from './embedded-postgres/index.ts'
import { Progress } from './progress.ts'
import type { ProgressOutput } from './progress.ts'
import { makeConfig } from './settings.ts'
import type { StandaloneChain } from './settings.ts'

/** What `runStandalone` takes. */
export interface StandaloneOptions {
  /** State-history and HTTP address of a real node; null for the bundled demo chain. */
  readonly node: { readonly ship: string; readonly http: string } | null
  /** Folder that keeps the database; null for a temporary one. */
  readonly dataDir: string | null
  /** Address and port of the API. */
  readonly host: string
  readonly port: number
  /** Port of the state service; null for ten above that of the API, or any when that is taken. */
  readonly statePort: number | null
  /** First block to index; 0 for the first there is. */
  readonly startBlock: number
  readonly assetsAccount: string
  readonly marketAccount: string
  readonly oracleAccount: string
  readonly toolsAccount: string
  readonly logger: Logger
  readonly output: ProgressOutput
  /** Aborting it stops everything in order. */
  readonly signal: AbortSignal
}

const DATABASE = 'pronghorn'

/** Blocks below the head that the state service can go back to: a day of a real chain, an hour of the demo chain. */
const HISTORY_BLOCKS = 172_800
const DEMO_HISTORY_BLOCKS = 7_200

/** Contracts of the demo chain whose rows the state service tells, beside the assets contract. */
const demoAccounts = ['atomicmarket', 'delphioracle', 'eosio.token']

/**
 * Runs everything in one process on embedded parts: PostgreSQL, the demo chain unless a node is given, filler,
 * API and state service. Returns when `signal` aborts.
 *
 * @throws what kept a part from starting, or ended it.
 */
export async function runStandalone(options: StandaloneOptions): Promise<void> {
  const dataDir = options.dataDir === null ? null : resolve(options.dataDir)
  const ending = new AbortController()
  const end = () => ending.abort()
  const stop = () => {
    options.output.out('Stopping after the commit in progress. Ctrl-C again ends it at once.\n')
    end()
  }
  options.signal.addEventListener('abort', stop, { once: true })
  if (options.signal.aborted) return
  let failure: Error | undefined
  const closing: (() => Promise<unknown>)[] = []
  try {
    const postgres = await startEmbeddedPostgres({
      ...(dataDir === null ? {} : { dataDir }),
      onUnexpectedExit: (detail) => {
        failure = new FatalError('EMBEDDED_POSTGRES_FAILED', `PostgreSQL ended by itself: ${detail}`)
        end()
      },
    })
    closing.push(() => postgres.stop())
    if (ending.signal.aborted) return
    const database = await prepareDatabase(postgres)
    const demo = options.node === null ? await startDemoChain(dataDir) : null
    if (demo) closing.push(() => demo.chain.stop())
    await serve(options, database, demo, ending.signal, closing)
  } catch (error) {
    failure ??= error as Error
  } finally {
    options.signal.removeEventListener('abort', stop)
    for (const close of closing.reverse()) await close()
  }
  if (failure !== undefined) throw failure
}

async function serve(
  options: StandaloneOptions,
  database: DatabaseAddress,
  demo: DemoChain | null,
  signal: AbortSignal,
  closing: (() => Promise<unknown>)[],
): Promise<void> {
  const config = makeConfig({
    database,
    chain: await describeChain(options, demo),
    host: options.host,
    port: options.port,
    startBlock: options.startBlock,
    assetsAccount: options.assetsAccount,
    marketAccount: options.marketAccount,
    oracleAccount: options.oracleAccount,
    toolsAccount: options.toolsAccount,
    // What another demo chain left behind does not fit this one.
    deleteData: options.dataDir !== null && (demo?.isNew ?? false),
    keptState: {
      accounts: [options.assetsAccount, ...(demo ? demoAccounts : [])],
      permissions: demo !== null,
      history_blocks: demo ? DEMO_HISTORY_BLOCKS : HISTORY_BLOCKS,
    },
  })
  // Filler and API share it, and with it the messages for live clients.
  const kvstore = createMemoryStore(options.logger)
  closing.push(() => kvstore.close())
  const api = await startApi({ config, logger: options.logger.child({ part: 'api' }), kvstore })
  closing.push(() => api.close())
  const state = await startStateService(options, config, database)
  closing.push(() => state.service.close())
  announce(options, { api: api.port, state: state.service.port, key: state.key }, database, demo)
  const progress = new Progress(options.output)
  closing.push(() => {
    progress.stop()
    return Promise.resolve()
  })
  await runFiller({
    config,
    logger: options.logger,
    signal,
    pretty: true,
    health: false,
    kvstore,
    onStatus: (status) => progress.update(status),
  })
}

async function describeChain(options: StandaloneOptions, demo: DemoChain | null): Promise<StandaloneChain> {
  if (demo) return { name: 'demo', chainId: demo.chain.chainId, http: demo.httpUrl, ship: demo.shipUrl }
  const { ship, http } = options.node!
  return { name: 'chain', chainId: (await readChainInfo(http)).chainId, http, ship }
}

/** Makes the database on first use and brings it to the newest schema. */
async function prepareDatabase(postgres: EmbeddedPostgres): Promise<DatabaseAddress> {
  const { host, port, user, password } = postgres
  const address = { host, port, user, password, database: DATABASE }
  const admin = await connectDatabase(
    { ...address, database: 'postgres' },
    { applicationName: 'pronghorn standalone' },
  )
  try {
    const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE])
    if (rowCount === 0) await admin.query(`CREATE DATABASE ${DATABASE}`)
  } finally {
    await admin.end()
  }
  const client = await connectDatabase(address, { applicationName: 'pronghorn standalone' })
  try {
    await migrate(client)
  } finally {
    await client.end()
  }
  return address
}

interface Serving {
  readonly api: number
  readonly state: number
  /** API key of the state service. */
  readonly key: string
}

function announce(
  options: StandaloneOptions,
  serving: Serving,
  database: DatabaseAddress,
  demo: DemoChain | null,
): void {
  const api = `http://localhost:${serving.api}`
  const chain = demo
    ? `${demo.shipUrl} (state history), ${demo.httpUrl} (HTTP): the demo chain`
    : `${options.node!.ship}, ${options.node!.http}`
  options.output.out(`
Pronghorn is running. Ctrl-C stops it.

  console   ${api}/
  health    ${api}/health
  assets    ${api}/atomicassets/v1/assets?limit=1
  state     http://localhost:${serving.state}/v0/docs, API key ${serving.key}
  database  postgres://${database.user}@${database.host}:${database.port}/${database.database}${options.dataDir === null ? ' (temporary)' : ''}
  chain     ${chain}

`)
}
