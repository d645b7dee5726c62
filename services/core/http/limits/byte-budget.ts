/** Maximum share of a byte budget that one client may hold at once. */
export const SHARE_OF_ONE = 1 / 4
/** Maximum number of requests of one client that wait for free bytes of the budget. */
const MAX_WAITING_OF_ONE = 8
/** Maximum number of requests of all clients that wait for free bytes of the budget. */
const MAX_WAITING = 1_024

/** Limits of a byte budget. */
export interface BudgetLimits {
  /** Maximum number of bytes that all clients together may hold. */
  readonly maxBytes: number
  /** Maximum number of bytes that one client may hold; default: a quarter of `maxBytes`. */
  readonly maxBytesOfOne?: number
}

interface Waiter {
  readonly client: string
  readonly bytes: number
  readonly grant: () => void
}

/** Counts bytes held in memory for clients, with a limit for all clients and a smaller limit per client. */
export class ByteBudget {
  readonly #maxBytes: number
  readonly #maxBytesOfOne: number
  readonly #held = new Map<string, number>()
  readonly #waiting = new Set<Waiter>()
  #bytes = 0

  constructor({ maxBytes, maxBytesOfOne = maxBytes * SHARE_OF_ONE }: BudgetLimits) {
    this.#maxBytes = maxBytes
    this.#maxBytesOfOne = maxBytesOfOne
  }

  /** Bytes of the budget that all clients together hold now. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Takes bytes of the budget. Returns false and takes nothing if the total or the client's share would exceed its
   * limit.
   */
  take(client: string, bytes: number): boolean {
    const held = (this.#held.get(client) ?? 0) + bytes
    if (this.#bytes + bytes > this.#maxBytes || held > this.#maxBytesOfOne) return false
    this.#bytes += bytes
    this.#held.set(client, held)
    return true
  }

  /**
   * Takes bytes; waits until other clients have returned enough.
   * @returns false if not enough bytes are free within `waitMs`.
   */
  async takeWithin(client: string, bytes: number, waitMs: number): Promise<boolean> {
    if (this.take(client, bytes)) return true
    if (!this.#mayWait(client)) return false
    return new Promise((resolve) => {
      const end = (isTaken: boolean): void => {
        clearTimeout(timer)
        this.#waiting.delete(waiter)
        resolve(isTaken)
      }
      const waiter = {
        client,
        bytes,
        grant: () => {
          end(true)
        },
      }
      const timer = setTimeout(() => {
        end(false)
      }, waitMs)
      this.#waiting.add(waiter)
    })
  }

  giveBack(client: string, bytes: number): void {
    this.#bytes -= bytes
    const left = (this.#held.get(client) ?? 0) - bytes
    if (left > 0) this.#held.set(client, left)
    else this.#held.delete(client)
    for (const waiter of this.#waiting) if (this.take(waiter.client, waiter.bytes)) waiter.grant()
  }

  #mayWait(client: string): boolean {
    if (this.#waiting.size >= MAX_WAITING) return false
    let own = 0
    for (const waiter of this.#waiting) if (waiter.client === client) own++
    return own < MAX_WAITING_OF_ONE
  }
}
