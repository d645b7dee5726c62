import { nameFromString, nameToString } from '../../core/antelope/index.ts'
import { hexToBytes } from '../../core/antelope/index.ts'
import { invalidRequest } from '../answers/index.ts'
import { keyTypes } from '../tables/index.ts'
import type { KeyType } from '../tables/index.ts'

/** JSON Schema, as far as the documentation needs it. */
export type Schema = Readonly<Record<string, unknown>>

/** A parameter of an endpoint. `T` is what it becomes. */
export interface Parameter<T> {
  readonly description: string
  readonly schema: Schema
  readonly isRequired: boolean
  /** @throws Complaint when the value cannot be used. `given` is text, or whatever a JSON body holds. */
  read(given: unknown): T
}

/** Parameters by name. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>

/** What parameters become. */
export type Values<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never
}

/** Says what is wrong with a value; the name of the field goes in front. */
class Complaint extends Error {}

/** Reads all parameters. @throws Refusal 400 that names every one that cannot be used. */
export function readParameters<P extends Parameters>(
  parameters: P,
  given: ReadonlyMap<string, unknown>,
): Values<P> {
  const errors: Record<string, string[]> = {}
  const values: Record<string, unknown> = {}
  for (const [name, parameter] of Object.entries(parameters)) {
    try {
      values[name] = parameter.read(given.get(name))
    } catch (error) {
      if (!(error instanceof Complaint)) throw error
      errors[name] = [`The ${name} field ${error.message}`]
    }
  }
  if (Object.keys(errors).length > 0) throw invalidRequest(errors)
  return values as Values<P>
}

/** Text of a parameter; undefined when it is absent. What is no text, number or flag is refused. */
function textOf(given: unknown, what: string): string | undefined {
  if (given === undefined || given === null) return undefined
  if (typeof given === 'string') return given
  if (typeof given === 'number' || typeof given === 'boolean') return String(given)
  throw new Complaint(what)
}

const VALID_NAME = 'must be a valid EOS name'

function isName(text: string): boolean {
  try {
    nameFromString(text)
    return text !== ''
  } catch {
    return false
  }
}

/** An account, table or other name. */
export function name(description: string): Parameter<string> {
  return {
    description,
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

/** A scope as clients write it: a name, or the symbol or symbol code whose number it is. */
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

/** A scope: it must be there, and may be empty. */
export function scope(description: string): Parameter<string> {
  return {
    description,
    schema: { type: 'string', maxLength: 13, example: 'eosio' },
    isRequired: true,
    read(given) {
      const text = textOf(given, VALID_SCOPE)
      if (text === undefined) throw new Complaint('is required')
      return scopeOf(text)
    },
  }
}

/** Most names in a list. */
const MAX_NAMES = 1_500

/** Names or scopes, joined by the pipe character; in a JSON body also as a list. */
export function list(description: string, kind: 'name' | 'scope'): Parameter<readonly string[]> {
  const what = `must be a list of 1 to ${MAX_NAMES} names, joined by the pipe character`
  return {
    description,
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
        throw new Complaint(`must hold valid EOS names, which "${wrong.slice(0, 32)}" is not`)
      return [...new Set(names.map((each) => nameToString(...halvesOf(each))))]
    },
  }
}

/**
 * A block number; absent and 0 stand for the newest. It is read as a signed number of 64 bits and taken as an unsigned
 * one, as clients know it: -1 is higher than any head.
 */
export const blockNum: Parameter<bigint | null> = {
  description: 'Block at whose end the state is told; absent or 0: the newest block.',
  schema: { type: 'integer', minimum: 0, default: 0 },
  isRequired: false,
  read(given) {
    const text = textOf(given, 'must be a block number')
    if (text === undefined || text === '') return null
    if (!/^[+-]?\d{1,19}$/.test(text)) throw new Complaint('must be a block number')
    const value = BigInt(text.replace('+', ''))
    if (value !== BigInt.asIntN(64, value)) throw new Complaint('must be a block number')
    return value === 0n ? null : BigInt.asUintN(64, value)
  },
}

/** `true` or `1`; anything else is false. */
export function flag(description: string): Parameter<boolean> {
  return {
    description,
    schema: { type: 'boolean', default: false },
    isRequired: false,
    read: (given) => given === true || given === 1 || given === 'true' || given === '1',
  }
}

/** A number of rows; absent = `standard`. */
export function count(description: string, min: number, max: number, standard: number): Parameter<number> {
  const what = `must be a whole number from ${min} to ${max}`
  return {
    description,
    schema: { type: 'integer', minimum: min, maximum: max, default: standard },
    isRequired: false,
    read(given) {
      const text = textOf(given, what)
      if (text === undefined || text === '') return standard
      const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
      if (value >= min && value <= max) return value
      throw new Complaint(what)
    },
  }
}

/** One of a few words. */
export function choice<const W extends string>(
  description: string,
  words: readonly W[],
  standard: W | null,
): Parameter<W> {
  const what = `must be one of ${words.join(', ')}`
  return {
    description,
    schema: { type: 'string', enum: words, ...(standard === null ? {} : { default: standard }) },
    isRequired: standard === null,
    read(given) {
      const text = textOf(given, what)
      if (text === undefined || text === '') {
        if (standard === null) throw new Complaint('is required')
        return standard
      }
      const word = words.find((each) => each === text)
      if (word === undefined) throw new Complaint(what)
      return word
    },
  }
}

/** How keys are written. */
export const keyType: Parameter<KeyType> = choice(
  'How primary keys are written: as names, bytes in the order of the chain (hex) or the other one (hex_be), numbers, ' +
    'symbols or symbol codes.',
  keyTypes,
  'name',
)

/** Any text of 1 to `max` characters. */
export function text(description: string, max: number): Parameter<string> {
  const what = `must be text of 1 to ${max} characters`
  return {
    description,
    schema: { type: 'string', maxLength: max },
    isRequired: true,
    read(given) {
      const value = textOf(given, what)
      if (value === undefined || value === '') throw new Complaint('is required')
      if (value.length > max) throw new Complaint(what)
      return value
    },
  }
}

/** Text of at most `max` characters that may be left out. */
export function optionalText(description: string, max: number): Parameter<string | null> {
  const required = text(description, max)
  return {
    ...required,
    isRequired: false,
    read: (given) => (given === undefined || given === null || given === '' ? null : required.read(given)),
  }
}

const MAX_HEX_ROWS = 1_000

/** Packed rows in hexadecimal. */
export function hexRows(description: string): Parameter<readonly Uint8Array[]> {
  const what = `must be a list of 1 to ${MAX_HEX_ROWS} hexadecimal texts`
  return {
    description,
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
