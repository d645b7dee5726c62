import type { ProblemKind } from './problems.ts'

/** A finished statement. */
export interface QueryFacts {
  /** Name of the statement; without one, its caller. */
  readonly query: string
  /** `primary`, or host and port of a replica. */
  readonly server: string
  readonly durationMs: number
  /** Undefined when it succeeded. */
  readonly problem: ProblemKind | undefined
}

/** Counts what requests do with the database. No method may throw. */
export interface DatabaseObserver {
  queryEnded(facts: QueryFacts): void
  /** A request got a connection after this time. */
  connected(server: string, waitMs: number): void
  /** A request got none. */
  refused(reason: 'busy' | 'unavailable'): void
  /** This process reads from that server from now on. */
  wentOver(server: string): void
}

/** Observer that does nothing. */
export const noDatabaseObserver: DatabaseObserver = {
  queryEnded: () => undefined,
  connected: () => undefined,
  refused: () => undefined,
  wentOver: () => undefined,
}
