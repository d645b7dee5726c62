import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { FatalError } from '../core/errors/index.ts'
import type { Logger } from '../core/log/index.ts'
import { createMetricsHandler } from '../core/metrics/index.ts'
import type { ReaderStatus } from './pipeline/index.ts'

/** A running health listener. */
export interface FillerHealth {
  readonly port: number
  close(): Promise<void>
}

/** What `startFillerHealth` needs. */
export interface FillerHealthOptions {
  readonly address: string
  readonly port: number
  readonly statuses: ReadonlyMap<string, ReaderStatus>
  /** All metrics in the Prometheus text format. */
  readonly renderMetrics: () => Promise<string>
  readonly logger: Logger
}

/** Supervisors and scrapers come here, nobody else. */
const MAX_CONNECTIONS = 64

/**
 * Answers `GET /health` with the status of every reader as JSON, `GET /healthc` with a word,
 * and `GET /metrics`. Being behind is not
 * being ill: the answer is 200 as long as the process works, so that nobody restarts a filler for catching up.
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
    if (path !== '/health')
      return response
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"success":false,"message":"Endpoint not found"}')
    const data = { readers: [...statuses.values()].map(describeReader) }
    return response
      .writeHead(200, { 'content-type': 'application/json' })
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

function describeReader(status: ReaderStatus): Record<string, unknown> {
  return {
    name: status.reader,
    state: status.state,
    block_num: String(status.block),
    block_time: String(status.blockTimeMs),
    head_block: status.head,
    irreversible_block: status.irreversible,
    blocks_behind: status.blocksBehind,
    blocks_per_second: Math.round(status.blocksPerSecond * 10) / 10,
    operations: status.operations,
    forks: status.forks,
    queued_blocks: status.queuedBlocks,
    undecodable_actions: status.undecodableActions,
    unknown_tables: status.unknownTables,
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
