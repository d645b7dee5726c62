import { base58 } from '@scure/base'
import { bytesToHex, EncodeError } from '../../bytes/index.ts'

/**
 * Maximum input in bytes: the time of a base58 conversion is quadratic in the length. A content identifier has about
 * 36 bytes, but an action can hold half a megabyte of `ipfs` values; the limit bounds the worst case to a fraction of a
 * second.
 */
const MAX_BYTES = 1_024

/**
 * Encodes base58 with the Bitcoin alphabet and without checksum; each leading zero byte becomes a `1`. Input above
 * 1024 bytes becomes `0x` and hexadecimal digits, because the conversion is quadratic.
 */
export function encodeBase58(bytes: Uint8Array): string {
  return bytes.length > MAX_BYTES ? `0x${bytesToHex(bytes)}` : base58.encode(bytes)
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
