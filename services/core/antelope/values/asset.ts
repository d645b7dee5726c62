import { EncodeError } from '../../bytes/index.ts'

/** A token quantity: `amount` in the smallest unit, so that 1.00000000 WAX is `100000000n`, 8, `WAX`. */
export interface Asset {
  readonly amount: bigint
  readonly precision: number
  readonly symbol: string
}

/** Text such as `1.00000000 WAX`, `-0.5 ABC`, `7 NFT`. */
export function formatAsset(asset: Asset): string {
  return formatAmount(asset.amount, asset.precision, asset.symbol)
}

/** Same as {@link formatAsset}, from the three parts. */
export function formatAmount(amount: bigint, precision: number, symbol: string): string {
  const negative = amount < 0n
  let digits = (negative ? -amount : amount).toString()
  if (precision > 0) {
    if (digits.length <= precision) digits = digits.padStart(precision + 1, '0')
    const point = digits.length - precision
    digits = `${digits.slice(0, point)}.${digits.slice(point)}`
  }
  return `${negative ? '-' : ''}${digits} ${symbol}`
}

/**
 * Parses text such as `1.00000000 WAX`.
 * @throws EncodeError for invalid text or an amount above 64 bits.
 */
export function parseAsset(text: string): Asset {
  const match = /^(-?)(\d{1,256})(?:\.(\d{1,255}))? ([^]{0,7})$/.exec(text)
  if (match === null) throw new EncodeError(`${JSON.stringify(text.slice(0, 64))} is not an asset`)
  const fraction = match[3] ?? ''
  const magnitude = BigInt(match[2]! + fraction)
  const amount = match[1] === '-' ? -magnitude : magnitude
  if (amount !== BigInt.asIntN(64, amount)) {
    throw new EncodeError(`asset ${JSON.stringify(text.slice(0, 64))} exceeds 64 bits`)
  }
  return { amount, precision: fraction.length, symbol: match[4]! }
}

/** Symbol text such as `8,WAX`. */
export function formatSymbol(precision: number, symbol: string): string {
  return `${precision},${symbol}`
}

/**
 * Parses a symbol such as `8,WAX`.
 * @throws EncodeError for invalid text.
 */
export function parseSymbol(text: string): { precision: number; symbol: string } {
  const match = /^(\d{1,3}),([^]{0,7})$/.exec(text)
  const precision = Number(match?.[1])
  if (match === null || precision > 255) {
    throw new EncodeError(`${JSON.stringify(text.slice(0, 64))} is not a symbol`)
  }
  return { precision, symbol: match[2]! }
}

/** Maximum number of decimals of a symbol. */
const MAX_PRECISION = 18

/** Whether a number of decimals is valid for a symbol. */
export function isPrecision(precision: number): boolean {
  return precision <= MAX_PRECISION
}

/** Whether a 64-bit amount, given as its 32-bit halves, is valid: its magnitude must be below 2^62. */
export function isAmount(lo: number, hi: number): boolean {
  return hi < 0x40000000 && (hi > -0x40000000 || (hi === -0x40000000 && lo !== 0))
}

// Direct-mapped cache of symbol codes: rows name few symbols, and a miss only repeats the conversion.
const CACHE_BITS = 8
const cacheLo = new Uint32Array(1 << CACHE_BITS)
const cacheHi = new Uint32Array(1 << CACHE_BITS)
const cacheText = new Array<string>(1 << CACHE_BITS).fill('')

/**
 * Code of a 64-bit symbol given as its 32-bit halves; the lowest byte is the precision. Null if the code has
 * characters other than A to Z, which no chain accepts.
 */
export function symbolCodeOf(lo: number, hi: number): string | null {
  const code = (lo & ~0xff) >>> 0
  const slot = (Math.imul(code, 0x9e3779b1) ^ Math.imul(hi, 0x85ebca6b)) >>> (32 - CACHE_BITS)
  if (cacheLo[slot] === code && cacheHi[slot] === hi) return cacheText[slot]!
  const text = spellSymbolCode(code, hi, 8)
  if (text === null) return null
  cacheLo[slot] = code
  cacheHi[slot] = hi
  cacheText[slot] = text
  return text
}

/**
 * Spells the symbol code that starts at bit `from` of 64 bits; zeros must follow the last letter. Null if a character
 * is not A to Z.
 */
export function spellSymbolCode(lo: number, hi: number, from: 0 | 8): string | null {
  let text = ''
  let hasEnded = false
  for (let bit = from as number; bit < 64; bit += 8) {
    const letter = ((bit < 32 ? lo : hi) >>> (bit & 31)) & 0xff
    if (letter === 0) hasEnded = true
    else if (hasEnded || letter < 65 || letter > 90) return null
    else text += String.fromCharCode(letter)
  }
  return text
}

/**
 * Writes a symbol code of at most `length` characters.
 * @throws EncodeError if the code is longer or has other characters than A to Z.
 */
export function writeSymbolCode(code: string, target: Uint8Array, offset: number, length: number): void {
  if (code.length > length)
    throw new EncodeError(`symbol code ${JSON.stringify(code.slice(0, 64))} is too long`)
  if (!/^[A-Z]*$/.test(code))
    throw new EncodeError(`symbol code ${JSON.stringify(code)} has other characters than A to Z`)
  for (let i = 0; i < length; i++) target[offset + i] = i < code.length ? code.charCodeAt(i) : 0
}
