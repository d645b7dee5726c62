import { createMemoryStore, createReadyAccess } from '../../kvstore/index.ts'
import type { CounterState, KeyValueStore, StoreLogger } from '../../kvstore/index.ts'

/** Counts requests per client in windows of fixed length. */
export interface RequestCounter {
  /**
   * Adds `hits` requests to a client's window. The window starts with the client's first request. Never rejects and
   * never waits long.
   */
  add(client: string, hits: number): Promise<CounterState>
}

/**
 * Memory for the counters of this process, used while the store is unavailable; enough for about a hundred thousand
 * clients.
 */
const LOCAL_BYTES = 32 * 2 ** 20

/**
 * Creates a counter in the key-value store, shared by all processes that use the store. While the store is unavailable
 * or slow, each process counts for itself in bounded memory, which drops the oldest windows first.
 *
 * @param name distinguishes several limits in one store.
 */
export function createRequestCounter(
  store: KeyValueStore,
  name: string,
  windowMs: number,
  logger: StoreLogger,
): RequestCounter {
  const local = createMemoryStore(logger, { maxBytes: LOCAL_BYTES })
  const access = createReadyAccess()
  return {
    async add(client, hits) {
      const key = `${name}:${client}`
      if (store.kind === 'memory') return store.increment(key, windowMs, hits)
      const shared = await access(() => store.increment(key, windowMs, hits))
      return shared ?? local.increment(key, windowMs, hits)
    },
  }
}
