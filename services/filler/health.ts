import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { FatalError } from '../core/errors/index.ts'
import { describeStoreState } from '../core/kvstore/index.ts'
import type { StoreState } from '../core/kvstore/index.ts'
import type { Logger } from '../core/log/index.ts'
import { answerConfig, createMetricsHandler } from '../core/metrics/index.ts'
import type { ReaderStatus } from './pipeline/index.ts'

/** A running health listener. */
export interface FillerHealth {
  readonly port: number
  close(): Promise<void>
}

/** Latest status of a reader, and when it was received. */
export interface ReceivedStatus {
  readonly status: ReaderStatus
  readonly atMs: number
}

export interface FillerHealthOptions {
  readonly address: string
  readonly port: number
  /** Latest status of each reader, with the time of receipt on the clock of `performance`. */
  readonly statuses: ReadonlyMap<string, ReceivedStatus>
  /** Configured `stop_block` of each reader that has one. */
  readonly stopBlocks: ReadonlyMap<string, number>
  /** State of the key-value store, which carries live events to the API processes. */
  readonly storeState: () => StoreState
  /** All metrics in the Prometheus text format. */
  readonly renderMetrics: () => Promise<string>
  /** Configuration of this process, without secrets. */
  readonly config?: unknown
  readonly logger: Logger
}

/** Connection limit: only supervisors and scrapers connect to this port. */
const MAX_CONNECTIONS = 64

/**
 * Maximum time without a report of a reader's thread, ms. The thread reports every second; a longer silence means that
 * the thread is blocked.
 */
const SILENT_MS = 30_000

/**
 * Serves health, metrics and configuration of the filler over HTTP.
 *
 * `GET /health`: status of every reader as JSON. The response is 503 with the reasons if a reader has blocks to process
 * but does not progress. Otherwise the response is 200, even if readers are far behind the head, or if the key-value
 * store is unavailable (the body then says so).
 *
 * `GET /healthc`: one word, for supervisors; 200 as long as the process works.
 *
 * `GET /metrics`: metrics for Prometheus. `GET /config`: the configuration without secrets.
 *
 * @throws FatalError `PORT_UNAVAILABLE`.
 */
export async function startFillerHealth(options: FillerHealthOptions): Promise<FillerHealth> {
  const { address, port, statuses, logger } = options
  const answerMetrics = createMetricsHandler(options.renderMetrics, logger)
  const server = createServer({ requestTimeout: 5_000, maxHeaderSize: 8_192 }, (request, response) => {
    const path = request.url?.split('?')[0]
    if (path === '/healthc') return response.writeHead(200, { 'content-type': 'text/plain' }).end('success')
    if (path === '/metrics') return answerMetrics(request, response)
    if (path === '/config') return answerConfig(options.config, response)
    if (path !== '/health')
      return response
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"success":false,"message":"Endpoint not found"}')
    const readers = [...statuses.values()].map((status) => judgeReader(status, options.stopBlocks))
    const reasons = readers.flatMap(({ name, problem }) =>
      problem === null ? [] : [`reader ${name}: ${problem}`],
    )
    const isStalled = reasons.length > 0
    const storeState = options.storeState()
    const storeProblem = describeStoreState(storeState)
    if (storeProblem !== null) reasons.push(storeProblem)
    const status = isStalled ? 'stalled' : reasons.length > 0 ? 'degraded' : 'healthy'
    const data = { status, reasons, kvstore: storeState, readers }
    return response
      .writeHead(isStalled ? 503 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ success: true, data, query_time: Date.now() }))
  })
  server.maxConnections = MAX_CONNECTIONS
  await listen(server, address, port)
  server.on('error', (error) => logger.error({ err: error }, 'the health listener failed'))
  const bound = server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function judgeReader({ status, atMs }: ReceivedStatus, stopBlocks: ReadonlyMap<string, number>) {
  const silentMs = performance.now() - atMs
  const isSilent = status.state !== 'stopped' && silentMs >= SILENT_MS
  const silence = `the thread of the reader has sent no status for ${Math.round(silentMs / 1_000)} s`
  return {
    ...describeReader(status, silentMs),
    name: status.reader,
    state:
      status.state === 'stopped' && status.block >= (stopBlocks.get(status.reader) ?? Infinity)
        ? `stopped at stop_block ${status.block}`
        : status.state,
    problem: status.problem?.detail ?? (isSilent ? silence : null),
  }
}

function describeReader(status: ReaderStatus, ageMs: number): Record<string, unknown> {
  const seconds = (sinceMs: number | null) =>
    sinceMs === null ? null : Math.round((sinceMs + ageMs) / 100) / 10
  return {
    block_num: String(status.block),
    block_time: String(status.blockTimeMs),
    head_block: status.head,
    irreversible_block: status.irreversible,
    blocks_behind: status.blocksBehind,
    blocks_per_second: Math.round(status.blocksPerSecond * 10) / 10,
    operations: status.operations,
    forks: status.forks,
    missing_blocks: status.gaps.map(({ first, last }) => ({ first_block: first, last_block: last })),
    seconds_since_message: seconds(status.sinceMessageMs),
    seconds_since_block: seconds(status.sinceBlockMs),
    seconds_since_commit: seconds(status.sinceCommitMs),
    queued_blocks: status.queuedBlocks,
    undecodable_actions: status.undecodableActions,
    unknown_tables: status.unknownTables,
    nodes: status.nodes.map((node) => ({
      url: node.url,
      state: node.state,
      head_block: node.headNum,
      blocks_behind: node.lagBlocks,
      bytes_per_second: Math.round(node.bytesPerSecond),
      received_blocks: node.blocksReceived,
      received_bytes: node.bytesReceived,
      faults: node.faults,
      last_fault: node.lastFault,
    })),
  }
}

async function listen(server: Server, address: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new FatalError('PORT_UNAVAILABLE', `the filler cannot listen on ${address}:${port}`, { cause })),
    )
    server.listen(port, address, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}
