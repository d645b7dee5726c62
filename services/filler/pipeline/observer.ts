/** A commit that has succeeded. */
export interface CommitFacts {
  readonly durationMs: number
  readonly blocks: number
  /** True for a single block that a fork may still undo. */
  readonly isReversible: boolean
  /** Rows written or removed, by table. */
  readonly rows: ReadonlyMap<string, number>
}

/** An entry that was published to live clients. */
export interface PublishedFacts {
  readonly kind: 'block' | 'fork' | 'gap'
  readonly events: number
  /** Size in the database. */
  readonly storedBytes: number
}

/** Receives the events of a reader, for metrics. No method may throw. */
export interface ReaderObserver {
  committed(facts: CommitFacts): void
  /** A fork undid this many committed blocks. */
  rolledBack(blocks: number): void
  /** Reading begins again from the committed position, after an error that may pass. */
  interrupted(): void
  /** An entry of the feed was committed. */
  published(facts: PublishedFacts): void
}

/** Observer that does nothing. */
export const noObserver: ReaderObserver = {
  committed: () => undefined,
  rolledBack: () => undefined,
  interrupted: () => undefined,
  published: () => undefined,
}
