import { EncodeError } from '../../bytes/index.ts'

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const digitOf = new Int8Array(128).fill(-1)
for (let i = 0; i < alphabet.length; i++) digitOf[alphabet.charCodeAt(i)] = i

// The conversion is quadratic. A content identifier has about 36 bytes, but an action can hold half a megabyte
// of them in any portions: this bounds the worst to a fraction of a second.
const maxBytes = 1024

/**
 * Base58 with the Bitcoin alphabet and no checksum; each leading zero byte becomes a `1`.
 * Data of more than 1024 bytes become `0x` and hexadecimal digits instead, because the cost is quadratic.
 */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length > maxBytes) return `0x${Buffer.from(bytes).toString('hex')}`
  let zeros = 0
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++
  // Little-endian digits in base 58^5, so that one pass carries five characters.
  const limbs: number[] = []
  for (let i = zeros; i < bytes.length; i++) {
    let carry = bytes[i]!
    for (let j = 0; j < limbs.length; j++) {
      carry += limbs[j]! * 256
      limbs[j] = carry % 656_356_768
      carry = Math.floor(carry / 656_356_768)
    }
    if (carry > 0) limbs.push(carry)
  }
  let text = ''
  for (let j = limbs.length - 1; j >= 0; j--) {
    let limb = limbs[j]!
    let group = ''
    for (let k = 0; k < 5; k++) {
      group = alphabet[limb % 58]! + group
      limb = Math.floor(limb / 58)
    }
    text += group
  }
  return '1'.repeat(zeros) + text.replace(/^1+/, '')
}

/** Bytes of a base58 text (no checksum). @throws EncodeError for a character outside the alphabet. */
export function decodeBase58(text: string): Uint8Array {
  if (text.length > maxBytes * 2) throw new EncodeError('base58 text is longer than 2048 characters')
  let zeros = 0
  while (zeros < text.length && text[zeros] === '1') zeros++
  const bytes: number[] = []
  for (let i = zeros; i < text.length; i++) {
    const code = text.charCodeAt(i)
    let carry = code < 128 ? digitOf[code]! : -1
    if (carry < 0) throw new EncodeError(`${JSON.stringify(text.slice(0, 64))} is not base58`)
    for (let j = 0; j < bytes.length; j++) {
      carry += bytes[j]! * 58
      bytes[j] = carry & 255
      carry >>>= 8
    }
    while (carry > 0) {
      bytes.push(carry & 255)
      carry >>>= 8
    }
  }
  const result = new Uint8Array(zeros + bytes.length)
  for (let j = 0; j < bytes.length; j++) result[result.length - 1 - j] = bytes[j]!
  return result
}
