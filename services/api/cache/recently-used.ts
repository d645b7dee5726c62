interface Entry<Value> {
  readonly value: Value
  readonly bytes: number
}

/** Cost of an entry beside its value. */
const ENTRY_BYTES = 200

/** Values by key, of which those used longest ago are dropped beyond a number of bytes. */
export class RecentlyUsed<Value> {
  /** In the order of use. */
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Bytes held, roughly. */
  get bytes(): number {
    return this.#bytes
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** @param bytes size of the value. */
  set(key: string, value: Value, bytes: number): void {
    const before = this.#entries.get(key)
    if (before) this.#bytes -= before.bytes
    this.#entries.delete(key)
    const entry = { value, bytes: bytes + ENTRY_BYTES }
    this.#entries.set(key, entry)
    this.#bytes += entry.bytes
    for (const [oldest, { bytes: freed }] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break
      this.#entries.delete(oldest)
      this.#bytes -= freed
    }
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }
}
