import type { DatabaseAddress } from '../../services/core/database/index.ts'
import { parseConfig } from '../../services/core/config/index.ts'
import { createLogger } from '../../services/core/log/index.ts'
import { startApi } from '../../services/api/index.ts'
import type { ApiConfig } from '../../services/api/preconditions.ts'
import type { RunningApi } from '../../services/api/index.ts'
import { buildIndexes, createIndexedDatabase } from '../integration/indexed-database.ts'
import type { TestDatabase } from '../setup/database.ts'

/** An answer with its parsed body. */
export interface JsonAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: { success: boolean; data: unknown; message?: string; query_time?: number }
}

/** An API on an indexed recording. */
export interface TestServer {
  readonly api: RunningApi
  readonly config: ApiConfig
  readonly database: TestDatabase
  /** Sends a GET request below the namespace, for example `get('/v1/assets?limit=1')`. */
  get(path: string, init?: RequestInit): Promise<JsonAnswer>
  close(): Promise<void>
}

const CHAIN_ID = '6693f0d1bb4e997750f43a152bda2683a1f6bbad5430aa21819f10f822483320'

/** Configuration of an API that listens on any free local port. */
export function apiConfig(database: DatabaseAddress, server: Record<string, unknown> = {}): ApiConfig {
  const { config } = parseConfig({
    connections: {
      sqldb: { ...database },
      // Nothing listens on port 9, so the API learns the head of the chain only from the readers.
      chain: { name: 'test', chain_id: CHAIN_ID, http: 'http://127.0.0.1:9', ship: 'ws://127.0.0.1:9' },
    },
    server: {
      server_addr: '127.0.0.1',
      namespaces: [
        {
          name: 'assets',
          path: '/assets',
          aliases: ['/atomicassets'],
          args: {
            assets_account: 'atomicassets',
            limits: { collections: 100, schemas: 100, offers: 100, transfers: 100 },
          },
        },
      ],
      ...server,
    },
  })
  return { connections: config.connections, server: { ...config.server, server_port: 0 } }
}

/** A logger that writes errors only. */
export const quiet = createLogger({ name: 'api', level: 'error' })

const allContracts = [
  { handler: 'assets', args: { assets_account: 'atomicassets', store_transfers: true, store_logs: true } },
  { handler: 'oracle', args: { oracle_account: 'delphioracle' } },
  {
    handler: 'market',
    args: { market_account: 'atomicmarket', assets_account: 'atomicassets', store_logs: true },
  },
  { handler: 'tools', args: { tools_account: 'atomictoolsx', store_logs: true } },
]

/** Generated blocks after the recordings, for activity that the recorded chain lacks. */
const GENERATED_BLOCKS = 1_000

/** Configuration of namespaces of every family. */
const allNamespaces = [
  { name: 'assets', path: '/assets', aliases: ['/atomicassets'], args: { assets_account: 'atomicassets' } },
  { name: 'market', path: '/market', args: { market_account: 'atomicmarket' } },
  { name: 'tools', path: '/tools', args: { tools_account: 'atomictoolsx' } },
]

/** Starts an API with all families on a database that a reader has filled. */
export async function serveEverything(database: DatabaseAddress): Promise<RunningApi> {
  await buildIndexes(database)
  return startApi({ config: apiConfig(database, { namespaces: allNamespaces }), logger: quiet })
}

/** Indexes recordings and serves their assets; with `everything`, also all other families and generated blocks. */
export async function serveRecordings(
  recordings: readonly string[],
  options: { everything?: boolean } = {},
): Promise<TestServer> {
  const database = await createIndexedDatabase({
    chain: { recordings, blocks: options.everything ? GENERATED_BLOCKS : 0 },
    settings: options.everything ? { contracts: allContracts } : {},
    hasQueryIndexes: true,
  })
  const config = apiConfig(database.address, options.everything ? { namespaces: allNamespaces } : {})
  const api = await startApi({ config, logger: quiet })
  return {
    api,
    config,
    database,
    get: (path, init) => ask(`${api.url}/atomicassets${path}`, init),
    async close() {
      await api.close()
      await database.drop()
    },
  }
}

/** Sends a request and parses the answer. */
export async function ask(url: string, init: RequestInit = {}): Promise<JsonAnswer> {
  const response = await fetch(url, init)
  const body = (await response.json()) as JsonAnswer['body']
  return { status: response.status, headers: response.headers, body }
}

/** Options of a POST request with a JSON body. */
export function post(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
