import type { StoreState } from './store-state.ts'

/** Value and remaining time to live of a counter. */
export interface CounterState {
  readonly count: number
  /** Milliseconds until the counter expires; at least 1. */
  readonly expiresInMs: number
}

/** Ends a subscription. Never rejects. */
export type Unsubscribe = () => Promise<void>

/**
 * Short-lived values, counters and messages shared by the processes of one chain. Code that uses the store must also
 * work while the store is unavailable. Every promise settles within a few seconds and rejects only with RetryableError
 * `KVSTORE_UNAVAILABLE`.
 */
export interface KeyValueStore {
  /** `memory`: the store belongs to this process alone. */
  readonly kind: 'redis' | 'memory'
  /** Returns the value; null if it is absent or expired. */
  get(key: string): Promise<string | null>
  /**
   * Returns the value with its remaining time to live, or null. A remaining time avoids comparing clocks of several
   * machines.
   */
  read(key: string): Promise<{ readonly value: string; readonly expiresInMs: number } | null>
  /** Stores a value for `ttlMs` milliseconds (1 or more). */
  set(key: string, value: string, ttlMs: number): Promise<void>
  /**
   * Adds `by` (default 1) to a counter atomically. The first increment sets the time to live to `ttlMs`; later
   * increments do not extend the time to live.
   */
  increment(key: string, ttlMs: number, by?: number): Promise<CounterState>
  /** Sends a message to all current subscribers. */
  publish(channel: string, message: string): Promise<void>
  /**
   * Calls `listener` for each message in sending order; exceptions of the listener are logged. Messages are lost while
   * the store is unavailable. The subscription continues when the store is available again.
   */
  subscribe(channel: string, listener: (message: string) => void): Promise<Unsubscribe>
  /** Probes by a write whether the store answers and accepts writes. Never rejects. */
  probe(): Promise<StoreState>
  /** Closes the store and its connections; later calls fail. Never rejects. */
  close(): Promise<void>
}

export interface StoreLogger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}
