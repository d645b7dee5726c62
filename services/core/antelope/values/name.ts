import { EncodeError } from '../../bytes/index.ts'

const ALPHABET = '.12345abcdefghijklmnopqrstuvwxyz'

/** The two little-endian halves of a 64-bit name, each an unsigned 32-bit number. */
export interface NameHalves {
  readonly lo: number
  readonly hi: number
}

// Direct-mapped cache of names: a chain uses few names at a time, and a miss only repeats the conversion.
const CACHE_BITS = 13
const cacheLo = new Uint32Array(1 << CACHE_BITS)
const cacheHi = new Uint32Array(1 << CACHE_BITS)
const cacheText = new Array<string>(1 << CACHE_BITS).fill('')

/**
 * Formats a 64-bit name given as unsigned 32-bit halves: at most 13 characters of `.12345a-z` without trailing dots,
 * as nodes do. Every bit pattern has a text.
 */
export function nameToString(lo: number, hi: number): string {
  const slot = (Math.imul(lo, 0x9e3779b1) ^ Math.imul(hi, 0x85ebca6b)) >>> (32 - CACHE_BITS)
  if (cacheLo[slot] === lo && cacheHi[slot] === hi) return cacheText[slot]!
  const text = spell(lo, hi)
  cacheLo[slot] = lo
  cacheHi[slot] = hi
  cacheText[slot] = text
  return text
}

function spell(lo: number, hi: number): string {
  let text = ''
  // A 64-bit name has 12 characters of 5 bits and one of 4 bits, from the highest bit on. Characters 0 to 5 are in the
  // upper 32 bits, character 6 is in both halves, characters 7 to 12 are in the lower 32 bits.
  for (let bit = 27; bit >= 2; bit -= 5) text += ALPHABET[(hi >>> bit) & 31]!
  text += ALPHABET[((hi & 3) << 3) | (lo >>> 29)]!
  for (let bit = 24; bit >= 4; bit -= 5) text += ALPHABET[(lo >>> bit) & 31]!
  text += ALPHABET[lo & 15]!
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 46) end--
  return text.slice(0, end)
}

function symbolOf(code: number): number {
  if (code >= 97 && code <= 122) return code - 91
  if (code >= 49 && code <= 53) return code - 48
  return code === 46 ? 0 : -1
}

/**
 * Parses a name to its halves. Accepts the names that the chain accepts: up to 13 characters of `.12345a-z`, the 13th
 * of `.1-5a-j`.
 * @throws EncodeError for other texts.
 */
export function nameFromString(text: string): NameHalves {
  if (text.length > 13) throw new EncodeError(`name ${quote(text)} is longer than 13 characters`)
  let lo = 0
  let hi = 0
  for (let i = 0; i < text.length; i++) {
    const symbol = symbolOf(text.charCodeAt(i))
    if (symbol < 0 || (i === 12 && symbol > 15)) {
      throw new EncodeError(
        `name ${quote(text)} has a character outside .12345a-z, or its 13th is outside .1-5a-j`,
      )
    }
    if (i < 6) hi |= symbol << (27 - 5 * i)
    else if (i === 6) {
      hi |= symbol >>> 3
      lo |= symbol << 29
    } else if (i < 12) lo |= symbol << (24 - 5 * (i - 7))
    else lo |= symbol
  }
  return { lo: lo >>> 0, hi: hi >>> 0 }
}

function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text)
}

const wordView = new DataView(new ArrayBuffer(8))

/**
 * Name as unsigned 64-bit integer.
 * @throws EncodeError for an invalid name.
 */
export function nameToBigInt(text: string): bigint {
  const { lo, hi } = nameFromString(text)
  wordView.setUint32(0, hi)
  wordView.setUint32(4, lo)
  return wordView.getBigUint64(0)
}

/**
 * Name as signed 64-bit integer, the form of a PostgreSQL `bigint`.
 * @throws EncodeError for an invalid name.
 */
export function nameToInt64(text: string): bigint {
  return BigInt.asIntN(64, nameToBigInt(text))
}

/** Text of a name given as 64-bit integer, signed or unsigned; higher bits are ignored. */
export function bigIntToName(value: bigint): string {
  wordView.setBigUint64(0, BigInt.asUintN(64, value))
  return nameToString(wordView.getUint32(4), wordView.getUint32(0))
}
