/** A commit that has succeeded. */
export interface CommitFacts {
  readonly durationMs: number
  readonly blocks: number
  /** True for a block of its own that a fork may still undo. */
  readonly isReversible: boolean
  /** Rows written or removed, by table. */
  readonly rows: ReadonlyMap<string, number>
}

/** Something that live clients are told. */
export interface ToldFacts {
  readonly kind: 'block' | 'fork' | 'gap'
  readonly events: number
  /** Size in the database. */
  readonly storedBytes: number
}

/** Whoever counts what a reader does. No method may throw. */
export interface ReaderObserver {
  committed(facts: CommitFacts): void
  /** A fork undid this many committed blocks. */
  rolledBack(blocks: number): void
  /** Reading begins again from the committed position, after an error that may pass. */
  interrupted(): void
  /** An entry of the feed was committed. */
  told(facts: ToldFacts): void
}

/** For readers that nobody observes. */
export const noObserver: ReaderObserver = {
  committed: () => undefined,
  rolledBack: () => undefined,
  interrupted: () => undefined,
  told: () => undefined,
}
