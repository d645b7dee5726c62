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

/** Same as {@link formatAsset} without an object around the three parts. */
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

/** Reads text such as `1.00000000 WAX`. @throws EncodeError when it is none or exceeds 64 bits. */
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

/** Reads `8,WAX`. @throws EncodeError when the text is no symbol. */
export function parseSymbol(text: string): { precision: number; symbol: string } {
  const match = /^(\d{1,3}),([^]{0,7})$/.exec(text)
  const precision = Number(match?.[1])
  if (match === null || precision > 255) {
    throw new EncodeError(`${JSON.stringify(text.slice(0, 64))} is not a symbol`)
  }
  return { precision, symbol: match[2]! }
}

/**
 * Text of a symbol code read from `length` bytes. A code ends at its last non-zero byte; the bytes of a
 * hostile row need not be letters, so each stands for the character of its number.
 */
export function symbolCodeText(bytes: Uint8Array, offset: number, length: number): string {
  let end = offset + length
  while (end > offset && bytes[end - 1] === 0) end--
  let text = ''
  for (let at = offset; at < end; at++) text += String.fromCharCode(bytes[at]!)
  return text
}

/** Writes a symbol code of at most `length` characters. @throws EncodeError when it does not fit. */
export function writeSymbolCode(code: string, target: Uint8Array, offset: number, length: number): void {
  if (code.length > length)
    throw new EncodeError(`symbol code ${JSON.stringify(code.slice(0, 64))} is too long`)
  for (let i = 0; i < length; i++) {
    const character = i < code.length ? code.charCodeAt(i) : 0
    if (character > 255)
      throw new EncodeError(`symbol code ${JSON.stringify(code)} has an unusable character`)
    target[offset + i] = character
  }
}
