import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describeError, FatalError } from '../errors/index.ts'
import type { Logger } from '../log/index.ts'
import { METRICS_TYPE } from './snapshots.ts'

/** A running listener for `/metrics` and `/config`. */
export interface MetricsListener {
  readonly port: number
  close(): Promise<void>
}

export interface MetricsListenerOptions {
  readonly address: string
  /** TCP port; 0 for any free port. */
  readonly port: number
  /** Renders the metrics text; concurrent requests share one call. */
  readonly render: () => Promise<string>
  /** Configuration of this process, without secrets. */
  readonly config?: unknown
  readonly logger: Logger
}

/** Connection limit: only a few scrapers connect. */
const MAX_CONNECTIONS = 32
const REQUEST_TIMEOUT_MS = 5_000
const MAX_HEADER_BYTES = 8_192

export type MetricsHandler = (request: IncomingMessage, response: ServerResponse) => void

/** Creates the handler for GET and HEAD `/metrics`; other requests are refused. */
export function createMetricsHandler(render: () => Promise<string>, logger: Logger): MetricsHandler {
  let rendering: Promise<string> | undefined
  const shared = (): Promise<string> => {
    rendering ??= render().finally(() => {
      rendering = undefined
    })
    return rendering
  }
  return (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD', 'content-type': 'text/plain' }).end('GET or HEAD\n')
      return
    }
    shared().then(
      (text) => {
        response.writeHead(200, { 'content-type': METRICS_TYPE, 'content-length': Buffer.byteLength(text) })
        response.end(request.method === 'HEAD' ? undefined : text)
      },
      (error: unknown) => {
        logger.error({ err: error }, `metrics could not be collected: ${describeError(error)}`)
        response.writeHead(500, { 'content-type': 'text/plain' }).end('metrics could not be collected\n')
      },
    )
  }
}

/** Responds with the configuration of the process, for `pronghorn config show`. */
export function answerConfig(config: unknown, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(config ?? {}))
}

/**
 * Serves `/metrics` and `/config` on a port of their own.
 * @throws FatalError `PORT_UNAVAILABLE`.
 */
export async function serveMetrics(options: MetricsListenerOptions): Promise<MetricsListener> {
  const { address, port, logger } = options
  const answer = createMetricsHandler(options.render, logger)
  const limits = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: MAX_HEADER_BYTES,
  }
  const server = createServer(limits, (request, response) => {
    const path = request.url?.split('?')[0]
    if (path === '/metrics') answer(request, response)
    else if (path === '/config') answerConfig(options.config, response)
    else
      response
        .writeHead(404, { 'content-type': 'text/plain' })
        .end('this port serves only /metrics and /config\n')
  })
  server.maxConnections = MAX_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(new FatalError('PORT_UNAVAILABLE', `cannot serve metrics on ${address}:${port}`, { cause }))
    })
    server.listen(port, address, resolve)
  })
  server.removeAllListeners('error')
  server.on('error', (error) => {
    logger.error({ err: error }, 'the metrics listener failed')
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}
