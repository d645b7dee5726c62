import { parentPort, workerData } from 'node:worker_threads'
import { FatalError, PronghornError } from '../core/errors/index.ts'
import type { ErrorCode } from '../core/errors/index.ts'
import { createLogger } from '../core/log/index.ts'
import type { LogLevel } from '../core/log/index.ts'
import type { MetricSnapshot } from '../core/metrics/index.ts'
import { createReaderMetrics } from './metrics/reader-metrics.ts'
import { runReader } from './pipeline/index.ts'
import type { ReaderOptions, ReaderStatus } from './pipeline/index.ts'

/** Options of a reader's thread. */
export interface ReaderThreadData {
  readonly options: Omit<ReaderOptions, 'logger' | 'onStatus' | 'observer' | 'send'>
  readonly logLevel: LogLevel
  readonly pretty: boolean
  /** Log lines are sent instead of written. */
  readonly sendsLog: boolean
}

/** Messages of a reader's thread. */
export type ReaderThreadMessage =
  | { readonly kind: 'status'; readonly status: ReaderStatus }
  | { readonly kind: 'metrics'; readonly snapshot: MetricSnapshot }
  | { readonly kind: 'log'; readonly line: string }
  | { readonly kind: 'message'; readonly channel: string; readonly text: string }
  | {
      readonly kind: 'failed'
      readonly code: ErrorCode
      readonly message: string
      readonly retryable: boolean
    }
  | { readonly kind: 'stopped' }

const port = parentPort
if (!port)
  throw new FatalError('INTERNAL', 'this file is the entry point of a thread and cannot be run directly')

const data = workerData as ReaderThreadData
const ending = new AbortController()
port.on('message', () => ending.abort())

const say = (message: ReaderThreadMessage) => port.postMessage(message)
const logger = createLogger({
  name: 'filler',
  level: data.logLevel,
  pretty: data.pretty,
  ...(data.sendsLog ? { destination: { write: (line: string) => say({ kind: 'log', line }) } } : {}),
}).child({ reader: data.options.settings.name })
const metrics = createReaderMetrics(data.options.settings.name)
const report = (status: ReaderStatus) => {
  say({ kind: 'status', status })
  metrics.note(status)
  void metrics.snapshot().then((snapshot) => say({ kind: 'metrics', snapshot }))
}

try {
  const send = (channel: string, text: string) => say({ kind: 'message', channel, text })
  const reporting = { logger, onStatus: report, observer: metrics.observer, send }
  await runReader({ ...data.options, ...reporting }, ending.signal)
  say({ kind: 'stopped' })
} catch (error) {
  logger.error({ err: error }, 'the reader stopped with an error')
  const code = error instanceof PronghornError ? error.code : 'INTERNAL'
  const retryable = error instanceof PronghornError && error.retryable
  say({ kind: 'failed', code, message: error instanceof Error ? error.message : String(error), retryable })
} finally {
  port.close()
}
