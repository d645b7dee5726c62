/**
 * Reads packed bytes from the front. A read beyond the end throws `RangeError`; callers turn it into an error that
 * names the message or file.
 */
export class ByteReader {
  readonly bytes: Buffer
  offset: number
  readonly end: number

  constructor(bytes: Buffer, offset = 0, end = bytes.length) {
    this.bytes = bytes
    this.offset = offset
    this.end = end
  }

  /** Number of unread bytes. */
  get remaining(): number {
    return this.end - this.offset
  }

  u8(): number {
    return this.bytes[this.#take(1)]!
  }

  bool(): boolean {
    return this.u8() !== 0
  }

  u32(): number {
    return this.bytes.readUInt32LE(this.#take(4))
  }

  u64(): bigint {
    return this.bytes.readBigUInt64LE(this.#take(8))
  }

  /** Reads an unsigned LEB128 number of at most 32 bits. */
  varuint(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.u8()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new RangeError('a varuint32 of more than five bytes')
  }

  /** Reads `count` bytes, without a copy. */
  take(count: number): Buffer {
    const at = this.#take(count)
    return this.bytes.subarray(at, at + count)
  }

  /** Reads length-prefixed bytes, without a copy. */
  blob(): Buffer {
    return this.take(this.varuint())
  }

  #take(count: number): number {
    const at = this.offset
    if (count > this.end - at) throw new RangeError(`${count} bytes expected at ${at}, ${this.end - at} left`)
    this.offset = at + count
    return at
  }
}
