import { LRUCache } from 'lru-cache'
import type { Answer } from './answer.ts'

/** A cached answer with its route. */
export interface CachedAnswer {
  readonly answer: Answer
  /** Pattern and namespace of its route, for metrics. */
  readonly route: string
  readonly namespace: string
}

interface Entry extends CachedAnswer {
  readonly key: string
  /** URLs, as sent, that have this answer. */
  readonly addresses: string[]
  bytes: number
}

/** Overhead of an entry and of an address of it, without text and body. */
const ENTRY_BYTES = 400
const ADDRESS_BYTES = 150
/** URLs per answer that are remembered. */
const MAX_ADDRESSES = 16
/** A longer address is not remembered: its answer is found by the parameters. */
const MAX_ADDRESS_LENGTH = 2_048

/** Answers in the memory of this process, by key and, faster, by identical URL. Bounded; evicts the least recently used.
 */
export class AnswerMemory {
  readonly #entries: LRUCache<string, Entry>
  readonly #byAddress = new Map<string, Entry>()

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }) => bytes,
      dispose: (entry) => {
        for (const address of entry.addresses) {
          if (this.#byAddress.get(address) === entry) this.#byAddress.delete(address)
        }
      },
    })
  }

  /** Estimated bytes in use. */
  get bytes(): number {
    return this.#entries.calculatedSize
  }

  /** The answer for an identical URL. */
  findByAddress(address: string): CachedAnswer | undefined {
    const entry = this.#byAddress.get(address)
    return entry && this.#entries.get(entry.key)
  }

  /** The answer for a key; the address that led to it is remembered. */
  find(key: string, address: string | undefined): CachedAnswer | undefined {
    const entry = this.#entries.get(key)
    if (entry && address !== undefined) this.#remember(entry, address)
    return entry
  }

  /** Caches an answer for `lifeMs`. */
  store(key: string, cached: CachedAnswer, lifeMs: number): void {
    const bytes = cached.answer.bytes.length + 2 * key.length + ENTRY_BYTES
    const entry: Entry = { ...cached, key, addresses: [], bytes }
    this.#entries.set(key, entry, { ttl: Math.max(1, Math.floor(lifeMs)) })
    cached.answer.onGrowth = (more) => {
      this.#grow(entry, more)
    }
  }

  /** Drops everything. */
  clear(): void {
    this.#entries.clear()
    this.#byAddress.clear()
  }

  #remember(entry: Entry, address: string): void {
    if (address.length > MAX_ADDRESS_LENGTH || entry.addresses.length >= MAX_ADDRESSES) return
    if (this.#byAddress.get(address) === entry) return
    entry.addresses.push(address)
    this.#byAddress.set(address, entry)
    this.#grow(entry, 2 * address.length + ADDRESS_BYTES)
  }

  #grow(entry: Entry, bytes: number): void {
    if (this.#entries.peek(entry.key) !== entry) return
    entry.bytes += bytes
    this.#entries.set(entry.key, entry, { noUpdateTTL: true })
  }
}
