import type { LoadRequest } from '../load.ts'

/** Addresses, one after the other; from the start when there are no more. */
export class AddressCycle {
  readonly #addresses: readonly string[]
  #asked = 0

  constructor(addresses: readonly string[]) {
    if (addresses.length === 0) throw new RangeError('no addresses')
    this.#addresses = addresses
  }

  readonly next = (): LoadRequest => ({ path: this.#addresses[this.#asked++ % this.#addresses.length]! })

  /** Requests so far whose address had been asked for before. */
  get repeated(): number {
    return Math.max(0, this.#asked - this.#addresses.length)
  }
}
