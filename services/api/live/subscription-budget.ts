/** Limits of the memory of subscriptions, bytes. */
export interface SubscriptionBytes {
  readonly connection: number
  readonly address: number
  readonly process: number
}

/** Default limits of the memory of subscriptions, bytes. `FilterIndex.bytesOf` computes the size of a subscription. */
export const subscriptionBytes: SubscriptionBytes = {
  connection: 2 * 1024 * 1024,
  address: 16 * 1024 * 1024,
  process: 256 * 1024 * 1024,
}

/** A client whose subscriptions are counted. */
interface Owner {
  readonly address: string
}

/** Counts the bytes of subscriptions for each connection, for each address and for the process. */
export class SubscriptionBudget {
  readonly #limits: SubscriptionBytes
  readonly #byConnection = new WeakMap<Owner, number>()
  readonly #byAddress = new Map<string, number>()
  #all = 0

  constructor(limits: SubscriptionBytes = subscriptionBytes) {
    this.#limits = limits
  }

  /**
   * Counts bytes of a client's subscriptions. A negative number releases bytes.
   * @returns a message about the limit that the bytes would exceed; the bytes are then not counted.
   */
  take(owner: Owner, bytes: number): string | undefined {
    const { connection, address, process } = this.#limits
    const ofConnection = (this.#byConnection.get(owner) ?? 0) + bytes
    const ofAddress = (this.#byAddress.get(owner.address) ?? 0) + bytes
    if (bytes > 0) {
      if (ofConnection > connection) return exceeded('a connection', connection)
      if (ofAddress > address) return exceeded('an address', address)
      if (this.#all + bytes > process) return exceeded('all clients', process)
    }
    this.#byConnection.set(owner, ofConnection)
    if (ofAddress > 0) this.#byAddress.set(owner.address, ofAddress)
    else this.#byAddress.delete(owner.address)
    this.#all += bytes
    return undefined
  }
}

function exceeded(whose: string, limit: number): string {
  return `the subscriptions of ${whose} may take ${limit} bytes: remove some subscriptions, or use fewer filter values`
}
