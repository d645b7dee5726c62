import type { ErrorCode } from '../../core/errors/index.ts'
import type { LogLevel } from '../../core/log/index.ts'
import type { MetricSnapshot } from '../../core/metrics/index.ts'
import type { ApiConfig } from '../preconditions.ts'

/** Options of a worker. */
export interface WorkerSettings {
  /** Number of the worker's place, from 1; part of its log lines. */
  readonly place: number
  readonly config: ApiConfig
  readonly logLevel: LogLevel
  readonly pretty: boolean
}

/** Messages from the supervisor to a worker. */
export type ToWorker =
  | { readonly kind: 'start'; readonly settings: WorkerSettings }
  | { readonly kind: 'collect'; readonly id: number }
  /** Ports of 127.0.0.1 on which workers take requests of their sessions, by place. */
  | { readonly kind: 'peers'; readonly ports: ReadonlyMap<number, number> }
  | { readonly kind: 'stop' }

/** Messages from a worker to the supervisor. */
export type FromWorker =
  /** Sent first: the worker now handles messages; earlier messages are lost. */
  | { readonly kind: 'listening' }
  | { readonly kind: 'ready'; readonly port: number; readonly sessionPort: number | undefined }
  | {
      readonly kind: 'failed'
      readonly code: ErrorCode
      readonly message: string
      readonly retryable: boolean
    }
  | { readonly kind: 'metrics'; readonly id: number; readonly snapshot: MetricSnapshot }
