import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { listStopBlocks } from '../core/progress/index.ts'
import { redactConfig } from '../core/config/index.ts'
import type { ConfigWith } from '../core/config/index.ts'
import type { ShipConfig } from '../core/config/connections/index.ts'
import { checkChainId, checkNode, shownAddress } from '../core/chain-node/index.ts'
import {
  connectDatabase,
  databaseFailure,
  migrate,
  refusePooledTransactions,
} from '../core/database/index.ts'
import { describeError, FatalError, RetryableError } from '../core/errors/index.ts'
import type { RunMode } from '../core/errors/index.ts'
import { openKeyValueStore } from '../core/kvstore/index.ts'
import type { KeyValueStore, StoreState } from '../core/kvstore/index.ts'
import type { Logger, LogLevel } from '../core/log/index.ts'
import { packageRoot } from '../core/paths/index.ts'
import { untilAborted } from '../core/retry/index.ts'
import { createPublisher } from './feed/index.ts'
import { startFillerHealth } from './health.ts'
import type { ReceivedStatus } from './health.ts'
import { startListPolls } from './named-lists/index.ts'
import { watchInstallation } from './installation.ts'
import { createFillerMetrics } from './metrics/filler-metrics.ts'
import type { ReaderStatus } from './pipeline/index.ts'
import type { ReaderThreadData, ReaderThreadMessage } from './reader-thread.ts'
import { watchStore } from './store-watch.ts'

export interface FillerOptions {
  readonly config: ConfigWith<'connections' | 'readers'>
  readonly logger: Logger
  /** Stops the readers: after the signal aborts, each reader finishes its current commit and stops. */
  readonly signal: AbortSignal
  /** Keep serving health and metrics after every reader has reached its `stop_block`, until `signal` aborts. */
  readonly stay?: boolean
  /** Write log lines for people instead of JSON. */
  readonly pretty?: boolean
  /** Run mode, for the remedies in the log; default `process`. */
  readonly mode?: RunMode
  /** Receives the log lines of the readers' threads. Without this function the threads write the lines themselves. */
  readonly onLogLine?: (line: string) => void
  /** Called with the status of each reader, about once a second. */
  readonly onStatus?: (status: ReaderStatus) => void
  /** Key-value store for live events; default is the configured one. The caller closes a store passed here. */
  readonly kvstore?: KeyValueStore
  /** False starts no health listener, for a process in which another service reports the health. */
  readonly health?: boolean
  /** A folder on the database's disk, whose free space is measured; undefined if the disk is not on this machine. */
  readonly disk?: string | undefined
}

/**
 * Runs every configured reader in a thread of its own, until all readers reach their `stop_block` or `signal` aborts.
 * Migrates the database schema first.
 * @throws the error of the first reader that fails. The other readers are stopped, and a supervisor has to restart the
 * process.
 */
export async function runFiller(options: FillerOptions): Promise<void> {
  const { config, logger } = options
  const { chain } = config.connections
  if (!(await checkChainId(chain.http, chain.chain_id))) {
    await refuseSwap(config.connections.chain)
    logger.warn({ http: shownAddress(chain.http) }, 'the chain node does not answer over HTTP')
  }
  await prepareDatabase(config, logger)
  // The health listener starts before the key-value store is opened. Until the store is opened, the listener reports
  // the store as `up`.
  let storeState = (): StoreState => 'up'
  const statuses = new Map<string, ReceivedStatus>()
  const metrics = createFillerMetrics()
  const first = config.readers[0]!
  const health =
    options.health === false
      ? null
      : await startFillerHealth({
          address: first.server_addr,
          port: first.server_port,
          statuses,
          stopBlocks: listStopBlocks(config.readers),
          storeState: () => storeState(),
          renderMetrics: () => {
            metrics.noteStore(storeState())
            return metrics.render()
          },
          config: redactConfig(config),
          logger,
        })
  const { kvstore } = config.connections
  const store = options.kvstore ?? (await openKeyValueStore(kvstore, chain.name, logger))
  const watch = await watchStore(store)
  storeState = () => watch.state
  const publish = createPublisher({
    store,
    logger,
    onMessage: (reader, outcome) => metrics.noteMessage(reader, outcome),
  })
  const polls = startListPolls({
    readers: config.readers,
    database: config.connections.sqldb,
    logger,
    onPoll: (result) => metrics.notePoll(result),
  })
  const stopWatching =
    health === null
      ? () => Promise.resolve()
      : watchInstallation({
          database: config.connections.sqldb,
          disk: options.disk,
          onFacts: (facts) => metrics.noteInstallation(facts),
          logger,
        })
  // Stops the other readers when one reader fails.
  const failing = new AbortController()
  const ending = AbortSignal.any([options.signal, failing.signal])
  try {
    const readers = config.readers.map((settings) =>
      runThread(threadData(options, settings), ending, (message) => {
        if (message.kind === 'message') return publish(settings.name, message.channel, message.text)
        if (message.kind === 'log') return options.onLogLine?.(message.line)
        if (message.kind === 'metrics') return metrics.noteReader(settings.name, message.snapshot)
        statuses.set(settings.name, { status: message.status, atMs: performance.now() })
        return options.onStatus?.(message.status)
      }).catch((error: unknown) => {
        failing.abort()
        throw error
      }),
    )
    const results = await Promise.allSettled(readers)
    const [failed, ...others] = results.filter((result) => result.status === 'rejected')
    for (const { reason } of others) logger.error({ err: reason as unknown }, describeError(reason))
    if (failed) throw failed.reason
    if (options.stay === true && !options.signal.aborted) {
      logger.info('every reader is at its stop_block; nothing more will be indexed')
      await untilAborted(options.signal)
    }
  } finally {
    await polls.stop()
    await stopWatching()
    await health?.close()
    watch.stop()
    if (!options.kvstore) await store.close()
  }
}

/**
 * Refuses configurations with `ship` and `http` addresses exchanged. Any other failure of the node may be temporary.
 * @throws FatalError `ADDRESSES_SWAPPED`
 */
async function refuseSwap({ ship, http }: FillerOptions['config']['connections']['chain']): Promise<void> {
  const [first] = nodesOf(ship)
  const url = typeof first === 'string' ? first : first!.url
  await checkNode({ ship: url, http }).catch((error: unknown) => {
    if (error instanceof FatalError) throw error
  })
}

async function prepareDatabase(config: FillerOptions['config'], logger: Logger): Promise<void> {
  const client = await connectDatabase(config.connections.sqldb, {
    applicationName: 'pronghorn migrate',
  }).catch((cause: unknown) => {
    throw databaseFailure(cause, 'the database cannot be reached', config.connections.sqldb)
  })
  try {
    await refusePooledTransactions(client, config.connections.sqldb)
    const applied = await migrate(client)
    if (applied.length > 0) logger.info({ applied }, 'the database was migrated to the newest schema')
  } catch (cause) {
    throw databaseFailure(cause, 'the schema of the database could not be checked', config.connections.sqldb)
  } finally {
    await client.end().catch(() => undefined)
  }
}

function threadData(
  options: FillerOptions,
  settings: FillerOptions['config']['readers'][number],
): ReaderThreadData {
  const { chain, sqldb } = options.config.connections
  return {
    options: {
      settings,
      database: sqldb,
      chain: {
        chainId: chain.chain_id,
        http: chain.http,
        ship: nodesOf(chain.ship),
      },
      ...(options.mode === undefined ? {} : { mode: options.mode }),
    },
    logLevel: options.logger.level as LogLevel,
    pretty: options.pretty ?? false,
    sendsLog: options.onLogLine !== undefined,
  }
}

function nodesOf(ship: ShipConfig): ReaderThreadData['options']['chain']['ship'] {
  if (typeof ship === 'string') return [ship]
  return ship.map((node) => (typeof node === 'string' ? { url: node } : node))
}

async function runThread(
  data: ReaderThreadData,
  signal: AbortSignal,
  onReport: (
    report: Extract<ReaderThreadMessage, { kind: 'status' | 'metrics' | 'message' | 'log' }>,
  ) => void,
): Promise<void> {
  const thread = new Worker(threadFile, { workerData: data, name: data.options.settings.name })
  const stop = () => thread.postMessage('stop')
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    await new Promise<void>((resolve, reject) => {
      let hasStopped = false
      thread.on('message', (message: ReaderThreadMessage) => {
        if (message.kind !== 'stopped' && message.kind !== 'failed') return onReport(message)
        hasStopped = true
        if (message.kind === 'stopped') return resolve()
        const Kind = message.retryable ? RetryableError : FatalError
        reject(new Kind(message.code, message.message, { details: message.details }))
      })
      thread.once('error', reject)
      thread.once('exit', (code) => {
        if (!hasStopped)
          reject(
            new FatalError(
              'INTERNAL',
              `the thread of reader ${data.options.settings.name} exited with code ${code}`,
            ),
          )
      })
    })
  } finally {
    signal.removeEventListener('abort', stop)
    await thread.terminate()
  }
}

/** Path of the thread's bundle; also used when this file runs from source, as in tests. */
const threadFile = join(packageRoot, 'dist/services/filler/reader-thread.js')
