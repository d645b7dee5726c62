import type { ProblemKind } from './problems.ts'

/** Facts about a finished statement. */
export interface QueryFacts {
  /** Name of the statement, or the caller if it has none. */
  readonly query: string
  /** `primary`, or host and port of a replica. */
  readonly server: string
  readonly durationMs: number
  /** Class of the failure; undefined if the statement succeeded. */
  readonly problem: ProblemKind | undefined
}

/** Receives database events of requests, for the metrics. Methods must not throw. */
export interface DatabaseObserver {
  queryEnded(facts: QueryFacts): void
  /** A request waited `waitMs` for its connection from the pool. */
  connected(server: string, waitMs: number): void
  /** A request got no connection. */
  refused(reason: 'busy' | 'unavailable'): void
  /** The process now reads from that server. */
  wentOver(server: string): void
}

/** An observer that ignores all events. */
export const noDatabaseObserver: DatabaseObserver = {
  queryEnded: () => undefined,
  connected: () => undefined,
  refused: () => undefined,
  wentOver: () => undefined,
}
