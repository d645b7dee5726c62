/** Values that were used lately, within a number of bytes. */
export class ByteCache<V> {
  private readonly entries = new Map<string, { readonly value: V; readonly bytes: number }>()
  private readonly maxBytes: number
  private bytes = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get(key: string): V | undefined {
    const entry = this.entries.get(key)
    if (!entry) return undefined
    // The order of a map is that of insertion: what is used moves to its end.
    this.entries.delete(key)
    this.entries.set(key, entry)
    return entry.value
  }

  /** Keeps a value; one that is larger than everything is not. */
  set(key: string, value: V, bytes: number): void {
    this.delete(key)
    if (bytes > this.maxBytes) return
    this.entries.set(key, { value, bytes })
    this.bytes += bytes
    for (const oldest of this.entries.keys()) {
      if (this.bytes <= this.maxBytes) return
      this.delete(oldest)
    }
  }

  private delete(key: string): void {
    const entry = this.entries.get(key)
    if (!entry) return
    this.entries.delete(key)
    this.bytes -= entry.bytes
  }
}
