import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Logger, LogLevel } from '../../core/log/index.ts'
import { redactConfig } from '../../core/config/index.ts'
import { serveMetrics } from '../../core/metrics/index.ts'
import { packageRoot } from '../../core/paths/index.ts'
import { untilAborted } from '../../core/retry/index.ts'
import type { ApiConfig } from '../preconditions.ts'
import { listQueries, startApi } from '../start.ts'
import type { WorkerSettings } from './messages.ts'
import { Supervisor } from './supervisor.ts'

export interface RunApiOptions {
  readonly config: ApiConfig
  readonly logger: Logger
  /** Aborts when the API has to stop. Running requests may finish. */
  readonly signal: AbortSignal
  /** Number of serving processes. If undefined, `countWorkers` chooses the number. */
  readonly workers: number | undefined
  /** Whether to write readable log lines instead of JSON. */
  readonly pretty?: boolean
}

/**
 * Runs the API until `signal` aborts: in this process, or in several worker processes, which share the port.
 *
 * @throws any error of `startApi`. With several workers: only if no worker can serve.
 */
export async function runApi(options: RunApiOptions): Promise<void> {
  const count = countWorkers(options.workers, options.config)
  if (count === 1) await runAlone(options)
  else await runWorkers(options, count)
}

/**
 * Number of serving processes: the configured number. The default is one per core, or one without Redis, because the
 * processes could not share limits.
 */
export function countWorkers(wanted: number | undefined, config: ApiConfig): number {
  if (wanted !== undefined) return wanted
  return config.connections.kvstore ? availableParallelism() : 1
}

async function runAlone({ config, logger, signal }: RunApiOptions): Promise<void> {
  const stopped = untilAborted(signal)
  // The start may wait for the database, so do not let a stop wait for the start.
  const running = await Promise.race([startApi({ config, logger, isWarmedUp: true }), stopped])
  if (!running) return
  await stopped
  await running.close()
}

async function runWorkers(options: RunApiOptions, count: number): Promise<void> {
  const { config, logger, signal } = options
  if (!config.connections.kvstore) {
    logger.warn({ workers: count }, 'without Redis each process has its own rate limits and its own cache')
  }
  cluster.setupPrimary({ exec: workerFile, args: [], serialization: 'advanced' })
  const shared = {
    config: shareOut(config, count),
    logLevel: logger.level as LogLevel,
    pretty: options.pretty ?? false,
  }
  const workers = Array.from({ length: count }, (_, at): WorkerSettings => ({ ...shared, place: at + 1 }))
  const supervisor = new Supervisor({ workers, logger })
  const { metrics_port: port, metrics_addr, server_addr } = config.server
  const address = metrics_addr ?? server_addr
  const metrics =
    port === undefined
      ? undefined
      : await serveMetrics({
          address,
          port,
          logger,
          config: redactConfig(config),
          render: () => supervisor.render(),
        })
  let isAnnounced = false
  try {
    await supervisor.run(signal, (serverPort) => {
      if (!isAnnounced) logger.info({ workers: count }, `Listening on port ${serverPort}`)
      isAnnounced = true
    })
  } finally {
    await metrics?.close()
  }
}

/**
 * Divides the limits of connections and queries by the number of processes, because the configured limits apply to all
 * processes together.
 */
function shareOut(config: ApiConfig, count: number): ApiConfig {
  const { server } = config
  const live = {
    ...server.live,
    // The cluster distributes connections round-robin, so the connections of one address are spread evenly.
    max_connections: Math.ceil(server.live.max_connections / count),
    connections_per_address: Math.ceil(server.live.connections_per_address / count),
  }
  const max_db_connections = Math.max(1, Math.floor(server.max_db_connections / count))
  const max_connections = Math.ceil(server.max_connections / count)
  const connections_per_address = Math.ceil(server.connections_per_address / count)
  const max_list_queries = Math.max(fewestLists(server), Math.floor(listQueries(server) / count))
  const connections = { max_db_connections, max_connections, connections_per_address }
  return { ...config, server: { ...server, live, ...connections, max_list_queries } }
}

/** Path of the worker's bundle; also used when this file runs from source, as in tests. */
const workerFile = join(packageRoot, 'dist/services/api/workers/worker-process.js')

/**
 * Minimum number of connections for lists per process. The default is two, because with a single connection a slow list
 * would block all other lists of the process.
 */
function fewestLists({ max_list_queries: wanted }: ApiConfig['server']): number {
  return wanted === undefined ? 2 : 1
}
