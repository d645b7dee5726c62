import { randomBytes } from 'node:crypto'
import type { Context } from 'koa'
import { LRUCache } from 'lru-cache'
import type { ConnectionsConfig } from '../core/config/connections/index.ts'
import type { StateSettings } from '../core/config/environment/index.ts'
import { redactConfig } from '../core/config/index.ts'
import { bodyLimits, BodyReader } from '../core/http/content/index.ts'
import { AnswerBudget, createApplication, createFailureStep } from '../core/http/index.ts'
import {
  createClients,
  createPeers,
  createRateLimitStep,
  createRequestCounter,
  createRequestLimit,
} from '../core/http/limits/index.ts'
import { createCorsStep } from '../core/http/headers/index.ts'
import { listen } from '../core/http/listener/index.ts'
import type { Listener } from '../core/http/listener/index.ts'
import { openKeyValueStore } from '../core/kvstore/index.ts'
import type { KeyValueStore } from '../core/kvstore/index.ts'
import type { Logger } from '../core/log/index.ts'
import { createMetrics, renderSnapshots, serveMetrics, watchAnswers } from '../core/metrics/index.ts'
import type { Metrics } from '../core/metrics/index.ts'
import { readPackageVersion } from '../core/paths/index.ts'
import { createTokenCheck, KeyRing } from './access/index.ts'
import type { KeyRingTiming, TokenNames } from './access/index.ts'
import { AbiSeeds, AbiStore, openStateDatabase, PositionWatch } from './chain/index.ts'
import type { StateDatabase } from './chain/index.ts'
import { documentationRoutes } from './documentation/routes.ts'
import { endpoints } from './endpoints/index.ts'
import { healthRoutes } from './health.ts'
import { checkAddress } from './http/address-check.ts'
import { createFailureAnswer, malformedRequestBody } from './http/failures.ts'
import { createMethodsOf, createRoutes } from './http/routes.ts'
import { createTraceStep } from './http/trace.ts'
import { createIssuer, ISSUE_WINDOW_MS } from './issuance.ts'
import { createMisfitLog } from './misfits.ts'
import {
  MAX_BODIES_AT_ONCE_BYTES,
  MAX_BODY_BYTES,
  MAX_CONNECTIONS,
  MAX_CONNECTIONS_OF_ONE,
} from './limits.ts'
import { waitForDatabase } from './preconditions.ts'

export interface StateOptions {
  readonly connections: ConnectionsConfig
  readonly settings: StateSettings
  readonly logger: Logger
  /**
   * Key-value store of the caller, which `close` of the state service leaves open. Default: a store that the service
   * opens.
   */
  readonly kvstore?: KeyValueStore
  /** Maximum time until the database has started and is migrated, ms. Default 30 seconds. */
  readonly waitMs?: number
  /** Age limits of cached keys that tests set in place of the defaults. */
  readonly keyTiming?: Partial<KeyRingTiming>
}

/** A running state service. */
export interface RunningState {
  /** URL of the service on this machine. */
  readonly url: string
  readonly port: number
  /** Stops the service: running requests have up to ten seconds to finish, then all resources are released. */
  close(): Promise<void>
}

const DEFAULT_WAIT_MS = 30_000
/** Maximum age of a cached position for ABI requests, ms. */
const POSITION_FRESH_MS = 100
const MAX_BODIES_BYTES = 64 * 2 ** 20
const ISSUE_PATH = '/v1/auth/issue'

/**
 * Starts the state service. The service listens only once it can answer requests.
 *
 * @throws RetryableError `DATABASE_UNAVAILABLE`; FatalError `DATABASE_TOO_OLD`, `CHAIN_MISMATCH`,
 * `PORT_UNAVAILABLE`.
 */
export async function startState(options: StateOptions): Promise<RunningState> {
  const { connections, settings, logger } = options
  const { sqldb, chain, kvstore: kvstoreSettings } = connections
  await waitForDatabase(sqldb, chain.chain_id, options.waitMs ?? DEFAULT_WAIT_MS, logger)
  const closers: (() => Promise<void>)[] = []
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  try {
    const kvstore = options.kvstore ?? (await openKeyValueStore(kvstoreSettings, chain.name, logger))
    if (!options.kvstore) closers.push(() => kvstore.close())
    const database = openStateDatabase(sqldb, settings.databaseConnections, logger)
    closers.push(() => database.close())
    const metrics = createMetrics('state')
    if (settings.metricsPort !== 0) {
      const render = async (): Promise<string> => renderSnapshots([await metrics.snapshot()])
      const { address, metricsPort: port } = settings
      const served = await serveMetrics({
        address,
        port,
        render,
        config: { ...(redactConfig({ connections }) as object), state: settings },
        logger,
      })
      closers.push(() => served.close())
    }
    const listener = await serve(options, database, kvstore, metrics)
    closers.push(() => listener.close())
    logger.info(`Listening on port ${listener.port}`)
    return { url: `http://127.0.0.1:${listener.port}`, port: listener.port, close: closeAll }
  } catch (error) {
    await closeAll()
    throw error
  }
}

async function serve(
  { connections, settings, logger, keyTiming }: StateOptions,
  database: StateDatabase,
  kvstore: KeyValueStore,
  metrics: Metrics,
): Promise<Listener> {
  const { chain } = connections
  const names: TokenNames = { issuer: 'pronghorn', audience: `pronghorn-state:${chain.chain_id}` }
  const ring = new KeyRing(database, keyTiming)
  // Creates the first signing key if the database has none.
  await ring.refresh()
  const positions = new PositionWatch(database, POSITION_FRESH_MS)
  const answers = new AnswerBudget({
    answer_bytes: settings.answerBytes,
    answers_bytes: settings.answersBytes,
  })
  watchAnswers(metrics, answers)
  const state = {
    maxAnswerBytes: answers.maxBytes,
    database,
    positions,
    abis: new AbiStore(database, new AbiSeeds(chain.http, positions)),
    noteMisfit: createMisfitLog(logger, metrics),
    bodies: new LRUCache<string, Buffer>({ maxSize: MAX_BODIES_BYTES }),
    issue: createIssuer({ database, ring, names, ttlSeconds: settings.tokenTtlSeconds, kvstore, logger }),
  }
  const clients = { trust_proxy: settings.trustProxy, ip_whitelist: [], peer_whitelist: [] }
  const clientOf = createClients(clients)
  const requestBodies = new BodyReader(bodyLimits(MAX_BODY_BYTES, MAX_BODIES_AT_ONCE_BYTES))
  const routes = createRoutes({
    endpoints,
    roots: new Map([
      ...healthRoutes(positions),
      ...documentationRoutes(endpoints, { version: readPackageVersion(), chain: chain.name }),
    ]),
    state,
    answers,
    clientOf,
    checkToken: createTokenCheck({ ring, names, ttlSeconds: settings.tokenTtlSeconds }),
    readText: (request) => requestBodies.readText(request, clientOf({ req: request }).key),
  })
  const limit = createRateLimitStep({
    limit: createRequestLimit(
      {
        interval: ISSUE_WINDOW_MS / 1_000,
        requests: settings.tokensPerMinute,
        bill_execution_time: false,
      },
      createRequestCounter(kvstore, 'state-issue', ISSUE_WINDOW_MS, logger),
    ),
    clientOf,
    applies: (context: Context) => context.method === 'POST' && context.path.startsWith(ISSUE_PATH),
  })
  const steps = [
    createTraceStep(),
    createCorsStep([], createMethodsOf(endpoints)),
    createFailureStep(createFailureAnswer(logger)),
    checkAddress,
    limit,
    routes,
  ]
  return listen({
    address: settings.address,
    port: settings.port,
    maxConnections: MAX_CONNECTIONS,
    maxConnectionsOfOne: MAX_CONNECTIONS_OF_ONE,
    peerOf: createPeers(clients),
    handler: createApplication(steps, logger),
    failureBody: (status, message) => malformedRequestBody(status, message, randomBytes(16).toString('hex')),
  })
}
