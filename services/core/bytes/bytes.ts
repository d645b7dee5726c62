import { DecodeError, EncodeError } from './codec-error.ts'
import { bytesToHex } from './hex.ts'

/**
 * Reads packed values sequentially from a byte array; for code that is not performance-critical. Every read is
 * bounds-checked; an error is a {@link DecodeError} that names the section last set with {@link at}.
 */
export class ByteSource {
  readonly #bytes: Buffer
  readonly #view: DataView
  readonly #root: string
  #section = ''
  #offset = 0

  constructor(bytes: Uint8Array, root: string) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#root = root
  }

  /** Names the section that is read next, for errors. */
  at(section: string): this {
    this.#section = section
    return this
  }

  get remaining(): number {
    return this.#bytes.length - this.#offset
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2), true)
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true)
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true)
  }

  varuint32(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#bytes[this.#take(1)]!
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80 && value <= 0xffffffff) return value
    }
    return this.#fail('a length has more than 32 bits')
  }

  /** Reads length-prefixed UTF-8; invalid bytes become U+FFFD. */
  text(): string {
    const length = this.varuint32()
    const start = this.#take(length)
    return this.#bytes.toString('utf8', start, start + length)
  }

  /** Reads length-prefixed bytes as hexadecimal text. */
  hex(): string {
    const length = this.varuint32()
    const start = this.#take(length)
    return bytesToHex(this.#bytes, start, start + length)
  }

  /** Reads all remaining bytes. */
  rest(): Uint8Array {
    const start = this.#take(this.remaining)
    return this.#bytes.subarray(start)
  }

  /**
   * Reads a list that begins with the number of its entries. Each entry takes at least `minBytes` bytes, so a number
   * too large for the remaining bytes is refused before the list is built.
   */
  list<T>(minBytes: number, read: () => T): T[] {
    const count = this.varuint32()
    if (count * minBytes > this.remaining) this.#fail(`${count} entries do not fit into the bytes left`)
    const entries: T[] = []
    for (let i = 0; i < count; i++) entries.push(read())
    return entries
  }

  #take(count: number): number {
    const at = this.#offset
    if (count > this.#bytes.length - at) this.#fail('the data end too early')
    this.#offset = at + count
    return at
  }

  #fail(reason: string): never {
    throw new DecodeError(
      reason,
      `${this.#root}${this.#section === '' ? '' : '.'}${this.#section}`,
      this.#offset,
    )
  }
}

const MAX_PACKED_BYTES = 512 * 1024 * 1024

/** A growing byte buffer for packed little-endian values. Callers must check that values are in range. */
export class ByteSink {
  #bytes: Buffer = Buffer.allocUnsafe(256)
  #length = 0

  u8(value: number): this {
    const at = this.reserve(1)
    this.#bytes[at] = value
    return this
  }

  u16(value: number): this {
    const at = this.reserve(2)
    this.#bytes.writeUInt16LE(value & 0xffff, at)
    return this
  }

  u32(value: number): this {
    const at = this.reserve(4)
    this.#bytes.writeUInt32LE(value >>> 0, at)
    return this
  }

  u64(value: bigint): this {
    const at = this.reserve(8)
    this.#bytes.writeBigUInt64LE(BigInt.asUintN(64, value), at)
    return this
  }

  f32(value: number): this {
    const at = this.reserve(4)
    this.#bytes.writeFloatLE(value, at)
    return this
  }

  f64(value: number): this {
    const at = this.reserve(8)
    this.#bytes.writeDoubleLE(value, at)
    return this
  }

  /** Appends an unsigned LEB128 integer of at most 32 bits. */
  varuint32(value: number): this {
    let rest = value >>> 0
    while (rest >= 0x80) {
      this.u8((rest & 0x7f) | 0x80)
      rest >>>= 7
    }
    return this.u8(rest)
  }

  /** Appends an unsigned LEB128 integer of at most 64 bits. */
  varuint64(value: bigint): this {
    let rest = BigInt.asUintN(64, value)
    while (rest >= 0x80n) {
      this.u8(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    return this.u8(Number(rest))
  }

  raw(bytes: Uint8Array): this {
    const at = this.reserve(bytes.length)
    this.#bytes.set(bytes, at)
    return this
  }

  /** Appends bytes with a length prefix. */
  blob(bytes: Uint8Array): this {
    return this.varuint32(bytes.length).raw(bytes)
  }

  /** Appends UTF-8 with a length prefix; a lone surrogate becomes U+FFFD. */
  text(value: string): this {
    const length = Buffer.byteLength(value, 'utf8')
    this.varuint32(length)
    const at = this.reserve(length)
    this.#bytes.write(value, at, 'utf8')
    return this
  }

  list<T>(entries: readonly T[], write: (entry: T) => unknown): this {
    this.varuint32(entries.length)
    for (const entry of entries) write(entry)
    return this
  }

  /** Reserves `count` uninitialised bytes and returns their offset. */
  reserve(count: number): number {
    const at = this.#length
    const needed = at + count
    if (needed > MAX_PACKED_BYTES) throw new EncodeError('the packed value exceeds 512 MiB')
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2))
      this.#bytes.copy(larger, 0, 0, at)
      this.#bytes = larger
    }
    this.#length = needed
    return at
  }

  /** The underlying bytes, for writing at offsets from {@link reserve}; valid until the next write. */
  get buffer(): Uint8Array {
    return this.#bytes
  }

  /** Discards the written bytes and retains the memory for the next writes. */
  clear(): this {
    this.#length = 0
    return this
  }

  /** Returns a copy of the written bytes. */
  finish(): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(0, this.#length))
  }
}
