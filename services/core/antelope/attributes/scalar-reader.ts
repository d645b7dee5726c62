import { encodeBase58 } from '../values/base58.ts'
import type { AttributeScalar } from './format.ts'
import { withoutNul } from './format.ts'

/** Reads one value and advances the reader. */
export type ReadScalar = (reader: AttributeReader) => AttributeScalar

/**
 * Thrown where attribute data becomes unreadable. `decodeAttributes` catches the error and returns a problem with the
 * attributes read so far.
 */
export class AttributeStop extends Error {
  readonly kind: 'truncated' | 'corrupt'

  constructor(kind: 'truncated' | 'corrupt', message: string) {
    super(message)
    this.kind = kind
  }
}

/** Packed attribute data with a read position. */
export class AttributeReader {
  readonly bytes: Buffer
  readonly view: DataView
  readonly end: number
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.end = bytes.length
  }

  /** Advances the read position by `count` bytes; returns the former read position. */
  take(count: number): number {
    const at = this.at
    if (count > this.end - at)
      throw new AttributeStop('truncated', `${count} bytes expected, ${this.end - at} left`)
    this.at = at + count
    return at
  }

  /** Reads an unsigned variable-length integer: a number below 2^49, a bigint from 2^49 on. */
  varint(): number | bigint {
    let value = 0
    let factor = 1
    for (let digits = 0; digits < 7; digits++, factor *= 128) {
      const byte = this.bytes[this.take(1)]!
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
    let wide = BigInt(value)
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.bytes[this.take(1)]!
      wide |= BigInt(byte & 0x7f) << shift
      if (byte >= 0x80) continue
      if (wide > 0xffffffffffffffffn) break
      return wide
    }
    throw new AttributeStop('corrupt', 'a number has more than 64 bits')
  }

  /** Reads a length or count, and refuses one above the number of bytes left. */
  length(): number {
    const length = this.varint()
    if (length > this.end - this.at) {
      throw new AttributeStop(
        'truncated',
        `a length or count of ${length} exceeds the ${this.end - this.at} bytes that are left`,
      )
    }
    return Number(length)
  }
}

function unsigned(most: number): ReadScalar {
  return (reader) => {
    const value = reader.varint()
    // The contract cannot write a value above the maximum of its type. Should such a value appear, decimal text
    // preserves the value.
    return typeof value === 'number' && value <= most ? value : value.toString()
  }
}

function signed(most: number): ReadScalar {
  return (reader) => {
    const value = reader.varint()
    const number = typeof value === 'number' ? unzigzag(value) : null
    if (number !== null && number <= most && number >= -most - 1) return number
    return number === null ? unzigzagWide(value as bigint) : String(number)
  }
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2
}

function unzigzagWide(value: bigint): string {
  return (value & 1n) === 0n ? (value >> 1n).toString() : (-(value >> 1n) - 1n).toString()
}

function real(value: number): AttributeScalar {
  return Number.isFinite(value) ? value : null
}

const readText: ReadScalar = (reader) => {
  const length = reader.length()
  const start = reader.take(length)
  return withoutNul(reader.bytes.toString('utf8', start, start + length))
}

/** For each single-value type that a schema format may name (`T` of `T[]`): the function that reads a packed value. */
export const scalarReaders: ReadonlyMap<string, ReadScalar> = new Map<string, ReadScalar>([
  ['uint8', unsigned(0xff)],
  ['uint16', unsigned(0xffff)],
  ['uint32', unsigned(0xffffffff)],
  ['uint64', (reader) => reader.varint().toString()],
  ['int8', signed(0x7f)],
  ['int16', signed(0x7fff)],
  ['int32', signed(0x7fffffff)],
  [
    'int64',
    (reader) => {
      const value = reader.varint()
      return typeof value === 'number' ? String(unzigzag(value)) : unzigzagWide(value)
    },
  ],
  ['fixed8', (reader) => reader.bytes[reader.take(1)]!],
  ['byte', (reader) => reader.bytes[reader.take(1)]!],
  ['fixed16', (reader) => reader.view.getUint16(reader.take(2), true)],
  ['fixed32', (reader) => reader.view.getUint32(reader.take(4), true)],
  ['fixed64', (reader) => reader.view.getBigUint64(reader.take(8), true).toString()],
  ['float', (reader) => real(reader.view.getFloat32(reader.take(4), true))],
  ['double', (reader) => real(reader.view.getFloat64(reader.take(8), true))],
  ['bool', (reader) => (reader.bytes[reader.take(1)] === 1 ? 1 : 0)],
  ['string', readText],
  ['image', readText],
  [
    'ipfs',
    (reader) => {
      const length = reader.length()
      const start = reader.take(length)
      return encodeBase58(reader.bytes.subarray(start, start + length))
    },
  ],
])
