/** Clients that are given what they missed at the same time, in one process. */
const PLACES = 4
/** Limit for one client address; the others are for all other clients. */
const PLACES_PER_ADDRESS = 2

interface Waiting {
  readonly address: string
  readonly enter: (hasEntered: boolean) => void
}

/** Places for resuming, which all clients share. They are given in the order of arrival, but not all to one address. */
export class ResumePlaces {
  readonly #byAddress = new Map<string, number>()
  readonly #waiting = new Set<Waiting>()
  #taken = 0

  /** Waits for a place; returns what gives it back, once. @param left ends the waiting; undefined is returned then. */
  async enter(address: string, left: AbortSignal): Promise<(() => void) | undefined> {
    if (this.#isFree(address)) this.#take(address)
    else if (!(await this.#wait(address, left))) return undefined
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.#leave(address)
    }
  }

  /** False when the client has left before. */
  #wait(address: string, left: AbortSignal): Promise<boolean> {
    return new Promise((enter) => {
      if (left.aborted) {
        enter(false)
        return
      }
      const waiting = { address, enter }
      this.#waiting.add(waiting)
      left.addEventListener('abort', () => {
        this.#waiting.delete(waiting)
        enter(false)
      })
    })
  }

  #isFree(address: string): boolean {
    return this.#taken < PLACES && (this.#byAddress.get(address) ?? 0) < PLACES_PER_ADDRESS
  }

  #take(address: string): void {
    this.#taken++
    this.#byAddress.set(address, (this.#byAddress.get(address) ?? 0) + 1)
  }

  #leave(address: string): void {
    this.#taken--
    const left = (this.#byAddress.get(address) ?? 1) - 1
    if (left === 0) this.#byAddress.delete(address)
    else this.#byAddress.set(address, left)
    for (const waiting of this.#waiting) {
      if (!this.#isFree(waiting.address)) continue
      this.#waiting.delete(waiting)
      this.#take(waiting.address)
      waiting.enter(true)
      return
    }
  }
}
