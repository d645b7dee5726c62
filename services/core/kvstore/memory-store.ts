import { RetryableError } from '../errors/index.ts'
import type { CounterState, KeyValueStore, StoreLogger } from './key-value-store.ts'
import { createSubscriptions } from './subscriptions.ts'

/** Limits of the in-process store. */
export interface MemoryLimits {
  /** Maximum memory for keys and values in bytes, estimated as two per character; default 64 MiB. */
  readonly maxBytes?: number
  /** Clock in milliseconds; default `Date.now`. Tests pass another clock. */
  readonly now?: () => number
}

interface Entry {
  readonly value: string
  readonly expiresAtMs: number
  readonly bytes: number
}

/** Estimated memory of a stored value in addition to the characters of key and value. */
const OVERHEAD_BYTES = 100
const SWEEP_EVERY = 1000

/**
 * Creates a store inside this process. A full store evicts the oldest written entries; a value above the whole limit
 * is not stored. Messages are delivered after the current turn of the event loop, as with Redis.
 */
export function createMemoryStore(logger: StoreLogger, limits: MemoryLimits = {}): KeyValueStore {
  const { maxBytes = 64 * 2 ** 20, now = Date.now } = limits
  const entries = new Map<string, Entry>()
  const subscriptions = createSubscriptions(logger)
  let usedBytes = 0
  let writesSinceSweep = 0
  let isClosed = false

  function remove(key: string) {
    const entry = entries.get(key)
    if (!entry) return
    entries.delete(key)
    usedBytes -= entry.bytes
  }

  function read(key: string): Entry | undefined {
    const entry = entries.get(key)
    if (entry && entry.expiresAtMs > now()) return entry
    remove(key)
    return undefined
  }

  function write(key: string, value: string, expiresAtMs: number) {
    remove(key)
    const bytes = 2 * (key.length + value.length) + OVERHEAD_BYTES
    if (bytes > maxBytes) return
    entries.set(key, { value, expiresAtMs, bytes })
    usedBytes += bytes
    if (++writesSinceSweep >= SWEEP_EVERY) sweep()
    for (const oldest of entries.keys()) {
      if (usedBytes <= maxBytes) break
      remove(oldest)
    }
  }

  function sweep() {
    writesSinceSweep = 0
    const time = now()
    for (const [key, entry] of entries) if (entry.expiresAtMs <= time) remove(key)
  }

  function increment(key: string, ttlMs: number, by: number): CounterState {
    const entry = read(key)
    const count = Number(entry?.value ?? 0) + by
    const expiresAtMs = entry?.expiresAtMs ?? now() + checkedTtl(ttlMs)
    write(key, String(count), expiresAtMs)
    return { count, expiresInMs: Math.max(1, expiresAtMs - now()) }
  }

  /** Turns exceptions of `task` into rejections, so that callers see the same errors as with Redis. */
  function answer<T>(task: () => T): Promise<T> {
    return new Promise((resolve) => {
      if (isClosed) throw new RetryableError('KVSTORE_UNAVAILABLE', 'the in-process store is closed')
      resolve(task())
    })
  }

  return {
    kind: 'memory',
    get: (key) => answer(() => read(key)?.value ?? null),
    read: (key) =>
      answer(() => {
        const entry = read(key)
        return entry ? { value: entry.value, expiresInMs: Math.max(1, entry.expiresAtMs - now()) } : null
      }),
    set: (key, value, ttlMs) => answer(() => write(key, value, now() + checkedTtl(ttlMs))),
    increment: (key, ttlMs, by = 1) => answer(() => increment(key, ttlMs, by)),
    publish: (channel, message) =>
      answer(() => void setImmediate(() => subscriptions.deliver(channel, message))),
    subscribe: (channel, listener) =>
      answer(() => subscriptions.add(channel, listener, () => Promise.resolve()).remove),
    probe: () => Promise.resolve(isClosed ? 'unavailable' : 'up'),
    close: () => {
      isClosed = true
      entries.clear()
      subscriptions.clear()
      return Promise.resolve()
    },
  }
}

/** Validates a time to live: at least 1 ms, rounded up to whole milliseconds. Redis has the same limits. */
export function checkedTtl(ttlMs: number): number {
  if (Number.isFinite(ttlMs) && ttlMs >= 1) return Math.ceil(ttlMs)
  throw new RangeError(`a time to live of ${ttlMs} ms: must be 1 or more`)
}
