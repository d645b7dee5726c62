import { bigIntToName, formatSymbol, nameToBigInt, parseSymbol } from '../../core/antelope/index.ts'

/** Text formats of primary keys. */
export const keyTypes = ['name', 'hex', 'hex_be', 'uint64', 'symbol', 'symbol_code'] as const
export type KeyType = (typeof keyTypes)[number]

/** Primary keys are unsigned, but stored as signed bigint. Subtracting 2^63 preserves the order of the keys. */
const KEY_OFFSET = 2n ** 63n

/** Converts a stored primary key to the unsigned key on the chain. */
export function fromStored(stored: bigint): bigint {
  return stored + KEY_OFFSET
}

/** Converts an unsigned primary key to its stored form. */
export function toStored(key: bigint): bigint {
  return key - KEY_OFFSET
}

export function formatKey(key: bigint, type: KeyType): string {
  switch (type) {
    case 'name':
      return bigIntToName(key)
    case 'uint64':
      return key.toString()
    case 'hex':
      return littleEndian(key).toString('hex')
    case 'hex_be':
      return littleEndian(key).reverse().toString('hex')
    case 'symbol': {
      const bytes = littleEndian(key)
      return formatSymbol(bytes[0]!, codeText(bytes.subarray(1)))
    }
    case 'symbol_code':
      return codeText(littleEndian(key))
  }
}

/** Parses the text of a primary key; null if the text is not valid for the key type. */
export function parseKey(text: string, type: KeyType): bigint | null {
  try {
    return parse(text, type)
  } catch {
    return null
  }
}

function parse(text: string, type: KeyType): bigint | null {
  switch (type) {
    case 'name':
      return nameToBigInt(text)
    case 'uint64': {
      if (!/^\d{1,20}$/.test(text)) return null
      const key = BigInt(text)
      return key === BigInt.asUintN(64, key) ? key : null
    }
    case 'hex':
    case 'hex_be': {
      if (!/^[0-9a-fA-F]{16}$/.test(text)) return null
      const bytes = Buffer.from(text, 'hex')
      return type === 'hex' ? bytes.readBigUInt64LE() : bytes.readBigUInt64BE()
    }
    case 'symbol': {
      const { precision, symbol } = parseSymbol(text)
      return Buffer.concat([Buffer.from([precision]), codeBytes(symbol, 7)]).readBigUInt64LE()
    }
    case 'symbol_code':
      return codeBytes(text, 8).readBigUInt64LE()
  }
}

function littleEndian(key: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(key)
  return bytes
}

/** Text of a symbol code: its bytes without the zero bytes at the end. */
function codeText(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/\0+$/, '')
}

function codeBytes(code: string, length: number): Buffer {
  if (!/^[A-Z]{1,7}$/.test(code)) throw new RangeError(`${code.slice(0, 16)} is no symbol code`)
  const bytes = Buffer.alloc(length)
  bytes.write(code, 'latin1')
  return bytes
}
