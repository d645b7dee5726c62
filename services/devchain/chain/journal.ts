interface Entry {
  readonly num: number
  readonly undo: (() => void)[]
}

/**
 * Undo steps of the changes that each reversible block made in memory. Everything that follows the chain (rows,
 * accounts, sequence counters, resource usage) records its steps here, so that one call rewinds all of it.
 */
export class Journal {
  readonly #entries: Entry[] = []

  /** Starts block `num`: undo steps that are recorded from now on belong to this block. */
  begin(num: number): void {
    this.#entries.push({ num, undo: [] })
  }

  /** Records how to undo a change. Does nothing before the first block. */
  record(undo: () => void): void {
    this.#entries.at(-1)?.undo.push(undo)
  }

  /** Undoes all blocks above `num`, latest change first. */
  rewindTo(num: number): void {
    for (let last = this.#entries.at(-1); last !== undefined && last.num > num; last = this.#entries.at(-1)) {
      for (const undo of last.undo.reverse()) undo()
      this.#entries.pop()
    }
  }

  /** Drops the undo steps of irreversible blocks, up to `num`. */
  forgetTo(num: number): void {
    const first = this.#entries.findIndex((entry) => entry.num > num)
    this.#entries.splice(0, first === -1 ? this.#entries.length : first)
  }
}
