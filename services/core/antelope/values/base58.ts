import { base58 } from '@scure/base'
import { bytesToHex, EncodeError } from '../../bytes/index.ts'

/**
 * The conversion is quadratic. A content identifier has about 36 bytes, but an action can hold half a megabyte of them in
 * any portions: the limit bounds the worst case to a fraction of a second.
 */
const MAX_BYTES = 1_024

/**
 * Base58 with the Bitcoin alphabet and no checksum; each leading zero byte becomes a `1`.
 * Data of more than 1024 bytes become `0x` and hexadecimal digits instead, because the cost is quadratic.
 */
export function encodeBase58(bytes: Uint8Array): string {
  return bytes.length > MAX_BYTES ? `0x${bytesToHex(bytes)}` : base58.encode(bytes)
}

/** Bytes of a base58 text (no checksum). @throws EncodeError for a character outside the alphabet. */
export function decodeBase58(text: string): Uint8Array {
  if (text.length > MAX_BYTES * 2) throw new EncodeError('base58 text is longer than 2048 characters')
  try {
    return base58.decode(text)
  } catch {
    throw new EncodeError(`${JSON.stringify(text.slice(0, 64))} is not base58`)
  }
}
