/** Clients that are given what they missed at the same time, in one process. */
const PLACES = 4
/** Limit for one client address; the others are for all other clients. */
const PLACES_PER_ADDRESS = 2

interface Waiting {
  readonly address: string
  readonly enter: () => void
}

/** Places for resuming, which all clients share. They are given in the order of arrival, but not all to one address. */
export class ResumePlaces {
  readonly #byAddress = new Map<string, number>()
  readonly #waiting: Waiting[] = []
  #taken = 0

  /** Waits for a place; returns what gives it back, once. */
  async enter(address: string): Promise<() => void> {
    if (this.#isFree(address)) this.#take(address)
    else await new Promise<void>((enter) => this.#waiting.push({ address, enter }))
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.#leave(address)
    }
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
    const next = this.#waiting.findIndex((each) => this.#isFree(each.address))
    if (next === -1) return
    const [waiting] = this.#waiting.splice(next, 1)
    this.#take(waiting!.address)
    waiting!.enter()
  }
}
