import type { LoadRequest } from '../load.ts'

/** Yields URLs in sequence, repeated cyclically. */
export class AddressCycle {
  readonly #addresses: readonly string[]
  #asked = 0

  constructor(addresses: readonly string[]) {
    if (addresses.length === 0) throw new RangeError('no addresses')
    this.#addresses = addresses
  }

  readonly next = (): LoadRequest => ({ path: this.#addresses[this.#asked++ % this.#addresses.length]! })

  /** Number of requests so far whose URL had been requested before. */
  get repeated(): number {
    return Math.max(0, this.#asked - this.#addresses.length)
  }
}
