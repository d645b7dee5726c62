import type { Context } from 'koa'

/**
 * Where an answer came from. hit: cached in this process. shared: cached by another process. joined: made for another
 * request that asked the same at the same time. miss: made for this request, and cached where it may be. bypass: made for this request, because nothing is cached for this
 * client, route or method.
 */
export type CacheOutcome = 'hit' | 'shared' | 'joined' | 'miss' | 'bypass'

/** What the steps of the lifecycle find out about a request, for those around them. */
export interface RequestNotes {
  /** Pattern of the route with its mount, such as `/atomicassets/v1/assets/:asset_id`; undefined while none matched. */
  route: string | undefined
  /** Name of the namespace that the path belongs to. */
  namespace: string | undefined
  cache: CacheOutcome
  /** Bytes of the body as sent, where they were not known before. */
  bytes: number | undefined
}

interface NotedState {
  notes?: RequestNotes
}

/** The notes of a request; created by the first call. */
export function notesOf(context: Context): RequestNotes {
  const state = context.state as NotedState
  return (state.notes ??= { route: undefined, namespace: undefined, cache: 'bypass', bytes: undefined })
}
