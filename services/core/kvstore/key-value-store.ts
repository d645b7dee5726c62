import type { StoreState } from './store-state.ts'

/** A counter after it was raised. */
export interface CounterState {
  readonly count: number
  /** Milliseconds until the counter vanishes; at least 1. */
  readonly expiresInMs: number
}

/** Ends a subscription. Never rejects. */
export type Unsubscribe = () => Promise<void>

/**
 * Short-lived values, counters and messages that the processes of one chain share. It is an accelerator: code that
 * uses it must work without it. Every promise settles within a few seconds; those that fail do so with a
 * RetryableError KVSTORE_UNAVAILABLE.
 */
export interface KeyValueStore {
  /** `memory` is seen by this process alone. */
  readonly kind: 'redis' | 'memory'
  /** The value, or null when there is none or it has expired. */
  get(key: string): Promise<string | null>
  /** The value with what is left of its life, or null; so that no clocks are compared. */
  read(key: string): Promise<{ readonly value: string; readonly expiresInMs: number } | null>
  /** Stores a value for `ttlMs` milliseconds (1 or more). */
  set(key: string, value: string, ttlMs: number): Promise<void>
  /**
   * Raises a counter by `by` (default 1), in one step for all processes. The first raise starts its life of `ttlMs`;
   * later ones do not prolong it.
   */
  increment(key: string, ttlMs: number, by?: number): Promise<CounterState>
  /** Sends a message to all present subscribers. */
  publish(channel: string, message: string): Promise<void>
  /**
   * Calls `listener` for each message, in the order of sending. What it throws is logged. While the store is unavailable
   * messages are lost; the subscription itself comes back.
   */
  subscribe(channel: string, listener: (message: string) => void): Promise<Unsubscribe>
  /** Whether the store answers and takes writes, found by writing. Never rejects. */
  probe(): Promise<StoreState>
  /** Frees everything; calls after it fail. Never rejects. */
  close(): Promise<void>
}

/** What a store reports to. */
export interface StoreLogger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}
