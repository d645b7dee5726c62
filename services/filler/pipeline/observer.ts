/** Measurements of a successful commit. */
export interface CommitFacts {
  readonly durationMs: number
  readonly blocks: number
  /** True for a unit of a single block that a fork may still undo. */
  readonly isReversible: boolean
  /** Number of rows written or removed, by table. */
  readonly rows: ReadonlyMap<string, number>
}

/** Measurements of a feed entry that was published to live clients. */
export interface PublishedFacts {
  readonly kind: 'block' | 'fork' | 'gap'
  readonly events: number
  /** Size of the entry in the database, bytes. */
  readonly storedBytes: number
}

/** Receives the events of a reader for metrics. Methods must not throw. */
export interface ReaderObserver {
  committed(facts: CommitFacts): void
  /** A fork undid `blocks` committed blocks. */
  rolledBack(blocks: number): void
  /** Reading restarts from the committed position after a transient error. */
  interrupted(): void
  /** An entry of the feed was committed. */
  published(facts: PublishedFacts): void
}

export const noObserver: ReaderObserver = {
  committed: () => undefined,
  rolledBack: () => undefined,
  interrupted: () => undefined,
  published: () => undefined,
}
