import type { TableLayout } from './layout.ts'

/** Blocks for which a journal may have entries. */
interface Extent {
  /** The journal may have entries for every block up to this one: it had entries before this process knew them. */
  unknownTo: number
  /** Blocks that this process has journaled since the first pruning, ascending. */
  blocks: number[]
}

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
    return [...layouts].flatMap((layout) => {
      const extent = this.#extents.get(layout)
      const isReaching =
        extent === undefined || extent.unknownTo > 0 || (extent.blocks[0] ?? Infinity) <= block
      return layout.undoTable !== null && isReaching ? [layout.undoTable] : []
    })
  }

  /** Tables whose journals may have entries at or above a block. */
  reachingUpTo(block: number, layouts: Iterable<TableLayout>): TableLayout[] {
    return [...layouts].filter((layout) => {
      const extent = this.#extents.get(layout)
      return extent === undefined || (extent.blocks.at(-1) ?? extent.unknownTo) >= block
    })
  }

  /**
   * Records that the journals of the given tables have entries of the block. A later block that is known already was
   * rolled back, which emptied its journal.
   */
  noteJournaled(layouts: Iterable<TableLayout>, block: number): void {
    for (const layout of layouts) {
      const extent = this.#extents.get(layout)
      if (!extent) continue
      while ((extent.blocks.at(-1) ?? 0) >= block) extent.blocks.pop()
      extent.blocks.push(block)
    }
  }

  /** Records that all journals were pruned up to block `oldest`, with `newest` as the newest block. */
  notePruned(oldest: number, newest: number, layouts: Iterable<TableLayout>): void {
    if (oldest <= this.prunedTo) return
    this.prunedTo = oldest
    for (const layout of layouts) {
      const { unknownTo, blocks } = this.#extents.get(layout) ?? { unknownTo: newest, blocks: [] }
      this.#extents.set(layout, {
        unknownTo: unknownTo > oldest ? unknownTo : 0,
        blocks: blocks.filter((block) => block > oldest),
      })
    }
  }

  /** Forgets the block ranges of all journals, as for a new database. */
  clear(): void {
    this.prunedTo = 0
    this.#extents.clear()
  }
}
