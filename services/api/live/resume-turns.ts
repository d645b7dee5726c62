/** Turns that run at the same time, in one process. */
const SLOTS = 4

type Turn = () => Promise<void>

/**
 * Turns of resuming, which all clients share. A turn is short, and nobody has one while it waits for a client to read. The
 * addresses that have clients waiting take turns, whatever their number of clients.
 */
export class ResumeTurns {
  /** Waiting turns by address; the address whose turn is next comes first. */
  readonly #waiting = new Map<string, Turn[]>()
  #running = 0
  #count = 0

  /** Number of turns that wait. */
  get waiting(): number {
    return this.#count
  }

  /** Whether a turn that is asked for now has to wait. */
  get isBusy(): boolean {
    return this.#running >= SLOTS
  }

  /** Asks for a turn of a client of an address. @param turn never rejects. */
  ask(address: string, turn: Turn): void {
    const own = this.#waiting.get(address)
    if (own) own.push(turn)
    else this.#waiting.set(address, [turn])
    this.#count++
    this.#fill()
  }

  #fill(): void {
    while (this.#running < SLOTS) {
      const turn = this.#next()
      if (!turn) return
      this.#running++
      // Requests have their turn between two of these.
      const end = (): void => {
        this.#running--
        this.#fill()
      }
      void turn().finally(() => setImmediate(end))
    }
  }

  #next(): Turn | undefined {
    const first = this.#waiting.entries().next()
    if (first.done) return undefined
    const [address, turns] = first.value
    const turn = turns.shift()
    this.#count--
    // The address goes to the end.
    this.#waiting.delete(address)
    if (turns.length > 0) this.#waiting.set(address, turns)
    return turn
  }
}
