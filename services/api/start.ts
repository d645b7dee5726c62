import { availableParallelism } from 'node:os'
import { listStopBlocks } from '../core/progress/index.ts'
import type { NamespaceConfig } from '../core/config/schema/index.ts'
import { DEMO_CHAIN_ID } from '../core/chain-node/index.ts'
import { bodyLimits, BodyReader } from '../core/http/content/index.ts'
import { createClients, createPeers } from '../core/http/limits/index.ts'
import { listen } from '../core/http/listener/index.ts'
import type { Listener } from '../core/http/listener/index.ts'
import { AnswerBudget } from '../core/http/index.ts'
import type { RequestObserver } from '../core/http/index.ts'
import { openKeyValueStore } from '../core/kvstore/index.ts'
import type { KeyValueStore } from '../core/kvstore/index.ts'
import type { Logger } from '../core/log/index.ts'
import { redactConfig } from '../core/config/index.ts'
import { createMetrics, renderSnapshots, serveMetrics, watchAnswers } from '../core/metrics/index.ts'
import type { Metrics } from '../core/metrics/index.ts'
import { readPackageVersion, readRevision } from '../core/paths/index.ts'
import { AnswerCache, createSharedAnswers } from './cache/index.ts'
import { consoleRoutes } from './console/console.ts'
import { ProgressHistory } from './console/history.ts'
import { noDatabaseObserver, openRequestDatabase } from './database/index.ts'
import type { DatabaseObserver, RequestDatabase } from './database/index.ts'
import { documentationRoutes } from './documentation/index.ts'
import type { ServerInfo } from './documentation/index.ts'
import type { HealthSettings, Monitor } from './health/index.ts'
import { healthRoutes, reportHealth, startMonitor } from './health/index.ts'
import type { Namespace } from './endpoint/index.ts'
import type { Mount } from './http/index.ts'
import { createLifecycle, createUpgradeHandler, failureBody, warmUp } from './http/index.ts'
import { createNamedLists } from './named-lists/named-lists.ts'
import type { CachedLists } from './named-lists/named-lists.ts'
import { openLive } from './live/index.ts'
import type { ChannelMount, LiveService, SessionPeers } from './live/index.ts'
import { observeDatabase, observeLists, observeRequests } from './metrics/api-metrics.ts'
import { observeLive, watchFeeds } from './metrics/live-metrics.ts'
import { watchCertificate } from './metrics/certificate.ts'
import { watchParts } from './metrics/watched.ts'
import { sealRoutes } from './seals/routes.ts'
import type { DatabaseTraits, NamespaceFactory } from './namespaces/index.ts'
import { createNamespace } from './namespaces/index.ts'
import { Fragments } from './records/fragments/index.ts'
import type { ApiConfig } from './preconditions.ts'
import { checkChainNode, checkDatabase } from './preconditions.ts'

export interface ApiOptions {
  readonly config: ApiConfig
  readonly logger: Logger
  /** Key-value store of the caller, which `close` leaves open. If undefined, the API opens a store of its own. */
  readonly kvstore?: KeyValueStore
  /** Observers of every request. */
  readonly observers?: readonly RequestObserver[]
  /** Creates the configured namespaces. Tests replace `createNamespace`. */
  readonly createNamespace?: NamespaceFactory
  /** Metrics registry of the caller, which serves the metrics. If undefined, the API serves `metrics_port` itself. */
  readonly metrics?: Metrics
  /** Other processes that serve the same port; undefined if there are none. */
  readonly peers?: SessionPeers
  /** Whether fragments are cached. Default true; measurements turn the cache off. */
  readonly isCachingFragments?: boolean
  /** Whether the API runs its endpoints before it listens, so that the first requests are fast. Default false. */
  readonly isWarmedUp?: boolean
  /** Maximum duration of the warm-up, ms. Default 3 seconds; tests set more. */
  readonly longestWarmUpMs?: number
  /** Whether the chain is the bundled demo chain. Default: derived from the chain id. */
  readonly isDemo?: boolean
  /** Port of the state service on this host; undefined until the port is known. The console links to the port. */
  readonly statePort?: () => number | undefined
  /** Time limit for the start and the migration of the database, ms. Default 30 seconds. */
  readonly waitMs?: number
}

export interface RunningApi {
  /** URL of the API on this machine. */
  readonly url: string
  readonly port: number
  /** Port on 127.0.0.1 for forwarded requests to sessions of this process; undefined without `peers`. */
  readonly sessionPort: number | undefined
  /** Stops the API. Running requests have up to ten seconds to finish; then all resources are released. */
  close(): Promise<void>
}

const DEFAULT_WAIT_MS = 30_000

/**
 * Starts the API. The API listens only when it can answer requests.
 *
 * @throws RetryableError `DATABASE_UNAVAILABLE`; FatalError `DATABASE_TOO_OLD`, `CHAIN_MISMATCH`, `CONFIG_INVALID`,
 * `PORT_UNAVAILABLE`.
 */
export async function startApi(options: ApiOptions): Promise<RunningApi> {
  const { config, logger, metrics = createMetrics('api') } = options
  const { chain, sqldb } = config.connections
  const traits = await checkDatabase(config, options.waitMs ?? DEFAULT_WAIT_MS, logger)
  await checkChainNode(chain.http, chain.chain_id, logger)
  const { mounts, channels } = createMounts(
    config,
    traits,
    {
      create: options.createNamespace ?? createNamespace,
      isCachingFragments: options.isCachingFragments ?? true,
    },
    logger,
  )
  const closers: (() => Promise<void>)[] = []
  try {
    const kvstore =
      options.kvstore ?? (await openKeyValueStore(config.connections.kvstore, chain.name, logger))
    if (!options.kvstore) closers.push(() => kvstore.close())
    // Counting takes longer than sending a cached answer, so requests are counted only if `metrics_port` is set.
    const isCounted = config.server.metrics_port !== undefined
    const observer = isCounted ? observeDatabase(metrics) : noDatabaseObserver
    const database = await openDatabase(config, observer, logger)
    closers.push(() => database.close())
    const lists = createNamedLists({ database, onLookup: observeLists(metrics) })
    const cache = openCache(config, kvstore)
    const answers = new AnswerBudget(config.server.limits)
    watchAnswers(metrics, answers)
    const live = await openLive({
      ...{
        mounts: channels,
        settings: config.server,
        address: sqldb,
        database,
        kvstore,
        logger,
        failureBody,
      },
      observer: observeLive(metrics),
      peers: options.peers,
    })
    watchFeeds(metrics, () => live.states())
    closers.push(() => live.close())
    const history = new ProgressHistory()
    const monitor = await startMonitor({
      database: sqldb,
      servers: () => database.servers(),
      feeds: () => live.states(),
      kvstore,
      chainHttp: chain.http,
      chainId: chain.chain_id,
      logger,
      onDatabase: (available) => {
        noteDatabase({ database, mounts, lists, cache }, available)
      },
      onLook: (state) => {
        const { reasons } = reportHealth(state, healthSettings(options), Date.now())
        history.look(state, reasons, Date.now())
      },
    })
    closers.push(() => monitor.close())
    const health = () => reportHealth(monitor.state, healthSettings(options), Date.now())
    watchParts(metrics, { database, health, state: () => monitor.state })
    const { tls_proxy: proxy, server_name } = config.server
    if (isCounted && proxy !== undefined) closers.push(watchCertificate(metrics, proxy, server_name))
    if (!options.metrics) closers.push(await openMetrics(config, metrics, logger))
    const observers = [...(isCounted ? [observeRequests(metrics)] : []), ...(options.observers ?? [])]
    if (options.isWarmedUp) {
      const given = { mounts, database, lists: lists.find, maxBytes: answers.maxBytes, logger }
      await warmUp({ ...given, longestMs: options.longestWarmUpMs })
    }
    const listener = await serve(options, {
      monitor,
      database,
      mounts,
      lists,
      kvstore,
      cache,
      answers,
      observers,
      history,
      live,
    })
    // Disconnect live clients before the HTTP listener closes, because the listener waits for open connections.
    closers.push(
      () => listener.close(),
      () => live.close(),
    )
    logger.info(`Listening on port ${listener.port}`)
    return {
      url: `http://127.0.0.1:${listener.port}`,
      port: listener.port,
      sessionPort: live.sessionPort,
      close: () => closeAll(closers),
    }
  } catch (error) {
    await closeAll(closers)
    throw error
  }
}

async function closeAll(closers: readonly (() => Promise<void>)[]): Promise<void> {
  for (const close of [...closers].reverse()) await close()
}

interface Mounts {
  readonly mounts: readonly Mount[]
  /** Namespaces of `mounts` in the form that the live service reads. */
  readonly channels: readonly ChannelMount[]
}

function createMounts(
  config: ApiConfig,
  traits: DatabaseTraits,
  { create, isCachingFragments }: { readonly create: NamespaceFactory; readonly isCachingFragments: boolean },
  logger: Logger,
): Mounts {
  const mounts: Mount[] = []
  const channels: ChannelMount[] = []
  for (const entry of config.server.namespaces) {
    const namespace = create(
      entry,
      traits,
      new Fragments({ isCaching: isCachingFragments, maxBytes: config.server.limits.answer_bytes }),
    )
    const paths = [entry.path, ...entry.aliases]
    if (namespace) {
      mounts.push({ namespace, paths })
      channels.push(channelOf(entry, namespace, paths))
    } else logger.warn(`namespace ${entry.name} is not served by this version; ${entry.path} answers 404`)
  }
  return { mounts, channels }
}

function channelOf(entry: NamespaceConfig, namespace: Namespace, paths: readonly string[]): ChannelMount {
  const { connected_reader: reader, socket_features } = entry.args
  const contract: unknown = Reflect.get(entry.args, `${entry.name}_account`)
  return {
    ...{ namespace, paths, reader, family: entry.name, contract: String(contract) },
    assetUpdate: socket_features.asset_update,
  }
}

function openDatabase(
  config: ApiConfig,
  observer: DatabaseObserver,
  logger: Logger,
): Promise<RequestDatabase> {
  const { max_query_time_ms, max_db_connections, slow_query_threshold } = config.server
  const { sqldb } = config.connections
  return openRequestDatabase(
    {
      address: sqldb,
      replicas: sqldb.replicas,
      observer,
      maxConnections: max_db_connections,
      maxLists: listQueries(config.server),
      maxQueryTimeMs: max_query_time_ms,
      slowQueryMs: slow_query_threshold,
    },
    logger,
  )
}

/**
 * Number of concurrent list statements per processor. With more list statements, lists and brief requests become
 * slower. Measured with two processors and fifty slow clients: the p99 of brief requests rises by a factor of four to
 * six without this limit, and by less than three with the limit.
 */
const LISTS_PER_PROCESSOR = 1.5

/** Returns `max_list_queries` of the configuration. The default depends on the number of processors. */
export function listQueries({ max_list_queries: wanted }: ApiConfig['server']): number {
  return wanted ?? Math.ceil(LISTS_PER_PROCESSOR * availableParallelism())
}

/**
 * Opens the cache of answers. With Redis, processes of the same version share answers. A key-value store in the memory
 * of this process would only contain a second copy, so it is not used.
 */
function openCache({ server }: ApiConfig, kvstore: KeyValueStore): AnswerCache | undefined {
  if (server.cache_life === 0) return undefined
  const settings = {
    lifeMs: server.cache_life * 1_000,
    maxValueBytes: server.cache_max_value_bytes,
    maxBytes: server.cache_max_memory_bytes,
  }
  const prefix = `answer:${readPackageVersion()}:`
  const shared = kvstore.kind === 'redis' ? createSharedAnswers(kvstore, prefix) : undefined
  return new AnswerCache(settings, shared)
}

/**
 * Serves the metrics if `metrics_port` is set.
 * @returns a function that stops serving.
 */
async function openMetrics(
  config: ApiConfig,
  metrics: Metrics,
  logger: Logger,
): Promise<() => Promise<void>> {
  const { metrics_port: port, metrics_addr, server_addr } = config.server
  if (port === undefined) return () => Promise.resolve()
  const render = async (): Promise<string> => renderSnapshots([await metrics.snapshot()])
  const address = metrics_addr ?? server_addr
  const listener = await serveMetrics({ address, port, render, config: redactConfig(config), logger })
  return () => listener.close()
}

/**
 * Sets whether the database is available. After an outage another database may have taken the place of the old one, so
 * all cached data is dropped.
 */
function noteDatabase(
  { database, mounts, lists, cache }: Pick<ServedParts, 'database' | 'mounts' | 'lists' | 'cache'>,
  available: boolean,
): void {
  if (available && database.servers()[0]?.state === 'unavailable') {
    for (const { namespace } of mounts) namespace.forget()
    lists.forget()
    cache?.clear()
  }
  database.setAvailable(available)
}

interface ServedParts {
  readonly monitor: Monitor
  readonly database: RequestDatabase
  readonly mounts: readonly Mount[]
  readonly lists: CachedLists
  readonly kvstore: KeyValueStore
  readonly observers: readonly RequestObserver[]
  readonly cache: AnswerCache | undefined
  readonly answers: AnswerBudget
  readonly history: ProgressHistory
  readonly live: LiveService
}

async function serve(
  options: ApiOptions,
  { monitor, history, live, ...parts }: ServedParts,
): Promise<Listener> {
  const { config, logger } = options
  const health = healthSettings(options)
  const info = serverInfo(config)
  const revision = readRevision()
  const seals = config.server.seals ? sealRoutes(parts.database, config.connections.chain.chain_id) : []
  const roots = [...healthRoutes(monitor, health), ...seals]
  const page = consoleRoutes({
    info,
    revision,
    health,
    state: () => monitor.state,
    history,
    database: parts.database,
    kvstore: parts.kvstore,
    namespaces: config.server.namespaces,
    eventsOf: ({ path, args }) => (args.connected_reader === undefined ? undefined : `${path}/v1/events`),
    statePort: options.statePort ?? (() => undefined),
    logger,
  })
  const handler = createLifecycle({
    roots: [
      ...roots,
      ...documentationRoutes(parts.mounts, roots, info),
      ...(config.server.console ? page : []),
    ],
    ...parts,
    lists: parts.lists.find,
    logger,
    settings: config.server,
    revision,
    clientOf: createClients(config.server),
    bodies: new BodyReader(bodyLimits(config.server.max_body_bytes, config.server.max_body_memory_bytes)),
    maxTimeMs: config.server.max_query_time_ms,
  })
  const { server_addr: address, server_port: port } = config.server
  return listen({
    ...{ address, port },
    maxConnections: config.server.max_connections,
    maxConnectionsOfOne: config.server.connections_per_address,
    peerOf: createPeers(config.server),
    handler: live.handlerBefore(handler),
    upgrade: createUpgradeHandler(handler, (...upgrade) => live.upgrade(...upgrade)),
    failureBody: (_status, message) => failureBody(message),
  })
}

function serverInfo({ connections, server }: ApiConfig): ServerInfo {
  return {
    version: readPackageVersion(),
    serverName: server.server_name,
    providerName: server.provider_name,
    providerUrl: server.provider_url,
    chain: connections.chain.name,
  }
}

function healthSettings({ config, isDemo }: ApiOptions): HealthSettings {
  const connected = config.server.namespaces.map(({ args }) => args.connected_reader)
  const readers = config.readers ?? []
  return {
    version: readPackageVersion(),
    readers: [...new Set(connected.filter((name) => name !== undefined))],
    irreversibleReaders: readers.filter((reader) => reader.irreversible_only).map(({ name }) => name),
    stopBlocks: listStopBlocks(readers),
    demo: isDemo ?? config.connections.chain.chain_id === DEMO_CHAIN_ID,
  }
}
