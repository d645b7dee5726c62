/**
 * A growing little-endian byte buffer for packed structures of the chain. Numbers are unsigned unless the method's
 * name says otherwise; the caller must pass values in range.
 */
export class ByteWriter {
  #bytes: Buffer
  /** DataView writes 64-bit integers many times faster than Buffer's methods. */
  #view: DataView
  #length = 0

  /** @param capacity initial size, bytes; doubled when needed. */
  constructor(capacity = 1024) {
    this.#bytes = Buffer.allocUnsafe(capacity)
    this.#view = viewOf(this.#bytes)
  }

  /** Number of bytes written. */
  get length(): number {
    return this.#length
  }

  /** Discards the content but keeps the memory, so that one writer serves many blocks. */
  clear(): this {
    this.#length = 0
    return this
  }

  u8(value: number): this {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
    return this
  }

  bool(value: boolean): this {
    return this.u8(value ? 1 : 0)
  }

  u16(value: number): this {
    const at = this.#reserve(2)
    this.#view.setUint16(at, value, true)
    this.#length = at + 2
    return this
  }

  u32(value: number): this {
    const at = this.#reserve(4)
    this.#view.setUint32(at, value, true)
    this.#length = at + 4
    return this
  }

  u64(value: bigint): this {
    const at = this.#reserve(8)
    this.#view.setBigUint64(at, value, true)
    this.#length = at + 8
    return this
  }

  i64(value: bigint): this {
    const at = this.#reserve(8)
    this.#view.setBigInt64(at, value, true)
    this.#length = at + 8
    return this
  }

  varuint(value: number): this {
    let rest = value >>> 0
    while (rest > 0x7f) {
      this.u8((rest & 0x7f) | 0x80)
      rest >>>= 7
    }
    return this.u8(rest)
  }

  /** Writes bytes without a length. */
  raw(bytes: Uint8Array): this {
    const at = this.#reserve(bytes.length)
    this.#bytes.set(bytes, at)
    this.#length = at + bytes.length
    return this
  }

  /** Writes a varuint length, then the bytes. */
  blob(bytes: Uint8Array): this {
    return this.varuint(bytes.length).raw(bytes)
  }

  /** Writes UTF-8 text with its length. */
  text(value: string): this {
    return this.blob(Buffer.from(value, 'utf8'))
  }

  /** A copy of the written bytes. */
  copy(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length))
  }

  #reserve(count: number): number {
    const needed = this.#length + count
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2))
      grown.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = grown
      this.#view = viewOf(grown)
    }
    return this.#length
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}
