import { nameFromString, nameToString } from '../../core/antelope/index.ts'
import { hexToBytes } from '../../core/bytes/index.ts'
import { choice, textOf } from '../../core/parameters/index.ts'
import { Complaint } from '../../core/endpoint/index.ts'
import type { Parameter } from '../../core/endpoint/index.ts'
import { keyTypes } from '../tables/keys.ts'
import type { KeyType } from '../tables/keys.ts'

const VALID_NAME = 'must be a valid EOS name'

function isName(text: string): boolean {
  try {
    nameFromString(text)
    return text !== ''
  } catch {
    return false
  }
}

/** Parameter: the name of an account, table or permission. */
export function name(description: string): Parameter<string> {
  return {
    description,
    type: 'name',
    schema: { type: 'string', pattern: '^[.1-5a-z]{1,12}[.1-5a-j]?$', example: 'eosio.token' },
    isRequired: true,
    read(given) {
      const text = textOf(given, VALID_NAME)
      if (text === undefined || text === '') throw new Complaint('is required')
      if (!isName(text)) throw new Complaint(VALID_NAME)
      return nameToString(...halvesOf(text))
    },
  }
}

function halvesOf(text: string): [lo: number, hi: number] {
  const { lo, hi } = nameFromString(text)
  return [lo, hi]
}

const VALID_SCOPE = 'must be a valid EOS name, symbol or symbol code'

/**
 * Converts the text of a scope to a name. The text is a name, a symbol or a symbol code; the integer of a
 * symbol or symbol code is read as a name.
 */
function scopeOf(text: string): string {
  if (text === '' || isName(text)) return text === '' ? '' : nameToString(...halvesOf(text))
  const match = /^(?:(\d{1,2}),)?([A-Z]{1,7})$/.exec(text)
  if (!match) throw new Complaint(VALID_SCOPE)
  const bytes = Buffer.alloc(8)
  const precision = match[1]
  if (precision !== undefined) bytes[0] = Number(precision)
  bytes.write(match[2]!, precision === undefined ? 0 : 1, 'latin1')
  return nameToString(bytes.readUInt32LE(0), bytes.readUInt32LE(4))
}

/** Parameter: a scope. Required, but may be empty. */
export function scope(description: string): Parameter<string> {
  return {
    description,
    type: 'scope',
    schema: { type: 'string', maxLength: 13, example: 'eosio' },
    isRequired: true,
    read(given) {
      const text = textOf(given, VALID_SCOPE)
      if (text === undefined) throw new Complaint('is required')
      return scopeOf(text)
    },
  }
}

/** Maximum number of names in a list parameter. */
const MAX_NAMES = 1_500

/** Parameter: names or scopes, joined by `|`; in a JSON body also a list. */
export function list(description: string, kind: 'name' | 'scope'): Parameter<readonly string[]> {
  const what = `must be a list of 1 to ${MAX_NAMES} names, joined by the pipe character`
  return {
    description,
    type: kind,
    schema: { type: 'string', example: 'eosio.token|eosio' },
    isRequired: true,
    read(given) {
      const text = Array.isArray(given)
        ? given.map((each) => textOf(each, what)).join('|')
        : textOf(given, what)
      if (text === undefined) throw new Complaint('is required')
      const names = text.split('|')
      if (names.length > MAX_NAMES || text === '') throw new Complaint(what)
      if (kind === 'scope') return [...new Set(names.map(scopeOf))]
      const wrong = names.find((each) => !isName(each))
      if (wrong !== undefined)
        throw new Complaint(`must contain valid EOS names; "${wrong.slice(0, 32)}" is not valid`)
      return [...new Set(names.map((each) => nameToString(...halvesOf(each))))]
    },
  }
}

/**
 * Parameter: a block number. Absent or 0 means the newest block. As in the dfuse API, the text is a signed 64-bit
 * number whose bits are read as unsigned: -1 is above any head block.
 */
export const blockNum: Parameter<bigint | undefined> = {
  description: 'Block at whose end the state is read; absent or 0: the newest block.',
  type: 'block',
  schema: { type: 'integer', minimum: 0, default: 0 },
  read(given) {
    const text = textOf(given, 'must be a block number')
    if (text === undefined || text === '') return undefined
    if (!/^[+-]?\d{1,19}$/.test(text)) throw new Complaint('must be a block number')
    const value = BigInt(text.replace('+', ''))
    if (value !== BigInt.asIntN(64, value)) throw new Complaint('must be a block number')
    return value === 0n ? undefined : BigInt.asUintN(64, value)
  },
}

/** Parameter: `true` or `1` is true; any other value is false. */
export function flag(description: string): Parameter<boolean> {
  return {
    description,
    type: 'bool',
    schema: { type: 'boolean', default: false },
    read: (given) => given === true || given === 1 || given === 'true' || given === '1',
  }
}

/** Parameter: format of primary keys. */
export const keyType: Parameter<KeyType> = choice(
  'Format of primary keys: a name, a number (uint64), a symbol, a symbol code, or the 8 bytes in hexadecimal, ' +
    'little-endian (hex) or big-endian (hex_be).',
  keyTypes,
  { default: 'name' },
)

export const MAX_HEX_ROWS = 1_000

/** Parameter: packed rows in hexadecimal. */
export function hexRows(description: string): Parameter<readonly Uint8Array[]> {
  const what = `must be a list of 1 to ${MAX_HEX_ROWS} hexadecimal strings`
  return {
    description,
    type: 'hex',
    schema: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: MAX_HEX_ROWS },
    isRequired: true,
    read(given) {
      if (given === undefined || given === null) throw new Complaint('is required')
      if (!Array.isArray(given) || given.length === 0 || given.length > MAX_HEX_ROWS)
        throw new Complaint(what)
      return given.map((each: unknown) => {
        if (typeof each !== 'string' || !/^(?:[0-9a-fA-F]{2})*$/.test(each)) throw new Complaint(what)
        return hexToBytes(each.toLowerCase())
      })
    },
  }
}
