import { EncodeError } from '../../bytes/index.ts'

/**
 * Formats `size` bits from an offset on in the format of nodes: last bit first, where bit 0 is the lowest bit of the
 * first byte. Null if a bit beyond the size is set.
 */
export function bitsetText(bytes: Uint8Array, offset: number, size: number): string | null {
  const length = Math.ceil(size / 8)
  let text = ''
  for (let i = length - 1; i >= 0; i--) text += bytes[offset + i]!.toString(2).padStart(8, '0')
  const unused = length * 8 - size
  return text.startsWith('0'.repeat(unused)) ? text.slice(unused) : null
}

/**
 * Packs a bitset without its size.
 * @throws EncodeError if the text has characters other than 0 and 1.
 */
export function bitsetBytes(text: string): Uint8Array {
  if (!/^[01]*$/.test(text)) throw new EncodeError(`${JSON.stringify(text.slice(0, 64))} is not a bitset`)
  const bytes = new Uint8Array(Math.ceil(text.length / 8))
  for (let bit = 0; bit < text.length; bit++)
    if (text.charCodeAt(text.length - 1 - bit) === 49) bytes[bit >> 3]! |= 1 << (bit & 7)
  return bytes
}
