import { base58 } from '@scure/base'
import { bytesToHex, EncodeError } from '../../bytes/index.ts'

/**
 * Maximum input in bytes: the time of a base58 conversion is quadratic in the length. A content identifier has about
 * 36 bytes, but an action can hold half a megabyte of `ipfs` values; the limit bounds the worst case to a fraction of a
 * second.
 */
const MAX_BYTES = 1_024

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const DIGITS_OF_LIMB = 5
const LIMB = 58 ** DIGITS_OF_LIMB

/**
 * Encodes base58 with the Bitcoin alphabet and without checksum; each leading zero byte becomes a `1`. Input above
 * 1024 bytes becomes `0x` and hexadecimal digits, because the conversion is quadratic.
 */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length > MAX_BYTES) return `0x${bytesToHex(bytes)}`
  let zeros = 0
  while (bytes[zeros] === 0) zeros++
  let text = ''
  const limbs = limbsOf(bytes)
  for (const [at, limb] of limbs.entries()) {
    const isHighest = at === limbs.length - 1
    let rest = limb
    for (let digit = 0; isHighest ? rest > 0 : digit < DIGITS_OF_LIMB; digit++) {
      text = ALPHABET[rest % 58]! + text
      rest = Math.floor(rest / 58)
    }
  }
  return '1'.repeat(zeros) + text
}

/**
 * The number that the bytes stand for, in limbs of five base58 digits, lowest limb first; no limb for zero. Limbs take a
 * fifth of the divisions that single digits take: the package `@scure/base` converts digit by digit.
 */
function limbsOf(bytes: Uint8Array): number[] {
  const limbs: number[] = []
  for (const byte of bytes) {
    let carry = byte
    for (let at = 0; at < limbs.length; at++) {
      carry += limbs[at]! * 256
      limbs[at] = carry % LIMB
      carry = Math.floor(carry / LIMB)
    }
    if (carry > 0) limbs.push(carry)
  }
  return limbs
}

/**
 * Decodes base58 text without checksum.
 * @throws EncodeError for a character outside the alphabet.
 */
export function decodeBase58(text: string): Uint8Array {
  if (text.length > MAX_BYTES * 2) throw new EncodeError('base58 text is longer than 2048 characters')
  try {
    return base58.decode(text)
  } catch {
    throw new EncodeError(`${JSON.stringify(text.slice(0, 64))} is not base58`)
  }
}
