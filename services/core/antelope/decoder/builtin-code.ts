import type { BuiltinName } from '../types/index.ts'

// Generates code for single values; `CodeEmitter` documents the variables that generated code may use.

/** Generates a statement that stops decoding if fewer than `bytes` bytes are left. */
export function need(bytes: number): string {
  return bytes === 0 ? '' : `if (e - p < ${bytes}) tooShort(p);`
}

/** Generates the JavaScript expression `offset + bytes`; folds constants, so that `p + 2` plus 3 becomes `p + 5`. */
export function plus(offset: string, bytes: number): string {
  if (bytes === 0) return offset
  const match = /^p \+ (\d+)$/.exec(offset)
  return match === null ? `${offset} + ${bytes}` : `p + ${Number(match[1]) + bytes}`
}

/**
 * Generates an expression that reads a fixed-size built-in value at an offset; the caller has checked that the bytes
 * exist.
 */
export function fixedExpression(name: BuiltinName, o: string): string {
  switch (name) {
    case 'bool':
      return `(b[${o}] < 2 ? b[${o}] === 1 : boolAt(${o}))`
    case 'uint8':
      return `b[${o}]`
    case 'int8':
      return `v.getInt8(${o})`
    case 'int16':
      return `v.getInt16(${o}, true)`
    case 'uint16':
      return `v.getUint16(${o}, true)`
    case 'int32':
      return `v.getInt32(${o}, true)`
    case 'uint32':
      return `v.getUint32(${o}, true)`
    case 'int64':
      return `v.getBigInt64(${o}, true)`
    case 'uint64':
      return `v.getBigUint64(${o}, true)`
    case 'int128':
      return `int128At(${o}, true)`
    case 'uint128':
      return `int128At(${o}, false)`
    case 'float32':
      return `v.getFloat32(${o}, true)`
    case 'float64':
      return `v.getFloat64(${o}, true)`
    case 'time_point':
      return `timePoint(v.getBigInt64(${o}, true))`
    case 'time_point_sec':
      return `timePointSec(v.getUint32(${o}, true))`
    case 'block_timestamp_type':
      return `slotTime(v.getUint32(${o}, true))`
    case 'name':
      return `nameOf(v.getUint32(${o}, true), v.getUint32(${plus(o, 4)}, true))`
    case 'symbol':
      return `symbolAt(${o})`
    case 'symbol_code':
      return `symbolCodeAt(${o})`
    case 'asset':
      return `assetAt(${o})`
    case 'extended_asset':
      return `{ quantity: assetAt(${o}), contract: ${fixedExpression('name', plus(o, 16))} }`
    case 'float128':
      return `hexAt(${o}, 16)`
    case 'checksum160':
      return `hexAt(${o}, 20)`
    case 'checksum256':
      return `hexAt(${o}, 32)`
    case 'checksum512':
      return `hexAt(${o}, 64)`
    default:
      throw new TypeError(`${name} has no fixed size`)
  }
}

const variableReaders = {
  string: 'readText()',
  bytes: 'readBytes()',
  bitset: 'readBitset()',
  varint32: 'readVarint32()',
  public_key: 'readKey("PUB")',
  signature: 'readKey("SIG")',
} as const

/** Generates statements that read a variable-size built-in value into a constant named `value`. */
export function readVariable(name: BuiltinName, value: string): string {
  if (name === 'varuint32') {
    return `if (p >= e) tooShort(p); let ${value} = b[p]; if (${value} < 128) p++; else { R.at = p; ${value} = readVaruint32(); p = R.at; }`
  }
  return `R.at = p; const ${value} = ${variableReaders[name as keyof typeof variableReaders]}; p = R.at;`
}

/** Generates statements that skip a variable-size built-in value. */
export function skipVariable(name: BuiltinName): string {
  if (name === 'varuint32' || name === 'varint32') {
    return 'if (p >= e) tooShort(p); if (b[p] < 128) p++; else { R.at = p; readVaruint32(); p = R.at; }'
  }
  if (name === 'string' || name === 'bytes') return SKIP_LENGTH_PREFIXED
  if (name === 'bitset') return 'R.at = p; readBitset(); p = R.at;'
  return `R.at = p; skipKey(${name === 'public_key' ? '"PUB"' : '"SIG"'}); p = R.at;`
}

// Inlines the case of a length prefix of one byte: most texts and byte lists that a decoder skips are short.
const SKIP_LENGTH_PREFIXED =
  'if (p >= e) tooShort(p); if (b[p] < 128) { p += 1 + b[p]; if (p > e) tooShort(p); } ' +
  'else { R.at = p; skipBytes(); p = R.at; }'
