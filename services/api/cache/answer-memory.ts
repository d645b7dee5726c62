import { LRUCache } from 'lru-cache'
import type { Answer } from './answer.ts'

/** A cached answer, and for what. */
export interface KeptAnswer {
  readonly answer: Answer
  /** Pattern and namespace of its route, for those who count. */
  readonly route: string
  readonly namespace: string
}

interface Entry extends KeptAnswer {
  readonly key: string
  /** Addresses that were asked for and that this answers, as they were spelled. */
  readonly addresses: string[]
  bytes: number
}

/** What an entry and an address of it take beside their text and body. */
const ENTRY_BYTES = 400
const ADDRESS_BYTES = 150
/** Spellings of one question that are remembered. */
const MAX_ADDRESSES = 16
/** A longer address is not remembered: what it asks is found by its parameters. */
const MAX_ADDRESS_LENGTH = 2_048

/**
 * Answers in the memory of this process, found by what they answer, and, faster, by the very address that was asked
 * for. Bounded: full, it drops the least recently used.
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

  /** Bytes in use, as estimated. */
  get bytes(): number {
    return this.#entries.calculatedSize
  }

  /** The answer for an address exactly as it was spelled in the request. */
  findByAddress(address: string): KeptAnswer | undefined {
    const entry = this.#byAddress.get(address)
    return entry && this.#entries.get(entry.key)
  }

  /** The answer for a key; the address that led to it is remembered. */
  find(key: string, address: string | undefined): KeptAnswer | undefined {
    const entry = this.#entries.get(key)
    if (entry && address !== undefined) this.#remember(entry, address)
    return entry
  }

  /** Keeps an answer for `lifeMs`. */
  keep(key: string, kept: KeptAnswer, lifeMs: number): void {
    const bytes = kept.answer.length + 2 * key.length + ENTRY_BYTES
    const entry: Entry = { ...kept, key, addresses: [], bytes }
    this.#entries.set(key, entry, { ttl: Math.max(1, Math.floor(lifeMs)) })
    kept.answer.onGrowth = (more) => {
      this.#grow(entry, more)
    }
  }

  /** Forgets everything. */
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
