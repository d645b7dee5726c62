interface Flight<T> {
  readonly startedMs: number
  readonly result: Promise<T>
}

/** Work under way, by key: whoever asks for the same joins it instead of starting it again. */
export class Flights<T> {
  readonly #underway = new Map<string, Flight<T>>()

  /** The work under way for a key, if it began no longer ago than `maxAgeMs`. */
  find(key: string, maxAgeMs: number): Promise<T> | undefined {
    const flight = this.#underway.get(key)
    return flight && performance.now() - flight.startedMs < maxAgeMs ? flight.result : undefined
  }

  /** Starts work for a key; from now on this is what others join. */
  start(key: string, work: () => Promise<T>): Promise<T> {
    const result = work().finally(() => {
      if (this.#underway.get(key) === flight) this.#underway.delete(key)
    })
    const flight = { startedMs: performance.now(), result }
    this.#underway.set(key, flight)
    return result
  }

  /** Lets nobody join what is under way now. */
  clear(): void {
    this.#underway.clear()
  }
}
