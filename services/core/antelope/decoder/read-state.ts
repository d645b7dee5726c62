import { isUtf8 } from 'node:buffer'
import { bitsetText } from '../values/bitset.ts'
import {
  formatAmount,
  formatSymbol,
  isAmount,
  isPrecision,
  spellSymbolCode,
  symbolCodeOf,
} from '../values/asset.ts'
import { keyLength, keyText, type KeyKind } from '../values/key.ts'

// All generated decoders share one state. One global state suffices because decoding is synchronous and never calls
// back into a decoder. The generated code is simpler, and faster to optimise, if the state is always the same object.

/**
 * Rule for the byte sequences that decoders accept as values.
 *
 * - `strict`: like nodes. Varints have up to 32 bits and lengths up to 64 bits; a bool is 0 or 1. Any text is accepted,
 * because contracts store the texts of accounts unchecked.
 * - `lossless`: like `strict`, but texts must be UTF-8, so that the decoded value preserves every byte.
 * - `contract`: as contracts read action data. A varint may have any length, and its low 32 bits count. A bool may be
 * any byte.
 */
export type ReadingRule = 'strict' | 'lossless' | 'contract'

/**
 * Read position and input bytes of a decoder. `bytes` and `view` share memory; `at` and `end` are offsets into `bytes`.
 */
export interface ReadState {
  /** Bytes that the caller of the decoder passed in. `bytes` is the same memory as a Buffer. */
  source: Uint8Array
  bytes: Buffer
  view: DataView
  at: number
  end: number
  rule: ReadingRule
  /** Current nesting depth of recursive types. */
  depth: number
  /** Number of values that may still be visited, see {@link charge}. */
  budget: number
}

const nothing = Buffer.alloc(0)

/** State of the decode that is running. Decoding is synchronous, so one global state suffices. */
export const state: ReadState = {
  source: nothing,
  bytes: nothing,
  view: new DataView(nothing.buffer, 0, 0),
  at: 0,
  end: 0,
  rule: 'strict',
  depth: 0,
  budget: 0,
}

/** Thrown inside a decode; the caller of the decoder gets a DecodeError with the path instead. */
export class DecodeFailure extends Error {
  readonly offset: number

  constructor(reason: string, offset: number) {
    super(reason)
    this.offset = offset
  }
}

/** Maximum nesting of recursive types; nodes use the same limit. */
export const MAX_DEPTH = 32
const FREE_VISITS = 1 << 20
const VISITS_PER_BYTE = 16

/** Starts a decode of `bytes` from offset `start` to offset `end`; both offsets must lie inside `bytes`. */
export function beginReading(
  bytes: Uint8Array,
  start: number,
  end: number,
  rule: ReadingRule = 'strict',
): void {
  if (state.source !== bytes) {
    state.source = bytes
    state.bytes = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    state.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
  if (!(start >= 0 && start <= end && end <= bytes.length)) {
    throw new RangeError(`range ${start}..${end} lies outside ${bytes.length} bytes`)
  }
  state.at = start
  state.end = end
  state.rule = rule
  state.depth = 0
  state.budget = FREE_VISITS + (end - start) * VISITS_PER_BYTE
}

/** Copy of the decoder state that {@link pauseReading} returns and {@link resumeReading} restores. */
export type PausedState = Readonly<ReadState>

/** Saves the global decoder state before a call of foreign code that may start another decode. */
export function pauseReading(): PausedState {
  return { ...state }
}

/** Restores the decoder state that {@link pauseReading} saved, including the read position. */
export function resumeReading(paused: PausedState): void {
  Object.assign(state, paused)
}

/** Aborts a decode that ran out of bytes. */
export function tooShort(offset: number): never {
  throw new DecodeFailure('the data end too early', offset)
}

/** Aborts a decode with a reason. */
export function refuse(reason: string, offset: number): never {
  throw new DecodeFailure(reason, offset)
}

/**
 * Charges the budget for visiting `visits` values. Normally each value takes a byte or more, so the data bounds the
 * cost. A hostile ABI of empty structs could turn a few bytes into hours of work; the budget stops the decoding.
 */
export function charge(visits: number): void {
  state.budget -= visits
  if (state.budget < 0) refuse('the ABI decodes far too many values from these bytes', state.at)
}

/** Enters a recursive type: checks the nesting depth and charges the budget. */
export function descend(visits: number): void {
  if (++state.depth > MAX_DEPTH) refuse(`values are nested more than ${MAX_DEPTH} deep`, state.at)
  charge(visits)
}

/** Reads an unsigned LEB128 integer of at most 32 bits. */
export function readVaruint32(): number {
  if (state.rule === 'contract') return readWrapping()
  const { bytes, end } = state
  const start = state.at
  let at = start
  let value = 0
  for (let factor = 1; factor <= 0x10000000; factor *= 128) {
    if (at >= end) tooShort(at)
    const byte = bytes[at++]!
    value += (byte & 0x7f) * factor
    if (byte < 0x80) {
      if (value > 0xffffffff) break
      state.at = at
      return value
    }
  }
  return refuse('a number of variable length has more than 32 bits', start)
}

/** Reads an integer of any length modulo 2^32, as the reading loop of contracts does. */
function readWrapping(): number {
  const { bytes, end } = state
  let at = state.at
  let value = 0
  // The shift operator uses the shift count modulo 32, like the WebAssembly instruction in contracts.
  for (let shift = 0; ; shift += 7) {
    if (at >= end) tooShort(at)
    const byte = bytes[at++]!
    value |= (byte & 0x7f) << shift
    if (byte < 0x80) break
  }
  state.at = at
  return value >>> 0
}

/** Reads a length prefix; refuses a length beyond the data. */
export function readLength(): number {
  const start = state.at
  const length = state.rule === 'contract' ? readWrapping() : readLongLength()
  const left = state.end - state.at
  if (length > left) refuse(`a length of ${length} bytes exceeds the ${left} bytes that are left`, start)
  return length
}

/** Reads a length prefix of up to 64 bits, which some nodes write. */
function readLongLength(): number {
  const { bytes, end } = state
  const start = state.at
  let at = start
  let value = 0
  let factor = 1
  for (let digits = 0; digits < 10; digits++, factor *= 128) {
    if (at >= end) tooShort(at)
    const byte = bytes[at++]!
    value += (byte & 0x7f) * factor
    if (byte < 0x80) {
      state.at = at
      return value
    }
  }
  return refuse('a length has more than 64 bits', start)
}

/** Reads a zigzag-encoded integer of at most 32 bits. */
export function readVarint32(): number {
  const value = readVaruint32()
  return (value >>> 1) ^ -(value & 1)
}

/** Reads length-prefixed text. Invalid UTF-8 is refused under the rule `lossless` and becomes U+FFFD otherwise. */
export function readText(): string {
  const length = readLength()
  const start = state.at
  state.at = start + length
  if (length > 24) return utf8(start, length)
  // Decode short ASCII in JavaScript: most texts on a chain are short, and a call of native code costs more.
  const { bytes } = state
  let text = ''
  for (let at = start; at < start + length; at++) {
    const byte = bytes[at]!
    if (byte >= 0x80) return utf8(start, length)
    text += String.fromCharCode(byte)
  }
  return text
}

function utf8(start: number, length: number): string {
  const text = state.bytes.toString('utf8', start, start + length)
  if (
    state.rule === 'lossless' &&
    text.includes('\ufffd') &&
    !isUtf8(state.bytes.subarray(start, start + length))
  )
    refuse('a text is not UTF-8', start)
  return text
}

/** Reads length-prefixed bytes as a view of the same memory. */
export function readBytes(): Uint8Array {
  const length = readLength()
  const start = state.at
  state.at = start + length
  return state.bytes.subarray(start, start + length)
}

/** Skips length-prefixed bytes. */
export function skipBytes(): void {
  const length = readLength()
  state.at += length
}

const EMPTY_ELEMENT_PRICE = 256

/** Reads an element count; refuses a count that the remaining bytes cannot hold. */
export function readCount(minSize: number, work: number): number {
  const start = state.at
  const count = readVaruint32()
  if (count * minSize > state.end - state.at) {
    refuse(`${count} elements do not fit into the ${state.end - state.at} bytes that are left`, start)
  }
  charge(minSize === 0 ? count * (work + EMPTY_ELEMENT_PRICE) : count * work)
  return count
}

/** Reads a public key or a signature as text. */
export function readKey(kind: KeyKind): string {
  const curve = readVaruint32()
  const start = state.at
  skipKeyData(kind, curve)
  return keyText(kind, curve, state.bytes.subarray(start, state.at))
}

/** Skips a public key or a signature. */
export function skipKey(kind: KeyKind): void {
  skipKeyData(kind, readVaruint32())
}

function skipKeyData(kind: KeyKind, curve: number): void {
  const start = state.at
  if (curve > 2) refuse(`key type ${curve} is not known`, start)
  // WebAuthn (curve 2): a public key ends with a presence byte and a text, a signature with two byte strings.
  const fixed = keyLength(kind) + (curve === 2 && kind === 'PUB' ? 1 : 0)
  if (fixed > state.end - start) tooShort(start)
  state.at = start + fixed
  if (curve === 2) skipBytes()
  if (curve === 2 && kind === 'SIG') skipBytes()
}

/**
 * Reads a bool whose byte is above 1. The rule `contract` accepts the byte as true. Every other rule refuses the byte,
 * as nodes do.
 */
export function boolAt(offset: number): boolean {
  if (state.rule === 'contract') return true
  return refuse(`a bool of ${state.bytes[offset]!} is neither false nor true`, offset)
}

/** Reads a bitset as text in the format of nodes: last bit first. */
export function readBitset(): string {
  const start = state.at
  const size = readVaruint32()
  const from = state.at
  const length = Math.ceil(size / 8)
  if (length > state.end - from) tooShort(from)
  state.at = from + length
  const text = bitsetText(state.bytes, from, size)
  return text ?? refuse(`a bitset of ${size} bits has bits set beyond its size`, start)
}

/** Text of the symbol at an offset. */
export function symbolAt(offset: number): string {
  return formatSymbol(precisionAt(offset), codeAt(offset))
}

/** Text of the symbol code at an offset. */
export function symbolCodeAt(offset: number): string {
  const { view } = state
  const code = spellSymbolCode(view.getUint32(offset, true), view.getUint32(offset + 4, true), 0)
  return code ?? refuseCode(offset)
}

/** Text of the asset at an offset. */
export function assetAt(offset: number): string {
  const { view } = state
  if (!isAmount(view.getUint32(offset, true), view.getInt32(offset + 4, true)))
    refuse('the amount of an asset is 2^62 or more', offset)
  return formatAmount(view.getBigInt64(offset, true), precisionAt(offset + 8), codeAt(offset + 8))
}

function precisionAt(offset: number): number {
  const precision = state.bytes[offset]!
  return isPrecision(precision)
    ? precision
    : refuse(`a symbol has the precision ${precision}, above 18`, offset)
}

/** The code of the symbol at an offset. */
function codeAt(offset: number): string {
  const { view } = state
  return symbolCodeOf(view.getUint32(offset, true), view.getUint32(offset + 4, true)) ?? refuseCode(offset)
}

function refuseCode(offset: number): never {
  return refuse('a symbol has other characters than A to Z', offset)
}

/** The 128-bit integer at an offset. */
export function int128At(offset: number, signed: boolean): bigint {
  const low = state.view.getBigUint64(offset, true)
  const high = signed ? state.view.getBigInt64(offset + 8, true) : state.view.getBigUint64(offset + 8, true)
  return (high << 64n) | low
}

/** Hexadecimal digits of `length` bytes from an offset on. */
export function hexAt(offset: number, length: number): string {
  return state.bytes.toString('hex', offset, offset + length)
}
