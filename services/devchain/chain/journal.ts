interface Entry {
  readonly num: number
  readonly undo: (() => void)[]
}

/**
 * How to undo what each reversible block changed in memory. Everything that follows the chain (rows,
 * accounts, sequence counters, resource use) records its steps here, so that one call rewinds all of it.
 */
export class Journal {
  readonly #entries: Entry[] = []

  /** Starts the block `num`; steps recorded from now on belong to it. */
  begin(num: number): void {
    this.#entries.push({ num, undo: [] })
  }

  /** Adds a step that undoes a change made just now. Outside of a block nothing is stored. */
  record(undo: () => void): void {
    this.#entries.at(-1)?.undo.push(undo)
  }

  /** Undoes every block above `num`, newest change first. */
  rewindTo(num: number): void {
    for (let last = this.#entries.at(-1); last !== undefined && last.num > num; last = this.#entries.at(-1)) {
      for (const undo of last.undo.reverse()) undo()
      this.#entries.pop()
    }
  }

  /** Forgets how to undo the blocks up to `num`: they are irreversible. */
  forgetTo(num: number): void {
    const first = this.#entries.findIndex((entry) => entry.num > num)
    this.#entries.splice(0, first === -1 ? this.#entries.length : first)
  }
}
