import { EncodeError } from '../../bytes/index.ts'
import type { ByteSink } from '../../bytes/index.ts'
import { isPrecision, parseAsset, parseSymbol, writeSymbolCode } from '../values/asset.ts'
import { bitsetBytes } from '../values/bitset.ts'
import { hexToBytes } from '../../bytes/index.ts'
import { parseKeyText } from '../values/key.ts'
import { nameFromString } from '../values/name.ts'
import { epochMsToSlot, parseTimeMicroseconds } from '../values/time.ts'
import type { BuiltinName } from '../types/index.ts'

/**
 * Appends a built-in value.
 * @throws EncodeError if the value has the wrong form or is out of range.
 */
export function writeBuiltin(sink: ByteSink, name: BuiltinName, value: unknown): void {
  writers[name](sink, value)
}

const writers: Record<BuiltinName, (sink: ByteSink, value: unknown) => void> = {
  bool: (sink, value) => sink.u8(truth(value) ? 1 : 0),
  int8: (sink, value) => sink.u8(small(value, -0x80, 0x7f) & 0xff),
  uint8: (sink, value) => sink.u8(small(value, 0, 0xff)),
  int16: (sink, value) => sink.u16(small(value, -0x8000, 0x7fff)),
  uint16: (sink, value) => sink.u16(small(value, 0, 0xffff)),
  int32: (sink, value) => sink.u32(small(value, -0x80000000, 0x7fffffff)),
  uint32: (sink, value) => sink.u32(small(value, 0, 0xffffffff)),
  int64: (sink, value) => sink.u64(large(value, 64, true)),
  uint64: (sink, value) => sink.u64(large(value, 64, false)),
  int128: (sink, value) => writeWide(sink, large(value, 128, true)),
  uint128: (sink, value) => writeWide(sink, large(value, 128, false)),
  varint32: (sink, value) => {
    const number = small(value, -0x80000000, 0x7fffffff)
    sink.varuint32((number << 1) ^ (number >> 31))
  },
  varuint32: (sink, value) => sink.varuint32(small(value, 0, 0xffffffff)),
  float32: (sink, value) => sink.f32(real(value)),
  float64: (sink, value) => sink.f64(real(value)),
  float128: (sink, value) => writeFixed(sink, value, 16),
  time_point: (sink, value) => sink.u64(parseTimeMicroseconds(text(value))),
  time_point_sec: (sink, value) => {
    const microseconds = parseTimeMicroseconds(text(value))
    sink.u32(small(microseconds < 0n ? -1 : Number(microseconds / 1_000_000n), 0, 0xffffffff))
  },
  block_timestamp_type: (sink, value) => {
    sink.u32(epochMsToSlot(Number(parseTimeMicroseconds(text(value)) / 1000n)))
  },
  name: (sink, value) => {
    const { lo, hi } = nameFromString(text(value))
    sink.u32(lo).u32(hi)
  },
  bytes: (sink, value) => sink.blob(bytesOf(value)),
  string: (sink, value) => sink.text(text(value)),
  bitset: (sink, value) => {
    const bits = text(value)
    sink.varuint32(bits.length).raw(bitsetBytes(bits))
  },
  checksum160: (sink, value) => writeFixed(sink, value, 20),
  checksum256: (sink, value) => writeFixed(sink, value, 32),
  checksum512: (sink, value) => writeFixed(sink, value, 64),
  public_key: (sink, value) => sink.raw(parseKeyText('PUB', text(value))),
  signature: (sink, value) => sink.raw(parseKeyText('SIG', text(value))),
  symbol: (sink, value) => {
    const { precision, symbol } = parseSymbol(text(value))
    writeSymbol(sink, precision, symbol)
  },
  symbol_code: (sink, value) => {
    const at = sink.reserve(8)
    writeSymbolCode(text(value), sink.buffer, at, 8)
  },
  asset: (sink, value) => writeAsset(sink, text(value)),
  extended_asset: (sink, value) => {
    if (typeof value !== 'object' || value === null) throw new EncodeError('an object is expected')
    const { quantity, contract } = value as { quantity?: unknown; contract?: unknown }
    writeAsset(sink, text(quantity))
    writers.name(sink, contract)
  },
}

const ASSET_LIMIT = 2n ** 62n

function writeAsset(sink: ByteSink, value: string): void {
  const { amount, precision, symbol } = parseAsset(value)
  if (amount >= ASSET_LIMIT || amount <= -ASSET_LIMIT)
    throw new EncodeError('the amount of an asset must be below 2^62')
  writeSymbol(sink.u64(amount), precision, symbol)
}

function writeSymbol(sink: ByteSink, precision: number, code: string): void {
  if (!isPrecision(precision))
    throw new EncodeError(`a symbol cannot have the precision ${precision}, above 18`)
  const at = sink.u8(precision).reserve(7)
  writeSymbolCode(code, sink.buffer, at, 7)
}

function writeWide(sink: ByteSink, value: bigint): void {
  sink.u64(value).u64(value >> 64n)
}

function writeFixed(sink: ByteSink, value: unknown, length: number): void {
  const bytes = bytesOf(value)
  if (bytes.length !== length) throw new EncodeError(`${length} bytes are expected, not ${bytes.length}`)
  sink.raw(bytes)
}

function truth(value: unknown): boolean {
  if (value === true || value === 1) return true
  if (value === false || value === 0) return false
  throw new EncodeError('true or false is expected')
}

function small(value: unknown, least: number, most: number): number {
  const number = typeof value === 'string' && /^-?\d{1,10}$/.test(value) ? Number(value) : value
  if (typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most)
    return number
  if (typeof number === 'bigint' && number >= BigInt(least) && number <= BigInt(most)) return Number(number)
  throw new EncodeError(`an integer from ${least} to ${most} is expected`)
}

function large(value: unknown, bits: number, signed: boolean): bigint {
  let integer: bigint | null = null
  if (typeof value === 'bigint') integer = value
  else if (typeof value === 'number' && Number.isSafeInteger(value)) integer = BigInt(value)
  else if (typeof value === 'string' && /^-?\d{1,39}$/.test(value)) integer = BigInt(value)
  const fits =
    integer !== null && integer === (signed ? BigInt.asIntN(bits, integer) : BigInt.asUintN(bits, integer))
  if (!fits)
    throw new EncodeError(`${signed ? 'a signed' : 'an unsigned'} integer of ${bits} bits is expected`)
  return integer!
}

const spelledNumbers = new Map([
  ['NaN', NaN],
  ['nan', NaN],
  ['inf', Infinity],
  ['Infinity', Infinity],
  ['-inf', -Infinity],
  ['-Infinity', -Infinity],
])

function real(value: unknown): number {
  if (typeof value === 'number') return value
  if (typeof value === 'string') {
    const spelled = spelledNumbers.get(value)
    if (spelled !== undefined) return spelled
    if (/^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(value)) return Number(value)
  }
  throw new EncodeError('a number is expected')
}

function text(value: unknown): string {
  if (typeof value === 'string') return value
  throw new EncodeError('a text is expected')
}

function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  if (typeof value === 'string') return hexToBytes(value)
  if (!Array.isArray(value)) throw new EncodeError('bytes are expected')
  return Uint8Array.from(value, (byte: unknown) => small(byte, -128, 255) & 0xff)
}
