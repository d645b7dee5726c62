import { parentPort, workerData } from 'node:worker_threads'
import { describeError, FatalError, PronghornError } from '../core/errors/index.ts'
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
  /** Whether the thread sends its log lines to the main thread instead of writing them. */
  readonly sendsLog: boolean
}

/** The error that stopped a reader, in a form that can be passed between threads. */
interface ReaderFailure {
  readonly code: ErrorCode
  /** Error message, including its causes. */
  readonly message: string
  readonly retryable: boolean
  readonly details: Readonly<Record<string, string | number>>
}

/** Messages of a reader's thread to the main thread. */
export type ReaderThreadMessage =
  | { readonly kind: 'status'; readonly status: ReaderStatus }
  | { readonly kind: 'metrics'; readonly snapshot: MetricSnapshot }
  | { readonly kind: 'log'; readonly line: string }
  | { readonly kind: 'message'; readonly channel: string; readonly text: string }
  | ({ readonly kind: 'failed' } & ReaderFailure)
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
  // The caller prints a PronghornError. Any other error is logged with its stack, which shows where it was thrown.
  if (!(error instanceof PronghornError)) logger.error({ err: error }, 'the reader stopped with an error')
  say({ kind: 'failed', ...describeFailure(error) })
} finally {
  port.close()
}

function describeFailure(error: unknown): ReaderFailure {
  if (!(error instanceof PronghornError)) {
    const message = error instanceof Error ? error.message : String(error)
    return { code: 'INTERNAL', message, retryable: false, details: {} }
  }
  const { code, retryable } = error
  const message = describeError(error).slice(`${code}: `.length)
  const shown = Object.entries(error.details).filter(
    (entry): entry is [string, string | number] =>
      typeof entry[1] === 'string' || typeof entry[1] === 'number',
  )
  return { code, message, retryable, details: Object.fromEntries(shown) }
}
