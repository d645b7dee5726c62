import type { Context } from 'koa'

/**
 * Source of a response. hit: cache of this process. shared: cache entry of another process. joined: result of an
 * identical request in progress. miss: computed for this request, and cached if cacheable. bypass: computed for this
 * request, because responses to this client, route or method are never cached.
 */
export type CacheOutcome = 'hit' | 'shared' | 'joined' | 'miss' | 'bypass'

/** Facts about a request that inner middleware records for outer middleware (metrics, log). */
export interface RequestNotes {
  /**
   * Route pattern with its mount, such as `/atomicassets/v1/assets/:asset_id`; undefined while no route has matched.
   */
  route: string | undefined
  /** Name of the namespace that the path belongs to. */
  namespace: string | undefined
  cache: CacheOutcome
  /** Bytes of the body as sent; set if the size is known only after sending. */
  bytes: number | undefined
}

interface NotedState {
  notes?: RequestNotes
}

/** Returns the `RequestNotes` of a request; the first call creates them. */
export function notesOf(context: Context): RequestNotes {
  const state = context.state as NotedState
  return (state.notes ??= { route: undefined, namespace: undefined, cache: 'bypass', bytes: undefined })
}
