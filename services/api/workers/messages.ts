import type { ErrorCode } from '../../core/errors/index.ts'
import type { LogLevel } from '../../core/log/index.ts'
import type { MetricSnapshot } from '../../core/metrics/index.ts'
import type { ApiConfig } from '../preconditions.ts'

export interface WorkerSettings {
  /** Number of the worker, from 1. The log lines of the worker contain the number. */
  readonly place: number
  readonly config: ApiConfig
  readonly logLevel: LogLevel
  readonly pretty: boolean
}

/** Messages from the supervisor to a worker. */
export type ToWorker =
  | { readonly kind: 'start'; readonly settings: WorkerSettings }
  | { readonly kind: 'collect'; readonly id: number }
  /** Ports on 127.0.0.1 on which workers accept requests for their sessions, by worker number. */
  | { readonly kind: 'peers'; readonly ports: ReadonlyMap<number, number> }
  | { readonly kind: 'stop' }

/** Messages from a worker to the supervisor. */
export type FromWorker =
  /** First message of a worker. From then on the worker handles messages; earlier messages to the worker are lost. */
  | { readonly kind: 'listening' }
  | { readonly kind: 'ready'; readonly port: number; readonly sessionPort: number | undefined }
  | {
      readonly kind: 'failed'
      readonly code: ErrorCode
      readonly message: string
      readonly retryable: boolean
    }
  | { readonly kind: 'metrics'; readonly id: number; readonly snapshot: MetricSnapshot }
