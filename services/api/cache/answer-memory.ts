import type { Answer } from './answer.ts'

/** An answer that is kept, and for what. */
export interface KeptAnswer {
  readonly answer: Answer
  /** Pattern and namespace of its route, for those who count. */
  readonly route: string
  readonly namespace: string
}

interface Entry extends KeptAnswer {
  readonly key: string
  readonly expiresAtMs: number
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
 * for. Bounded: full, it forgets what was used longest ago.
 */
export class AnswerMemory {
  readonly #maxBytes: number
  readonly #entries = new Map<string, Entry>()
  readonly #byAddress = new Map<string, Entry>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Bytes in use, as estimated. */
  get bytes(): number {
    return this.#bytes
  }

  /** The answer for an address exactly as it was spelled in the request. */
  findByAddress(address: string): KeptAnswer | undefined {
    return this.#use(this.#byAddress.get(address))
  }

  /** The answer for a key; the address that led to it is remembered. */
  find(key: string, address: string | undefined): KeptAnswer | undefined {
    const entry = this.#use(this.#entries.get(key))
    if (entry && address !== undefined) this.#remember(entry, address)
    return entry
  }

  /** Keeps an answer for `lifeMs`. */
  keep(key: string, kept: KeptAnswer, lifeMs: number): void {
    const before = this.#entries.get(key)
    if (before) this.#remove(before)
    const bytes = kept.answer.length + 2 * key.length + ENTRY_BYTES
    if (bytes > this.#maxBytes) return
    const entry: Entry = { ...kept, key, expiresAtMs: performance.now() + lifeMs, addresses: [], bytes }
    this.#entries.set(key, entry)
    this.#bytes += bytes
    kept.answer.onGrowth = (more) => {
      this.#grow(entry, more)
    }
    this.#shrink()
  }

  /** Forgets everything. */
  clear(): void {
    this.#entries.clear()
    this.#byAddress.clear()
    this.#bytes = 0
  }

  #use(entry: Entry | undefined): Entry | undefined {
    if (!entry) return undefined
    if (entry.expiresAtMs <= performance.now()) {
      this.#remove(entry)
      return undefined
    }
    // The order of the map is that of use.
    this.#entries.delete(entry.key)
    this.#entries.set(entry.key, entry)
    return entry
  }

  #remember(entry: Entry, address: string): void {
    if (address.length > MAX_ADDRESS_LENGTH || entry.addresses.length >= MAX_ADDRESSES) return
    if (this.#byAddress.get(address) === entry) return
    entry.addresses.push(address)
    this.#byAddress.set(address, entry)
    this.#grow(entry, 2 * address.length + ADDRESS_BYTES)
  }

  #grow(entry: Entry, bytes: number): void {
    if (this.#entries.get(entry.key) !== entry) return
    entry.bytes += bytes
    this.#bytes += bytes
    this.#shrink()
  }

  #remove(entry: Entry): void {
    if (this.#entries.get(entry.key) !== entry) return
    this.#entries.delete(entry.key)
    for (const address of entry.addresses) {
      if (this.#byAddress.get(address) === entry) this.#byAddress.delete(address)
    }
    this.#bytes -= entry.bytes
  }

  #shrink(): void {
    const now = performance.now()
    for (const entry of this.#entries.values()) {
      if (this.#bytes <= this.#maxBytes && entry.expiresAtMs > now) return
      this.#remove(entry)
    }
  }
}
