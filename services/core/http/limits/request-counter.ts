import { createMemoryStore, createReadyAccess } from '../../kvstore/index.ts'
import type { CounterState, KeyValueStore, StoreLogger } from '../../kvstore/index.ts'

/** Counts the requests of clients in windows of one length. */
export interface RequestCounter {
  /** Adds to the window of a client, which starts with its first request. Never fails, never waits long. */
  add(client: string, hits: number): Promise<CounterState>
}

/** Memory for the counters of this process alone; enough for about a hundred thousand clients. */
const LOCAL_BYTES = 32 * 2 ** 20

/**
 * Counts in the store, together with every process that shares it. While it is unavailable or slow, this process counts by
 * itself, with a bounded memory that forgets the longest counted clients first.
 *
 * @param name separates several limits in one store.
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
