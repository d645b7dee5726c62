import { EncodeError } from './codec-error.ts'

/** Lower-case hexadecimal digits of `bytes` from `start` (inclusive) to `end` (exclusive). */
export function bytesToHex(bytes: Uint8Array, start = 0, end = bytes.length): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('hex')
}

/**
 * Parses hexadecimal text of either case.
 * @throws EncodeError for an odd length or another character.
 */
export function hexToBytes(text: string): Uint8Array {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) {
    throw new EncodeError(`${JSON.stringify(text.slice(0, 64))} is not hexadecimal`)
  }
  return new Uint8Array(Buffer.from(text, 'hex'))
}
