import type { TableLayout } from './layout.ts'

/** Range of blocks for which a journal may have entries. */
interface Extent {
  readonly first: number
  readonly last: number
}

const nothing: Extent = { first: Number.MAX_SAFE_INTEGER, last: 0 }

/**
 * Tracks which journals may have entries for which blocks. Most journals are empty most of the time, so pruning and
 * rollback can skip them. Before the first pruning the extents are unknown, so no journal is skipped.
 */
export class JournalExtent {
  /** Block up to which the journal has been pruned. */
  prunedTo = 0
  readonly #extents = new Map<TableLayout, Extent>()

  /** Names of the journals that may have entries at or below a block. */
  reachingDownTo(block: number, layouts: Iterable<TableLayout>): string[] {
    return [...layouts].flatMap((layout) =>
      layout.undoTable !== null && (this.#extents.get(layout)?.first ?? 0) <= block ? [layout.undoTable] : [],
    )
  }

  /** Tables whose journals may have entries at or above a block. */
  reachingUpTo(block: number, layouts: Iterable<TableLayout>): TableLayout[] {
    return [...layouts].filter((layout) => (this.#extents.get(layout)?.last ?? block) >= block)
  }

  /** Records that the journals of the given tables have entries of the block. */
  noteJournaled(layouts: Iterable<TableLayout>, block: number): void {
    for (const layout of layouts) {
      const known = this.#extents.get(layout)
      if (known) this.#extents.set(layout, { first: Math.min(known.first, block), last: block })
    }
  }

  /** Records that all journals were pruned up to block `oldest`, with `newest` as the newest block. */
  notePruned(oldest: number, newest: number, layouts: Iterable<TableLayout>): void {
    if (oldest <= this.prunedTo) return
    this.prunedTo = oldest
    for (const layout of layouts) {
      const last = this.#extents.get(layout)?.last ?? newest
      this.#extents.set(layout, last > oldest ? { first: oldest + 1, last } : nothing)
    }
  }

  /** Forgets the block ranges of all journals, as for a new database. */
  clear(): void {
    this.prunedTo = 0
    this.#extents.clear()
  }
}
