/** Maximum number of turns at the same time. */
const SLOTS = 4

type Turn = () => Promise<void>

/**
 * Round-robin scheduler of clients. A turn is a short task: it sends a client some of the events that the client missed,
 * or handles some messages of the client. A client has no turn while it reads its messages. The scheduler alternates
 * between addresses, however many clients an address has.
 */
export class ClientTurns {
  /** Turns that wait for a slot, by client address. The first address of the Map gets the next slot. */
  readonly #waiting = new Map<string, Turn[]>()
  #running = 0
  #count = 0

  get waiting(): number {
    return this.#count
  }

  /** Whether all slots are in use, so that another turn has to wait. */
  get isBusy(): boolean {
    return this.#running >= SLOTS
  }

  /**
   * Queues the turn of a client with the address, and starts the turn when a slot is free.
   * @param turn returns a promise that must not reject.
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
      // Free the slot after one turn of the event loop, so that HTTP requests are handled between two turns of clients.
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
    // Delete the address and set it again, so that it moves to the end of the queue.
    this.#waiting.delete(address)
    if (turns.length > 0) this.#waiting.set(address, turns)
    return turn
  }
}
