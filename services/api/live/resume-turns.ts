/** Resuming clients that are served at the same time, per process. */
const SLOTS = 4

type Turn = () => Promise<void>

/**
 * Round-robin scheduler of resuming clients. A client has a short turn, and none while it reads what was sent.
 * Addresses alternate, however many clients each address has.
 */
export class ResumeTurns {
  /** Waiting turns by address. The Map's first address is scheduled next. */
  readonly #waiting = new Map<string, Turn[]>()
  #running = 0
  #count = 0

  /** Number of waiting turns. */
  get waiting(): number {
    return this.#count
  }

  /** Whether a new turn has to wait. */
  get isBusy(): boolean {
    return this.#running >= SLOTS
  }

  /**
   * Queues a turn of a client.
   * @param turn must not reject.
   */
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
      // A slot is freed one event loop turn later, so that HTTP requests run between two turns.
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
    // Delete and set again: the address moves to the end of the queue.
    this.#waiting.delete(address)
    if (turns.length > 0) this.#waiting.set(address, turns)
    return turn
  }
}
