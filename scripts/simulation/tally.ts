/** Counts events by name. */
export class Tally {
  readonly #counts = new Map<string, number>()

  add(name: string, count = 1): void {
    if (count > 0) this.#counts.set(name, (this.#counts.get(name) ?? 0) + count)
  }

  /** All names with their counts, in alphabetical order. */
  entries(): [name: string, count: number][] {
    return [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1))
  }
}
