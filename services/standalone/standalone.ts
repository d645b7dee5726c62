import { tmpdir } from 'node:os'
import { startApi } from '../api/index.ts'
import { checkNode, DEMO_CHAIN_ID, shownAddress } from '../core/chain-node/index.ts'
import type { AppConfig } from '../core/config/index.ts'
import { knownChains } from '../core/config/schema/index.ts'
import { connectDatabase, explainDatabaseError, migrate } from '../core/database/index.ts'
import type { DatabaseAddress } from '../core/database/index.ts'
import { createMemoryStore } from '../core/kvstore/index.ts'
import type { Logger } from '../core/log/index.ts'
import { runFiller } from '../filler/index.ts'
import { DATABASE, prepareDataDirectory } from './data-directory.ts'
import { startStateService } from './state-service.ts'
import { startDemoChain } from './demo-chain.ts'
import type { DemoChain } from './demo-chain.ts'
import { startEmbeddedPostgres } from './embedded-postgres/index.ts'
import type { EmbeddedPostgres } from './embedded-postgres/index.ts'
import type { Progress } from './progress.ts'
import { chooseStart, createConfig } from './settings.ts'
import type { StandaloneChain, Start } from './settings.ts'
import { checkRunAccounts, checkRunChain, explainRunError, explainTrouble } from './standalone-errors.ts'

export interface StandaloneOptions {
  /** State-history URL and HTTP URL of a node; null for the bundled demo chain. */
  readonly node: { readonly ship: string; readonly http: string } | null
  /** Folder of the database; null for a temporary folder. */
  readonly dataDir: string | null
  /** Host and port at which the API listens. */
  readonly host: string
  readonly port: number
  /** Port of the state service. Null: the API port plus ten, or any free port if that port is taken. */
  readonly statePort: number | null
  /**
   * First block to index; 0 for the first block of the node. Null: the known start block of the chain, else the first
   * block of the node.
   */
  readonly startBlock: number | null
  /** Whether the first block may differ from the known start block of the chain. */
  readonly startBlockOverride: boolean
  readonly assetsAccount: string
  /** Accounts of the market, oracle and tools contracts; `none` leaves a contract out. */
  readonly marketAccount: string
  readonly oracleAccount: string
  readonly toolsAccount: string
  readonly logger: Logger
  /**
   * Shows the progress. Log lines are printed through `progress`, too: printed directly, they would break the progress
   * bar.
   */
  readonly progress: Progress
  /** Aborted to stop the run: API, filler, demo chain and PostgreSQL then stop one after the other. */
  readonly signal: AbortSignal
}

/**
 * Blocks below the head for which the state service keeps history: a day of a real chain, an hour of the demo chain.
 */
const HISTORY_BLOCKS = 172_800
const DEMO_HISTORY_BLOCKS = 7_200

/** Contracts of the demo chain whose rows the state service stores, in addition to the assets contract. */
const demoAccounts = ['atomicmarket', 'delphioracle', 'eosio.token']

/**
 * Runs everything in one process with embedded services: PostgreSQL, the demo chain unless a node is given, filler,
 * API and state service. Returns when `signal` aborts.
 *
 * @throws the error that prevented a service from starting, or that stopped a service.
 */
export async function runStandalone(options: StandaloneOptions): Promise<void> {
  if (options.signal.aborted) return
  const dataDir = options.dataDir === null ? null : await prepareDataDirectory(options.dataDir)
  const stop = () => {
    options.progress.print('Stopping after the current commit. Press Ctrl-C again to stop at once.\n')
  }
  options.signal.addEventListener('abort', stop, { once: true })
  const withoutDatabase = new AbortController()
  const ending = AbortSignal.any([options.signal, withoutDatabase.signal])
  let failure: Error | undefined
  const closing: (() => Promise<unknown>)[] = []
  try {
    const { progress, node } = options
    let given: StandaloneChain | null = null
    if (node) {
      progress.print(`Checking the chain node at ${shownAddress(node.ship)} and ${shownAddress(node.http)}\n`)
      given = givenChain(node, await checkNode(node))
    }
    const start = chooseStart(given?.chainId ?? '', options.startBlock, options.startBlockOverride)
    checkOptions(options, given, start)
    progress.print(`Starting PostgreSQL in ${dataDir ?? 'a temporary directory'}\n`)
    const postgres = await startEmbeddedPostgres({
      ...(dataDir === null ? {} : { dataDir }),
      onUnexpectedExit: (exit) => {
        failure = exit
        withoutDatabase.abort()
      },
    })
    closing.push(() => postgres.stop())
    if (ending.aborted) return
    progress.print('Creating or updating the database\n')
    const { database, isNewDatabase } = await prepareDatabase(postgres)
    if (given === null) progress.print('Starting the demo chain\n')
    const demo = given === null ? await startDemoChain(dataDir) : null
    if (demo) closing.push(() => demo.chain.stop())
    const chain = given ?? demoChain(demo!)
    if (dataDir !== null && !demo?.isNew)
      await withClient(database, async (client) => {
        await checkRunChain(client, chain, { dataDir, isDemo: given === null })
        await checkRunAccounts(client, options, { dataDir })
      })
    await serve({ ...options, dataDir }, { database, isNewDatabase, demo, chain, start }, ending, closing)
  } catch (error) {
    failure ??= explainRunError(error, { dataDir: dataDir ?? tmpdir() }) as Error
  } finally {
    options.signal.removeEventListener('abort', stop)
    for (const close of closing.reverse()) await close()
  }
  if (failure !== undefined) throw failure
}

interface Parts {
  readonly database: DatabaseAddress
  readonly isNewDatabase: boolean
  /** The demo chain; null if the run indexes the node of `--ship` and `--http`. */
  readonly demo: DemoChain | null
  readonly chain: StandaloneChain
  readonly start: Start
}

/** @throws FatalError `USAGE` naming the option that has an unusable value. */
function configOf(options: StandaloneOptions, parts: Parts): AppConfig {
  const { demo } = parts
  return createConfig({
    ...parts,
    host: options.host,
    port: options.port,
    assetsAccount: options.assetsAccount,
    marketAccount: options.marketAccount,
    oracleAccount: options.oracleAccount,
    toolsAccount: options.toolsAccount,
    // A new demo chain needs an empty database: the data of an earlier demo chain are deleted.
    deleteData: !parts.isNewDatabase && (demo?.isNew ?? false),
    storedState: {
      accounts: [options.assetsAccount, ...(demo ? demoAccounts : [])],
      permissions: demo !== null,
      history_blocks: demo ? DEMO_HISTORY_BLOCKS : HISTORY_BLOCKS,
    },
  })
}

/** Refuses unusable options before PostgreSQL starts. Ports that are not known yet have placeholders in this check. */
function checkOptions(options: StandaloneOptions, given: StandaloneChain | null, start: Start): void {
  const database = { host: '127.0.0.1', port: 1, user: DATABASE, password: '', database: DATABASE }
  const chain = given ?? {
    name: 'demo',
    chainId: DEMO_CHAIN_ID,
    http: 'http://127.0.0.1:1',
    ship: 'ws://127.0.0.1:1',
  }
  configOf(options, { database, chain, start, isNewDatabase: true, demo: null })
}

async function serve(
  options: StandaloneOptions,
  parts: Parts,
  signal: AbortSignal,
  closing: (() => Promise<unknown>)[],
): Promise<void> {
  const { database, demo } = parts
  const config = configOf(options, parts)
  // Filler and API share one key-value store in memory: it carries the notifications of new events for live clients.
  const kvstore = createMemoryStore(options.logger)
  closing.push(() => kvstore.close())
  options.progress.print('Starting the api and the state service\n')
  const ports: { state?: number } = {}
  const api = await startApi({
    config,
    logger: options.logger.child({ part: 'api' }),
    kvstore,
    isDemo: demo !== null,
    statePort: () => ports.state,
  })
  closing.push(() => api.close())
  const state = await startStateService(options, config, database)
  closing.push(() => state.service.close())
  ports.state = state.service.port
  const { progress } = options
  let isAnnounced = false
  const announceOnce = (): void => {
    if (isAnnounced) return
    isAnnounced = true
    announce(options, { api: api.port, state: state.service.port, key: state.key }, parts)
  }
  // The demo chain is announced only after it is indexed (a few seconds): the example request of the README then works.
  if (demo) progress.print('Indexing the demo chain\n')
  else announceOnce()
  closing.push(() => {
    progress.stop()
    return Promise.resolve()
  })
  await runFiller({
    config,
    logger: options.logger,
    signal,
    pretty: true,
    mode: 'standalone',
    health: false,
    kvstore,
    onLogLine: (line) => progress.print(line),
    onStatus: (status) => {
      progress.update(explainTrouble(status, options.dataDir ?? tmpdir()))
      if (status.state === 'live') announceOnce()
    },
  })
}

function demoChain({ chain, httpUrl: http, shipUrl: ship }: DemoChain): StandaloneChain {
  return { name: 'demo', chainId: chain.chainId, http, ship }
}

/** Names the chain: its known name, or `chain-` and the beginning of its id. */
function givenChain(node: NonNullable<StandaloneOptions['node']>, chainId: string): StandaloneChain {
  const known = knownChains.find(({ id }) => id === chainId)
  return { ...node, name: known?.name ?? `chain-${chainId.slice(0, 8)}`, chainId }
}

/** Creates the database on first use and migrates its schema. */
async function prepareDatabase(
  postgres: EmbeddedPostgres,
): Promise<Pick<Parts, 'database' | 'isNewDatabase'>> {
  const { host, port, user, password } = postgres
  const database = { host, port, user, password, database: DATABASE }
  let isNewDatabase = false
  try {
    await withClient({ ...database, database: 'postgres' }, async (admin) => {
      const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE])
      isNewDatabase = rowCount === 0
      if (isNewDatabase) await admin.query(`CREATE DATABASE ${DATABASE}`)
    })
    await withClient(database, migrate)
  } catch (error) {
    throw explainDatabaseError(error, 'creating the tables')
  }
  return { database, isNewDatabase }
}

async function withClient<T>(
  database: DatabaseAddress,
  work: (client: Awaited<ReturnType<typeof connectDatabase>>) => Promise<T>,
): Promise<T> {
  const client = await connectDatabase(database, { applicationName: 'pronghorn standalone' })
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Example request for a collection of the recorded blocks. The README shows the reply. */
const DEMO_EXAMPLE = '/atomicassets/v1/collections/carolcollect'

interface Serving {
  readonly api: number
  readonly state: number
  /** API key of the state service. */
  readonly key: string
}

function announce(options: StandaloneOptions, serving: Serving, { database, demo, chain }: Parts): void {
  const api = `http://localhost:${serving.api}`
  const { user, password, host, port, database: name } = database
  const named = demo ? 'the demo chain' : chain.name
  // Printing the password is acceptable: the database listens on loopback only, for the user of this terminal.
  options.progress.print(`
Pronghorn is running. Ctrl-C stops it.

  console   ${api}/
  health    ${api}/health
  example   ${api}${demo ? DEMO_EXAMPLE : '/atomicassets/v1/assets?limit=1'}
  state     http://localhost:${serving.state}/v0/docs, API key ${serving.key}
  database  postgres://${user}:${password}@${host}:${port}/${name}${options.dataDir === null ? ' (temporary)' : ''}
  chain     ${named}: ${shownAddress(chain.ship)} (state history), ${shownAddress(chain.http)} (HTTP)

`)
}
