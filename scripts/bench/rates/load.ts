import type { HttpClient } from '../http-client.ts'

/** What a short measurement found. */
export interface Load {
  readonly requests: number
  readonly perSecond: number
  /** Bytes of an answer, on average. */
  readonly bytes: number
  /** Answers with another status than 200. */
  readonly failures: number
  /** Requests whose address had been asked for before. */
  readonly repeated: number
}

/** Addresses, one after the other; from the start when there are no more. */
export class AddressCycle {
  readonly #addresses: readonly string[]
  #asked = 0

  constructor(addresses: readonly string[]) {
    if (addresses.length === 0) throw new RangeError('no addresses')
    this.#addresses = addresses
  }

  next(): string {
    return this.#addresses[this.#asked++ % this.#addresses.length]!
  }

  /** Requests so far whose address had been asked for before. */
  get repeated(): number {
    return Math.max(0, this.#asked - this.#addresses.length)
  }
}

/** Asks on every connection, one request after the other, for some time. */
export async function load(
  clients: readonly HttpClient[],
  addresses: AddressCycle,
  seconds: number,
): Promise<Load> {
  const started = performance.now()
  const until = started + seconds * 1_000
  const repeatedBefore = addresses.repeated
  let requests = 0
  let bytes = 0
  let failures = 0
  await Promise.all(
    clients.map(async (client) => {
      do {
        const answer = await client.get(addresses.next())
        requests++
        bytes += answer.bytes
        if (answer.status !== 200) failures++
      } while (performance.now() < until)
    }),
  )
  return {
    requests,
    perSecond: (requests / (performance.now() - started)) * 1_000,
    bytes: bytes / requests,
    failures,
    repeated: addresses.repeated - repeatedBefore,
  }
}
